//! Programs whose files are only recognised: their files hold no conversation that could be sent, or not all of it.

use crate::Program;
use crate::sample::{Sample, has, says};

/// A program whose files are only recognised.
const fn only(
    name: &'static str,
    what: &'static str,
    advice: &'static str,
    detect: fn(&Sample<'_>) -> bool,
) -> Program {
    Program { name, what, places: &[], extract: None, advice, detect, session: None, bodies: None }
}

pub(super) const CLINE_SCREEN: Program = only(
    "Cline, Roo Code or Kilo Code",
    "what the screen of Cline, Roo Code or Kilo Code showed",
    "give `api_conversation_history.json` of the same folder, which has the conversation",
    |sample| {
        let is_shown = |message: &_| says(message, "type", &["say", "ask"]) && has(message, &["ts"]);
        sample.is_named(&["ui_messages.json"])
            || sample.root().is_array() && sample.list("messages").first().is_some_and(is_shown)
    },
);

pub(super) const ANTIGRAVITY: Program = only(
    "Antigravity",
    "a transcript of Antigravity",
    "it lists the steps of a session and not the conversation, which Antigravity keeps on its server",
    |sample| sample.any(|record| has(record, &["step_index", "type", "status"])),
);

pub(super) const ZED: Program = only(
    "Zed",
    "the database of the threads of Zed",
    "Zed keeps each call and its result in one message, so that it sends no call without a result",
    |sample| sample.has_schema(&["CREATE TABLE", "threads", "data_type", "summary"]),
);

pub(super) const LLM: Program = only(
    "llm",
    "the log of llm",
    "`llm logs --json` prints the conversations in it; llm sends each of them anew",
    |sample| sample.has_schema(&["CREATE TABLE", "conversations", "prompt_json", "response_json"]),
);

pub(super) const AIDER: Program = only(
    "Aider",
    "the chat history of Aider",
    "it has no tool calls, and Aider reads it with `--restore-chat-history`; remove the broken part with an editor",
    |sample| sample.is_named(&[".aider.chat.history.md"]) || sample.begins("# aider chat started at"),
);
