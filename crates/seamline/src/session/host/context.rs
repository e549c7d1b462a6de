//! The repair context: losses and repairs that the next turn should know.

use seamline_model::Role;
use seamline_store::{CallId, Entry, OpenCall, OpenCycle, Origin};
use serde::Serialize;

use crate::session::cycle::call::{is_finished, returned};
use crate::session::facts::Facts;

/// The most unanswered messages that are shown.
const UNANSWERED_MAX: usize = 5;

/// The most lost calls that are shown, the last ones.
const LOST_CALLS_MAX: usize = 100;

/// The most bytes of a tool output that are shown. All of it is in the log.
const RETURNED_BYTES_MAX: usize = 64 * 1024;

/// Losses and repairs, for the next turn of an agent and for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairContext {
    /// The calls whose cycle did not end normally, the last hundred.
    pub lost_calls: Vec<LostCall>,
    /// The number of such calls before these.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_before: usize,
    /// The number of repairs.
    pub repairs: usize,
    /// The last messages of the user that have no response, byte for byte.
    pub unanswered: Vec<String>,
}

/// A call whose cycle did not end normally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostCall {
    /// The id of the call.
    pub id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The output of a call that finished before its cycle was rolled back: no message has it. An output of
    /// more than 64 KiB is cut to its start and the number of bytes that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<String>,
}

impl RepairContext {
    /// Whether nothing was lost or repaired.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds lost calls.
    pub(in crate::session) fn lose(&mut self, calls: Vec<LostCall>) {
        self.lost_calls.extend(calls);
        let surplus = self.lost_calls.len().saturating_sub(LOST_CALLS_MAX);
        self.lost_calls.drain(..surplus);
        self.lost_before += surplus;
    }
}

impl Facts<'_> {
    /// The losses and repairs since the session was opened, with the messages of the user that have no response.
    pub(super) fn repair_context(&self) -> RepairContext {
        let context = &self.work.context;
        let unanswered = if context.is_empty() { Vec::new() } else { self.unanswered() };
        RepairContext { unanswered, ..context.clone() }
    }

    /// The last messages that no response follows.
    fn unanswered(&self) -> Vec<String> {
        let entries: Vec<&Entry> = self.entries().iter().collect();
        let roles = self.wire.roles(&entries).unwrap_or_default();
        let last = self.answered_up_to(&roles);
        // In some dialects results are in messages of the user.
        let by_model = self.wire.by_model(&entries[last..]).unwrap_or_default();
        let tail = self.entries().iter().zip(&roles).skip(last).zip(&by_model);
        let said = tail
            .filter(|((entry, role), by_model)| **role == Role::User && entry.origin == Origin::Said && !**by_model);
        let mut texts: Vec<String> = said.map(|((entry, _), _)| entry.message.as_str().to_owned()).collect();
        texts.split_off(texts.len().saturating_sub(UNANSWERED_MAX))
    }

    /// The end of the last response. A turn with a synthetic result did not end normally, and is not a response.
    fn answered_up_to(&self, roles: &[Role]) -> usize {
        let mut end = roles.len();
        while let Some(last) = roles[..end].iter().rposition(|role| *role == Role::Assistant) {
            if !self.entries()[last + 1..end].iter().any(|entry| entry.origin == Origin::Synthetic) {
                return last + 1;
            }
            end = roles[..last].iter().rposition(|role| *role != Role::Assistant).map_or(0, |at| at + 1);
        }
        0
    }
}

/// The calls that are lost when a cycle is rolled back.
pub(in crate::session) fn lost_calls(cycle: &OpenCycle) -> Vec<LostCall> {
    cycle.calls.iter().map(lost).collect()
}

/// The calls that are lost when a cycle is committed without their results.
pub(in crate::session) fn unfinished_calls(cycle: &OpenCycle) -> Vec<LostCall> {
    cycle.calls.iter().filter(|call| !is_finished(call)).map(lost).collect()
}

fn lost(call: &OpenCall) -> LostCall {
    LostCall { id: call.id.clone(), tool: call.tool.clone(), returned: returned(call).map(shorten) }
}

/// The start of a long text, and the number of bytes that follow.
fn shorten(text: &str) -> String {
    let cut = text.floor_char_boundary(RETURNED_BYTES_MAX);
    match text.len() - cut {
        0 => text.to_owned(),
        more => format!("{}[… {more} more bytes]", &text[..cut]),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
