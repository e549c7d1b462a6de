//! `bedrock_converse`: the Converse API of AWS Bedrock.

mod constraints;
pub(crate) mod lift;
pub(crate) mod render;
mod wire;
mod write;

use seamline_model::{Constraints, Edit, Encoded, Place, Transcript};

pub use constraints::CONSTRAINTS;

use crate::blocks::{self, Shape};
use crate::json::Value;
use crate::reader::{self, Form, Reader};
use crate::{Dialect, Error, roles};

/// The dialect of Bedrock's Converse API.
#[derive(Debug, Clone, Copy)]
pub struct BedrockConverse;

/// Its name.
pub(crate) const NAME: &str = "bedrock_converse";

const FORM: Form =
    Form { dialect: NAME, list: "messages", content: "content", calls: "content", model: "modelId", message };

const SHAPE: Shape = Shape { content: "content", role: wire::role, called: roles::plain, block: wire::block };

fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>) {
    blocks::message(reader, value, &SHAPE);
}

impl Dialect for BedrockConverse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn constraints(&self) -> &'static Constraints {
        &CONSTRAINTS
    }

    fn decode<'a>(&self, body: &'a [u8]) -> Result<Transcript<'a>, Error> {
        reader::decode(body, FORM)
    }

    fn follow<'n>(&self, before: &Transcript<'_>, encoded: &'n Encoded) -> Option<Transcript<'n>> {
        reader::follow(before, encoded, FORM)
    }

    fn encode(&self, transcript: &Transcript<'_>, edits: &[Edit], demands: &Constraints) -> Encoded {
        blocks::encode(&write::Writer, transcript, edits, demands.joint_answers)
    }

    fn pointer(&self, transcript: &Transcript<'_>, place: &Place) -> String {
        crate::pointer::pointer(transcript, place, FORM)
    }
}
