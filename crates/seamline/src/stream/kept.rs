//! The messages that a history keeps of a response.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use seamline_assemble::is_plain_object;
use seamline_dialects::{AnsweredCall, Dialect, readable};
use seamline_model::conversation::LiftedCall;
use seamline_model::{
    Assembled, AssembledBlock, AssembledCall, BROKEN_CALL, Content, Ending, InputForm, NAMELESS_CALL, Piece, not_run,
};
use seamline_store::CallId;

use super::options::{PartialCall, StreamPolicy};
use crate::policy::SyntheticText;

/// The messages that a history keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptMessages {
    messages: Written,
    refused: Vec<RefusedCall>,
    /// The content for a session, where it differs. Only a session is sure to read the list of refused calls,
    /// so only it gets calls that must not run in a form that could run.
    session: Option<Box<(Written, Vec<RefusedCall>)>>,
    /// The same messages in a form that the provider accepts, where it differs.
    legal: Option<Box<Written>>,
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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RefusedCall {
    /// The id of the call; empty if the call has none.
    pub id: CallId,
    /// The name of the tool; empty if the call names none.
    pub name: String,
    /// The text of the result, for the model; the result is an error.
    pub text: String,
}

impl KeptMessages {
    pub(super) fn of(
        dialect: &Dialect,
        mut assembled: Assembled,
        policy: &StreamPolicy,
        refusal: &SyntheticText,
    ) -> Self {
        let may_stay = |block: &AssembledBlock| block.call().is_none_or(|call| call.executable);
        let is_complete = assembled.ending == Ending::Complete;
        let mut refused = Vec::new();
        match if is_complete { policy.malformed_call } else { policy.partial_call } {
            PartialCall::DropCall => assembled.blocks.retain(may_stay),
            PartialCall::DropTurn if assembled.blocks.iter().all(may_stay) && assembled.nameless.is_empty() => {}
            PartialCall::DropTurn => assembled.blocks.clear(),
            PartialCall::ErrorResult if is_complete => return Self::with_malformed(dialect, assembled, refusal.own()),
            PartialCall::ErrorResult => refused = refuse_partial(&mut assembled, dialect, refusal.as_str()),
        }
        Self { messages: Written::of(dialect, assembled), refused, session: None, legal: None }
    }

    /// Keeps the malformed calls of a complete response. A caller gets those whose input cannot be read, as the model
    /// wrote them; a session gets all of them, in a form that the provider accepts. The policy may have `own` words for
    /// the results.
    fn with_malformed(dialect: &Dialect, mut assembled: Assembled, own: Option<&str>) -> Self {
        for block in std::mem::take(&mut assembled.nameless) {
            let at = assembled.blocks.partition_point(|before| before.place < block.place);
            assembled.blocks.insert(at, block);
        }
        let ids = &dialect.constraints().call_id;
        if ids.demanded {
            assembled.make_ids(ids);
        }
        remove_unanswerable(&mut assembled, ids.demanded);
        let is_kept = |block: &AssembledBlock| block.call().is_none_or(|call| call.executable || looks_malformed(call));
        let all_refused = refused_calls(&assembled, own);
        // Nearly every response has only calls that run, and a long one is not copied for the others.
        let session = (!all_refused.is_empty()).then(|| {
            let readable = with_readable_input(assembled.clone());
            Box::new((Written::of(dialect, readable), all_refused))
        });
        assembled.blocks.retain(is_kept);
        let refused = refused_calls(&assembled, own);
        let takes_text = matches!(dialect.constraints().input, InputForm::Text(_));
        let legal = (!refused.is_empty() && !takes_text)
            .then(|| Box::new(Written::of(dialect, with_readable_input(assembled.clone()))));
        Self { messages: Written::of(dialect, assembled), refused, session, legal }
    }

    pub(super) fn refused(&self) -> &[RefusedCall] {
        &self.refused
    }

    /// The messages with the results of the refused calls.
    pub(super) fn results(&self, dialect: &Dialect) -> Vec<String> {
        if self.refused.is_empty() {
            return Vec::new();
        }
        // A session gets the same calls in a form that can be read.
        let body = format!("{{\"{}\":[{}]}}", dialect.list(), self.for_session().0.join(","));
        let conversation = dialect.lift(body.as_bytes()).unwrap_or_default();
        let mut made: Vec<&LiftedCall> = conversation.calls().filter(|call| !call.hosted).collect();
        let has_own_id = |call: &LiftedCall| !conversation.made.contains_key(&call.id);
        // Calls without ids are told apart by their tool only, so the last ones of it are meant.
        let mut calls: Vec<LiftedCall> = Vec::new();
        for RefusedCall { id, name, .. } in self.refused.iter().rev() {
            let is_meant = |call: &&LiftedCall| {
                call.name == *name && (!has_own_id(call) && id.as_str().is_empty() || *id == *call.id)
            };
            let found = made.iter().rposition(is_meant).map(|at| made.remove(at).clone());
            calls.push(found.unwrap_or_else(|| LiftedCall::new(id.to_string(), name.clone(), "{}".to_owned())));
        }
        let answered = calls.iter().rev().zip(&self.refused).map(|(call, refused)| AnsweredCall {
            call,
            has_id: !refused.id.as_str().is_empty(),
            text: &refused.text,
            failed: true,
            made_up: true,
        });
        (dialect.results().write)(&answered.collect::<Vec<_>>())
    }

