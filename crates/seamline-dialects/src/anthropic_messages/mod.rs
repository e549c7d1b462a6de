//! `anthropic_messages`: the Messages API of Anthropic and of those who speak like it.

mod answer;
mod constraints;
mod lift;
mod members;
mod render;
mod stream;
mod wire;
mod write;

use seamline_model::{Constraints, Edit, Encoded, Place, Span, Transcript};

pub use constraints::CONSTRAINTS;
pub(crate) use constraints::NO_PREFILL;

use crate::blocks::{self, Shape};
use crate::convert::Converter;
use crate::json::{Object, Value};
use crate::no_message::{holds, is_typed};
use crate::reader::{self, Form, Reader};
use crate::results;
use crate::streaming::Streaming;
use crate::{Dialect, Error, Results, Shapes, roles};

/// The dialect of Anthropic's Messages API.
#[derive(Debug, Clone, Copy)]
pub struct AnthropicMessages;

/// Its name.
pub(crate) const NAME: &str = "anthropic_messages";

const FORM: Form =
    Form { dialect: NAME, list: "messages", content: "content", calls: "tool_calls", model: "model", message };

const SHAPE: Shape = Shape { content: "content", role: wire::role, called: roles::plain, block: wire::block };

fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    blocks::message(reader, value, &SHAPE);
}

const CONVERTER: Converter = Converter {
    list: FORM.list,
    model: FORM.model,
    names_model: true,
    lift: lift::lift,
    render: render::render,
    call_id: CONSTRAINTS.call_id,
    tool_name: CONSTRAINTS.tool_name,
};

const STREAMING: Streaming = Streaming { reader: stream::reader, answer: answer::answer, messages: answer::messages };

const RESULTS: Results = Results { write: render::results, said: results::as_it_is };

const SHAPES: Shapes = Shapes {
    is_response: |answer| answer.get("role").is_some() && answer.get("stop_reason").is_some(),
    message: "{role, content}",
    is_bare: |_| false,
    is_pair,
    has_pairs: |message| holds(message, FORM.content, is_pair),
    restates: |_| false,
};

fn is_pair(block: Object<'_, '_>) -> bool {
    is_typed(block, &["tool_use", "tool_result"])
}

impl Dialect for AnthropicMessages {
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
