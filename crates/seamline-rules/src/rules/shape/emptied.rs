//! What becomes of a message without content.

use seamline_model::{Edit, Member, MessageIndex, NO_CONTENT};

use crate::context::Context;

/// The edit that keeps what a message without content says elsewhere, and what it does. Nothing
/// when no member of it says anything.
pub(super) fn kept(context: &Context<'_, '_>, index: MessageIndex) -> Option<(Edit, &'static str)> {
    let speaking = || context.transcript.members_of(index).iter().filter(|member| member.speaks_for_message());
    if speaking().any(|member| !member.holds_media()) {
        return Some((Edit::KeepMembers { message: index }, "keep its other members as text"));
    }
    // What is to be looked at stays where it is, and its message with it.
    let stays = speaking().any(Member::holds_media);
    stays.then_some((Edit::FillMessage { message: index, text: NO_CONTENT }, "say that there is no content"))
}
