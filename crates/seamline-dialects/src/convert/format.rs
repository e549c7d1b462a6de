//! The demanded format of a response, as both dialects of `OpenAI` write it.

use seamline_model::conversation::ResponseSchema;

use super::lifting::{Lifting, compact, member};
use super::{Draft, Members};
use crate::json::{Json, Value, member as text_member};

/// The name of a schema without one, for dialects that demand a name.
const NAME: &str = "answer";

impl Lifting {
    /// Reads the format of a response from the object that has its schema.
    pub(crate) fn response_schema(&mut self, value: Value<'_, '_>, pointer: &str) -> ResponseSchema {
        ResponseSchema {
            name: self.field(value, "name", pointer),
            description: self.field(value, "description", pointer),
            schema: member(value, "schema").map(|schema| compact(schema.raw())),
            strict: self.switch(value, "strict", pointer),
        }
    }
}

/// Writes the members that demand a format.
pub(crate) fn schema_members(draft: &mut Draft, schema: ResponseSchema) -> Members<'static> {
    if schema.name.is_none() {
        draft.note_added("name of the response schema", "required; set to `answer`");
    }
    let mut members = vec![text_member("name", schema.name.unwrap_or_else(|| NAME.to_owned()))];
    members.extend(schema.description.map(|text| text_member("description", text)));
    members.extend(schema.schema.map(|schema| ("schema", Json::Written(schema))));
    members.extend(schema.strict.map(|strict| ("strict", Json::Bool(strict))));
    members
}
