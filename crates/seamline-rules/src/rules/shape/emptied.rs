//! Repairs a message without content.

use seamline_model::{BlockIndex, EMPTY_TEXT, Edit, FactKind, Member, MessageIndex, NO_CONTENT, Span};

use crate::context::Context;

/// The edit that keeps the other members of an empty text. `None` if they have no content.
pub(super) fn keep_beside(context: &Context<'_, '_>, block: BlockIndex) -> Option<Edit> {
    let has_more = context.transcript.has_fact(block, FactKind::Beside);
    has_more.then(|| Edit::Demote { block, heading: EMPTY_TEXT.to_owned() })
}

/// Whether a message without content may be removed. The first message stays, so that a growing conversation keeps its
/// earlier repairs, and so does the first one that can be read: without it the list could not be read as a conversation.
pub(super) fn may_remove(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    index.get() > 0 && context.first_known().is_some_and(|first| first < index)
}

/// The edits that keep the content of a message's other members, and their title. `None` if no member has content.
pub(super) fn keep_members(context: &Context<'_, '_>, index: MessageIndex) -> Option<(Vec<Edit>, &'static str)> {
    let blocks = context.transcript.blocks_of(index);
    let beside: Vec<_> = blocks.filter_map(|(block, _)| keep_beside(context, block)).collect();
    if !beside.is_empty() {
        return Some((beside, "keep its other members as text"));
    }
    let speaking = || context.transcript.members_of(index).iter().filter(|member| member.speaks_for_message());
    // Media stay in their member, and so does what a provider may have added. The message stays with them.
    let is_kept = |member: &Member| member.holds_media() || member.is_unknown();
    if speaking().any(|member| !is_kept(member)) {
        return Some((vec![Edit::KeepMembers { message: index }], "keep its other members as text"));
    }
    let stays = speaking().any(is_kept);
    let fill = || vec![Edit::FillMessage { message: index, text: NO_CONTENT }];
    stays.then(|| (fill(), "add a text that says there is no content"))
}

/// Whether a message has a member that is an object and that no dialect or program is known to have. The provider may have
/// added it as another form of content, as `OpenAI` did with `audio`. A text under an unknown name is what the message says
/// under a wrong name.
pub(super) fn has_unknown_member(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    let is_object = |member: &Member| {
        let value = context.transcript.text(Span { start: member.key_span.end, end: member.span.end });
        value.trim_ascii_start().trim_start_matches(':').trim_ascii_start().starts_with('{')
    };
    let mut members = context.transcript.members_of(index).iter().filter(|member| member.speaks_for_message());
    members.any(|member| member.is_unknown() && is_object(member))
}
