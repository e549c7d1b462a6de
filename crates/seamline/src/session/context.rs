//! What the next turn should know about what was lost.

use seamline_store::{OpenCall, OpenCycle, Origin};
use serde::Serialize;

use super::Session;
use super::cycle::{is_finished, returned};

/// How many messages nobody answered are shown.
const UNANSWERED_MAX: usize = 5;

/// How many calls that were lost are shown, the last ones.
const LOST_CALLS_MAX: usize = 100;

/// How many bytes of what a call returned are shown. All of it is in the log.
const RETURNED_BYTES_MAX: usize = 64 * 1024;

/// What was lost or put right, for the next turn of an agent and for people.
///
/// ```
/// assert!(seamline::session::RepairContext::default().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairContext {
    /// Calls whose cycle was broken off, the last hundred.
    pub lost_calls: Vec<LostCall>,
    /// How many such calls there were before these.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_before: usize,
    /// How many repairs were made.
    pub repairs: usize,
    /// Messages of the user that nothing answered, the last ones, byte for byte.
    pub unanswered: Vec<String>,
}

/// A call whose cycle was broken off.
///
/// ```
/// let call = seamline::session::LostCall { id: "toolu_1".into(), tool: "pay".into(), returned: Some("paid".into()) };
/// assert_eq!(serde_json::to_string(&call).unwrap(), r#"{"id":"toolu_1","tool":"pay","returned":"paid"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it returned, where it finished and its cycle was taken back all the same: it happened, and no message says
    /// so. Of more than 64 KiB it is the beginning, and how much more there was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<String>,
}

impl RepairContext {
    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in calls that were lost.
    pub(super) fn lose(&mut self, calls: Vec<LostCall>) {
        self.lost_calls.extend(calls);
        let surplus = self.lost_calls.len().saturating_sub(LOST_CALLS_MAX);
        self.lost_calls.drain(..surplus);
        self.lost_before += surplus;
    }
}

impl Session {
    /// What was lost or put right since the session was opened or this was [taken](Self::take_repair_context), and which
    /// messages of the user went unanswered.
    pub fn repair_context(&self) -> RepairContext {
        let unanswered = if self.context.is_empty() { Vec::new() } else { self.unanswered() };
        RepairContext { unanswered, ..self.context.clone() }
    }

    /// The same, for a turn that is told: the next one need not be told again.
    pub fn take_repair_context(&mut self) -> RepairContext {
        let told = self.repair_context();
        self.context = RepairContext::default();
        told
    }

    /// The messages at the end that no answer follows.
    fn unanswered(&self) -> Vec<String> {
        let messages: Vec<_> = self.entries().iter().map(|entry| &entry.message).collect();
        let roles = self.wire.roles(&messages).unwrap_or_default();
        let last = self.answered_up_to(&roles);
        // Results stand in messages of the user in some dialects.
        let by_model = self.wire.by_model(&messages[last..]).unwrap_or_default();
        let tail = self.entries().iter().zip(&roles).skip(last).zip(&by_model);
        let said =
            tail.filter(|((entry, role), by_model)| **role == "user" && entry.origin == Origin::Said && !**by_model);
        let mut texts: Vec<String> = said.map(|((entry, _), _)| entry.message.as_str().to_owned()).collect();
        texts.split_off(texts.len().saturating_sub(UNANSWERED_MAX))
    }

    /// Where the last answer ends. A turn with a call whose result had to be made up was broken off, and is none.
    fn answered_up_to(&self, roles: &[&str]) -> usize {
        let mut end = roles.len();
        while let Some(last) = roles[..end].iter().rposition(|role| *role == "assistant") {
            if !self.entries()[last + 1..end].iter().any(|entry| entry.origin == Origin::Synthetic) {
                return last + 1;
            }
            end = roles[..last].iter().rposition(|role| *role != "assistant").map_or(0, |at| at + 1);
        }
        0
    }
}

/// The calls that are lost where a cycle is taken back.
pub(super) fn lost_with(cycle: &OpenCycle) -> Vec<LostCall> {
    cycle.calls.iter().map(lost).collect()
}

/// The calls that are lost where a cycle comes out without their results.
pub(super) fn unfinished_of(cycle: &OpenCycle) -> Vec<LostCall> {
    cycle.calls.iter().filter(|call| !is_finished(call)).map(lost).collect()
}

fn lost(call: &OpenCall) -> LostCall {
    LostCall { id: call.id.clone(), tool: call.tool.clone(), returned: returned(call).map(shown) }
}

/// As much of a text as is shown.
fn shown(mut text: String) -> String {
    let cut = text.floor_char_boundary(RETURNED_BYTES_MAX);
    let more = text.len() - cut;
    if more > 0 {
        text = format!("{}[… {more} more bytes]", &text[..cut]);
    }
    text
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
