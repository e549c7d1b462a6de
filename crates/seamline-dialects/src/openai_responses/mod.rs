//! `openai_responses`: the Responses API, where a conversation is a list of items.

mod card;
mod constraints;
mod decode;
mod detect;
mod encode;
mod failures;
mod item;
mod lift;
mod render;
mod response;
mod result;
mod rewrite;
mod stream;
mod wire;
mod words;

pub use constraints::CONSTRAINTS;
pub(crate) use constraints::ITEM_ID;

use crate::convert::lifting::Lifting;
use crate::reader::Form;
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope};

pub(crate) const NAME: &str = "openai_responses";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first.
pub(crate) const ID_PREFIXES: &[&str] = &["call_", "fc_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "input",
    content: "content",
    calls: "",
    model: "model",
    hint: "give an object with an `input` list, or that list itself",
    request: envelope::request,
    envelope: decode::envelope,
    message: decode::message,
};

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["model"],
    finish_reasons: &[&["status"], &["incomplete_details", "reason"]],
    input_tokens: &[&["usage", "input_tokens"]],
    output_tokens: &[&["usage", "output_tokens"]],
};

/// The dialect of the Responses API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: decode::body,
    encode: |transcript, edits, _| encode::encode(transcript, edits),
    lift: |body| Lifting::run(body, &lift::FORM, lift::item),
    room: &render::ROOM,
    render: render::render,
    results: &Results { write: result::write, said: result::said },
    shapes: &detect::SHAPES,
    unlisted_calls: None,
    streaming: &Streaming {
        reader: stream::reader,
        response: response::write,
        messages: response::messages,
        is_aws_framed: false,
    },
    failures: &failures::FAILURES,
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    facts: &FACTS,
    signing: None,
    words: words::WORDS,
    providers: &[],
};
