//! `openai_chat`: Chat Completions, as `OpenAI` and most other servers speak it.

mod answer;
mod calls;
mod constraints;
mod decode;
mod encode;
mod foreign;
mod lift;
mod render;
mod rewrite;
mod stream;
mod wire;

use seamline_model::{Constraints, Edit, Encoded, Place, Span, Transcript};

pub use constraints::{COMPATIBLE, CONSTRAINTS};

use crate::convert::Converter;
use crate::no_message::{has_role, holds};
use crate::reader::{self, Form};
use crate::results;
use crate::streaming::Streaming;
use crate::{Dialect, Error, Results, Shapes};

/// The dialect of the Chat Completions API.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat;

/// Its name.
pub(crate) const NAME: &str = "openai_chat";

const FORM: Form = Form {
    dialect: NAME,
    list: "messages",
    content: "content",
    calls: "tool_calls",
    model: "model",
    message: decode::message,
};

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
    is_response: |answer| !has_role(answer) && answer.get("choices").is_some(),
    message: ".choices[0].message",
    is_bare: |_| false,
    is_pair: |_| false,
    has_pairs: lift::has_pairs,
    restates: |message| holds(message, FORM.content, foreign::is_pair),
};

impl Dialect for OpenAiChat {
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

    fn encode(&self, transcript: &Transcript<'_>, edits: &[Edit], _: &Constraints) -> Encoded {
        encode::encode(transcript, edits)
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
