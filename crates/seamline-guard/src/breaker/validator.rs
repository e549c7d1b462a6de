//! Checks a tool's arguments against its JSON Schema.

use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use super::openapi;
use super::places::SchemaPlaces;
use super::schema::SchemaCheck;
use super::work::is_affordable;

/// The most violations that one check reports.
const COMPLAINTS_MAX: usize = 5;
/// The most bytes of a violation: it can quote a whole document.
const COMPLAINT_BYTES_MAX: usize = 300;

/// A schema and its validators.
#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    /// Checks only the outermost level, for arguments that take too long to check.
    outline: Validator,
    places: SchemaPlaces,
}

impl Schema {
    /// Reads a schema, or says why it cannot be used.
    pub(super) fn compile(mut written: Value) -> Result<Self, String> {
        openapi::translate(&mut written);
        let (places, outline) = SchemaPlaces::of(&written)?;
        if !is_affordable(&places, &Value::Object(Map::new())) {
            return Err("a check against it would take too long, or it refers to another document".to_owned());
        }
        let validator = |schema| jsonschema::validator_for(schema).map_err(|error| error.to_string());
        Ok(Self { validator: validator(&written)?, outline: validator(&outline)?, places })
    }

    /// Checks arguments against the schema: completely, or only their outermost level if a full check would take too long.
    pub(super) fn check(&self, arguments: &Value) -> SchemaCheck {
        let is_partial = !is_affordable(&self.places, arguments);
        let validator = if is_partial { &self.outline } else { &self.validator };
        let errors = validator.iter_errors(arguments).take(COMPLAINTS_MAX);
        SchemaCheck { complaints: errors.map(|error| complaint(&error)).collect(), is_partial }
    }
}

fn complaint(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let mut text = if place.is_empty() { error.to_string() } else { format!("{place}: {error}") };
    if text.len() > COMPLAINT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(COMPLAINT_BYTES_MAX));
        text.push('…');
    }
    text
}
