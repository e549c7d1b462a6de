//! The ids of unknown blocks and messages, by which they may make or answer calls.

use seamline_model::FactKind;

use crate::ids::{CALL_ID_KEYS, CONTENT_KEYS, INPUT_KEYS, RESULT_ID_KEYS, TOOL_NAME_KEYS};
use crate::json::{Kind, Value};
use crate::members::is_hollow;
use crate::reader::Reader;

/// The most ids that are noted of one block. A batch of results names one call for each.
const IDS_MAX: usize = 1024;
/// The most objects and lists around an id. A provider that nests results nests them less.
const DEPTH_MAX: usize = 8;

/// The types of messages and items that some dialect or program has. A message of another type may be new.
const TYPES: &[&str] = &[
    "ai",
    "assistant",
    "computer_call",
    "computer_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "file",
    "function",
    "function_call",
    "function_call_output",
    "function_result",
    "human",
    "image",
    "image_url",
    "input_file",
    "input_image",
    "input_text",
    "message",
    "model",
    "output_text",
    "reasoning",
    "refusal",
    "system",
    "text",
    "thinking",
    "tool",
    "tool-call",
    "tool-result",
    "tool_call",
    "tool_result",
    "tool_use",
    "user",
];

impl Reader<'_> {
    /// Notes the ids of an unknown block: its own, and those of the objects that it holds. In dialects where the type of
    /// a block is the name of a member, that member has the id.
    pub(crate) fn unknown_block(&mut self, block: Value<'_, '_>) {
        let mut ids = Vec::new();
        collect_ids(block, DEPTH_MAX, &mut ids);
        for id in ids {
            self.unknown_id(id);
        }
    }

    /// Notes the ids in an unknown member of a message.
    pub(crate) fn unknown_member(&mut self, member: Value<'_, '_>) {
        let mut ids = Vec::new();
        collect_ids(member, DEPTH_MAX, &mut ids);
        for id in ids {
            if let Some(id) =
                id.str().filter(|id| !id.is_empty() && self.density.has_place_for(self.transcript.facts.len()))
            {
                self.fact(FactKind::UnknownMember, &id);
            }
        }
    }

    /// Notes the names of the tools of an unknown block that has ids, for dialects whose results need none.
    pub(crate) fn unknown_tools(&mut self, block: Value<'_, '_>) {
        let mut names = Vec::new();
        block.members().for_each(|(_, held)| collect_tools(held, DEPTH_MAX, &mut names));
        for name in names {
            if let Some(name) = name.str().filter(|_| self.density.has_place_for(self.transcript.facts.len())) {
                self.fact(FactKind::UnknownTool, &name);
            }
        }
    }

    /// Notes an id by which something unknown may make or answer a call.
    pub(crate) fn unknown_id(&mut self, id: Value<'_, '_>) {
        if let Some(id) =
            id.str().filter(|id| !id.is_empty() && self.density.has_place_for(self.transcript.facts.len()))
        {
            self.fact(FactKind::Unknown, &id);
        }
    }
}

/// Whether an entry without a role may be an item that a provider has added: its type is unknown, or it has only members
/// that messages do not have. A message that lost its role is damaged.
pub(crate) fn is_new_item(entry: Value<'_, '_>) -> bool {
    let Some(members) = entry.object() else { return false };
    if members.get("role").is_some() {
        return false;
    }
    if let Some(kind) = members.get("type").and_then(Value::str) {
        return !TYPES.contains(&&*kind);
    }
    let is_of_message = |key: &str| {
        let lists: [&[&str]; 4] = [CONTENT_KEYS, RESULT_ID_KEYS, INPUT_KEYS, TOOL_NAME_KEYS];
        matches!(key, "type" | "tool_calls" | "function_call" | "message" | "payload" | "author" | "from")
            || lists.iter().any(|list| list.contains(&key))
    };
    let mut says_something = false;
    entry.members().all(|(key, member)| {
        says_something |= !is_hollow(member);
        !is_of_message(&key.name())
    }) && says_something
}

/// Collects the ids of a value and of all that it holds.
fn collect_ids<'d, 'a>(value: Value<'d, 'a>, depth: usize, ids: &mut Vec<Value<'d, 'a>>) {
    let room = IDS_MAX.saturating_sub(ids.len());
    ids.extend(ids_of(value).take(room));
    if depth == 0 {
        return;
    }
    let is_held = |held: &Value<'_, '_>| matches!(held.kind(), Kind::Object | Kind::Array);
    let held = value.members().map(|(_, member)| member).chain(value.elements());
    for held in held.filter(is_held) {
        if ids.len() == IDS_MAX {
            return;
        }
        collect_ids(held, depth - 1, ids);
    }
}

/// Collects the names of the objects that have ids.
fn collect_tools<'d, 'a>(value: Value<'d, 'a>, depth: usize, names: &mut Vec<Value<'d, 'a>>) {
    if ids_of(value).any(|id| id.key().name() != "name") && names.len() < IDS_MAX {
        names.extend(value.object().and_then(|held| held.get("name")));
    }
    if depth > 0 {
        let held = value.members().map(|(_, member)| member).chain(value.elements());
        held.for_each(|held| collect_tools(held, depth - 1, names));
    }
}

/// The ids of an object, by any name that an id has, also in lists of them; else the name of its tool, which replaces it
/// where ids are optional.
fn ids_of<'d, 'a>(object: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    let is_id = |name: &str| CALL_ID_KEYS.contains(&name) || RESULT_ID_KEYS.contains(&name);
    let ids = move || object.members().filter(move |(key, _)| is_id(&key.name())).map(|(_, member)| member);
    let lists = object.members().filter(move |(key, _)| key.name().strip_suffix('s').is_some_and(is_id));
    let listed = lists.flat_map(|(_, list)| list.elements());
    let name = object.object().and_then(|object| object.get("name")).filter(|_| ids().next().is_none());
    ids().chain(listed).chain(name).filter(|id| id.is(Kind::String))
}
