//! Single blocks, changed.

use seamline_model::{BlockIndex, BlockKind, Emptiness, Role, Span, Transcript};

use crate::json::{Document, Json, Kind, Value, list, member, object, quoted};
use crate::reading::{emptiness, part_text};
use crate::rewriting::{input_object, members_as_lines, set_member, set_members, unreadable_text};
use crate::splice::{BlockPlan, apply_patches};

/// A block to be written, and what sort it is.
pub(super) struct Item<'a> {
    pub(super) sort: Sort,
    pub(super) json: Json<'a>,
}

/// What decides the order of blocks and whose they are.
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
            | BlockKind::ServerResult { .. }
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

/// Writes what a block becomes under its plan.
pub(super) fn items<'a>(
    transcript: &Transcript<'a>,
    block: BlockIndex,
    plan: Option<&BlockPlan<'_>>,
    items: &mut Vec<Item<'a>>,
) {
    let content = transcript.block(block);
    let raw = transcript.text(content.span);
    let source = Document::part(transcript.source, content.span);
    let value = source.root();
    let sort = Sort::of(&content.kind);
    let Some(plan) = plan else {
        items.push(Item { sort, json: whole_text(value).unwrap_or(Json::Raw(raw)) });
        return;
    };
    if plan.gone || plan.rebuild.is_some() {
        return;
    }
    if let Some(heading) = plan.demote {
        items.extend(demoted(value, &content.kind, heading).map(|json| Item { sort: Sort::Other, json }));
        return;
    }
    items.push(Item { sort, json: Json::Written(changed(value, &content.kind, plan, transcript)) });
    if plan.close {
        items.push(Item { sort: Sort::Assistant, json: server_answer(&content.kind, value) });
    }
}

/// A string content as the block it stands for.
fn whole_text<'a>(value: Value<'_, 'a>) -> Option<Json<'a>> {
    value.is(Kind::String).then(|| object([member("type", "text"), ("text", Json::Raw(value.raw()))]))
}

fn changed(value: Value<'_, '_>, kind: &BlockKind, plan: &BlockPlan<'_>, transcript: &Transcript<'_>) -> String {
    let answers = matches!(kind, BlockKind::Result(_) | BlockKind::ServerResult { .. });
    let id_key = if answers { "tool_use_id" } else { "id" };
    let mut values = Vec::new();
    values.extend(plan.id.map(|id| (id_key, quoted(id))));
    values.extend(plan.name.map(|name| ("name", quoted(name))));
    if plan.input {
        let input = value.object().and_then(|block| block.get("input"));
        values.push(("input", input_object(input)));
    }
    let mut patches = set_members(value, &values);
    if let Some(text) = plan.fill
        && let Some(content) = value.object().and_then(|block| block.get("content"))
    {
        patches.push((content.span(), filled(content, text)));
    }
    apply_patches(transcript, value.span(), &mut patches)
}

/// A result's content without empty text, or `text` when nothing is left.
fn filled(content: Value<'_, '_>, text: &str) -> String {
    if let Some(kept) = unreadable_text(content) {
        return quoted(&kept);
    }
    let kept: Vec<_> = content.elements().filter(|part| !is_empty_text(*part)).map(Value::raw).collect();
    if kept.is_empty() { quoted(text) } else { format!("[{}]", kept.join(",")) }
}

fn is_empty_text(part: Value<'_, '_>) -> bool {
    part_text(part).is_some_and(|text| emptiness(text) != Emptiness::Present)
}

/// A result as it stands, naming another call if it should.
pub(super) fn result_with_id<'a>(transcript: &Transcript<'a>, block: BlockIndex, id: Option<&str>) -> Json<'a> {
    let content = transcript.block(block);
    let Some(id) = id else {
        return Json::Raw(transcript.text(content.span));
    };
    let source = Document::part(transcript.source, content.span);
    let mut patches: Vec<(Span, String)> = set_member(source.root(), "tool_use_id", &quoted(id)).into_iter().collect();
    Json::Written(apply_patches(transcript, content.span, &mut patches))
}

/// A block as text under a line that says what it was. What it says stays byte for byte.
fn demoted<'a>(value: Value<'_, 'a>, kind: &BlockKind, heading: &str) -> impl Iterator<Item = Json<'a>> {
    let beside = match kind {
        BlockKind::Result(_) => members_as_lines(value, |key| RESULT_KEYS.contains(&key)),
        _ => String::new(),
    };
    let heading = &format!("{heading}{beside}");
    let content = match kind {
        BlockKind::Result(_) => value.object().and_then(|block| block.get("content")),
        _ => None,
    };
    let pieces = match (kind, content.map(|content| (content, content.kind()))) {
        (_, Some((content, Kind::String))) => {
            vec![text_block(Json::Joined(format!("{heading}\n"), content.raw_str()))]
        }
        (_, Some((content, Kind::Array))) => std::iter::once(text_block(Json::Text(heading.to_owned())))
            .chain(content.elements().filter(|part| !is_empty_text(*part)).map(|part| Json::Raw(part.raw())))
            .collect(),
        (BlockKind::Result(_), Some((content, kind))) if kind != Kind::Null => {
            vec![text_block(Json::Text(format!("{heading}\n{}", content.raw())))]
        }
        (BlockKind::Result(_), _) => vec![text_block(Json::Text(heading.to_owned()))],
        (BlockKind::Reasoning { .. }, _) => {
            let thinking = value.object().and_then(|block| block.get("thinking")).map_or("", Value::raw_str);
            vec![text_block(Json::Joined(format!("{heading}\n"), thinking))]
        }
        _ => vec![text_block(Json::Text(format!("{heading}\n{}", value.raw())))],
    };
    pieces.into_iter()
}

/// What a result holds that every reader knows.
const RESULT_KEYS: &[&str] = &["type", "tool_use_id", "content", "is_error", "cache_control", "id"];

fn text_block(text: Json<'_>) -> Json<'_> {
    object([member("type", "text"), ("text", text)])
}

/// The result that closes a call of the provider's own tools.
fn server_answer<'a>(kind: &BlockKind, value: Value<'_, 'a>) -> Json<'a> {
    let BlockKind::ServerCall(server) = kind else { return Json::Null };
    let id = server.call.id.as_deref().unwrap_or("");
    let family = &server.family;
    if value.object().and_then(|block| block.get("type")).is_some_and(|kind| kind.says("mcp_tool_use")) {
        let text = format!("{} no result was recorded for this call", seamline_model::MARK);
        return object([
            member("type", "mcp_tool_result"),
            member("tool_use_id", id),
            ("is_error", Json::Bool(true)),
            ("content", list(vec![text_block(Json::Text(text))])),
        ]);
    }
    let error = object([member("type", format!("{family}_tool_result_error")), member("error_code", "unavailable")]);
    object([member("type", format!("{family}_tool_result")), member("tool_use_id", id), ("content", error)])
}
