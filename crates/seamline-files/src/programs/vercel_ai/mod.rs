//! The Vercel AI SDK: messages of its user interface, with parts that have a type.

mod read;
mod write;

use crate::Program;
use crate::sample::{Sample, has};
use crate::session::{FileLayout, Format};
use serde_json::Value;

pub(super) const PROGRAM: Program = Program {
    name: "Vercel AI SDK",
    what: "a list of UI messages of the Vercel AI SDK",
    places: &[],
    extract: None,
    advice: "`convertToModelMessages` makes model messages of them; give the request body that the SDK sends",
    detect,
    session: Some(&FORMAT),
    bodies: None,
};

static FORMAT: Format =
    Format { document: FileLayout::List, read: read::read, write: Some(write::write), resume: |_| None };

fn detect(sample: &Sample<'_>) -> bool {
    let is_typed = |part: &Value| has(part, &["type"]);
    sample.list("messages").iter().any(|message| {
        let parts = message.get("parts").and_then(Value::as_array);
        has(message, &["id", "role"]) && parts.is_some_and(|parts| parts.iter().any(is_typed))
    })
}
