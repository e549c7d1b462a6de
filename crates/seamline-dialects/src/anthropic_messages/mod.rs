//! `anthropic_messages`: the Messages API of Anthropic and of compatible servers.

mod constraints;
mod detect;
mod lift;
mod members;
mod render;
mod response;
mod stream;
mod wire;
mod write;

pub use constraints::CONSTRAINTS;
pub(crate) use constraints::NO_PREFILL;

use crate::blocks::{self, Shape};
use crate::convert::Converter;
use crate::convert::lifting::Lifting;
use crate::reader::{self, Form};
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results, roles};

pub(crate) const NAME: &str = "anthropic_messages";

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "tool_calls",
    model: "model",
    hint: reader::MESSAGES_HINT,
    request: envelope::request,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape { content: FORM.content, role: roles::read, called: roles::plain, block: wire::block };

/// The dialect of Anthropic's Messages API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, demands| blocks::encode(&write::Writer, transcript, edits, demands.joint_answers),
    converter: &Converter {
        list: FORM.list,
        model: FORM.model,
        names_model: true,
        prompt: Some("system"),
        lift: |body| Lifting::run_blocks(body, &lift::FORM, lift::block),
        render: render::render,
        call_id: CONSTRAINTS.call_id,
        tool_name: CONSTRAINTS.tool_name,
    },
    results: &Results { write: render::results, said: results::as_it_is },
    shapes: &detect::SHAPES,
    streaming: &Streaming { reader: stream::reader, response: response::write, messages: response::messages },
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    providers: &[],
};
