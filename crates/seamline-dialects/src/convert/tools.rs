//! Definitions of tools, lifted.

use seamline_model::conversation::{Fate, FreeText, Grammar, ToolDefinition};

use super::lifting::{Lifting, NOT_CARRIED, compact, member, string};
use crate::json::Value;

/// What a tool takes that takes any text, where there are only objects.
pub(super) const FREE_SCHEMA: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

impl Lifting {
    /// A tool that may be called, whose schema is under this key; nothing for a definition that
    /// names none.
    pub(crate) fn tool(&mut self, tool: Value<'_, '_>, schema: &str, pointer: &str) {
        let Some(name) = string(tool, "name") else {
            return self.left("tool", pointer, "it is one of the provider's own, or has no name");
        };
        self.strangers(tool, &["type", "name", "description", "strict", schema], pointer);
        let description = self.field(tool, "description", pointer);
        let schema = member(tool, schema).map(|schema| compact(schema.raw()));
        let (strict, pointer) = (self.switch(tool, "strict", pointer), pointer.to_owned());
        let tools = &mut self.conversation.settings.tools;
        tools.push(ToolDefinition { name, description, schema, strict, free: None, pointer });
    }

    /// A tool that takes any text. Where its grammar has an object of its own, that is under `grammar`.
    pub(crate) fn free_tool(&mut self, tool: Value<'_, '_>, pointer: &str) {
        let count = self.conversation.settings.tools.len();
        self.tool(tool, "format", pointer);
        let grammar = member(tool, "format").and_then(|format| {
            let inner = member(format, "grammar").unwrap_or(format);
            let grammar = string(inner, "syntax").zip(string(inner, "definition"));
            if grammar.is_none() && string(format, "type").as_deref() != Some("text") {
                self.left("grammar of a tool", format!("{pointer}/format"), NOT_CARRIED);
            }
            grammar.map(|(syntax, definition)| Grammar { syntax, definition })
        });
        if let Some(tool) = self.conversation.settings.tools.get_mut(count) {
            tool.schema = None;
            tool.free = Some(FreeText { grammar });
        }
    }

    /// A tool that its provider knows by its type, and that the client runs.
    pub(crate) fn typed_tool(&mut self, name: &str, pointer: &str) {
        let note = "it is known by its type; elsewhere it is a tool of that name that takes any object";
        self.lost(format!("tool `{name}`"), pointer, Fate::Altered, note);
        let (name, pointer) = (name.to_owned(), pointer.to_owned());
        let tool = ToolDefinition { name, description: None, schema: None, strict: None, free: None, pointer };
        self.conversation.settings.tools.push(tool);
    }
}
