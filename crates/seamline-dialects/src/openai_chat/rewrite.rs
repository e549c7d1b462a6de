//! Writes single messages and calls that edits change.

use seamline_model::{
    Block, BlockIndex, BlockKind, ContentForm, EMPTY_TEXT, Emptiness, FactKind, Fence, Field, IdForm, MARK,
    MessageIndex, Role, Span, Transcript, label,
};

use super::{calls, foreign};
use crate::Document;
use crate::beside::{beside, has_more};
use crate::fenced::Fenced;
use crate::ids::RESULT_ID_KEYS;
use crate::json::{Json, Kind, Value, list, member, object, quoted};
use crate::kept::{rewrite_as_user, speaks_elsewhere, with_members_as_text};
use crate::reading::{emptiness, part_text};
use crate::results::written;
use crate::rewriting::{cuts, set_member, unreadable_text};
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, Plan, apply_patches};

/// The writer of messages that are not results.
pub(super) struct MessageParts<'t, 'a, 'p> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) plan: &'p Plan<'p>,
}

type Patches = Vec<(Span, String)>;

impl<'a> MessageParts<'_, 'a, '_> {
    /// Writes a message under its plan. Returns nothing when nothing is left of it.
    pub(super) fn rewrite(&self, writer: &MessageWriter<'_, 'a>, index: MessageIndex) -> Option<String> {
        let message = self.transcript.message(index);
        let source = Document::part(self.transcript.source, message.span);
        let value = source.root();
        let mut patches = Patches::new();
        if self.plan.get(index).is_some_and(|plan| plan.keep_members) {
            return Some(with_members_as_text(self.transcript, index, "content", |text| quoted(&text)));
        }
        if let Some(heading) = self.plan.get(index).and_then(|plan| plan.take_in) {
            return Some(rewrite_as_user(writer, self.transcript, value, heading, text_part));
        }
        if let Some(plan) = self.plan.get(index) {
            if let Some(role) = plan.role {
                patches.extend(set_member(value, "role", &format!("\"{}\"", role_name(role))));
            }
            if let Some((field, text)) = plan.reasoning {
                patches.extend(set_member(value, field, &quoted(text)));
            }
            if plan.continued {
                patches.extend(set_member(value, "prefix", "true"));
            }
            if let Some(text) = plan.fill {
                let kept = content_of(value).and_then(unreadable_text);
                patches.extend(set_member(value, "content", &quoted(kept.as_deref().unwrap_or(text))));
            }
        }
        self.content(writer, index, &mut patches)?;
        self.calls(writer, index, &mut patches);
        Some(apply_patches(self.transcript, message.span, &mut patches))
    }

    /// Patches the content. Returns nothing when nothing is left of the message.
    fn content(&self, writer: &MessageWriter<'_, 'a>, index: MessageIndex, patches: &mut Patches) -> Option<()> {
        let of_content = |block: &Block| block.slot().field == Field::Content || is_whole_text(block);
        let mut changed = false;
        let mut parts = Vec::new();
        let mut left = 0;
        for (block, content) in self.transcript.blocks_of(index) {
            let plan = self.plan.block(self.transcript, block);
            left += usize::from(!plan.is_some_and(|plan| plan.gone));
            if !of_content(content) {
                continue;
            }
            match plan {
                Some(plan) if plan.gone => changed = true,
                Some(plan) if plan.demote.is_some() => {
                    changed = true;
                    let heading = plan.demote.unwrap_or_default();
                    let raw = self.transcript.text(content.span);
                    parts.push(text_part(Fenced::around(heading, raw).text(raw)));
                }
                _ => parts.push(self.part(content)),
            }
        }
        if changed {
            let removes = self.plan.get(index).is_some_and(MessagePlan::removes_blocks);
            if left == 0 && !removes && !speaks_elsewhere(self.transcript, index) {
                return None;
            }
            let source = Document::part(self.transcript.source, self.transcript.message(index).span);
            let text = if parts.is_empty() { "null".to_owned() } else { writer.render(&list(parts), 1) };
            patches.extend(set_member(source.root(), "content", &text));
        }
        Some(())
    }

