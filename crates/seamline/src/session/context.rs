//! What the next turn should know about what was lost.

use seamline_store::{OpenCall, OpenCycle, Origin};
use serde::Serialize;

use super::Session;
use super::cycle::{is_finished, returned};

/// How many messages nobody answered are shown.
const UNANSWERED_MAX: usize = 5;

/// What was lost or put right, for the next turn of an agent and for people.
///
/// ```
/// assert!(seamline::session::RepairContext::default().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairContext {
    /// Calls whose cycle was broken off.
    pub lost_calls: Vec<LostCall>,
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
    /// so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<String>,
}

impl RepairContext {
    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Session {
    /// What was lost or put right since the session was opened, and which messages of the user went unanswered.
    pub fn repair_context(&self) -> RepairContext {
        let unanswered = if self.context.is_empty() { Vec::new() } else { self.unanswered() };
        RepairContext { unanswered, ..self.context.clone() }
    }

    /// The messages at the end that no answer follows.
    fn unanswered(&self) -> Vec<String> {
        let messages: Vec<_> = self.entries().iter().map(|entry| &entry.message).collect();
        let roles = self.wire.roles(&messages).unwrap_or_default();
        let last = roles.iter().rposition(|role| *role == "assistant").map_or(0, |at| at + 1);
        // Results stand in messages of the user in some dialects.
        let by_model = self.wire.by_model(&messages[last..]).unwrap_or_default();
        let tail = self.entries().iter().zip(&roles).skip(last).zip(&by_model);
        let said =
            tail.filter(|((entry, role), by_model)| **role == "user" && entry.origin == Origin::Said && !**by_model);
        let mut texts: Vec<String> = said.map(|((entry, _), _)| entry.message.as_str().to_owned()).collect();
        texts.split_off(texts.len().saturating_sub(UNANSWERED_MAX))
    }

    /// Notes the calls of a cycle that is taken back.
    pub(super) fn lose(&mut self, cycle: &OpenCycle) {
        self.context.lost_calls.extend(cycle.calls.iter().map(lost));
    }

    /// Notes the calls of a cycle that came out without their results.
    pub(super) fn lose_unfinished(&mut self, cycle: &OpenCycle) {
        self.context.lost_calls.extend(cycle.calls.iter().filter(|call| !is_finished(call)).map(lost));
    }
}

fn lost(call: &OpenCall) -> LostCall {
    LostCall { id: call.id.clone(), tool: call.tool.clone(), returned: returned(call) }
}
