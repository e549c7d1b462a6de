//! A turn with tool calls, read once.

use std::collections::{HashMap, HashSet, VecDeque};

use seamline_model::conversation::{Conversation, LiftedCall, Says};
use seamline_model::{BROKEN_CALL, NAMELESS_CALL, not_run};
use seamline_store::{CallId, DialectName, Raw, RenamedCall};

use super::Wire;
use crate::Error;
use crate::policy::Texts;
use crate::session::SessionError;
use crate::stream::RefusedCall;

/// A call that a turn makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The id of the call. Where calls of one turn share an id, the second is `id#2`, and so on; messages keep the shared id.
    pub id: CallId,
    /// The name of the tool.
    pub name: String,
    /// The arguments: JSON, or plain text where the tool takes text.
    pub input: String,
    /// The idempotency key, once the call is started.
    pub key: Option<String>,
}

/// Messages of the model that make tool calls, and what was read of them.
#[derive(Debug, Clone)]
pub(in crate::session) struct ToolTurn {
    /// The messages, byte for byte.
    pub(in crate::session) messages: Vec<Raw>,
    /// The calls that need a result, in their order.
    pub(in crate::session) calls: Vec<TurnCall>,
    /// The dialect of the messages, as records name it.
    pub(in crate::session) dialect: Option<DialectName>,
    /// The calls that have other ids in the messages than the model gave.
    pub(in crate::session) renamed: Vec<RenamedCall>,
    conversation: Conversation,
}

/// A call of a turn.
#[derive(Debug, Clone)]
pub(in crate::session) struct TurnCall {
    /// The call under a name that no other call of the turn has.
    pub(in crate::session) call: ToolCall,
    /// The id that the turn gives the call. The reader makes one up where the turn has none.
    pub(in crate::session) given_id: CallId,
    /// Whether the turn itself has the id.
    pub(in crate::session) has_own_id: bool,
    /// The reason why the call must not run, if there is one.
    pub(in crate::session) not_run: Option<NotRun>,
}

impl TurnCall {
    /// The id that the turn itself has.
    pub(in crate::session) fn own_id(&self) -> Option<&str> {
        self.has_own_id.then(|| self.given_id.as_str())
    }
}

impl ToolTurn {
    /// The same turn, with the ids that these calls got when it was recorded.
    pub(in crate::session) fn with_renamed(self, renamed: Vec<RenamedCall>) -> Self {
        Self { renamed, ..self }
    }

    /// The calls that may run.
    pub(in crate::session) fn runnable(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls.iter().filter(|made| made.not_run.is_none()).map(|made| &made.call)
    }

    /// The call of this id.
    pub(in crate::session) fn call(&self, id: &CallId) -> Option<&ToolCall> {
        self.calls.iter().map(|made| &made.call).find(|call| call.id == *id)
    }

    /// Marks calls that a stream refused: they do not run, although the kept start of their input is readable. A refused
    /// call without an id is taken as the last call of its tool.
    pub(in crate::session) fn refuse(&mut self, refused: &[RefusedCall]) {
        for RefusedCall { id, name, text, .. } in refused.iter().rev() {
            let is_meant = |made: &&mut TurnCall| {
                made.not_run.is_none() && made.call.name == *name && *id == *made.own_id().unwrap_or_default()
            };
            if let Some(made) = self.calls.iter_mut().rev().find(is_meant) {
                made.not_run = Some(NotRun::Refused(text.clone()));
            }
        }
    }

    /// The calls as the dialect reads them.
    pub(super) fn lifted_calls(&self) -> Vec<&LiftedCall> {
        client_calls(&self.conversation).collect()
    }

    /// Whether the turn itself has this id of a call.
    pub(super) fn has_own_id(&self, id: &str) -> bool {
        !self.conversation.made.contains_key(id)
    }
}

