//! Results of calls, for who runs the tools.

use seamline_model::conversation::{Answer, Block, Call, Says};

use crate::convert::failure::marked;
use crate::json::{Json, Style};

/// What one dialect can do for who runs the tools that are called.
#[derive(Debug, Clone, Copy)]
pub struct Results {
    /// Writes the messages that answer calls of one turn, in their order.
    pub write: fn(&[Answering<'_>]) -> Vec<String>,
    /// What a result says that was lifted to this text, without what the dialect puts around words where results are
    /// no text.
    pub said: fn(String) -> String,
}

/// A call, and what it is answered with.
#[derive(Debug, Clone, Copy)]
pub struct Answering<'a> {
    /// The call.
    pub call: &'a Call,
    /// Whether it has an id of its own.
    pub has_id: bool,
    /// What the tool said, or what is said of a call without a result.
    pub text: &'a str,
    /// Whether the tool failed, or there is no result.
    pub failed: bool,
    /// Whether the text is made up, and known by its words.
    pub made_up: bool,
}

impl Answering<'_> {
    /// The answer where there is a word for failure.
    pub(crate) fn answer(&self) -> Answer {
        // What says nothing is refused where it is a text.
        let text = Some(self.text).filter(|text| !text.trim().is_empty());
        let blocks = text.map(|text| Block::new(Says::Text(text.to_owned()), ""));
        let (id, name) = (self.call.id.clone(), Some(self.call.name.clone()));
        Answer { id, name, blocks: blocks.into_iter().collect(), failed: self.failed }
    }

    /// What it says where failure is a mark in the text.
    pub(crate) fn marked_text(&self) -> String {
        marked(self.text, self.failed, self.made_up)
    }
}

/// A value on one line.
pub(crate) fn written(json: &Json<'_>) -> String {
    let mut out = String::new();
    Style::of(b"{}").write(&mut out, json, 0);
    out
}

/// A text that nothing was put around.
pub(crate) fn as_it_is(text: String) -> String {
    text
}
