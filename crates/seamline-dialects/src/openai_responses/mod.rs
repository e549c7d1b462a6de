//! `openai_responses`: the Responses API, where a conversation is a list of items.

mod answer;
mod card;
mod constraints;
mod decode;
mod encode;
mod item;
mod lift;
mod render;
mod result;
mod rewrite;
mod stream;
mod wire;

use seamline_model::{Alphabet, Constraints, Edit, Encoded, ItemKind, Place, Span, Transcript};

pub use constraints::CONSTRAINTS;
pub(crate) use constraints::ITEM_ID;

use crate::convert::{self, Converter};
use crate::json::{Kind, Object, Value};
use crate::no_message::has_role;
use crate::reader::{self, Form};
use crate::streaming::Streaming;
use crate::{Dialect, Error, Results, Shapes};

/// The dialect of the Responses API.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiResponses;

/// Its name.
pub(crate) const NAME: &str = "openai_responses";

const FORM: Form =
    Form { dialect: NAME, list: "input", content: "content", calls: "", model: "model", message: decode::message };

const CONVERTER: Converter = Converter {
    list: FORM.list,
    model: FORM.model,
    names_model: true,
    lift: lift::lift,
    render: render::render,
    // OAR-13: only the length is looked at.
    call_id: convert::ids(Alphabet::Any, 64, "call_"),
    tool_name: convert::names(64),
};

const STREAMING: Streaming = Streaming { reader: stream::reader, answer: answer::answer, messages: answer::messages };

const RESULTS: Results = Results { write: result::write, said: result::said };

const SHAPES: Shapes = Shapes {
    is_response: |answer| !has_role(answer) && answer.get("output").is_some_and(|output| output.is(Kind::Array)),
    message: ".output[]",
    is_bare: |item| item.get("id").is_some(),
    is_pair: |_| false,
    has_pairs: is_item,
    restates: |_| false,
};

/// Whether an object is an item that is no message.
fn is_item(item: Object<'_, '_>) -> bool {
    let kind = item.get("type").filter(|_| item.get("role").is_none()).and_then(Value::str);
    let known = kind.map(|kind| item::of(&kind));
    known.is_some_and(|known| known.form != item::Form::Message && known.kind != ItemKind::Unknown)
}

impl Dialect for OpenAiResponses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn constraints(&self) -> &'static Constraints {
        &CONSTRAINTS
    }

    fn decode<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error> {
        decode::body(body, FORM)
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
