//! Single messages and calls, changed.

use seamline_model::{Block, BlockIndex, BlockKind, Emptiness, Field, MARK, MessageIndex, Role, Span, Transcript};

use crate::Document;
use crate::json::{Json, Kind, Value, escape_into, list, member, object};
use crate::reading::{emptiness, part_text};
use crate::rewriting::{input_text, set_member, unreadable_text};
use crate::splice::{BlockPlan, MessagePlan, MessageWriter, Plan, apply_patches};

/// What is needed to rewrite a message that is not a result.
pub(super) struct MessageParts<'t, 'a, 'p> {
    pub(super) document: &'t Document<'a>,
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) plan: &'p Plan<'p>,
}

type Patches = Vec<(Span, String)>;

impl<'a> MessageParts<'_, 'a, '_> {
    /// The text of a message under its plan, with others joined to it. `None` when
    /// nothing is left of it.
    pub(super) fn rewrite(
        &self,
        writer: &MessageWriter<'_, 'a>,
        index: MessageIndex,
        joined: &[MessageIndex],
    ) -> Option<String> {
        let message = self.transcript.message(index);
        let value = self.document.value(message.wire);
        let mut patches = Patches::new();
        if let Some(plan) = self.plan.get(index) {
            if let Some(role) = plan.role {
                patches.extend(set_member(value, "role", &format!("\"{}\"", role_name(role))));
            }
            if let Some(text) = plan.fill {
                let kept = content_of(value).and_then(unreadable_text);
                patches.extend(set_member(value, "content", &quoted(kept.as_deref().unwrap_or(text))));
            }
            self.adopt(value, index, plan, &mut patches);
        }
        self.content(writer, index, joined, &mut patches)?;
        self.calls(writer, index, joined, &mut patches);
        Some(apply_patches(self.transcript.source, message.span.range(), &mut patches))
    }

