//! What an answer must look like, as the dialects of one provider write it.

use seamline_model::conversation::AnswerSchema;

use super::lifting::{compact, is_on, member, string};
use super::{Draft, Members};
use crate::json::{Json, Value, member as text_member};

/// What a schema is called where nobody named it and a name is demanded.
const NAME: &str = "answer";

/// The form of an answer.
pub(crate) fn answer_schema(value: Value<'_, '_>) -> AnswerSchema {
    AnswerSchema {
        name: string(value, "name"),
        description: string(value, "description"),
        schema: member(value, "schema").map(|schema| compact(schema.raw())),
        strict: is_on(value, "strict"),
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
