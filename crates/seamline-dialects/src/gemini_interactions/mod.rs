//! `gemini_interactions`: Google's Interactions API, where a conversation is a list of steps.

mod constraints;
mod decode;
mod detect;
mod encode;
mod failures;
mod lift;
mod provider;
mod render;
mod response;
mod rewrite;
mod step;
mod stream;
mod wire;
mod words;
mod write;

pub use constraints::CONSTRAINTS;

use crate::reader::Form;
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results};

pub(crate) const NAME: &str = "gemini_interactions";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first. Google's own ids
/// have no prefix.
pub(crate) const ID_PREFIXES: &[&str] = &["call_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "input",
    content: "content",
    calls: "",
    model: "model",
    hint: "give an object with an `input` of steps, or the list of steps itself",
    request: envelope::request,
    envelope: decode::envelope,
    message: decode::message,
};

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["model"],
    finish_reasons: &[&["status"]],
    input_tokens: &[&["usage", "total_input_tokens"]],
    output_tokens: &[&["usage", "total_output_tokens"], &["usage", "total_thought_tokens"]],
};

/// The dialect of Google's Interactions API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: decode::body,
    encode: |transcript, edits, _| encode::encode(transcript, edits),
    lift: lift::lift,
    room: &render::ROOM,
    render: render::render,
    results: &Results { write: write::results, said: results::as_it_is },
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
    providers: &[&provider::PROVIDER],
};
