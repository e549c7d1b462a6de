//! What tools want to be called with.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::openapi;
use super::places::Places;
use super::work::is_affordable;

/// How many things are said about arguments that do not fit.
const COMPLAINTS_MAX: usize = 5;
/// How long each of them may be: a schema can quote a whole document.
const COMPLAINT_BYTES_MAX: usize = 300;

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

/// A schema and what checks it.
#[derive(Debug)]
struct Schema {
    validator: Validator,
    /// What checks no more than the outermost level, for arguments that take too long to check.
    outline: Validator,
    places: Places,
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
    /// ever. The tool is known then all the same, and takes any arguments.
    pub fn add(&mut self, name: &str, schema: Option<&str>) -> Result<(), SchemaError> {
        let failed = |why: String| SchemaError { tool: name.to_owned(), why };
        let read = schema.map(serde_json::from_str::<Value>).transpose().map_err(|error| failed(error.to_string()));
        let required = read.as_ref().ok().and_then(Option::as_ref).map(required).unwrap_or_default();
        let (schema, added) = match read.and_then(|schema| schema.map(compiled).transpose().map_err(failed)) {
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
        let Some(schema) = self.tools.get(name).and_then(|tool| tool.schema.as_ref()) else { return Look::default() };
        let is_partial = !is_affordable(&schema.places, arguments);
        let validator = if is_partial { &schema.outline } else { &schema.validator };
        let errors = validator.iter_errors(arguments).take(COMPLAINTS_MAX);
        Look { complaints: errors.map(|error| complaint(&error)).collect(), is_partial }
    }
}

fn compiled(mut written: Value) -> Result<Schema, String> {
    openapi::settle(&mut written);
    let (places, outline) = Places::of(&written)?;
    if !is_affordable(&places, &Value::Object(Map::new())) {
        return Err("to hold arguments against it would take for ever, or it refers to what is not in it".to_owned());
    }
    let validator = |schema| jsonschema::validator_for(schema).map_err(|error| error.to_string());
    Ok(Schema { validator: validator(&written)?, outline: validator(&outline)?, places })
}

fn complaint(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let mut text = if place.is_empty() { error.to_string() } else { format!("{place}: {error}") };
    if text.len() > COMPLAINT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(COMPLAINT_BYTES_MAX));
        text.push('…');
    }
    text
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
