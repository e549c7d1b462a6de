//! Lifts the definitions of tools.

use seamline_model::conversation::{Fate, FreeText, Grammar, ToolDefinition};

use super::lifting::{Lifting, NOT_CARRIED, compact, member, string};
use crate::json::Value;

/// The schema of a tool that takes any text, for dialects where input is an object.
pub(super) const FREE_SCHEMA: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

impl Lifting {
    /// Reads a tool whose schema is under this key. A definition without a name is noted.
    pub(crate) fn tool(&mut self, tool: Value<'_, '_>, schema: &str, pointer: &str) {
        let Some(name) = string(tool, "name") else {
            return self.note_dropped("tool", pointer, "it is one of the provider's own, or has no name");
        };
        self.note_unknown(tool, &["type", "name", "description", "strict", schema], pointer);
        let description = self.field(tool, "description", pointer);
        let schema = member(tool, schema).map(|schema| compact(schema.raw()));
        let (strict, pointer) = (self.switch(tool, "strict", pointer), pointer.to_owned());
        let tools = &mut self.conversation.settings.tools;
        tools.push(ToolDefinition { name, description, schema, strict, free: None, pointer });
    }

    /// Reads a tool that takes any text. Its grammar may be an object under `grammar`.
    pub(crate) fn free_tool(&mut self, tool: Value<'_, '_>, pointer: &str) {
        let count = self.conversation.settings.tools.len();
        self.tool(tool, "format", pointer);
        let grammar = member(tool, "format").and_then(|format| {
            let inner = member(format, "grammar").unwrap_or(format);
            let grammar = string(inner, "syntax").zip(string(inner, "definition"));
            if grammar.is_none() && string(format, "type").as_deref() != Some("text") {
                self.note_dropped("grammar of a tool", format!("{pointer}/format"), NOT_CARRIED);
            }
            grammar.map(|(syntax, definition)| Grammar { syntax, definition })
        });
        if let Some(tool) = self.conversation.settings.tools.get_mut(count) {
            tool.schema = None;
            tool.free = Some(FreeText { grammar });
        }
    }

    /// Adds a tool that its provider knows by its type and the client runs.
    pub(crate) fn typed_tool(&mut self, name: &str, pointer: &str) {
        let note = "it is known by its type; elsewhere it is a tool of that name that takes any object";
        self.note_lost(format!("tool `{name}`"), pointer, Fate::Altered, note);
        let (name, pointer) = (name.to_owned(), pointer.to_owned());
        let tool = ToolDefinition { name, description: None, schema: None, strict: None, free: None, pointer };
        self.conversation.settings.tools.push(tool);
    }
}
