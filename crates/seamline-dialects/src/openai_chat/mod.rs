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
mod stream;
mod wire;

pub use constraints::{COMPATIBLE, CONSTRAINTS};

use crate::convert::Converter;
use crate::convert::lifting::Lifting;
use crate::reader::{self, Form};
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results};

pub(crate) const NAME: &str = "openai_chat";

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "tool_calls",
    model: "model",
    hint: reader::MESSAGES_HINT,
    request: envelope::request,
    message: decode::message,
};

/// The dialect of the Chat Completions API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, _| encode::encode(transcript, edits),
    converter: &Converter {
        list: FORM.list,
        model: FORM.model,
        names_model: true,
        prompt: None,
        lift: |body| Lifting::run(body, &lift::FORM, lift::message),
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
