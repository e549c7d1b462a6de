//! A transcript whose messages moved to another position in the body.

use crate::{BlockKind, Irregularity, IrregularityKind, Member, Span, Transcript};

impl Transcript<'_> {
    /// Moves all messages by `by` bytes, because that many bytes were put before the list of messages; a difference
    /// below zero wraps. The other members of the request stay where they are.
    pub fn move_messages(&mut self, by: u32) {
        let moved = |span: &mut Span| {
            // An absent list has no position that could move.
            if *span != Span::default() {
                *span = span.moved(by);
            }
        };
        moved(&mut self.list);
        self.messages.iter_mut().for_each(|message| moved(&mut message.span));
        for block in &mut self.blocks {
            moved(&mut block.span);
            if let BlockKind::Result(result) = &mut block.kind {
                moved(&mut result.content);
            }
        }
        for Member { key_span, span, cut, .. } in &mut self.members {
            [key_span, span, cut].into_iter().for_each(moved);
        }
        for Irregularity { span, kind, .. } in &mut self.irregularities {
            moved(span);
            match kind {
                IrregularityKind::DuplicateKey { cut: span, .. }
                | IrregularityKind::WordlessText { patch: Some((span, _)), .. } => moved(span),
                IrregularityKind::WordlessText { patch: None, .. }
                | IrregularityKind::ByteOrderMark
                | IrregularityKind::LoneSurrogate
                | IrregularityKind::ForeignKey { .. }
                | IrregularityKind::CallListAsText { .. }
                | IrregularityKind::LegacyCall
                | IrregularityKind::EmptyCallList
                | IrregularityKind::UnreadableMessage { .. }
                | IrregularityKind::UnreadableBlock { .. }
                | IrregularityKind::UnreadableCallList { .. }
                | IrregularityKind::PartOfOtherRole { .. }
                | IrregularityKind::CrowdedBlock { .. }
                | IrregularityKind::UnquotedId
                | IrregularityKind::ForeignRole { .. }
                | IrregularityKind::ForeignType { .. }
                | IrregularityKind::ForeignPairs
                | IrregularityKind::ForeignPair { .. }
                | IrregularityKind::ForeignBlock => {}
            }
        }
        self.items.iter_mut().for_each(|item| moved(&mut item.type_span));
        let marked = std::mem::take(&mut self.marked);
        self.marked = marked.into_iter().map(|(content, text)| (content.moved(by), text)).collect();
    }
}