    /// Patches the content. `None` when nothing is left of the message.
    fn content(
        &self,
        writer: &MessageWriter<'_, 'a>,
        index: MessageIndex,
        joined: &[MessageIndex],
        patches: &mut Patches,
    ) -> Option<()> {
        let of_content = |block: &Block<'_>| block.slot.field == Field::Content || is_whole_text(block);
        let mut changed = !joined.is_empty();
        let mut parts = Vec::new();
        let mut left = 0;
        for message in std::iter::once(index).chain(joined.iter().copied()) {
            for (block, content) in self.transcript.blocks_of(message) {
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
                        parts.push(text_part(Json::Text(format!("{heading}\n{}", self.transcript.text(content.span)))));
                    }
                    _ => parts.push(self.part(content)),
                }
            }
        }
        if changed {
            if left == 0 && !self.plan.get(index).is_some_and(MessagePlan::removes_blocks) {
                return None;
            }
            let value = self.document.value(self.transcript.message(index).wire);
            let text = if parts.is_empty() { "null".to_owned() } else { writer.render(&list(parts), 1) };
            patches.extend(set_member(value, "content", &text));
        }
        Some(())
    }

    fn part(&self, block: &Block<'_>) -> Json<'a> {
        let raw = self.transcript.text(block.span);
        if block.slot.field == Field::Whole { text_part(Json::Raw(raw)) } else { Json::Raw(raw) }
    }

    fn calls(
        &self,
        writer: &MessageWriter<'_, 'a>,
        index: MessageIndex,
        joined: &[MessageIndex],
        patches: &mut Patches,
    ) {
        let value = self.document.value(self.transcript.message(index).wire);
        let drop_list = self.plan.get(index).is_some_and(|plan| plan.drop_call_list);
        let mut changed = drop_list;
        let mut calls = Vec::new();
        for message in std::iter::once(index).chain(joined.iter().copied()) {
            for (block, content) in self.transcript.blocks_of(message) {
                if content.slot.field != Field::Calls {
                    continue;
                }
                let plan = self.plan.block(self.transcript, block);
                changed |= plan.is_some() || message != index;
                if !plan.is_some_and(|plan| plan.gone) {
                    calls.push(self.call(content, plan));
                }
            }
        }
        let list_member = value.object().and_then(|members| members.member("tool_calls"));
        match (changed, calls.is_empty(), list_member) {
            (true, true, Some((key, _))) => {
                patches.extend(value.object().map(|members| (members.cut(key), String::new())));
            }
            (true, false, _) => patches.extend(set_member(value, "tool_calls", &writer.render(&list(calls), 1))),
            _ => {}
        }
    }

    fn call(&self, block: &Block<'_>, plan: Option<&BlockPlan<'_>>) -> Json<'a> {
        let value = self.document.value(block.wire);
        match plan {
            None => Json::Raw(value.raw()),
            Some(plan) => Json::Written(changed_call(value, plan, self.transcript.source)),
        }
    }

    /// Moves a call from the legacy field into the list.
    fn adopt(&self, value: Value<'_, 'a>, index: MessageIndex, plan: &MessagePlan<'_>, patches: &mut Patches) {
        let Some((legacy, members)) = value.object().and_then(|members| Some((members.member("tool_use")?, members)))
        else {
            return;
        };
        if !plan.blocks.values().any(|block| block.adopt) {
            return;
        }
        let call = legacy_as_call(legacy.1);
        let mut calls = vec![call];
        for (_, block) in self.transcript.blocks_of(index).filter(|(_, block)| block.slot.field == Field::Calls) {
            calls.push(self.transcript.text(block.span).to_owned());
        }
        let list = format!("[{}]", calls.join(","));
        if let Some(old) = members.get("tool_calls") {
            patches.extend([(members.cut(legacy.0), String::new()), (old.span(), list)]);
        } else {
            // The list takes the place of the call, and the key that of its key.
            patches.extend([(legacy.0.span(), quoted("tool_calls")), (legacy.1.span(), list)]);
        }
    }

    /// The calls of a message, and the message without them, if anything is left.
    pub(super) fn split(&self, index: MessageIndex) -> (Vec<Json<'a>>, Option<String>) {
        let message = self.transcript.message(index);
        let mut calls = Vec::new();
        let mut left = message.role == Role::Tool;
        for (block, content) in self.transcript.blocks_of(index) {
            match (&content.kind, content.slot.field) {
                (BlockKind::Call(_), Field::Calls) => {
                    calls.push(self.call(content, self.plan.block(self.transcript, block)));
                }
                (BlockKind::Text(Emptiness::Empty), _) => {}
                _ => left = true,
            }
        }
        let value = self.document.value(message.wire);
        let rest = value.object().and_then(|members| {
            let (key, _) = members.member("tool_calls")?;
            let mut patches = vec![(members.cut(key), String::new())];
            left.then(|| apply_patches(self.transcript.source, message.span.range(), &mut patches))
        });
        (calls, rest)
    }
}

fn is_whole_text(block: &Block<'_>) -> bool {
    block.slot.field == Field::Whole && matches!(block.kind, BlockKind::Text(_))
}

fn changed_call(value: Value<'_, '_>, plan: &BlockPlan<'_>, source: &str) -> String {
    let Some(members) = value.object() else {
        return value.raw().to_owned();
    };
    let function = members.get("function").or_else(|| members.get("custom")).filter(|value| value.is(Kind::Object));
    let Some(function) = function else {
        return flat_as_call(value, plan);
    };
    let mut patches = Patches::new();
    if let Some(id) = plan.id {
        patches.extend(set_member(value, "id", &quoted(id)));
    }
    if let Some(name) = plan.name {
        patches.extend(set_member(function, "name", &quoted(name)));
    }
    if plan.input {
        let key = if members.get("function").is_some() { "arguments" } else { "input" };
        let input = function.object().and_then(|function| function.get(key));
        patches.extend(set_member(function, key, &input_text(input)));
    }
    apply_patches(source, value.span().range(), &mut patches)
}

/// A call whose name and arguments stand beside its id, in the form of this dialect.
fn flat_as_call(value: Value<'_, '_>, plan: &BlockPlan<'_>) -> String {
    let get = |key| value.object().and_then(|call| call.get(key));
    let string = |given: Option<&str>, value: Option<Value<'_, '_>>| {
        given.map(quoted).or_else(|| value.filter(|value| value.is(Kind::String)).map(|value| value.raw().to_owned()))
    };
    call_text(
        &string(plan.id, get("id").or_else(|| get("call_id"))).unwrap_or_else(|| quoted("")),
        &string(plan.name, get("name")).unwrap_or_else(|| quoted("")),
        &input_text(get("arguments").or_else(|| get("input"))),
    )
}

