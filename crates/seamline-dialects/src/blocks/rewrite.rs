//! Writes single blocks that edits change.

use seamline_model::{BlockIndex, BlockKind, Role, Transcript};

use super::write::{Blocks, Patch, fields_of};
use crate::beside::{beside, inside};
use crate::fenced::Fenced;
use crate::json::{Document, Json, Kind, Value, quoted};
use crate::rewriting::{input_object, set_members};
use crate::splice::{BlockPlan, apply_patches};

/// A block to be written, with its sort.
pub(super) struct Item<'a> {
    pub(super) sort: Sort,
    pub(super) json: Json<'a>,
}

/// The property that decides the order and the role of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Result,
    Assistant,
    Other,
}

impl Sort {
    pub(super) fn of(kind: &BlockKind) -> Self {
        match kind {
            BlockKind::Result(_) => Self::Result,
            BlockKind::Call(_)
            | BlockKind::ServerCall(_)
            | BlockKind::ServerResult(_)
            | BlockKind::Reasoning { .. } => Self::Assistant,
            BlockKind::Text(_) | BlockKind::Media | BlockKind::Opaque => Self::Other,
        }
    }

    /// The role that may hold it, if only one may.
    pub(super) fn role(self) -> Option<Role> {
        match self {
            Self::Result => Some(Role::User),
            Self::Assistant => Some(Role::Assistant),
            Self::Other => None,
        }
    }
}

/// Single blocks of a transcript, in the form of a dialect.
#[derive(Clone, Copy)]
pub(super) struct Rewriter<'t, 'a> {
    pub(super) blocks: &'static dyn Blocks,
    pub(super) transcript: &'t Transcript<'a>,
}

impl<'a> Rewriter<'_, 'a> {
    /// Writes what a block becomes under its plan.
    pub(super) fn items(&self, block: BlockIndex, plan: Option<&BlockPlan<'_>>, items: &mut Vec<Item<'a>>) {
        let content = self.transcript.block(block);
        let raw = self.transcript.text(content.span);
        let source = Document::part(self.transcript.source, content.span);
        let value = source.root();
        let sort = Sort::of(&content.kind);
        let Some(plan) = plan else {
            items.push(Item { sort, json: self.whole_text(value).unwrap_or(Json::Raw(raw)) });
            return;
        };
        if plan.gone || plan.rebuild.is_some() {
            return;
        }
        if let Some(heading) = plan.demote {
            let kept = self.demoted(value, &content.kind, heading);
            items.extend(kept.into_iter().map(|json| Item { sort: Sort::Other, json }));
            return;
        }
        items.push(Item { sort, json: Json::Written(self.changed(value, &content.kind, plan)) });
        if let Some(result) = plan.follow {
            let result = self.transcript.text(self.transcript.block(result).span);
            items.push(Item { sort: Sort::Assistant, json: Json::Raw(result) });
        }
        if plan.close {
            let result = self.blocks.server_result(&content.kind, value);
            items.extend(result.map(|json| Item { sort: Sort::Assistant, json }));
        }
    }

    /// Writes a string content as a text block.
    fn whole_text(&self, value: Value<'_, 'a>) -> Option<Json<'a>> {
        value.is(Kind::String).then(|| self.blocks.text(Json::Raw(value.raw())))
    }

    fn changed(&self, value: Value<'_, '_>, kind: &BlockKind, plan: &BlockPlan<'_>) -> String {
        let keys = self.blocks.keys();
        let fields = fields_of(keys, value);
        let held = |key: &str| fields.object().and_then(|members| members.get(key));
        let is_result = matches!(kind, BlockKind::Result(_));
        let mut values = Vec::new();
        let id_key = if matches!(kind, BlockKind::ServerResult(_)) { keys.result_id } else { keys.call_id };
        values.extend(plan.id.filter(|_| !is_result).map(|id| (id_key, quoted(id))));
        values.extend(plan.name.map(|name| (keys.name, quoted(name))));
        if plan.input {
            values.push((keys.input, input_object(held(keys.input))));
        }
        if let Some(text) = plan.fill {
            values.push((keys.output, self.blocks.filled(held(keys.output), text)));
        }
        let mut patches = set_members(fields, values);
        if let Some(id) = plan.id.filter(|_| is_result) {
            patches.extend(self.addressed(fields, id, plan.call));
        }
        if let Some(signature) = plan.sign {
            patches.extend(self.blocks.signed(value, signature));
        }
        apply_patches(self.transcript, value.span(), &mut patches)
    }

    /// The patches that let a result answer a call with this id.
    fn addressed(&self, result: Value<'_, '_>, id: &str, call: Option<BlockIndex>) -> Vec<Patch> {
        let Some(call) = call else {
            return self.blocks.addressed(result, id, None);
        };
        let source = Document::part(self.transcript.source, self.transcript.block(call).span);
        self.blocks.addressed(result, id, Some(fields_of(self.blocks.keys(), source.root())))
    }

    /// Writes a result unchanged, or with the id of another call.
    pub(super) fn result_with_id(&self, block: BlockIndex, id: Option<&str>, call: Option<BlockIndex>) -> Json<'a> {
        let content = self.transcript.block(block);
        let Some(id) = id else {
            return Json::Raw(self.transcript.text(content.span));
        };
        let source = Document::part(self.transcript.source, content.span);
        let mut patches = self.addressed(fields_of(self.blocks.keys(), source.root()), id, call);
        Json::Written(apply_patches(self.transcript, content.span, &mut patches))
    }

    /// Writes a synthetic result for a call.
    pub(super) fn made_up_result(&self, call: BlockIndex, text: &str) -> Json<'static> {
        let id = self.transcript.call(call).and_then(|call| call.id.as_deref()).unwrap_or("");
        let source = Document::part(self.transcript.source, self.transcript.block(call).span);
        self.blocks.made_up_result(source.root(), id, text)
    }

    /// Writes a block as text between marks. Its content stays byte for byte.
    fn demoted(&self, value: Value<'_, 'a>, kind: &BlockKind, heading: &str) -> Vec<Json<'a>> {
        let fenced = Fenced::of(heading, value);
        if let (BlockKind::Reasoning { .. }, Some(said)) = (kind, self.blocks.reasoning(value)) {
            let beside = beside(value, &[said.span()], &|key| matches!(key, "type" | "id"));
            return vec![self.blocks.text(fenced.with(&beside).string(said))];
        }
        if !matches!(kind, BlockKind::Result(_)) {
            return vec![self.blocks.text(fenced.text(value.raw()))];
        }
        let keys = self.blocks.keys();
        let fields = fields_of(keys, value);
        // Parts beside the output are shown if they are a list.
        let is_shown = |key: &str, member: Value<'_, '_>| key == keys.output || member.is(Kind::Array);
        let held = |key: &&str| fields.object()?.get(key).filter(|member| is_shown(key, *member)).map(Value::span);
        let mut shown: Vec<_> = keys.shown.iter().filter_map(held).chain([inside(fields)]).collect();
        shown.sort_by_key(|span| span.start);
        let beside = beside(value, &shown, &|key| keys.result_known.contains(&key));
        self.blocks.kept(fields, &fenced.with(&beside))
    }
}
