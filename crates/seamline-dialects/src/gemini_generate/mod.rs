//! `gemini_generate`: Google's generateContent, also through Vertex AI.

mod answer;
mod constraints;
mod lift;
mod render;
mod stream;
mod wire;
mod write;

use seamline_model::{Alphabet, Constraints, Edit, Encoded, Place, Span, Transcript};

pub use constraints::CONSTRAINTS;

use crate::blocks::{self, Shape};
use crate::convert::{self, Converter};
use crate::json::{Object, Value};
use crate::no_message::{has_role, holds, is_named};
use crate::reader::{self, Form, Reader};
use crate::results;
use crate::streaming::Streaming;
use crate::{Dialect, Error, Results, Shapes};

/// The dialect of Google's generateContent.
#[derive(Debug, Clone, Copy)]
pub struct GeminiGenerate;

/// Its name.
pub(crate) const NAME: &str = "gemini_generate";

const FORM: Form = Form { dialect: NAME, list: "contents", content: "parts", calls: "parts", model: "model", message };

const SHAPE: Shape = Shape { content: "parts", role: wire::role, called: wire::called, block: wire::block };

fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    blocks::message(reader, value, &SHAPE);
}

const CONVERTER: Converter = Converter {
    list: FORM.list,
    model: FORM.model,
    names_model: false,
    lift: lift::lift,
    render: render::render,
    // GEM-8: what models of other makers behind the same dialect want.
    call_id: convert::ids(Alphabet::Word, 64, "call_"),
    tool_name: convert::names(64),
};

const STREAMING: Streaming = Streaming { reader: stream::reader, answer: answer::answer, messages: answer::messages };

const RESULTS: Results = Results { write: render::results, said: results::as_it_is };

const SHAPES: Shapes = Shapes {
    is_response: |answer| !has_role(answer) && answer.get("candidates").is_some(),
    message: ".candidates[0].content",
    is_bare: |content| content.get(FORM.content).is_some(),
    is_pair,
    has_pairs: |content| holds(content, FORM.content, is_pair),
    restates: |_| false,
};

fn is_pair(part: Object<'_, '_>) -> bool {
    is_named(part, &["functionCall", "function_call", "functionResponse", "function_response"])
}

impl Dialect for GeminiGenerate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn constraints(&self) -> &'static Constraints {
        &CONSTRAINTS
    }

    fn decode<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error> {
        reader::decode(body, FORM)
    }

    fn read_on<'a>(&self, transcript: Transcript<'a>, added: &[Span]) -> Option<Transcript<'a>> {
        reader::read_on(transcript, added, FORM)
    }

    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>> {
        reader::follow(before, encoded, FORM)
    }

    fn encode(&self, transcript: &Transcript<'_>, edits: &[Edit], demands: &Constraints) -> Encoded {
        blocks::encode(&write::Writer, transcript, edits, demands.joint_answers)
    }

    fn pointer(&self, transcript: &Transcript<'_>, place: &Place) -> String {
        crate::pointer::pointer(transcript, place, FORM)
    }

    fn converter(&self) -> &'static Converter {
        &CONVERTER
    }

    fn results(&self) -> &'static Results {
        &RESULTS
    }

    fn shapes(&self) -> &'static Shapes {
        &SHAPES
    }

    fn streaming(&self) -> &'static Streaming {
        &STREAMING
    }
}
