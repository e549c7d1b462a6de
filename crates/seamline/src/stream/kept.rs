//! The messages that a history keeps of a response.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use seamline_dialects::{Dialect, readable};
use seamline_model::{Assembled, AssembledBlock, Content, Piece};

use super::options::PartialCall;

/// The messages that a history keeps. They are written on first access, so that a caller who only inspects the response
/// pays for no copy of its text.
#[derive(Clone)]
pub(super) struct KeptMessages {
    assembled: Assembled,
    refused: Vec<RefusedCall>,
    write: fn(&Assembled) -> Vec<String>,
    written: OnceLock<Vec<String>>,
}

/// A tool call that a history keeps although it must not run, and the result that answers it.
///
/// ```
/// let response = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions {
///     provider: Some("openai".to_owned()),
///     ..Default::default()
/// })?
/// .finish()?;
/// assert!(response.refused().is_empty());
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedCall {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The text of the result, for the model; the result is an error.
    pub text: String,
}

impl KeptMessages {
    pub(super) fn of(dialect: &Dialect, mut assembled: Assembled, partial_call: PartialCall, refusal: &str) -> Self {
        let may_stay = |block: &AssembledBlock| block.call().is_none_or(|call| call.executable);
        let mut refused = Vec::new();
        match partial_call {
            PartialCall::DropCall => assembled.blocks.retain(may_stay),
            PartialCall::DropTurn if assembled.blocks.iter().all(may_stay) => {}
            PartialCall::DropTurn => assembled.blocks.clear(),
            PartialCall::ErrorResult => refused = refuse(&mut assembled, dialect, refusal),
        }
        Self { assembled, refused, write: dialect.streaming().messages, written: OnceLock::new() }
    }

    pub(super) fn refused(&self) -> &[RefusedCall] {
        &self.refused
    }

    pub(super) fn messages(&self) -> &[String] {
        let written = |message: String| readable(&message).unwrap_or(message);
        self.written.get_or_init(|| (self.write)(&self.assembled).into_iter().map(written).collect())
    }
}

/// Keeps the calls with distinct ids and returns the results of those that must not run. Input that is not an object
/// becomes an empty one.
fn refuse(assembled: &mut Assembled, dialect: &Dialect, refusal: &str) -> Vec<RefusedCall> {
    let demands_id = dialect.constraints().call_id.demanded;
    let (mut refused, mut ids) = (Vec::new(), BTreeSet::new());
    assembled.blocks.retain_mut(|block| {
        let is_call = block.piece == Piece::Call;
        let Content::Call(call) = &mut block.content else { return true };
        let is_known = !call.name.is_empty() && (!call.id.is_empty() || !demands_id);
        let is_new = call.id.is_empty() || ids.insert(call.id.clone());
        if call.executable || !is_call || !is_known || !is_new {
            return call.executable;
        }
        if !call.free && !seamline_assemble::is_plain_object(&call.arguments) {
            "{}".clone_into(&mut call.arguments);
        }
        refused.push(RefusedCall { id: call.id.clone(), name: call.name.clone(), text: refusal.to_owned() });
        true
    });
    refused
}

impl PartialEq for KeptMessages {
    fn eq(&self, other: &Self) -> bool {
        self.refused == other.refused && self.messages() == other.messages()
    }
}

impl Eq for KeptMessages {}

impl std::fmt::Debug for KeptMessages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.messages().fmt(f)
    }
}
