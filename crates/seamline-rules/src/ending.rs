//! How a message ended, as the client that stored it noted.

use seamline_model::{Member, MemberSort, MessageIndex, Span};

use crate::context::Context;

/// The members in which clients note how a message ended. A request has no such member, so they are foreign to it.
const KEYS: &[&str] = &["stop_reason", "stopReason", "finish_reason", "finishReason"];

/// How a message ended, if not as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageEnding {
    /// The provider or the connection failed. Clients run no calls of such a message.
    Failed,
    /// The user or the host stopped it.
    Aborted,
}

impl Context<'_, '_> {
    /// How a message ended, if the client noted that it did not end as usual.
    pub(crate) fn ending_of(&self, message: MessageIndex) -> Option<MessageEnding> {
        self.transcript.members_of(message).iter().filter(|member| notes_ending(member)).find_map(|member| {
            let value = self.transcript.text(Span { start: member.key_span.end, end: member.span.end });
            let value = value.trim_ascii_start().trim_start_matches(':').trim_ascii_start();
            match value.trim_matches('"') {
                "error" => Some(MessageEnding::Failed),
                "aborted" | "abort" | "cancelled" => Some(MessageEnding::Aborted),
                _ => None,
            }
        })
    }
}

/// Whether a member notes how its message ended.
pub(crate) fn notes_ending(member: &Member) -> bool {
    let is_foreign = matches!(member.sort, MemberSort::Foreign { .. });
    is_foreign && member.block.is_none() && KEYS.contains(&&*member.key)
}
