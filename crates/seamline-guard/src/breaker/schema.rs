//! What tools want to be called with.

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
    /// Nothing when any arguments will do.
    schema: Option<Schema>,
    required: Vec<String>,
}

/// What a look at arguments brought.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// What is wrong with them.
    pub(super) complaints: Vec<String>,
    /// Whether no more than their outermost level was looked at.
    pub(super) is_partial: bool,
}

/// Why a tool's schema could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of tool `{tool}` cannot be used: {why}")]
pub struct SchemaError {
    /// The tool.
    pub tool: String,
    /// What is wrong with its schema.
    pub why: String,
}

impl ToolSchemas {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and the schema of its arguments, as JSON; nothing when any will do, as with
    /// custom tools, which take free text.
    /// References to other documents are not followed. What Gemini writes its own way (`OBJECT`,
    /// `nullable`, numbers in quotes) is understood.
    ///
    /// # Errors
    ///
    /// When the schema is not JSON, or no JSON Schema, or to hold anything against it would take for
    /// ever, or the feature `schemas` is off. The tool is known then all the same, and takes any arguments.
    pub fn add(&mut self, name: &str, schema: Option<&str>) -> Result<(), SchemaError> {
        let failed = |why: String| SchemaError { tool: name.to_owned(), why };
        let read = schema.map(serde_json::from_str::<Value>).transpose().map_err(|error| failed(error.to_string()));
        let required = read.as_ref().ok().and_then(Option::as_ref).map(required).unwrap_or_default();
        let (schema, added) = match read.and_then(|schema| schema.map(Schema::of).transpose().map_err(failed)) {
            Ok(schema) => (schema, Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.tools.insert(name.to_owned(), Tool { schema, required });
        added
    }

    /// Whether there is a tool of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Whether the arguments of a tool are held against something.
    pub(crate) fn has_schema(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.schema.is_some())
    }

    /// The members that a tool's arguments must have.
    pub(crate) fn required(&self, name: &str) -> &[String] {
        self.tools.get(name).map_or(&[], |tool| &tool.required)
    }

    /// Holds arguments against the schema of a tool: all of them, or, where that would take too
    /// long, their outermost level.
    pub(super) fn look(&self, name: &str, arguments: &Value) -> Look {
        let schema = self.tools.get(name).and_then(|tool| tool.schema.as_ref());
        schema.map(|schema| schema.look(arguments)).unwrap_or_default()
    }
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
