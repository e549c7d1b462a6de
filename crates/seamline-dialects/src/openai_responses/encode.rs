//! Writes edits of a transcript by splicing the original text.

use seamline_model::{BlockIndex, BlockKind, Edit, Encoded, Field, MessageIndex, Transcript};

use super::rewrite;
use crate::json::Document;
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, Placed, Plan};

pub(super) fn encode(transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
    let plan = Plan::new(transcript, edits);
    let writer = MessageWriter::new(transcript, edits.len(), &plan);
    let mut encoder = Encoder { transcript, plan: &plan, writer };
    for (index, _) in transcript.enumerate() {
        encoder.insert_before(index);
        encoder.item(index);
        encoder.write_results(index);
    }
    encoder.insert_before(MessageIndex(transcript.messages.len() as u32));
    encoder.writer.finish()
}

struct Encoder<'t, 'a, 'p> {
    transcript: &'t Transcript<'a>,
    plan: &'p Plan<'p>,
    writer: MessageWriter<'t, 'a>,
}

impl Encoder<'_, '_, '_> {
    fn insert_before(&mut self, index: MessageIndex) {
        self.writer.insert(self.plan.get(index), rewrite::said);
    }

    fn item(&mut self, index: MessageIndex) {
        match self.plan.get(index) {
            plan if plan.is_none_or(MessagePlan::keeps_message) => self.writer.copy(index),
            Some(plan) if !plan.removed => self.write_changed(index, plan),
            _ => {}
        }
    }

    fn write_changed(&mut self, index: MessageIndex, plan: &MessagePlan<'_>) {
        if let Some(block) = self.only_block(index) {
            self.whole(index, block, plan);
            return;
        }
        let text = rewrite::message(&self.writer, self.transcript, index, plan);
        self.writer.rewrite(Some(index), &text);
        self.writer.note_edits(self.plan.get(index));
    }

    /// Finds the block that is the whole item.
    fn only_block(&self, index: MessageIndex) -> Option<BlockIndex> {
        let mut blocks = self.transcript.blocks_of(index);
        blocks.find(|(_, block)| block.slot().field == Field::Item).map(|(block, _)| block)
    }

    fn whole(&mut self, index: MessageIndex, block: BlockIndex, plan: &MessagePlan<'_>) {
        let untouched = BlockPlan::default();
        let change = plan.block(block).unwrap_or(&untouched);
        if change.gone {
            return;
        }
        let content = self.transcript.block(block);
        let source = Document::part(self.transcript.source, content.span);
        let value = source.root();
        let is_result = matches!(content.kind, BlockKind::Result(_));
        if let Some(heading) = change.demote {
            let demoted =
                if is_result { rewrite::demoted(value, heading) } else { rewrite::demoted_thought(value, heading) };
            self.writer.write(Some(index), &demoted);
        } else if let Some((id, name, edit)) = change.rebuild {
            self.writer.write(None, &rewrite::rebuilt(self.transcript.item(index), id, name));
            self.writer.note_landed(edit);
            let change = BlockPlan { id: Some(id), ..BlockPlan::default() };
            let text = rewrite::result(self.transcript, value, &change, plan.drop_item_id);
            self.writer.rewrite(Some(index), &text);
        } else if is_result {
            let text = rewrite::result(self.transcript, value, change, plan.drop_item_id);
            self.writer.rewrite(Some(index), &text);
        } else {
            let text = rewrite::call(self.transcript, value, change, plan.drop_item_id);
            self.writer.rewrite(Some(index), &text);
        }
        self.writer.note_edits(self.plan.get(index));
    }

    /// Writes the results of an item right after it, so that items added at the end of a conversation never come between
    /// them.
    fn write_results(&mut self, index: MessageIndex) {
        for placed in self.plan.get(index).map_or(&[][..], |plan| &plan.results) {
            match placed {
                Placed::Moved { result, edit, .. } => {
                    let change = BlockPlan {
                        id: self.plan.block(self.transcript, *result).and_then(|plan| plan.id),
                        ..BlockPlan::default()
                    };
                    let content = self.transcript.block(*result);
                    let source = Document::part(self.transcript.source, content.span);
                    let dropped = self.plan.get(content.message).is_some_and(|plan| plan.drop_item_id);
                    let text = rewrite::result(self.transcript, source.root(), &change, dropped);
                    self.writer.rewrite(Some(content.message), &text);
                    self.writer.note_landed(*edit);
                }
                Placed::New { call, text, edit } => {
                    let id = self.transcript.call(*call).and_then(|call| call.id.as_deref()).unwrap_or("");
                    let source = Document::part(self.transcript.source, self.transcript.block(*call).span);
                    let made_up = rewrite::made_up(self.transcript.item(index), source.root(), id, text);
                    self.writer.write(None, &made_up);
                    self.writer.note_landed(*edit);
                }
            }
        }
    }
}
