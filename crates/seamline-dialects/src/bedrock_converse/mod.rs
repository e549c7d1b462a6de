//! `bedrock_converse`: the Converse API of AWS Bedrock.

mod constraints;
mod detect;
mod lift;
mod render;
mod response;
mod stream;
mod wire;
mod write;

use seamline_model::Alphabet;

pub use constraints::CONSTRAINTS;

use crate::blocks::{self, Shape};
use crate::convert::lifting::Lifting;
use crate::convert::{self, Converter};
use crate::reader::{self, Form};
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results, roles};

pub(crate) const NAME: &str = "bedrock_converse";

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "content",
    model: "modelId",
    hint: reader::MESSAGES_HINT,
    request: envelope::request,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape { content: FORM.content, role: roles::read, called: roles::plain, block: wire::block };

/// The dialect of Bedrock's Converse API.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, demands| blocks::encode(&write::Writer, transcript, edits, demands.joint_answers),
    converter: &Converter {
        list: FORM.list,
        model: FORM.model,
        names_model: false,
        prompt: Some("system"),
        lift: |body| Lifting::run_blocks(body, &lift::FORM, lift::block),
        render: render::render,
        // BED-2: every model behind it takes these.
        call_id: convert::ids(Alphabet::Word, 64, "tooluse_"),
        tool_name: convert::names(64),
    },
    results: &Results { write: render::results, said: results::as_it_is },
    shapes: &detect::SHAPES,
    streaming: &Streaming { reader: stream::reader, response: response::write, messages: response::messages },
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    providers: &[],
};
