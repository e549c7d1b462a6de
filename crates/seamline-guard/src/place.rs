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
    /// The indices in the provider's own notation, such as `messages.3.content.0` or `position 4`. Some providers count
    /// from one; [`message_index`](Self::message_index) counts from zero.
    pub notation: Option<String>,
}

impl NamedPlace {
    /// Whether the text names no place.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the place that a sentence names.
    pub(crate) fn of(said: &str) -> Self {
        let mut place = Self { ids: ids(said), ..Self::default() };
        let found = NOTATIONS.iter().find_map(|notation| {
            let captures = notation.regex.as_ref()?.captures(said.as_bytes())?;
            Some((number(&captures, 1)?.checked_sub(notation.first)?, captures))
        });
        if let Some((message_index, captures)) = found {
            place.message_index = Some(message_index);
            place.block_index = number(&captures, 2);
            place.notation = captures.get(0).map(|whole| said[whole.range()].trim_start_matches([',', ' ']).to_owned());
        }
        place
    }

    /// Adds the place of a member, if the text names no other.
    pub(crate) fn or_at(mut self, pointer: Option<&str>) -> Self {
        let mut keys = pointer.unwrap_or_default().split('/').skip(1);
        let is_list = keys.next().is_some_and(|list| ["messages", "input", "contents"].contains(&list));
        if self.message_index.is_none() && is_list {
            self.message_index = keys.next().and_then(|index| index.parse().ok());
            let is_blocks = keys.next().is_some_and(|list| ["content", "parts", "tool_calls"].contains(&list));
            self.block_index = keys.next().filter(|_| is_blocks).and_then(|index| index.parse().ok());
        }
        self
    }
}

/// A notation of places: a message's index, then a block's.
struct Notation {
    regex: Option<Regex>,
    /// The number of the first message.
    first: usize,
}

/// The notations of places, the most exact first.
static NOTATIONS: LazyLock<[Notation; 7]> = LazyLock::new(|| {
    let from_zero = |pattern| Notation { regex: compile(pattern), first: 0 };
    let from_one = |pattern| Notation { regex: compile(pattern), first: 1 };
    [
        // Anthropic, Bedrock and Groq; Bedrock writes `member` between.
        from_zero(r"\bmessages\.(\d+)(?:(?:\.member)?\.content(?:\.(\d+))?)?"),
        // OpenAI, Fireworks, DeepSeek and Qwen; Gemini's contents and parts.
        from_zero(r"\b(?:messages?|input|contents)\[(\d+)\](?:\.(?:tool_calls|content|parts|output)\[(\d+)\])?"),
        // JSON pointers of Bedrock.
        from_zero(r"#/(?:messages|contents)/(\d+)(?:/(?:content|parts)/(\d+))?"),
        // Moonshot.
        from_zero(r"\bmessage at (?:position|index) (\d+)"),
        from_zero(r"\bat index (\d+)\b"),
        // Gemini at the end of a sentence about a call. It counts from one: https://github.com/MayDay-wpf/snow-cli/issues/104
        from_one(r", position (\d+)\b"),
        from_one(r"\bin the (\d+)\. content block"),
    ]
});

/// The ids that providers create, and the words after an announcement of ids.
static IDS: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
    [
        compile(r"\b((?:toolu|srvtoolu|tooluse|call|fc|fco|rs|msg|ctc|ws|chatcmpl-tool)[_-][A-Za-z0-9_-]+)"),
        compile(r"\b((?:functions\.)?[A-Za-z_][\w-]*:\d+)\b"),
        compile(
            r"(?:immediately after: |response messages: |following Ids: |with id:? [`']?|with call_id |[Tt]ool call id (?:was )?|function call |for call id: |tool id ?\(|missing for tool calls? )([A-Za-z0-9][\w.:-]*[A-Za-z0-9_-])",
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
        let place = NamedPlace::of(said);
        assert_eq!((place.message_index, place.block_index), (message_index, block_index), "{said}");
        assert_eq!(place.ids, ids, "{said}");
        assert_eq!(place.notation.is_some(), message_index.is_some(), "{said}");
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
    fn indices_count_from_zero_and_the_provider_s_own_are_kept() {
        let place = |said| {
            let place = NamedPlace::of(said);
            (place.message_index, place.notation.unwrap_or_default())
        };
        assert_eq!(place("messages.48.content.1: unexpected"), (Some(48), "messages.48.content.1".to_owned()));
        assert_eq!(place("Invalid 'input[95].call_id'"), (Some(95), "input[95]".to_owned()));
        assert_eq!(place("function call `default_api:Bash` , position 2."), (Some(1), "position 2".to_owned()));
        assert_eq!(place("`FC1` in the 2. content block is missing"), (Some(1), "in the 2. content block".to_owned()));
        assert_eq!(place("#/messages/2/content/0: extraneous"), (Some(2), "#/messages/2/content/0".to_owned()));
        assert_eq!(place("took 3 s in the 2 hours"), (None, String::new()));
        assert_eq!(place("function call `x`, position 0."), (None, String::new()));
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
