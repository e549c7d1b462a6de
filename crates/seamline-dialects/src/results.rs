//! Tool results, for hosts that run the tools.

use seamline_model::conversation::{LiftedBlock, LiftedCall, LiftedResult, Says};

use crate::convert::failure::marked;
use crate::json::{Json, Style};

/// The functions that write and read tool results.
#[derive(Debug, Clone, Copy)]
pub struct Results {
    /// Writes the messages with the results of one turn, in the order of its calls.
    pub write: fn(&[AnsweredCall<'_>]) -> Vec<String>,
    /// Takes off what the dialect puts around the text of a result, in dialects where some results are not text.
    pub said: fn(String) -> String,
}

/// Calls from before calls had ids: they are not blocks of a transcript, and only their tool names them.
#[derive(Debug, Clone, Copy)]
pub struct UnlistedCalls {
    /// The member of a message that has the call.
    pub(crate) member: &'static str,
    /// The role of the results, as a conversation has it.
    pub(crate) answered_by: &'static str,
}

impl UnlistedCalls {
    /// Whether a message may make such a call. It is a search for the name of the member.
    pub fn may_be_in(&self, message: &str) -> bool {
        let mut names = message.match_indices(self.member);
        names.any(|(at, name)| message[..at].ends_with('"') && message[at + name.len()..].starts_with('"'))
    }

    /// Whether a call of a conversation is such a call.
    pub fn has(&self, call: &LiftedCall) -> bool {
        call.answered_by == self.answered_by
    }
}

/// A tool call with its result.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredCall<'a> {
    /// The tool call.
    pub call: &'a LiftedCall,
    /// Whether the call has its own id.
    pub has_id: bool,
    /// The output of the tool, or the text for a call without a result.
    pub text: &'a str,
    /// Whether the tool failed or gave no result.
    pub failed: bool,
    /// Whether the text is synthetic. Such a text gets no mark of a failed tool.
    pub made_up: bool,
}

impl AnsweredCall<'_> {
    /// The result, for dialects that have a flag for failure.
    pub(crate) fn result(&self) -> LiftedResult {
        // Providers refuse empty text.
        let text = Some(self.text).filter(|text| !text.trim().is_empty());
        let blocks = text.map(|text| LiftedBlock::new(Says::Text(text.to_owned()), ""));
        let (id, name) = (self.call.id.clone(), Some(self.call.name.clone()));
        LiftedResult { id, name, blocks: blocks.into_iter().collect(), failed: self.failed }
    }

    /// The text of the result, for dialects where failure is a mark in the text.
    pub(crate) fn marked_text(&self) -> String {
        marked(self.text, self.failed, self.made_up)
    }
}

/// Makes a synthetic result with this text, which counts as a failure.
pub(crate) fn synthetic(id: &str, name: Option<String>, text: &str) -> LiftedResult {
    let blocks = vec![LiftedBlock::new(Says::Text(text.to_owned()), "")];
    LiftedResult { id: id.to_owned(), name, blocks, failed: true }
}

/// Writes a value on one line.
pub(crate) fn written(json: &Json<'_>) -> String {
    let mut out = String::new();
    Style::of(b"{}").write(&mut out, json, 0);
    out
}

/// Returns the text unchanged.
pub(crate) fn as_it_is(text: String) -> String {
    text
}
