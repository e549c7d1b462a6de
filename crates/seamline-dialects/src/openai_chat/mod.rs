//! `openai_chat`: Chat Completions, as `OpenAI` and most other servers speak it.

mod calls;
mod constraints;
mod decode;
mod encode;
mod rewrite;
mod wire;

use seamline_model::{Constraints, Edit, Encoded, Place, Transcript};

pub use constraints::CONSTRAINTS;

use crate::{Dialect, Document, Error};

/// The dialect of the Chat Completions API.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat;

/// Its name.
pub(crate) const NAME: &str = "openai_chat";

impl Dialect for OpenAiChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn constraints(&self) -> &'static Constraints {
        &CONSTRAINTS
    }

    fn decode<'a>(&self, document: &Document<'a>) -> Result<Transcript<'a>, Error> {
        decode::decode(document)
    }

    fn encode(&self, document: &Document<'_>, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
        encode::encode(document, transcript, edits)
    }

    fn pointer(&self, transcript: &Transcript<'_>, place: &Place) -> String {
        crate::pointer::pointer(transcript, place)
    }
}
