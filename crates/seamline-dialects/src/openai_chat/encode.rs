//! Writes edits of a transcript by splicing the original text.

use seamline_model::{BlockKind, Edit, Encoded, MessageIndex, Role, Transcript};

use super::rewrite::{self, MessageParts, role_name};
use super::{calls, foreign};
use crate::json::{Document, Json, list, member, object};
use crate::splice::{MessagePlan, MessageWriter, Placed, Plan};

pub(super) fn encode(transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
    let plan = Plan::new(transcript, edits);
    let writer = MessageWriter::new(transcript, edits.len(), &plan);
    let mut encoder = Encoder { transcript, plan: &plan, writer };
    let mut index = MessageIndex(0);
    while index.get() < transcript.messages.len() {
        index = encoder.message(index);
    }
    encoder.insert_before(index);
    encoder.writer.finish()
}

struct Encoder<'t, 'a, 'p> {
    transcript: &'t Transcript<'a>,
    plan: &'p Plan<'p>,
    writer: MessageWriter<'t, 'a>,
}

impl Encoder<'_, '_, '_> {
    /// Writes one message with the tool messages that follow it, and gives the one after.
    fn message(&mut self, index: MessageIndex) -> MessageIndex {
        self.insert_before(index);
        if self.is_result(index) {
            return self.write_results(index, &[]);
        }
        match self.plan.get(index) {
            plan if plan.is_none_or(MessagePlan::keeps_message) => self.writer.copy(index),
            Some(plan) if plan.removed => {}
            Some(plan) if plan.restate => self.restate(index),
            Some(plan) if plan.regroup => self.regroup(index),
            _ => self.write_edited(index),
        }
        self.write_results(index.next(), self.plan.get(index).map_or(&[], |plan| &plan.results))
    }

    fn insert_before(&mut self, index: MessageIndex) {
        let said = |role, text: &str| object([member("role", role_name(role)), member("content", text)]);
        self.writer.insert(self.plan.get(index), said);
    }

    fn is_result(&self, index: MessageIndex) -> bool {
        let apart = self.plan.get(index).is_some_and(|plan| plan.regroup || plan.restate);
        let is_tool = self.transcript.messages.get(index.get()).is_some_and(|message| message.role == Role::Tool);
        // A message that was read without tolerance holds a result, so its block need not be looked at.
        is_tool && !apart && (self.transcript.irregularities.is_empty() || self.result_block(index).is_some())
    }

    /// Writes a run of tool messages with the results that join it, then the messages that had to leave it.
    fn write_results(&mut self, start: MessageIndex, results: &[Placed<'_>]) -> MessageIndex {
        let mut end = start;
        let mut left = Vec::new();
        while self.is_result(end) && (end == start || self.plan.get(end).is_none_or(|plan| plan.before.is_empty())) {
            if !self.result(end) {
                left.push(end);
            }
            end = end.next();
        }
        for placed in results {
            self.write_placed(placed);
        }
        for index in left {
            self.write_leaving(index);
        }
        end
    }

    /// Writes one tool message. `false` when something of it has to follow the run.
    fn result(&mut self, index: MessageIndex) -> bool {
        let Some(plan) = self.plan.get(index) else {
            self.writer.copy(index);
            return true;
        };
        if plan.removed {
            return true;
        }
        let Some((block, _)) = self.result_block(index) else {
            return true;
        };
        let Some(change) = plan.block(block) else {
            let text = rewrite::without_calls(self.transcript, index);
            self.writer.rewrite(Some(index), &text);
            self.writer.note_edits(self.plan.get(index));
            return true;
        };
        if change.gone {
            return true;
        }
        if change.demote.is_some() || change.rebuild.is_some() {
            return false;
        }
        let text = rewrite::result(self.transcript, block, change);
        self.writer.rewrite(Some(index), &text);
        self.writer.note_edits(self.plan.get(index));
        change.hoist.is_none()
    }

    fn result_block(&self, index: MessageIndex) -> Option<(seamline_model::BlockIndex, &seamline_model::Block)> {
        self.transcript.blocks_of(index).find(|(_, block)| matches!(block.kind, BlockKind::Result(_)))
    }

    /// Writes a message that has to follow a run of tool messages.
    fn write_leaving(&mut self, index: MessageIndex) {
        let Some((block, content)) = self.result_block(index) else {
            return;
        };
        let Some(change) = self.plan.block(self.transcript, block) else {
            return;
        };
        let source = Document::part(self.transcript.source, content.span);
        let value = source.root();
        if let Some((id, name, edit)) = change.rebuild {
            self.writer.write(None, &calls::rebuilt(id, name));
            self.writer.note_landed(edit);
            let text = rewrite::result_with_id(self.transcript, block, Some(id));
            self.writer.rewrite(Some(index), &text);
        } else if let Some(heading) = change.demote {
            self.writer.write(Some(index), &rewrite::demoted(value, heading));
            self.writer.note_edits(self.plan.get(index));
        } else if change.hoist.is_some() {
            self.writer.write(None, &rewrite::hoisted(value));
        }
    }

    fn write_placed(&mut self, placed: &Placed<'_>) {
        match placed {
            Placed::Moved { result, edit, .. } => {
                let id = self.plan.block(self.transcript, *result).and_then(|plan| plan.id);
                let text = rewrite::result_with_id(self.transcript, *result, id);
                self.writer.rewrite(Some(self.transcript.block(*result).message), &text);
                self.writer.note_landed(*edit);
            }
            Placed::New { call, text, edit } => {
                let id = self.transcript.call(*call).and_then(|call| call.id.as_deref()).unwrap_or("");
                self.writer.write(None, &calls::result(id, Json::Text((*text).to_owned())));
                self.writer.note_landed(*edit);
            }
        }
    }

    fn write_edited(&mut self, index: MessageIndex) {
        let parts = MessageParts { transcript: self.transcript, plan: self.plan };
        if let Some(text) = parts.rewrite(&self.writer, index) {
            self.writer.rewrite(Some(index), &text);
            self.writer.note_edits(self.plan.get(index));
        }
    }

    /// Writes calls and results in a message's content in the form of this dialect.
    fn restate(&mut self, index: MessageIndex) {
        for text in foreign::restated(&self.writer, self.transcript, index) {
            self.writer.rewrite(Some(index), &text);
        }
        self.writer.note_edits(self.plan.get(index));
    }

    /// Moves the calls in a message of another role into an assistant message.
    fn regroup(&mut self, index: MessageIndex) {
        let parts = MessageParts { transcript: self.transcript, plan: self.plan };
        let (made, rest) = parts.split(index);
        let is_result = self.transcript.message(index).role == Role::Tool;
        let assistant = object([member("role", "assistant"), ("content", Json::Null), (calls::LIST, list(made))]);
        if is_result {
            self.writer.write(Some(index), &assistant);
        }
        if let Some(text) = rest {
            self.writer.rewrite(Some(index), &text);
        }
        if !is_result {
            self.writer.write(Some(index), &assistant);
        }
        self.writer.note_edits(self.plan.get(index));
    }
}
