//! Writes edits of a transcript by splicing the original text.

use std::cell::Cell;
use std::collections::HashSet;

use seamline_model::{BlockIndex, BlockKind, ContentForm, Edit, Encoded, Joint, MessageIndex, Role, Transcript};

use super::rewrite::{Item, Rewriter, Sort};
use super::write::{self, Blocks};
use crate::json::{Document, Json, list, object, quoted};
use crate::kept::{as_user, media, members_as_text, no_message, speaks_elsewhere, with_members_as_text};
use crate::rewriting::{set_members, unreadable_text};
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, Placed, Plan};

/// Writes edits in the form of a dialect. Results of messages with calls that `joint` connects stay together
/// where they already are.
pub(crate) fn encode(
    blocks: &'static dyn Blocks,
    transcript: &Transcript<'_>,
    edits: &[Edit],
    joint: Joint,
) -> Encoded {
    let plan = Plan::new(transcript, edits);
    let writer = MessageWriter::new(transcript, edits.len(), &plan);
    let none = Neighbours { first: MessageIndex(0), end: MessageIndex(0), joint_from: None };
    let rewriter = Rewriter { blocks, transcript };
    let neighbours = Cell::new(none);
    let taken_over = Vec::new();
    let mut encoder = Encoder { blocks, rewriter, transcript, plan: &plan, joint, writer, neighbours, taken_over };
    let mut index = MessageIndex(0);
    while index.get() < transcript.messages.len() {
        index = encoder.message(index);
    }
    encoder.insert_before(index);
    let declaration = if plan.declared.is_empty() { None } else { blocks.declaration(plan.declared) };
    encoder.writer.finish_with(declaration)
}

struct Encoder<'t, 'a, 'p> {
    blocks: &'static dyn Blocks,
    rewriter: Rewriter<'t, 'a>,
    transcript: &'t Transcript<'a>,
    plan: &'p Plan<'p>,
    /// Which messages with calls the provider accepts the results of together.
    joint: Joint,
    writer: MessageWriter<'t, 'a>,
    /// The neighbouring messages with calls that were last asked for.
    neighbours: Cell<Neighbours>,
    /// Members of joined messages that the message being written takes over.
    taken_over: Vec<(String, String)>,
}

/// Messages of the assistant with calls that may be answered together.
#[derive(Clone, Copy)]
struct Neighbours {
    first: MessageIndex,
    /// The message of a known role after the last.
    end: MessageIndex,
    /// The first of them that `end` answers. From there on they are answered together, and
    /// nothing may come between them.
    joint_from: Option<MessageIndex>,
}

