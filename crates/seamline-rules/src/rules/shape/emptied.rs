//! Repairs a message without content.

use seamline_model::{Edit, Member, MessageIndex, NO_CONTENT};

use crate::context::Context;

/// The edit that keeps the content of a message's other members, and its title. `None` if no member has content.
pub(super) fn keep_members(context: &Context<'_, '_>, index: MessageIndex) -> Option<(Edit, &'static str)> {
    let speaking = || context.transcript.members_of(index).iter().filter(|member| member.speaks_for_message());
    if speaking().any(|member| !member.holds_media()) {
        return Some((Edit::KeepMembers { message: index }, "keep its other members as text"));
    }
    // Media stay in their member, and the message stays with them.
    let stays = speaking().any(Member::holds_media);
    stays
        .then_some((Edit::FillMessage { message: index, text: NO_CONTENT }, "add a text that says there is no content"))
}