    pub(super) fn messages(&self) -> &[String] {
        self.messages.get()
    }

    /// The messages in a form that the provider accepts.
    pub(super) fn legal(&self) -> &[String] {
        self.legal.as_deref().map_or(self.messages(), Written::get)
    }

    /// The messages for a session, and the calls in them that must not run.
    pub(super) fn for_session(&self) -> (&[String], &[RefusedCall]) {
        match self.session.as_deref() {
            Some((messages, refused)) => (messages.get(), refused),
            None => (self.messages(), &self.refused),
        }
    }
}

impl RefusedCall {
    /// The result of a malformed call of a complete response.
    fn malformed(call: &AssembledCall, own: Option<&str>) -> Self {
        let text = match own {
            _ if call.name.trim().is_empty() => not_run(&call.name, NAMELESS_CALL),
            Some(own) => own.to_owned(),
            None => not_run(&call.name, BROKEN_CALL),
        };
        Self { id: (&call.id).into(), name: call.name.clone(), text }
    }
}

/// The results of the calls that must not run.
fn refused_calls(assembled: &Assembled, own: Option<&str>) -> Vec<RefusedCall> {
    let calls = assembled.blocks.iter().filter_map(AssembledBlock::call);
    calls.filter(|call| !call.executable).map(|call| RefusedCall::malformed(call, own)).collect()
}

/// Puts the input of calls that cannot be read into an object, as a repair does.
fn with_readable_input(mut assembled: Assembled) -> Assembled {
    for block in &mut assembled.blocks {
        let Content::Call(call) = &mut block.content else { continue };
        if block.piece == Piece::Call && !call.free && !is_plain_object(&call.arguments) {
            call.arguments = in_object(&call.arguments);
            block.whole = None;
        }
    }
    assembled
}

/// An object with a text: as its value if it is JSON, else as a string.
fn in_object(text: &str) -> String {
    let value = format!("{{\"value\":{}}}", text.trim());
    let is_value = !text.trim_start().starts_with('{') && is_plain_object(&value);
    if is_value { value } else { serde_json::json!({ "raw": text }).to_string() }
}

/// Whether every reader of a call sees that it must not run.
fn looks_malformed(call: &AssembledCall) -> bool {
    call.name.trim().is_empty() || !call.free && !is_plain_object(&call.arguments)
}

/// Removes the calls that no result can answer: their id is the id of another call, or they need an id and have none.
fn remove_unanswerable(assembled: &mut Assembled, demands_id: bool) {
    let mut ids = BTreeSet::new();
    assembled.blocks.retain(|block| {
        let Some(call) = block.call() else { return true };
        let has_id = !call.id.is_empty();
        let is_new = !has_id || ids.insert(call.id.clone());
        call.executable || is_new && (has_id || !demands_id || !call.needs_id)
    });
}

/// Keeps the calls of an incomplete response and returns the results of those that must not run. Input that is not an
/// object becomes an empty one.
fn refuse_partial(assembled: &mut Assembled, dialect: &Dialect, refusal: &str) -> Vec<RefusedCall> {
    remove_unanswerable(assembled, dialect.constraints().call_id.demanded);
    let mut refused = Vec::new();
    for block in assembled.blocks.iter_mut().filter(|block| block.call().is_some_and(|call| !call.executable)) {
        let Content::Call(call) = &mut block.content else { continue };
        if !call.free && !is_plain_object(&call.arguments) {
            "{}".clone_into(&mut call.arguments);
        }
        refused.push(RefusedCall { id: (&call.id).into(), name: call.name.clone(), text: refusal.to_owned() });
    }
    refused
}

/// Messages that are written on first access, so that a caller who only inspects the response pays for no copy of its
/// text.
#[derive(Clone)]
struct Written {
    assembled: Assembled,
    write: fn(&Assembled) -> Vec<String>,
    messages: OnceLock<Vec<String>>,
}

impl Written {
    fn of(dialect: &Dialect, assembled: Assembled) -> Self {
        Self { assembled, write: dialect.streaming().messages, messages: OnceLock::new() }
    }

    fn get(&self) -> &[String] {
        let written = |message: String| readable(&message).unwrap_or(message);
        self.messages.get_or_init(|| (self.write)(&self.assembled).into_iter().map(written).collect())
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Written {}

impl std::fmt::Debug for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}