impl<'a, 'p> Encoder<'_, 'a, 'p> {
    /// Writes one message, or several that are joined, and gives the one after.
    fn message(&mut self, index: MessageIndex) -> MessageIndex {
        self.insert_before(index);
        let mut end = index.next();
        let stays = self.plan.get(index).is_none_or(|plan| !plan.removed);
        while stays && self.plan.get(end).is_some_and(|plan| plan.join_previous && !plan.removed) {
            end = end.next();
        }
        let incoming = self.incoming(index);
        match self.plan.get(index) {
            plan if incoming.is_empty() && end == index.next() && plan.is_none_or(MessagePlan::keeps_message) => {
                self.writer.copy(index);
            }
            Some(plan) if plan.removed => {}
            Some(MessagePlan { keep_members: true, .. }) => self.keep_members(index),
            Some(MessagePlan { take_in: Some(heading), .. }) => self.take_in(index, heading),
            _ => self.write_edited(index, end, &incoming),
        }
        self.write_results(index);
        end
    }

    fn insert_before(&mut self, index: MessageIndex) {
        let blocks = self.blocks;
        let text = |text: &str| blocks.text_content(Json::Text(text.to_owned()));
        self.writer.insert(self.plan.get(index), |role, said| write::message(blocks, role, text(said)));
    }

    /// Writes what answers a message, unless a message that is there takes it in.
    fn write_results(&mut self, index: MessageIndex) {
        let Some(plan) = self.plan.get(index) else {
            return;
        };
        if plan.results.is_empty() || self.taker(index).is_some() {
            return;
        }
        let placed: Vec<_> = plan.results.iter().collect();
        let (results, media): (Vec<_>, Vec<_>) =
            self.placed(&placed).into_iter().partition(|item| item.sort == Sort::Result);
        let content = results.into_iter().chain(media).map(|item| item.json).collect();
        let message = write::message(self.blocks, Role::User, list(content));
        self.writer.write(None, &message);
        self.note_landed(&placed);
    }

    /// Results of the messages before it that the message takes in.
    fn incoming(&self, index: MessageIndex) -> Vec<&'p Placed<'p>> {
        if self.transcript.message(index).role != Role::User || !self.may_take_in(index) {
            return Vec::new();
        }
        let mut first = index.0;
        while first > 0 && self.may_precede(MessageIndex(first - 1)) {
            first -= 1;
        }
        let asking = (first..index.0).map(MessageIndex).filter(|&asks| self.taker(asks) == Some(index));
        asking.filter_map(|asks| self.plan.get(asks)).flat_map(|plan| &plan.results).collect()
    }

    /// Whether one of the assistant's messages right before this one gets a result. Asked
    /// first, since the plan of most messages is empty and their blocks need no look.
    fn may_take_in(&self, index: MessageIndex) -> bool {
        let before = (0..index.0).rev().map(MessageIndex);
        let mut asking = before.take_while(|&before| self.may_precede(before));
        asking.any(|asks| self.plan.get(asks).is_some_and(|plan| !plan.results.is_empty()))
    }

    /// Whether a message may come between calls and the message that answers them.
    fn may_precede(&self, index: MessageIndex) -> bool {
        matches!(self.transcript.message(index).role, Role::Assistant | Role::Unknown)
    }

    fn makes_calls(&self, index: MessageIndex) -> bool {
        self.transcript.message(index).role == Role::Assistant && self.transcript.has_calls(index)
    }

    /// The message that takes in further results of the calls in `index`: the next one, if it holds results; or the
    /// one after the neighbours of `index`, if their calls are answered together.
    fn taker(&self, index: MessageIndex) -> Option<MessageIndex> {
        let next = self.transcript.next_known(index)?;
        if self.takes_results(next) {
            return Some(next);
        }
        if self.joint == Joint::Apart {
            return None;
        }
        let Neighbours { end, joint_from, .. } = self.neighbours(index);
        joint_from.filter(|&from| from <= index).map(|_| end)
    }

    /// The neighbouring messages with calls that `index` is one of.
    fn neighbours(&self, index: MessageIndex) -> Neighbours {
        let known = self.neighbours.get();
        if (known.first..known.end).contains(&index) {
            return known;
        }
        let count = self.transcript.messages.len() as u32;
        let belongs = |&at: &MessageIndex| self.makes_calls(at) || self.transcript.connects(at, self.joint);
        let asks = |&at: &MessageIndex| self.makes_calls(at);
        let before = (0..index.0).rev().map(MessageIndex).take_while(belongs);
        let first = before.filter(asks).last().unwrap_or(index);
        let after = (index.0 + 1..count).map(MessageIndex).take_while(belongs);
        let last = after.filter(|&at| self.transcript.may_ask(at)).last().unwrap_or(index);
        let end = self.transcript.next_known(last).unwrap_or(MessageIndex(count));
        let joint_from = self.takes_results(end).then(|| self.first_answered(first, end)).flatten();
        let found = Neighbours { first, end, joint_from };
        self.neighbours.set(found);
        found
    }

    /// The first message from `first` on with a call that a result in `results` names, if that result stays there. Where
    /// one of the two has no id, the name of the tool is in the place of it.
    fn first_answered(&self, first: MessageIndex, results: MessageIndex) -> Option<MessageIndex> {
        let staying = self.transcript.blocks_of(results).filter(|(block, _)| self.stays(*block));
        let staying: Vec<_> = staying.filter_map(|(block, _)| self.transcript.result(block)).collect();
        let named: HashSet<&str> = staying.iter().filter_map(|result| result.id.as_deref()).collect();
        let tools: HashSet<&str> = staying.iter().filter_map(|result| self.transcript.name(result.tool)).collect();
        let is_named = |block| {
            let Some(call) = self.transcript.call(block) else { return false };
            let (id, tool) = (call.id.as_deref(), self.transcript.name(call.tool));
            let is_nameless = id.is_some() && id == tool;
            let has = |names: &HashSet<&str>, name: Option<&str>| name.is_some_and(|name| names.contains(name));
            has(&named, id) || has(&tools, tool) && (is_nameless || has(&named, tool))
        };
        let mut messages = (first.0..results.0).map(MessageIndex);
        messages.find(|&message| self.transcript.blocks_of(message).any(|(block, _)| is_named(block)))
    }

    fn stays(&self, block: BlockIndex) -> bool {
        let plan = self.plan.block(self.transcript, block);
        plan.is_none_or(|plan| !plan.gone && plan.demote.is_none() && plan.rebuild.is_none())
    }

    /// Whether a message already holds results that stay in it.
    fn takes_results(&self, index: MessageIndex) -> bool {
        let Some(message) = self.transcript.messages.get(index.get()) else {
            return false;
        };
        message.role == Role::User
            && self.plan.get(index).is_none_or(|plan| !plan.removed)
            && self
                .transcript
                .blocks_of(index)
                .any(|(block, content)| matches!(content.kind, BlockKind::Result(_)) && self.stays(block))
    }

    fn write_edited(&mut self, index: MessageIndex, end: MessageIndex, incoming: &[&Placed<'_>]) {
        let mut items = self.items(index);
        for joined in (index.next().0..end.0).map(MessageIndex) {
            items.extend(self.items(joined));
            // The text is the only place for its unread members.
            let beside = members_as_text(self.transcript, joined);
            items.extend(beside.map(|text| Item { sort: Sort::Other, json: self.blocks.text(Json::Text(text)) }));
            self.taken_over.extend(media(self.transcript, joined));
        }
        let at = items.iter().rposition(|item| item.sort == Sort::Result).map_or(0, |last| last + 1);
        items.splice(at..at, self.placed(incoming));
        let plan = self.plan.get(index);
        if !incoming.is_empty() || plan.is_some_and(|plan| plan.results_first) {
            items.sort_by_key(|item| item.sort != Sort::Result);
        }
        let holds_results = items.iter().any(|item| item.sort == Sort::Result);
        if !holds_results {
            self.write_rebuilt(index);
        }
        self.groups(index, items, end != index.next());
        for joined in (index.next().0..end.0).map(MessageIndex) {
            self.writer.note_edits(self.plan.get(joined));
        }
        if holds_results {
            self.write_rebuilt(index);
        }
        self.note_landed(incoming);
    }

    /// Writes the items as one message, or as one per role when they are regrouped.
    fn groups(&mut self, index: MessageIndex, items: Vec<Item<'a>>, joined: bool) {
        let plan = self.plan.get(index);
        let mut role = self.transcript.message(index).role;
        if let Some(MessagePlan { regroup: true, .. }) = plan {
            let mut items = items;
            if self.must_stay_whole(index) {
                items.sort_by_key(|item| item.sort == Sort::Result);
            }
            let mut groups: Vec<(Role, Vec<Item<'a>>)> = Vec::new();
            for item in items {
                let own = item.sort.role().unwrap_or(role);
                match groups.last_mut() {
                    Some((last, group)) if *last == own => group.push(item),
                    _ => groups.push((own, vec![item])),
                }
            }
            for (at, (own, group)) in groups.into_iter().enumerate() {
                self.group(index, (own, own != role), group, at == 0);
            }
            return;
        }
        if plan.is_some_and(|plan| plan.split_results) {
            let (results, mut rest): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.sort == Sort::Result);
            if let Some(text) = plan.and_then(|plan| plan.fill) {
                rest.insert(0, Item { sort: Sort::Other, json: self.blocks.text(Json::Text(text.to_owned())) });
            }
            self.group(index, (role, false), results, true);
            self.group(index, (role, false), rest, false);
            return;
        }
        let new_role = plan.and_then(|plan| plan.role);
        let changed = new_role.is_some();
        role = new_role.unwrap_or(role);
        let text_stays = !joined && plan.is_some_and(|plan| plan.blocks.is_empty() && plan.fill.is_none());
        let reforms = plan.is_some_and(|plan| plan.reform);
        if text_stays && !reforms && self.transcript.message(index).body != ContentForm::Blocks {
            self.rewrite(index, role, changed, None);
        } else if let Some(text) = plan.and_then(|plan| plan.fill) {
            let source = Document::part(self.transcript.source, self.transcript.message(index).span);
            let key = self.blocks.keys().content;
            let kept = source.root().object().and_then(|members| members.get(key)).and_then(unreadable_text);
            let text = Json::Text(kept.unwrap_or_else(|| text.to_owned()));
            self.rewrite(index, role, changed, Some(self.blocks.text_content(text)));
        } else {
            self.group(index, (role, changed), items, true);
        }
    }

    /// Writes a message whose unread members become its text.
    fn keep_members(&mut self, index: MessageIndex) {
        let as_content = |text| self.writer.render(&self.blocks.text_content(Json::Text(text)), 1);
        let text = with_members_as_text(self.transcript, index, self.blocks.keys().content, as_content);
        self.writer.rewrite(Some(index), &text);
        self.writer.note_edits(self.plan.get(index));
    }

    /// Writes a message with an unknown role as a message of the user.
    fn take_in(&mut self, index: MessageIndex, heading: &str) {
        let source = Document::part(self.transcript.source, self.transcript.message(index).span);
        let value = source.root();
        let blocks = self.blocks;
        match as_user(value, blocks.keys().content, heading, |text| blocks.text(text)) {
            Some(content @ Json::List(_)) => self.rewrite(index, Role::User, true, Some(content)),
            Some(text) => self.rewrite(index, Role::User, true, Some(blocks.text_content(text))),
            None => {
                let text = blocks.text_content(no_message(value, heading));
                let message = write::message(self.blocks, Role::User, text);
                self.writer.write(Some(index), &message);
                self.writer.note_edits(self.plan.get(index));
            }
        }
    }

    /// Whether what the assistant said may not be divided: signed reasoning and the
    /// provider's own calls with their results.
    fn must_stay_whole(&self, index: MessageIndex) -> bool {
        let is_server = |kind: &BlockKind| matches!(kind, BlockKind::ServerCall(_) | BlockKind::ServerResult(_));
        self.transcript.has_signed_reasoning(index)
            || self.transcript.blocks_of(index).any(|(_, block)| is_server(&block.kind))
    }

    fn group(&mut self, index: MessageIndex, (role, changed): (Role, bool), items: Vec<Item<'a>>, first: bool) {
        let stays = self.plan.get(index).is_some_and(MessagePlan::removes_blocks)
            || (first && (speaks_elsewhere(self.transcript, index) || !self.taken_over.is_empty()));
        if items.is_empty() && !stays {
            return;
        }
        let content = list(items.into_iter().map(|item| item.json).collect());
        if first {
            self.rewrite(index, role, changed, Some(content));
        } else {
            let message = write::message(self.blocks, role, content);
            self.writer.write(Some(index), &message);
        }
    }

    /// Writes a message with another role or content, and keeps everything else.
    fn rewrite(&mut self, index: MessageIndex, role: Role, changed: bool, content: Option<Json<'_>>) {
        let mut values = Vec::new();
        if changed {
            values.push(("role", quoted(self.blocks.role_name(role))));
        }
        values.extend(content.map(|json| (self.blocks.keys().content, self.writer.render(&json, 1))));
        let taken_over = std::mem::take(&mut self.taken_over);
        values.extend(taken_over.iter().map(|(key, json)| (key.as_str(), json.clone())));
        // Read only now: the content that it replaces is gone.
        let source = Document::part(self.transcript.source, self.transcript.message(index).span);
        let patches = set_members(source.root(), values);
        // The message can be the whole body, so its nodes are freed before its text is written.
        drop(source);
        self.writer.rewrite_patched(index, patches);
        self.writer.note_edits(self.plan.get(index));
    }

    /// Writes rebuilt calls, each with its result.
    fn write_rebuilt(&mut self, index: MessageIndex) {
        let Some(plan) = self.plan.get(index) else {
            return;
        };
        for (&block, change) in &plan.blocks {
            let BlockPlan { rebuild: Some((id, name, edit)), id: to, .. } = **change else {
                continue;
            };
            let message =
                write::message(self.blocks, Role::Assistant, list(vec![self.blocks.call(id, name, rebuilt_input())]));
            self.writer.write(None, &message);
            self.writer.note_landed(edit);
            let result = self.rewriter.result_with_id(block, to.or(Some(id)), None);
            let message = write::message(self.blocks, Role::User, list(vec![result]));
            self.writer.write(Some(index), &message);
        }
    }

    fn items(&self, index: MessageIndex) -> Vec<Item<'a>> {
        let mut items = Vec::with_capacity(self.transcript.message(index).range().len());
        for (block, _) in self.transcript.blocks_of(index) {
            let plan = self.plan.block(self.transcript, block);
            self.rewriter.items(block, plan, &mut items);
        }
        items
    }

    fn placed(&self, results: &[&Placed<'_>]) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        for placed in results {
            match placed {
                Placed::Moved { result, media, .. } => {
                    let plan = self.plan.block(self.transcript, *result);
                    let (id, call) = plan.map_or((None, None), |plan| (plan.id, plan.call));
                    items.push(Item { sort: Sort::Result, json: self.rewriter.result_with_id(*result, id, call) });
                    items.extend(media.iter().map(|&block| self.source(block)));
                }
                Placed::New { call, text, .. } => {
                    items.push(Item { sort: Sort::Result, json: self.rewriter.made_up_result(*call, text) });
                }
            }
        }
        items
    }

    fn source(&self, block: BlockIndex) -> Item<'a> {
        let content = self.transcript.block(block);
        Item { sort: Sort::of(&content.kind), json: Json::Raw(self.transcript.text(content.span)) }
    }

    fn note_landed(&mut self, results: &[&Placed<'_>]) {
        for placed in results {
            let (Placed::Moved { edit, .. } | Placed::New { edit, .. }) = placed;
            self.writer.note_landed(*edit);
        }
    }
}

/// The input of a call that was rebuilt from its result.
fn rebuilt_input() -> Json<'static> {
    object([("synthetic", Json::Bool(true)), ("reconstructed", Json::Bool(true))])
}
