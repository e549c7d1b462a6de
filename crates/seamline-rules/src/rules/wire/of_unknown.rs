//! Members of messages and blocks of an unknown kind.

use seamline_model::{BlockKind, Member, MemberSort, Role};

use crate::context::Context;

/// Whether the message or the block of a member is of an unknown kind. What belongs to it is unknown, too.
pub(super) fn is_of_unknown(context: &Context<'_, '_>, member: &Member) -> bool {
    let is_opaque = |block| matches!(context.transcript.block(block).kind, BlockKind::Opaque);
    match (context.transcript.message(member.message).role, member.block) {
        (Role::Unknown, _) => true,
        // A part of a known type may be opaque; its members are judged by that type.
        (_, Some(block)) => {
            matches!(member.sort, MemberSort::Foreign { .. }) && member.owner.is_empty() && is_opaque(block)
        }
        (_, None) => false,
    }
}