    fn part(&self, block: &Block) -> Json<'a> {
        let raw = self.transcript.text(block.span);
        if block.slot().field == Field::Whole { text_part(Json::Raw(raw)) } else { Json::Raw(raw) }
    }

    /// Patches the list of calls.
    fn calls(&self, writer: &MessageWriter<'_, 'a>, index: MessageIndex, patches: &mut Patches) {
        let source = Document::part(self.transcript.source, self.transcript.message(index).span);
        let value = source.root();
        let plan = self.plan.get(index);
        let adopts = plan.is_some_and(|plan| plan.blocks.values().any(|block| block.adopt));
        let mut changed = adopts || plan.is_some_and(|plan| plan.drop_call_list);
        let mut calls = Vec::new();
        for (block, content) in self.transcript.blocks_of(index) {
            let plan = self.plan.block(self.transcript, block);
            let listed = content.slot().field == Field::Calls;
            changed |= listed && plan.is_some();
            if (listed || (adopts && is_legacy_call(content))) && !plan.is_some_and(|plan| plan.gone) {
                calls.push(calls::written(self.transcript, content, plan));
            }
        }
        let Some(members) = value.object().filter(|_| changed) else { return };
        let (list_key, legacy_key) = (calls::LIST, calls::LEGACY);
        match (calls.is_empty(), members.get(list_key), members.member(legacy_key).filter(|_| adopts)) {
            (true, _, _) => patches.extend(cuts(value, &[list_key])),
            (false, None, Some((key, call))) => {
                // The list takes the place of the call, and its key that of the other.
                let list = writer.render(&list(calls), 1);
                patches.extend([(key.span(), quoted(list_key)), (call.span(), list)]);
            }
            (false, old, legacy) => {
                patches.extend(set_member(value, list_key, &writer.render(&list(calls), 1)));
                if old.is_some() && legacy.is_some() {
                    patches.extend(cuts(value, &[legacy_key]));
                }
            }
        }
    }

    /// Splits a message into its calls and the rest, if anything is left.
    pub(super) fn split(&self, index: MessageIndex) -> (Vec<Json<'a>>, Option<String>) {
        let message = self.transcript.message(index);
        let mut calls = Vec::new();
        let odd = message.body == ContentForm::Unreadable;
        let mut left = odd || message.role == Role::Tool || speaks_elsewhere(self.transcript, index);
        for (block, content) in self.transcript.blocks_of(index) {
            match &content.kind {
                BlockKind::Call(_) => {
                    let plan = self.plan.block(self.transcript, block);
                    calls.push(calls::written(self.transcript, content, plan));
                }
                BlockKind::Text(Emptiness::Empty) if !self.transcript.has_fact(block, FactKind::Beside) => {}
                _ => left = true,
            }
        }
        let source = Document::part(self.transcript.source, message.span);
        let value = source.root();
        let rest = (left && value.is(Kind::Object))
            .then(|| apply_patches(self.transcript, message.span, &mut cuts(value, &[calls::LIST, calls::LEGACY])));
        (calls, rest)
    }
}

/// Writes a message without its list of calls.
pub(super) fn without_calls(transcript: &Transcript<'_>, index: MessageIndex) -> String {
    let message = transcript.message(index);
    let source = Document::part(transcript.source, message.span);
    let mut patches = cuts(source.root(), &[calls::LIST]);
    apply_patches(transcript, message.span, &mut patches)
}

fn is_legacy_call(block: &Block) -> bool {
    block.slot().field == Field::Whole && matches!(block.kind, BlockKind::Call(_))
}

fn is_whole_text(block: &Block) -> bool {
    block.slot().field == Field::Whole && matches!(block.kind, BlockKind::Text(_))
}

