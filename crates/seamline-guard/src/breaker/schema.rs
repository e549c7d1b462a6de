//! The schemas of tools.

use std::collections::BTreeMap;

use serde_json::Value;

use super::validator::Schema;

/// The schemas of the tools that a model may call.
#[derive(Debug, Default)]
pub struct ToolSchemas {
    tools: BTreeMap<String, Tool>,
}

#[derive(Debug)]
struct Tool {
    /// The schema of the arguments; none if the tool takes any.
    schema: Option<Schema>,
    required: Vec<String>,
}

/// The result of checking arguments.
#[derive(Debug, Default)]
pub(super) struct SchemaCheck {
    /// The violations that were found.
    pub(super) complaints: Vec<String>,
    /// Whether only the outermost level was checked.
    pub(super) is_partial: bool,
}

/// A tool schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the schema of tool `{tool}`: {why}")]
pub struct SchemaError {
    /// The name of the tool.
    pub tool: String,
    /// The problem of its schema.
    pub why: String,
}

impl ToolSchemas {
    /// Makes an empty list of tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and the JSON schema of its arguments. Without a schema the tool takes any arguments, like custom tools,
    /// which take free text.
    ///
    /// References to other documents are not resolved. Gemini's own notation (`OBJECT`, `nullable`, numbers in quotes) is
    /// understood.
    ///
    /// # Errors
    ///
    /// When the schema is not JSON or not a JSON Schema, a check against it would take too long, or the feature `schemas`
    /// is off. The tool is added anyway and accepts any arguments.
    pub fn add(&mut self, name: &str, schema: Option<&str>) -> Result<(), SchemaError> {
        let failed = |why: String| SchemaError { tool: name.to_owned(), why };
        let read = schema.map(serde_json::from_str::<Value>).transpose().map_err(|error| failed(error.to_string()));
        let required = read.as_ref().ok().and_then(Option::as_ref).map(required).unwrap_or_default();
        let (schema, added) = match read.and_then(|schema| schema.map(Schema::compile).transpose().map_err(failed)) {
            Ok(schema) => (schema, Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.tools.insert(name.to_owned(), Tool { schema, required });
        added
    }

    /// Whether a tool has this name.
    pub fn knows(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Whether a tool has a usable schema.
    pub(crate) fn has_schema(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.schema.is_some())
    }

    /// Returns the required members of a tool's arguments.
    pub(crate) fn required(&self, name: &str) -> &[String] {
        self.tools.get(name).map_or(&[], |tool| &tool.required)
    }

    /// Checks arguments against the schema of a tool: completely, or only their outermost level if a full check would
    /// take too long.
    pub(super) fn check(&self, name: &str, arguments: &Value) -> SchemaCheck {
        let schema = self.tools.get(name).and_then(|tool| tool.schema.as_ref());
        schema.map(|schema| schema.check(arguments)).unwrap_or_default()
    }
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
