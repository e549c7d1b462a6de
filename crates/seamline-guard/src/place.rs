//! The place in a request that an error text names.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use crate::patterns::compile;

/// The most ids that are read from one text.
pub const IDS_MAX: usize = 64;

/// The place in a request that an error text names. Each part is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedPlace {
    /// The index of the message or item in the request.
    pub message_index: Option<usize>,
    /// The index of the block or tool call in the message.
    pub block_index: Option<usize>,
    /// The ids of tool calls and items, each once, in the order of the text.
    pub ids: Vec<String>,
}

impl NamedPlace {
    /// Whether the text names no place.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the place that a sentence names.
    pub(crate) fn of(said: &str) -> Self {
        let indices = PATHS.iter().find_map(|path| path.as_ref()?.captures(said.as_bytes()));
        let index = |group| indices.as_ref().and_then(|captures| number(captures, group));
        let message_index = index(1);
        Self { message_index, block_index: message_index.and(index(2)), ids: ids(said) }
    }
}

/// The notations of places, the most exact first: a message's index, then a block's.
static PATHS: LazyLock<[Option<Regex>; 4]> = LazyLock::new(|| {
    [
        // Anthropic, Bedrock and Groq; Bedrock writes `member` between.
        compile(r"\bmessages\.(\d+)(?:(?:\.member)?\.content(?:\.(\d+))?)?"),
        // OpenAI, Fireworks, DeepSeek and Qwen; Gemini's contents and parts.
        compile(r"\b(?:messages?|input|contents)\[(\d+)\](?:\.(?:tool_calls|content|parts|output)\[(\d+)\])?"),
        // Moonshot.
        compile(r"\bmessage at (?:position|index) (\d+)"),
        // Moonshot and Gemini at the end of a sentence.
        compile(r"(?:\bat index|, position) (\d+)\b"),
    ]
});

/// The ids that providers create, and the words after an announcement of ids.
static IDS: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
    [
        compile(r"\b((?:toolu|srvtoolu|tooluse|call|fc|fco|rs|msg|ctc|ws|chatcmpl-tool)[_-][A-Za-z0-9_-]+)"),
        compile(r"\b((?:functions\.)?[A-Za-z_][\w-]*:\d+)\b"),
        compile(
            r"(?:immediately after: |response messages: |following Ids: |with id:? [`']?|with call_id |[Tt]ool call id (?:was )?|function call )([A-Za-z0-9][\w.:-]*[A-Za-z0-9_-])",
        ),
    ]
});

/// Words that look like an id but are none.
const NO_IDS: &[&str] = &["call_id", "call_ids", "message", "must", "has", "output", "parts", "turn", "is"];

fn ids(said: &str) -> Vec<String> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for regex in IDS.iter().flatten() {
        let matches = regex.captures_iter(said.as_bytes()).filter_map(|captures| captures.get(1));
        found.extend(matches.take(IDS_MAX).map(|id| (id.start(), &said[id.range()])));
    }
    found.sort_by_key(|(at, _)| *at);
    let mut ids: Vec<String> = Vec::new();
    for (_, id) in found {
        if ids.len() < IDS_MAX && !is_path(id) && !NO_IDS.contains(&id) && !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// Whether a text is a place in the request and not an id.
fn is_path(text: &str) -> bool {
    ["message", "messages.", "content", "input", "line"].iter().any(|start| text.starts_with(start))
}

fn number(captures: &Captures<'_>, group: usize) -> Option<usize> {
    let digits = captures.get(group)?;
    std::str::from_utf8(digits.as_bytes()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn names(said: &str, message_index: Option<usize>, block_index: Option<usize>, ids: &[&str]) {
        let ids = ids.iter().map(|&id| id.to_owned()).collect();
        assert_eq!(NamedPlace::of(said), NamedPlace { message_index, block_index, ids }, "{said}");
    }

    #[test]
    fn places_are_read_in_every_provider_s_notation() {
        names("messages.48.content.1: unexpected", Some(48), Some(1), &[]);
        names("messages.3: all messages must", Some(3), None, &[]);
        names("at 'messages.1.member.content.0.member.toolUse.toolUseId' failed", Some(1), Some(0), &[]);
        names("Invalid 'messages[68].tool_calls[2].id': string too long.", Some(68), Some(2), &[]);
        names("Invalid 'input[95].call_id': string too long.", Some(95), None, &[]);
        names("* GenerateContentRequest.contents[5].parts[0].function_response.name", Some(5), Some(0), &[]);
        names("the message at position 4 with role 'assistant' must not be empty", Some(4), None, &[]);
        names("missing in assistant tool call message at index 13", Some(13), None, &[]);
        names("did not have response messages: message[15].role", Some(15), None, &[]);
        names("nothing here", None, None, &[]);
    }

    #[test]
    fn ids_are_read_with_and_without_a_known_prefix() {
        names(
            "immediately after: toolu_01G2, toolu_02. Each `tool_use` block",
            None,
            None,
            &["toolu_01G2", "toolu_02"],
        );
        names("response messages: call_DAZ, call_2", None, None, &["call_DAZ", "call_2"]);
        names("call output with call_id call_uelf.", None, None, &["call_uelf"]);
        names("Tool call id was 2968-LWy3 but must be a-z", None, None, &["2968-LWy3"]);
        names("immediately after: functions.read:0. Each", None, None, &["functions.read:0"]);
        names("blocks with id: abc123", None, None, &["abc123"]);
        names("`web_search` tool use with id `srvtoolu_01D2` was found", None, None, &["srvtoolu_01D2"]);
    }

    #[test]
    fn the_number_of_ids_is_bounded() {
        let many: Vec<_> = (0..10 * IDS_MAX).map(|number| format!("call_{number}")).collect();
        assert_eq!(NamedPlace::of(&many.join(" ")).ids.len(), IDS_MAX);
    }

    #[test]
    fn numbers_too_large_for_an_index_are_ignored() {
        names("messages.99999999999999999999.content.0", None, None, &[]);
    }
}
