//! `bedrock_converse`: the Converse API of AWS Bedrock.

mod constraints;
mod detect;
mod failures;
mod foreign;
mod lift;
mod render;
mod response;
mod stream;
mod wire;
mod words;
mod write;

pub use constraints::CONSTRAINTS;

use crate::blocks::{self, Shape};
use crate::convert::lifting::Lifting;
use crate::foreign_result::OwnResults;
use crate::json::{list, member, object};
use crate::reader::{self, Form};
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results, roles};

pub(crate) const NAME: &str = "bedrock_converse";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first.
pub(crate) const ID_PREFIXES: &[&str] = &["tooluse_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "content",
    model: "modelId",
    hint: reader::MESSAGES_HINT,
    request: envelope::request,
    envelope: reader::no_envelope,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape {
    content: FORM.content,
    settings: &[],
    role: roles::read,
    called: roles::plain,
    results: Some(&RESULTS),
    block: wire::block,
};

/// BED-1: the roles are those of the user and the assistant, and results are blocks of the user.
const RESULTS: OwnResults = OwnResults {
    is_result: |block| block.get("toolResult").is_some(),
    write: |id, output| {
        let result = object([("toolUseId", id), ("content", list(vec![object([("text", output)])]))]);
        vec![member("role", "user"), ("content", list(vec![object([("toolResult", result)])]))]
    },
};

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["model"],
    finish_reasons: &[&["stopReason"]],
    input_tokens: &[&["usage", "inputTokens"], &["usage", "cacheReadInputTokens"], &["usage", "cacheWriteInputTokens"]],
    output_tokens: &[&["usage", "outputTokens"]],
};

/// The dialect of Bedrock's Converse API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, demands| blocks::encode(&write::Writer, transcript, edits, demands.joint_results),
    lift: |body| Lifting::run_blocks(body, &lift::FORM, lift::block),
    room: &render::ROOM,
    render: render::render,
    results: &Results { write: |results| blocks::results(&write::Writer, results), said: results::as_it_is },
    shapes: &detect::SHAPES,
    unlisted_calls: None,
    streaming: &Streaming {
        reader: stream::reader,
        response: response::write,
        messages: response::messages,
        is_aws_framed: true,
    },
    failures: &failures::FAILURES,
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    facts: &FACTS,
    signing: None,
    words: words::WORDS,
    providers: &[],
};
