//! The items of a rollout: which of them Codex sends, and which of them begin a turn.

use crate::json::{elements, members, string};

/// The types of items that Codex sends. It leaves out the others, such as `ghost_snapshot` and types that it does not know.
const SENT: [&str; 16] = [
    "message",
    "agent_message",
    "reasoning",
    "local_shell_call",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "image_generation_call",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "additional_tools",
];

/// The role of an item in the turns of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Words of the user.
    User,
    /// An instruction of another agent, which begins a turn like words of the user.
    Instruction,
    /// Text that Codex puts before the words of the user, such as the environment.
    Context,
    /// A part of another kind.
    Other,
}

impl Part {
    /// Whether a rollback counts it as the beginning of a turn.
    pub(super) fn begins_turn(self) -> bool {
        matches!(self, Self::User | Self::Instruction)
    }
}

/// The part of an item that the replay reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) part: Part,
    /// The id of the call that it makes or answers.
    pub(super) call: Option<String>,
    pub(super) is_result: bool,
    pub(super) is_reasoning: bool,
}

impl Item {
    /// Reads an item; nothing if Codex does not send it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let [kind, role, content, call] = members(text, &["type", "role", "content", "call_id"]).ok()?;
        let kind = string(kind?)?;
        if !SENT.contains(&kind.as_str()) {
            return None;
        }
        let part = match kind.as_str() {
            "agent_message" => Part::Instruction,
            "message" => message(&role.and_then(string)?, content.unwrap_or_default())?,
            _ => Part::Other,
        };
        let (is_result, is_reasoning) = (kind.ends_with("_output"), kind == "reasoning");
        Some(Self { part, call: call.and_then(string), is_result, is_reasoning })
    }
}

/// The part that a message has; nothing for a system message, which Codex does not send.
fn message(role: &str, content: &str) -> Option<Part> {
    Some(match role {
        "system" => return None,
        "user" if texts(content).any(|text| is_context(&text)) => Part::Context,
        "user" => Part::User,
        "developer" if texts(content).any(|text| text.trim_start().starts_with('<')) => Part::Context,
        "assistant" if is_instruction(content) => Part::Instruction,
        _ => Part::Other,
    })
}

fn texts(content: &str) -> impl Iterator<Item = String> + '_ {
    let text = |block: &str| members(block, &["text"]).ok().and_then(|[text]| text).and_then(string);
    elements(content).unwrap_or_default().into_iter().filter_map(text)
}

/// The beginnings of texts that Codex writes in the name of the user.
const CONTEXTS: [&str; 12] = [
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<codex_internal_context",
    "<goal_context>",
    "<recommended_plugins>",
    "<hook_prompt",
    "<external_",
];

fn is_context(text: &str) -> bool {
    let text = text.trim_start().as_bytes();
    let begins = |word: &&str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    CONTEXTS.iter().any(begins)
}

/// Whether the message of an assistant is an instruction of another agent: one text that is a JSON object.
fn is_instruction(content: &str) -> bool {
    let mut texts = texts(content);
    let (Some(text), None) = (texts.next(), texts.next()) else { return false };
    let names = ["author", "recipient", "content", "trigger_turn"];
    text.starts_with('{') && members(&text, &names).is_ok_and(|found| found.iter().all(Option::is_some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_codex_does_not_send_are_left_out() {
        assert_eq!(Item::of(r#"{"type":"ghost_snapshot"}"#), None);
        assert_eq!(Item::of(r#"{"type":"message","role":"system","content":[]}"#), None);
        let output = Item::of(r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#);
        let expected = Item { part: Part::Other, call: Some("c1".to_owned()), is_result: true, is_reasoning: false };
        assert_eq!(output, Some(expected));
    }

    #[test]
    fn words_of_the_user_are_told_from_context() {
        let part = |role: &str, text: &str| {
            let content = serde_json::json!([{ "type": "input_text", "text": text }]);
            let item = serde_json::json!({ "type": "message", "role": role, "content": content });
            Item::of(&item.to_string()).unwrap().part
        };
        assert_eq!(part("user", "fix it"), Part::User);
        assert_eq!(part("user", "\n<ENVIRONMENT_CONTEXT>\n<cwd>/w</cwd>"), Part::Context);
        assert_eq!(part("developer", "<permissions instructions>"), Part::Context);
        assert_eq!(part("assistant", "done"), Part::Other);
        let instruction = r#"{"author":"/root","recipient":"/srv/a","content":"go","trigger_turn":true}"#;
        assert_eq!(part("assistant", instruction), Part::Instruction);
    }
}
