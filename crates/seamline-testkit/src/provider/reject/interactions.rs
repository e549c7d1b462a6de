//! The words of Google's Interactions. Few of its errors are recorded; where none is, the words are those of
//! generateContent for the same mistake.

use serde_json::{Value, json};

use super::{Case, Words};
use crate::provider::Reply;
use crate::strict::{ViolationKind as K, wire};

/// The recorded errors are adk-python#4381 and inspect-robots#380.
pub(crate) fn words(case: &Case<'_>) -> Words {
    let at = format!("input[{}]", case.at);
    let kind = Some(wire::kind(case.message)).filter(|kind| !kind.is_empty()).unwrap_or("content");
    Words::of(match case.kind {
        K::NoMessages => "contents.parts must not be empty.".to_owned(),
        K::UnknownRole => "Please use a valid role: user, model.".to_owned(),
        K::UnansweredCall | K::DuplicateResult | K::DuplicateCallId => {
            "Please ensure that the number of function response \
                                                                        parts is equal to the number of function call \
                                                                        parts of the function call turn."
                .to_owned()
        }
        K::OrphanResult => {
            "Please ensure that function response turn comes immediately after a function call turn.".to_owned()
        }
        K::BadResultId => format!("Missing call_id in content of type {kind}"),
        K::BadResultName => format!("Missing name in content of type {kind}"),
        K::BadResultContent => "'result' must be a Struct, FunctionResultSubcontent[], or string".to_owned(),
        K::BadCallId => format!("{at}: missing field `id`"),
        K::BadToolName => match case.message.get("name").and_then(Value::as_str) {
            None | Some("") => format!("{at}: missing field `name`"),
            Some(name) => format!("Invalid function name {name}."),
        },
        K::BadInput => match case.message.get("arguments") {
            None => format!("{at}: missing field `arguments`"),
            Some(_) => format!("{at}.arguments: Input should be a valid dictionary"),
        },
        K::BadContent => format!("{at}.content: Input should be a valid list"),
        _ => format!("{at}.content: Input should be an object"),
    })
}

/// The response with these words.
pub(crate) fn reply(words: &Words) -> Reply {
    Reply::json(400, &json!({"error": {"message": words.message, "code": "invalid_request"}}))
}