/// Writes a tool message under its plan.
pub(super) fn result(transcript: &Transcript<'_>, block: BlockIndex, plan: &BlockPlan<'_>) -> String {
    let content = transcript.block(block);
    let source = Document::part(transcript.source, content.span);
    let value = source.root();
    let mut patches = Patches::new();
    if let Some(id) = plan.id {
        patches.extend(set_member(value, "tool_call_id", &quoted(id)));
    }
    if let Some(name) = plan.name {
        patches.extend(set_member(value, "name", &quoted(name)));
    }
    if plan.flatten {
        let texts: Vec<_> = contents(value).filter_map(flat_text).collect();
        patches.extend(set_member(value, "content", &quoted(&texts.join("\n"))));
    }
    let placeholder = plan.fill.or(plan.hoist);
    if let Some(text) = placeholder {
        let kept: Vec<_> = contents(value).filter_map(kept_part).collect();
        let json = match content_of(value).and_then(unreadable_text) {
            Some(kept) => quoted(&kept),
            None if kept.is_empty() => quoted(text),
            None => format!("[{}]", kept.join(",")),
        };
        patches.extend(set_member(value, "content", &json));
    }
    apply_patches(transcript, content.span, &mut patches)
}

fn content_of<'d, 'a>(message: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    message.object().and_then(|members| members.get("content"))
}

fn contents<'d, 'a>(message: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    content_of(message).into_iter().flat_map(Value::elements)
}

/// A text part that stays in a result. If the text is empty, only its other members are kept.
fn kept_part(part: Value<'_, '_>) -> Option<String> {
    match emptiness(part_text(part)?) {
        Emptiness::Present => Some(part.raw().to_owned()),
        _ => has_more(part).then(|| written(&text_part(Fenced::of(EMPTY_TEXT, part).text(part.raw())))),
    }
}

/// The text of a part as a line of a result. Its other members are kept with it.
fn flat_text(part: Value<'_, '_>) -> Option<String> {
    let text = part_text(part)?.str()?;
    Some(if has_more(part) { Fence::around(PART_TEXT, part.raw()).text(part.raw()) } else { text.into_owned() })
}

/// The heading inside the marks around a text part that is kept with its other members.
const PART_TEXT: &str = "a text with other members, kept as text";

/// Writes the parts of a tool message that are not text as a user message.
pub(super) fn hoisted<'a>(message: Value<'_, 'a>) -> Json<'a> {
    let id = message.object().and_then(|members| members.get("tool_call_id")).and_then(Value::str).unwrap_or_default();
    // An id of the client's own history does not reach the provider, and the call gets this one.
    let id = id.strip_prefix(IdForm::INTERNAL).map_or(id.clone(), |rest| format!("call_{rest}").into());
    let note = text_part(Json::Text(format!("{MARK} what tool call {} returned beside text:", label(&id))));
    let media = contents(message).filter(|part| part_text(*part).is_none()).map(|part| Json::Raw(part.raw()));
    object([member("role", "user"), ("content", list(std::iter::once(note).chain(media).collect()))])
}

/// Writes a tool message unchanged, or with the id of another call.
pub(super) fn result_with_id(transcript: &Transcript<'_>, block: BlockIndex, id: Option<&str>) -> String {
    let plan = BlockPlan { id, ..BlockPlan::default() };
    result(transcript, block, &plan)
}

/// Writes a tool message as a user message between marks. Its content stays byte for byte.
pub(super) fn demoted<'a>(message: Value<'_, 'a>, heading: &str) -> Json<'a> {
    let content = content_of(message);
    let shown: Vec<_> = content.into_iter().map(Value::span).collect();
    let known = |key: &str| matches!(key, "role" | "name") || RESULT_ID_KEYS.contains(&key);
    let fenced = Fenced::of(heading, message).with(&beside(message, &shown, &known));
    let content = match content.filter(|content| content.elements().any(foreign::is_pair_part)) {
        // As parts, calls and results would have to be put right again, one layer after the other.
        Some(parts) => list(fenced.blocks(parts.elements().map(foreign::without_pairs), text_part)),
        None => fenced.content(content, text_part),
    };
    object([member("role", "user"), ("content", content)])
}

pub(super) fn text_part(text: Json<'_>) -> Json<'_> {
    object([member("type", "text"), ("text", text)])
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Unknown => Role::User.as_str(),
        role => role.as_str(),
    }
}