impl Wire {
    /// Reads a turn. Calls that the turn itself answers are not among its calls.
    pub(in crate::session) fn read_turn(&self, messages: Vec<Raw>) -> Result<ToolTurn, SessionError> {
        let body = self.body("{}", messages.iter())?;
        let mut conversation = self.functions.lift(&body).map_err(Error::from)?;
        remove_answered(&mut conversation);
        let ids: Vec<&str> = client_calls(&conversation).map(|call| call.id.as_str()).collect();
        let calls = client_calls(&conversation).zip(unique_names(&ids)).map(|(call, id)| TurnCall {
            call: ToolCall {
                id: id.into(),
                name: call.name.clone(),
                input: call.free.clone().unwrap_or_else(|| call.input.clone()),
                key: None,
            },
            given_id: call.id.as_str().into(),
            has_own_id: !conversation.made.contains_key(&call.id),
            not_run: NotRun::of(call),
        });
        let calls = calls.collect();
        Ok(ToolTurn { messages, calls, dialect: self.mark(), renamed: Vec::new(), conversation })
    }
}

/// Why a call must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum NotRun {
    /// The call names no tool.
    Nameless,
    /// The call was truncated.
    Truncated,
    /// The arguments are JSON that parsers read differently.
    Ambiguous,
    /// The stream that brought the call refused it; the model reads this text.
    Refused(String),
}

impl NotRun {
    /// Decides whether a call must not run, as it is decided for the calls of a stream.
    fn of(call: &LiftedCall) -> Option<Self> {
        if call.name.trim().is_empty() {
            return Some(Self::Nameless);
        }
        if !call.whole {
            return Some(Self::Truncated);
        }
        let is_readable = call.free.is_some() || seamline_assemble::is_plain_object(&call.input);
        (!is_readable).then_some(Self::Ambiguous)
    }

    /// The text that the model reads about the call. The policy may have words of its own for a call that was cut off.
    pub(in crate::session) fn text(&self, tool: &str, texts: &Texts) -> String {
        match (self, texts.truncated.own()) {
            (Self::Refused(text), _) => text.clone(),
            (Self::Truncated, Some(own)) => own.to_owned(),
            (Self::Nameless | Self::Truncated | Self::Ambiguous, _) => not_run(tool, self.as_str()),
        }
    }

    /// The reason, as the model reads it after "did not run:".
    pub(in crate::session) fn as_str(&self) -> &'static str {
        match self {
            Self::Nameless => NAMELESS_CALL,
            Self::Truncated => BROKEN_CALL,
            Self::Ambiguous => "the arguments are not valid JSON",
            Self::Refused(_) => "the stream that brought the call refused it",
        }
    }
}

/// The calls that the client runs.
fn client_calls(conversation: &Conversation) -> impl Iterator<Item = &LiftedCall> {
    conversation.calls().filter(|call| !call.hosted)
}

/// Removes results from a turn, and the calls that they answer: these are not run again.
fn remove_answered(conversation: &mut Conversation) {
    let mut open: HashMap<String, VecDeque<(usize, usize)>> = HashMap::new();
    let mut gone = HashSet::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        for (place, block) in message.blocks.iter().enumerate() {
            match &block.says {
                Says::Call(call) => open.entry(call.id.clone()).or_default().push_back((at, place)),
                Says::Result(result) => {
                    gone.insert((at, place));
                    gone.extend(open.get_mut(&result.id).and_then(VecDeque::pop_front));
                }
                Says::Text(_) | Says::Reasoning(_) | Says::Media(_) | Says::Refusal(_) | Says::Opaque(_) => {}
            }
        }
    }
    if gone.is_empty() {
        return;
    }
    for (at, message) in conversation.messages.iter_mut().enumerate() {
        let mut place = 0..;
        message.blocks.retain(|_| place.next().is_none_or(|place| !gone.contains(&(at, place))));
    }
    conversation.messages.retain(|message| !message.blocks.is_empty());
}

/// Names for calls of these ids, no two the same: the first call of an id keeps it, the others get a number.
fn unique_names(ids: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(ids.len());
    for id in ids {
        let count = counts.entry(id).or_insert(0);
        *count += 1;
        let mut name = (*id).to_owned();
        // A call may have such an id of its own.
        while *count > 1 && taken.contains(&name) {
            name = format!("{id}#{count}");
            if taken.contains(&name) {
                *count += 1;
            }
        }
        taken.insert(name.clone());
        names.push(name);
    }
    names
}