fn legacy_as_call(value: Value<'_, '_>) -> String {
    let get = |key| value.object().and_then(|call| call.get(key));
    let raw = |key| get(key).map_or_else(|| quoted(""), |value| value.raw().to_owned());
    call_text(&raw("id"), &raw("name"), &input_text(get("input")))
}

fn call_text(id: &str, name: &str, arguments: &str) -> String {
    format!("{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
}

/// A tool message under its plan.
pub(super) fn result(
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    block: BlockIndex,
    plan: &BlockPlan<'_>,
) -> String {
    let content = transcript.block(block);
    let value = document.value(content.wire);
    let mut patches = Patches::new();
    if let Some(id) = plan.id {
        patches.extend(set_member(value, "tool_call_id", &quoted(id)));
    }
    let placeholder = plan.fill.or(plan.hoist);
    if let Some(text) = placeholder {
        let kept: Vec<_> = contents(value).filter(|part| has_text(*part)).map(Value::raw).collect();
        let json = match content_of(value).and_then(unreadable_text) {
            Some(kept) => quoted(&kept),
            None if kept.is_empty() => quoted(text),
            None => format!("[{}]", kept.join(",")),
        };
        patches.extend(set_member(value, "content", &json));
    }
    apply_patches(transcript.source, content.span.range(), &mut patches)
}

fn content_of<'d, 'a>(message: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    message.object().and_then(|members| members.get("content"))
}

fn contents<'d, 'a>(message: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    content_of(message).into_iter().flat_map(Value::elements)
}

fn has_text(part: Value<'_, '_>) -> bool {
    part_text(part).is_some_and(|text| emptiness(text) == Emptiness::Present)
}

/// What is not text in a tool message, as a user message.
pub(super) fn hoisted<'a>(message: Value<'_, 'a>) -> Json<'a> {
    let id = message.object().and_then(|members| members.get("tool_call_id")).and_then(Value::str).unwrap_or_default();
    let note = text_part(Json::Text(format!("{MARK} what tool call {id} returned beside text:")));
    let media = contents(message).filter(|part| part_text(*part).is_none()).map(|part| Json::Raw(part.raw()));
    object([member("role", "user"), ("content", list(std::iter::once(note).chain(media).collect()))])
}

/// A tool message as it stands, naming another call if it should.
pub(super) fn result_with_id(
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    block: BlockIndex,
    id: Option<&str>,
) -> String {
    let plan = BlockPlan { id, ..BlockPlan::default() };
    result(document, transcript, block, &plan)
}

/// A tool message as a user message under a line that says what it was. What it says
/// stays byte for byte.
pub(super) fn demoted<'a>(message: Value<'_, 'a>, heading: &str) -> Json<'a> {
    let content = message.object().and_then(|members| members.get("content"));
    let content = match content.map(|content| (content, content.kind())) {
        Some((text, Kind::String)) => Json::Joined(format!("{heading}\n"), text.raw_str()),
        Some((parts, Kind::Array)) => list(
            std::iter::once(text_part(Json::Text(heading.to_owned())))
                .chain(parts.elements().map(|part| Json::Raw(part.raw())))
                .collect(),
        ),
        Some((other, kind)) if kind != Kind::Null => Json::Text(format!("{heading}\n{}", other.raw())),
        _ => Json::Text(heading.to_owned()),
    };
    object([member("role", "user"), ("content", content)])
}

/// An assistant message that makes a call rebuilt from its result.
pub(super) fn rebuilt_call<'a>(id: &str, name: &str) -> Json<'a> {
    let call = call_text(&quoted(id), &quoted(name), "\"{\\\"reconstructed\\\":true}\"");
    object([member("role", "assistant"), ("content", Json::Null), ("tool_calls", list(vec![Json::Written(call)]))])
}

fn text_part(text: Json<'_>) -> Json<'_> {
    object([member("type", "text"), ("text", text)])
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    escape_into(&mut out, text);
    out.push('"');
    out
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Function => "function",
        Role::User | Role::Unknown => "user",
    }
}
