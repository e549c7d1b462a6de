//! HAR: requests that a browser recorded.

use std::borrow::Cow;

use crate::Program;
use crate::bodies::{Bodies, HeldBody};
use crate::json::{Object, elements, offset, string};
use crate::sample::{Sample, has};

pub(super) const PROGRAM: Program = Program {
    extract: Some("jq -r '.log.entries[0].request.postData.text' FILE"),
    advice: "Seamline does not write HAR files: they show what was sent; repair the session that the program sends",
    ..Program::of_bodies("HAR", "a HAR file of a browser", detect, &BODIES)
};

static BODIES: Bodies = Bodies {
    document: Some(|text| elements(Object::of(Object::of(text)?.get("log")?)?.get("entries")?)),
    find,
    provider: None,
    is_writable: false,
};

/// The body of a request, which is a JSON text in a string.
fn find(record: &str) -> Option<HeldBody<'_>> {
    let request = Object::of(Object::of(record)?.get("request")?)?;
    let text = Object::of(request.get("postData")?)?.get("text")?;
    let start = offset(record, text);
    let (span, pointer) = (start..start + text.len(), "/request/postData/text");
    Some(HeldBody { text: Cow::Owned(string(text)?), span, pointer, messages: None })
}

fn detect(sample: &Sample<'_>) -> bool {
    sample.root().get("log").is_some_and(|log| has(log, &["entries"]))
}
