//! Members that are the only content of their message.

use seamline_model::{BlockKind, ContentForm, Emptiness, Member, Span};

use crate::context::Context;

impl Context<'_, '_> {
    /// Whether a member is the only content of its message, so that a repair can keep it as text.
    pub(crate) fn is_only_content(&self, member: &Member) -> bool {
        let body = self.transcript.message(member.message).body;
        let is_readable = matches!(
            body,
            ContentForm::Text | ContentForm::Blocks | ContentForm::Null | ContentForm::Missing | ContentForm::Setting
        );
        member.speaks_for_message() && !member.holds_media() && is_readable && self.is_hollow_beside(member)
    }

    /// Whether a message holds only empty text beside a member.
    fn is_hollow_beside(&self, member: &Member) -> bool {
        let within = |span: Span| member.span.start <= span.start && span.end <= member.span.end;
        self.transcript.blocks_of(member.message).all(|(_, block)| {
            within(block.span) || matches!(block.kind, BlockKind::Text(Emptiness::Empty | Emptiness::Blank))
        })
    }
}
