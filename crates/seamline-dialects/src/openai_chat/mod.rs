//! `openai_chat`: Chat Completions, as `OpenAI` and most other servers speak it.

mod calls;
mod constraints;
mod decode;
mod detect;
mod encode;
mod foreign;
mod lift;
mod render;
mod response;
mod rewrite;
mod signing;
mod stream;
mod wire;
mod words;

pub use constraints::{COMPATIBLE, CONSTRAINTS};

use crate::convert::lifting::Lifting;
use crate::reader::{self, Form};
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, failures, results};

pub(crate) const NAME: &str = "openai_chat";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first.
pub(crate) const ID_PREFIXES: &[&str] = &["call_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "tool_calls",
    model: "model",
    hint: reader::MESSAGES_HINT,
    request: envelope::request,
    envelope: reader::no_envelope,
    message: decode::message,
};

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["model"],
    finish_reasons: &[&["choices", "*", "finish_reason"]],
    input_tokens: &[&["usage", "prompt_tokens"]],
    output_tokens: &[&["usage", "completion_tokens"]],
};

/// The dialect of the Chat Completions API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, _| encode::encode(transcript, edits),
    lift: |body| Lifting::run(body, &lift::FORM, lift::message),
    room: &render::ROOM,
    render: render::render,
    results: &Results { write: render::results, said: results::as_it_is },
    shapes: &detect::SHAPES,
    unlisted_calls: Some(&lift::UNLISTED),
    streaming: &Streaming {
        reader: stream::reader,
        response: response::write,
        messages: response::messages,
        is_aws_framed: false,
    },
    failures: &failures::OPENAI,
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    facts: &FACTS,
    signing: Some(&signing::SIGNING),
    words: words::WORDS,
    providers: &[],
};
