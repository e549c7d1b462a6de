//! The Vercel AI SDK: messages of its user interface, with parts that have a type.

mod read;
mod write;

use crate::Program;
use crate::sample::{Sample, has};
use crate::session::Format;
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    advice: "`convertToModelMessages` makes model messages of them; give the request body that the SDK sends",
    ..Program::of_sessions("Vercel AI SDK", "a list of UI messages of the Vercel AI SDK", detect, &FORMAT)
};

static FORMAT: Format = Format { write: Some(write::write), ..Format::of_list(read::read) };

fn detect(sample: &Sample<'_>) -> bool {
    let is_typed = |part: &Value| has(part, &["type"]);
    sample.list("messages").iter().any(|message| {
        let parts = message.get("parts").and_then(Value::as_array);
        has(message, &["id", "role"]) && parts.is_some_and(|parts| parts.iter().any(is_typed))
    })
}
