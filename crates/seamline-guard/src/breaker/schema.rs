//! The schemas of tools.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::openapi;
use super::places::Places;
use super::work::is_affordable;

/// The most violations that are reported.
const COMPLAINTS_MAX: usize = 5;
/// The most bytes of a violation: it can quote a whole document.
const COMPLAINT_BYTES_MAX: usize = 300;

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

/// A schema with its validators.
#[derive(Debug)]
struct Schema {
    validator: Validator,
    /// Checks only the outermost level, for arguments whose full check takes too long.
    outline: Validator,
    places: Places,
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
    /// When the schema is not JSON or not a JSON Schema, or a check against it would take too long. The tool is added all
    /// the same and takes any arguments.
    pub fn add(&mut self, name: &str, schema: Option<&str>) -> Result<(), SchemaError> {
        let failed = |why: String| SchemaError { tool: name.to_owned(), why };
        let read = schema.map(serde_json::from_str::<Value>).transpose().map_err(|error| failed(error.to_string()));
        let required = read.as_ref().ok().and_then(Option::as_ref).map(required).unwrap_or_default();
        let (schema, added) = match read.and_then(|schema| schema.map(compile).transpose().map_err(failed)) {
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
        let Some(schema) = self.tools.get(name).and_then(|tool| tool.schema.as_ref()) else {
            return SchemaCheck::default();
        };
        let is_partial = !is_affordable(&schema.places, arguments);
        let validator = if is_partial { &schema.outline } else { &schema.validator };
        let errors = validator.iter_errors(arguments).take(COMPLAINTS_MAX);
        SchemaCheck { complaints: errors.map(|error| complaint(&error)).collect(), is_partial }
    }
}

fn compile(mut written: Value) -> Result<Schema, String> {
    openapi::translate(&mut written);
    let (places, outline) = Places::of(&written)?;
    if !is_affordable(&places, &Value::Object(Map::new())) {
        return Err("a check against it would take too long, or it refers to another document".to_owned());
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
