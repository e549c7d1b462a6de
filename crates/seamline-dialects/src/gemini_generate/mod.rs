//! `gemini_generate`: Google's generateContent, also through Vertex AI.

mod constraints;
mod detect;
mod failures;
mod lift;
mod render;
mod response;
mod signing;
mod stream;
mod wire;
mod words;
mod write;

pub use constraints::CONSTRAINTS;

use crate::blocks::{self, Shape};
use crate::reader::{self, Form};
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results};

pub(crate) const NAME: &str = "gemini_generate";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first.
pub(crate) const ID_PREFIXES: &[&str] = &["call_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "contents",
    content: "parts",
    calls: "parts",
    model: "model",
    hint: "give an object with a `contents` list, or that list itself",
    request: envelope::request,
    envelope: wire::envelope,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape {
    content: FORM.content,
    settings: &[],
    role: wire::role,
    called: wire::called,
    results: None,
    block: wire::block,
};

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["modelVersion"],
    finish_reasons: &[&["candidates", "*", "finishReason"]],
    input_tokens: &[&["usageMetadata", "promptTokenCount"]],
    output_tokens: &[&["usageMetadata", "candidatesTokenCount"], &["usageMetadata", "thoughtsTokenCount"]],
};

/// The dialect of Google's generateContent.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, demands| blocks::encode(&write::Writer, transcript, edits, demands.joint_results),
    lift: lift::lift,
    room: &render::ROOM,
    render: render::render,
    results: &Results { write: |results| blocks::results(&write::Writer, results), said: results::as_it_is },
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
    signing: Some(&signing::SIGNING),
    words: words::WORDS,
    providers: &[],
};
