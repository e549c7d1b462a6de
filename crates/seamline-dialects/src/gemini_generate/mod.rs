//! `gemini_generate`: Google's generateContent, also through Vertex AI.

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
use crate::convert::{self, Converter};
use crate::reader::{self, Form};
use crate::streaming::Streaming;
use crate::{Dialect, Results, envelope, results};

pub(crate) const NAME: &str = "gemini_generate";

const FORM: Form = Form {
    dialect: NAME,
    list: "contents",
    content: "parts",
    calls: "parts",
    model: "model",
    hint: "give an object with a `contents` list, or that list itself",
    request: envelope::request,
    message: |reader, value| blocks::message(reader, value, &SHAPE),
};

const SHAPE: Shape = Shape { content: FORM.content, role: wire::role, called: wire::called, block: wire::block };

/// The dialect of Google's generateContent.
pub const DIALECT: Dialect = Dialect {
    form: FORM,
    constraints: &CONSTRAINTS,
    decode: reader::decode,
    encode: |transcript, edits, demands| blocks::encode(&write::Writer, transcript, edits, demands.joint_answers),
    converter: &Converter {
        list: FORM.list,
        model: FORM.model,
        names_model: false,
        prompt: Some("systemInstruction"),
        lift: lift::lift,
        render: render::render,
        // GEM-8: models of other makers that speak the same dialect want these.
        call_id: convert::ids(Alphabet::Word, 64, "call_"),
        tool_name: convert::names(64),
    },
    results: &Results { write: render::results, said: results::as_it_is },
    shapes: &detect::SHAPES,
    streaming: &Streaming { reader: stream::reader, response: response::write, messages: response::messages },
    body_signs: &detect::BODY,
    stream_signs: &detect::STREAM,
    providers: &[],
};
