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
        encoder.step(index);
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

    fn step(&mut self, index: MessageIndex) {
        match self.plan.get(index) {
            plan if plan.is_none_or(MessagePlan::keeps_message) => self.writer.copy(index),
            Some(plan) if !plan.removed => self.write_changed(index, plan),
            _ => {}
        }
    }

    fn write_changed(&mut self, index: MessageIndex, plan: &MessagePlan<'_>) {
        let mut blocks = self.transcript.blocks_of(index);
        if let Some((block, _)) = blocks.find(|(_, block)| block.slot().field == Field::Item) {
            return self.write_block(index, block, plan);
        }
        let text = rewrite::speech(&self.writer, self.transcript, index, plan);
        self.writer.rewrite(Some(index), &text);
        self.writer.note_edits(Some(plan));
    }

    /// Writes a step that is one block.
    fn write_block(&mut self, index: MessageIndex, block: BlockIndex, plan: &MessagePlan<'_>) {
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
            self.writer.write(None, &rewrite::rebuilt(id, name));
            self.writer.note_landed(edit);
            let change = BlockPlan { id: Some(id), name: Some(name), ..BlockPlan::default() };
            self.writer.rewrite(Some(index), &rewrite::result(self.transcript, value, &change));
        } else if is_result {
            self.writer.rewrite(Some(index), &rewrite::result(self.transcript, value, change));
        } else {
            self.writer.rewrite(Some(index), &rewrite::call(self.transcript, value, change));
        }
        self.writer.note_edits(Some(plan));
    }

    /// Writes the results of a call right after it, so that steps added at the end of a conversation never come between
    /// them.
    fn write_results(&mut self, index: MessageIndex) {
        for placed in self.plan.get(index).map_or(&[][..], |plan| &plan.results) {
            match placed {
                Placed::Moved { result, edit, .. } => {
                    let id = self.plan.block(self.transcript, *result).and_then(|plan| plan.id);
                    let change = BlockPlan { id, ..BlockPlan::default() };
                    let content = self.transcript.block(*result);
                    let source = Document::part(self.transcript.source, content.span);
                    let text = rewrite::result(self.transcript, source.root(), &change);
                    self.writer.rewrite(Some(content.message), &text);
                    self.writer.note_landed(*edit);
                }
                Placed::New { call, text, edit } => {
                    let made = self.transcript.call(*call);
                    let id = made.and_then(|call| call.id.as_deref()).unwrap_or("");
                    let name = made.and_then(|call| self.transcript.name(call.tool)).unwrap_or("");
                    self.writer.write(None, &rewrite::made_up(id, name, text));
                    self.writer.note_landed(*edit);
                }
            }
        }
    }
}
