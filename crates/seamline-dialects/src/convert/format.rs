//! What an answer must look like, as the dialects of one provider write it.

use seamline_model::conversation::AnswerSchema;

use super::lifting::{Lifting, compact, member};
use super::{Draft, Members};
use crate::json::{Json, Value, member as text_member};

/// What a schema is called where nobody named it and a name is demanded.
const NAME: &str = "answer";

impl Lifting {
    /// The form of an answer, in the object that has its schema.
    pub(crate) fn answer_schema(&mut self, value: Value<'_, '_>, pointer: &str) -> AnswerSchema {
        AnswerSchema {
            name: self.field(value, "name", pointer),
            description: self.field(value, "description", pointer),
            schema: member(value, "schema").map(|schema| compact(schema.raw())),
            strict: self.switch(value, "strict", pointer),
        }
    }
}

/// The members that say the form of an answer.
pub(crate) fn schema_members(draft: &mut Draft, schema: AnswerSchema) -> Members<'static> {
    if schema.name.is_none() {
        draft.added("name of the answer's schema", "the dialect demands one; `answer` is put there");
    }
    let mut members = vec![text_member("name", schema.name.unwrap_or_else(|| NAME.to_owned()))];
    members.extend(schema.description.map(|text| text_member("description", text)));
    members.extend(schema.schema.map(|schema| ("schema", Json::Written(schema))));
    members.extend(schema.strict.map(|strict| ("strict", Json::Bool(strict))));
    members
}
