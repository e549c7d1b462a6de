//! The messages that opencode sends: what an undo hides and what a compaction replaces is left out.

use std::collections::HashSet;

use super::part::Said;
use super::read::{Message, Revert, Session};

impl Session {
    /// The indices of the messages that opencode sends, in the order in which it sends them.
    pub(super) fn active(&self) -> Vec<usize> {
        compacted(&self.messages, self.visible())
    }

    /// The number of messages before the place to which the user went back. opencode removes the others with the next
    /// request.
    fn visible(&self) -> usize {
        let all = self.messages.len();
        let Some(Revert { message, part }) = &self.revert else { return all };
        let found = self.messages.iter().position(|own| own.id.as_ref() == Some(message));
        found.map_or(all, |index| if part.is_some() { index + 1 } else { index })
    }

    /// The number of parts of a message that stay after the user went back to one of them.
    pub(super) fn parts_of(&self, index: usize) -> usize {
        let message = &self.messages[index];
        let all = message.parts.len();
        match &self.revert {
            Some(Revert { message: id, part: Some(part) }) if message.id.as_ref() == Some(id) => {
                message.parts.iter().position(|own| own.id.as_ref() == Some(part)).unwrap_or(all)
            }
            _ => all,
        }
    }
}

/// Leaves out the messages before the last finished compaction. It puts the summary before the messages that the compaction
/// kept.
fn compacted(messages: &[Message], visible: usize) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut summarised: HashSet<&str> = HashSet::new();
    let mut last_kept: Option<&str> = None;
    for index in (0..visible).rev() {
        let message = &messages[index];
        kept.push(index);
        let id = message.id.as_deref();
        if last_kept.is_some() {
            if id == last_kept {
                break;
            }
            continue;
        }
        if let Some(tail) = compaction(message).filter(|_| id.is_some_and(|id| summarised.contains(id))) {
            match tail {
                None => break,
                Some(tail) if id == Some(tail) => break,
                Some(tail) => last_kept = Some(tail),
            }
        } else if message.is_summary && message.is_finished && message.error.is_none() {
            summarised.extend(message.parent.as_deref());
        }
    }
    kept.reverse();
    reordered(messages, &kept).unwrap_or(kept)
}

/// Puts the request for a summary and the summary before the messages that the compaction kept.
fn reordered(messages: &[Message], kept: &[usize]) -> Option<Vec<usize>> {
    let request = kept.iter().rposition(|index| compaction(&messages[*index]).flatten().is_some())?;
    let tail = compaction(&messages[kept[request]]).flatten()?;
    let id = messages[kept[request]].id.as_deref();
    let is_summary = |message: &Message| message.is_summary && message.parent.as_deref() == id;
    let summary = request + 1 + kept[request + 1..].iter().position(|index| is_summary(&messages[*index]))?;
    let start = kept[..request].iter().position(|index| messages[*index].id.as_deref() == Some(tail))?;
    Some([&kept[request..=summary], &kept[start..request], &kept[summary + 1..]].concat())
}

/// The compaction that a message asks for, with the first message that it keeps.
#[expect(clippy::option_option, reason = "a compaction may keep no message")]
fn compaction(message: &Message) -> Option<Option<&str>> {
    message.parts.iter().filter(|_| message.is_user).find_map(|part| match &part.said {
        Said::Compaction { tail } => Some(tail.as_deref()),
        _ => None,
    })
}
