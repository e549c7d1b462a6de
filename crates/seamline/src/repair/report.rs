//! The parts of the report of a repair: actions, losses and the unchanged prefix.

use seamline_rules::{ActionKind, Loss};
use serde::Serialize;

/// One action of a repair.
///
/// ```
/// use seamline::repair::ActionKind;
///
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// let action = &repaired.actions[0];
/// assert_eq!((action.code, action.action), ("PAIR002", ActionKind::Demote));
/// assert_ne!(action.before_hash, action.after_hash);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RepairAction {
    /// The code of the rule that asked for it.
    pub code: &'static str,
    /// The kind of the action.
    pub action: ActionKind,
    /// The place in the original body.
    pub pointer: Option<String>,
    /// The index of the message in the original body. Source document 001 calls it `messageIndex`.
    pub message_index: Option<usize>,
    /// The id of the call that it is about. Source document 001 calls it `toolUseId`.
    pub call_id: Option<String>,
    /// The id that a result named before a repair addressed it to its call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_call_id: Option<String>,
    /// The name of what it removed, such as a member of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    /// Whether the text that it wrote is synthetic.
    pub synthetic: bool,
    /// The BLAKE3 hash of the message before.
    pub before_hash: Option<String>,
    /// The BLAKE3 hash of the message after.
    pub after_hash: Option<String>,
    /// The line of a session file that it is about, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// Actions of one rule that are not listed, because there are more than a thousand.
///
/// ```
/// let orphan = r#"{"role":"tool","tool_call_id":"call_1","content":"ok"}"#;
/// let body = format!(r#"{{"messages":[{}]}}"#, [orphan; 1500].join(","));
///
/// let repaired = seamline::repair(body.as_bytes(), &seamline::Options::default())?;
/// assert_eq!((repaired.actions.len(), repaired.more_actions[0].count), (1000, 500));
/// assert_eq!((repaired.found.len(), repaired.found[99].more), (100, 1400));
/// assert!(repaired.remaining.is_empty());
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MoreActions {
    /// The code of the rule that asked for them.
    pub code: &'static str,
    /// The number of them.
    pub count: usize,
    /// The number of them that removed content for good.
    pub dropped: usize,
    /// Whether some of that content was said by the user, the model or a tool.
    pub lost: bool,
}

impl From<seamline_rules::UnlistedActions> for MoreActions {
    fn from(more: seamline_rules::UnlistedActions) -> Self {
        let seamline_rules::UnlistedActions { code, count, dropped, lost } = more;
        Self { code, count: count as usize, dropped: dropped as usize, lost }
    }
}

/// Content that a repair removed for good.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"hello"},
///   {"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
/// let policy = seamline::Policy::preset("libr-agent").unwrap();
///
/// let repaired = seamline::repair(body, &seamline::Options { policy, ..Default::default() })?;
/// assert!(repaired.dropped[0].source.contains("call_1"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The code of the rule that asked for it.
    pub code: &'static str,
    /// The place in the original body.
    pub pointer: Option<String>,
    /// The exact bytes of the content.
    pub source: String,
    /// The kind of loss.
    pub loss: Loss,
}

/// The unchanged prefix of a body.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// let same = repaired.prefix.unchanged_bytes;
/// assert_eq!(repaired.body[..same], body[..same]);
/// assert_eq!(repaired.prefix.first_changed_message, Some(2));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prefix {
    /// The number of unchanged bytes.
    pub unchanged_bytes: usize,
    /// The index of the first message that changed.
    pub first_changed_message: Option<usize>,
    /// Whether something outside the messages changed, such as the tools, which providers read before all messages.
    pub around_changed: bool,
    /// The caches and signatures that the change invalidates: `prompt_cache`, `thinking`.
    pub invalidates: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_action_is_the_same_in_text_and_in_json() {
        for kind in [ActionKind::TakeIn, ActionKind::ReconstructCall, ActionKind::Remove, ActionKind::Rewrite] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
    }
}
