//! `anthropic_messages`: the Messages API of Anthropic and of compatible servers.

mod constraints;
mod detect;
mod failures;
mod lift;
mod members;
mod render;
mod response;
mod stream;
mod wire;
mod words;
mod write;

pub use constraints::CONSTRAINTS;
pub(crate) use constraints::NO_PREFILL;

use seamline_model::Envelope;

use crate::blocks::{self, Shape};
use crate::convert::lifting::Lifting;
use crate::foreign_result::OwnResults;
use crate::json::{Value, list, member, object};
use crate::no_message::is_typed;
use crate::reader::{self, Form};
use crate::response_facts::FactPaths;
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope as settings, results, roles};

pub(crate) const NAME: &str = "anthropic_messages";

/// The prefixes of the ids that providers of the dialect give. A repair makes ids with the first.
pub(crate) const ID_PREFIXES: &[&str] = &["toolu_"];

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "tool_calls",
    model: "model",
    hint: reader::MESSAGES_HINT,
    request: settings::request,
    envelope,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape {
    content: FORM.content,
    // ANT-1, from the SDK's types.
    settings: &["output_config", "clear_at"],
    role: roles::read,
    called: roles::plain,
    results: Some(&RESULTS),
    block: wire::block,
};

/// ANT-2: results are blocks of the user, and there is no role of a tool.
const RESULTS: OwnResults = OwnResults {
    is_result: |block| is_typed(block, &["tool_result"]),
    write: |id, output| {
        let block = object([member("type", "tool_result"), ("tool_use_id", id), ("content", output)]);
        vec![member("role", "user"), ("content", list(vec![block]))]
    },
};

/// Reads whether the provider stores the messages before these. ANT-42: a thread continues from the last one.
fn envelope(body: Value<'_, '_>) -> Envelope {
    let kind = body.object().and_then(|body| body.get("thread")?.object()?.get("type"));
    Envelope { chained: kind.is_some_and(|kind| kind.says("continue")), ..Envelope::default() }
}

/// The places of the facts about a response.
const FACTS: FactPaths = FactPaths {
    model: &["model"],
    finish_reasons: &[&["stop_reason"]],
    input_tokens: &[
        &["usage", "input_tokens"],
        &["usage", "cache_creation_input_tokens"],
        &["usage", "cache_read_input_tokens"],
    ],
    output_tokens: &[&["usage", "output_tokens"]],
};

/// The dialect of Anthropic's Messages API.
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
