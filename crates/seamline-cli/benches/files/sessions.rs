//! Healthy sessions of any length, as Claude Code and Codex write them.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// The program that a session is of.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    ClaudeCode,
    Codex,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    pub(crate) fn file_name(self, number: usize) -> String {
        match self {
            Self::ClaudeCode => format!("{}.jsonl", session_id(number)),
            Self::Codex => format!("rollout-2026-10-30T09-00-00-{}.jsonl", session_id(number)),
        }
    }
}

fn session_id(number: usize) -> String {
    format!("{number:08x}-4a5e-4f60-8a7b-9c0d1e2f3a4b")
}

/// A session that was written.
pub(crate) struct Written {
    pub(crate) bytes: usize,
    pub(crate) records: usize,
    /// The bytes of the longest record, which holds the longest message.
    pub(crate) largest: usize,
}

/// A tool output is very long in one of so many turns.
const LONG_EVERY: usize = 200;
const LONG_BYTES: usize = 1_000_000;

/// Writes a session of at least so many bytes: turns of thinking, text, one to three tool calls and their results.
pub(crate) fn write(path: &Path, kind: Kind, bytes: usize) -> std::io::Result<Written> {
    let mut session = Session {
        file: BufWriter::with_capacity(1 << 20, File::create(path)?),
        written: Written { bytes: 0, records: 0, largest: 0 },
        parent: "null".to_owned(),
    };
    if matches!(kind, Kind::Codex) {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let id = &id[id.len().saturating_sub(36)..];
        session.item("session_meta", &format!(r#"{{"id":"{id}","timestamp":"{TIME}","cwd":"/srv/app","originator":"codex_exec","cli_version":"0.166.0","instructions":null}}"#))?;
    }
    let mut turn = 0;
    while session.written.bytes < bytes {
        match kind {
            Kind::ClaudeCode => session.claude_turn(turn)?,
            Kind::Codex => session.codex_turn(turn)?,
        }
        turn += 1;
    }
    session.file.flush()?;
    Ok(session.written)
}

const TIME: &str = "2026-10-30T09:00:00.000Z";

struct Session {
    file: BufWriter<File>,
    written: Written,
    /// The last record, as JSON.
    parent: String,
}

impl Session {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.written.bytes += line.len() + 1;
        self.written.records += 1;
        self.written.largest = self.written.largest.max(line.len());
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")
    }

    fn claude_turn(&mut self, turn: usize) -> std::io::Result<()> {
        self.claude("user", &format!(r#"{{"role":"user","content":"{}"}}"#, text(turn, 300)), "")?;
        let calls = 1 + turn % 3;
        let thinking =
            format!(r#"{{"type":"thinking","thinking":"{}","signature":"{}"}}"#, text(turn, 900), "Eq".repeat(300));
        let said = format!(r#"{{"type":"text","text":"{}"}}"#, text(turn + 1, 500));
        let call = |index: usize| {
            format!(
                r#"{{"type":"tool_use","id":"toolu_{turn:08x}{index}","name":"Bash","input":{{"command":"cargo test {index}","description":"{}"}}}}"#,
                text(turn + index, 120)
            )
        };
        for block in [thinking, said].into_iter().chain((0..calls).map(call)) {
            let message = format!(
                r#"{{"model":"claude-sonnet-4-5","id":"msg_{turn:08x}","type":"message","role":"assistant","content":[{block}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":4,"cache_read_input_tokens":15000,"output_tokens":120}}}}"#
            );
            self.claude("assistant", &message, r#""requestId":"req_011CRFUJd","#)?;
        }
        for index in 0..calls {
            let output = text(turn + index, output_bytes(turn, index));
            let message = format!(
                r#"{{"role":"user","content":[{{"tool_use_id":"toolu_{turn:08x}{index}","type":"tool_result","content":"{output}","is_error":false}}]}}"#
            );
            let copy =
                format!(r#""toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false,"isImage":false}},"#);
            self.claude("user", &message, &copy)?;
        }
        let message = format!(
            r#"{{"model":"claude-sonnet-4-5","id":"msg_{turn:08x}e","type":"message","role":"assistant","content":[{{"type":"text","text":"{}"}}],"stop_reason":"end_turn","stop_sequence":null}}"#,
            text(turn, 600)
        );
        self.claude("assistant", &message, "")
    }

    fn claude(&mut self, kind: &str, message: &str, more: &str) -> std::io::Result<()> {
        let id = format!("\"{:08x}-0000-4000-8000-000000000000\"", self.written.records);
        let line = format!(
            r#"{{"parentUuid":{},"isSidechain":false,"userType":"external","cwd":"/srv/app","sessionId":"6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b","version":"2.1.325","gitBranch":"main","type":"{kind}","message":{message},{more}"uuid":{id},"timestamp":"{TIME}"}}"#,
            self.parent
        );
        self.parent = id;
        self.line(&line)
    }

    fn codex_turn(&mut self, turn: usize) -> std::io::Result<()> {
        let message = |role: &str, kind: &str, text: &str| {
            format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#)
        };
        let asked = text(turn, 300);
        self.item("response_item", &message("user", "input_text", &asked))?;
        self.item("event_msg", &format!(r#"{{"type":"user_message","message":"{asked}","kind":"plain"}}"#))?;
        let summary = text(turn, 300);
        self.item(
            "response_item",
            &format!(r#"{{"type":"reasoning","summary":[{{"type":"summary_text","text":"{summary}"}}],"content":null,"encrypted_content":"{}"}}"#, "gAAA".repeat(300)),
        )?;
        let calls = 1 + turn % 3;
        for index in 0..calls {
            self.item(
                "response_item",
                &format!(r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"bash\",\"-lc\",\"cargo test {index}\"]}}","call_id":"call_{turn:08x}{index}"}}"#),
            )?;
        }
        for index in 0..calls {
            let output = text(turn + index, output_bytes(turn, index));
            self.item(
                "response_item",
                &format!(r#"{{"type":"function_call_output","call_id":"call_{turn:08x}{index}","output":"{output}"}}"#),
            )?;
        }
        let said = text(turn, 600);
        self.item("response_item", &message("assistant", "output_text", &said))?;
        self.item("event_msg", &format!(r#"{{"type":"agent_message","message":"{said}"}}"#))
    }

    fn item(&mut self, kind: &str, payload: &str) -> std::io::Result<()> {
        let line = format!(r#"{{"timestamp":"{TIME}","type":"{kind}","payload":{payload}}}"#);
        self.line(&line)
    }
}

/// The bytes of a tool output. Most are short, many are a screen long, and a few are very long.
fn output_bytes(turn: usize, index: usize) -> usize {
    match (turn, index) {
        (turn, 0) if turn % LONG_EVERY == LONG_EVERY - 1 => LONG_BYTES,
        _ => 200 + (turn * 31 + index * 17) % 97 * 60,
    }
}

/// The inner text of a JSON string of about so many bytes: prose and code, with the escapes that they need.
fn text(number: usize, bytes: usize) -> String {
    const LINES: [&str; 6] = [
        r"error[E0308]: mismatched types in src/parser.rs, line 214\n",
        r#"    let name = map.get(\"name\").unwrap_or_default();\n"#,
        r"I will look at the caller next, since the value is only used there and nowhere else. ",
        r"test result: ok. 218 passed; 0 failed; 3 ignored; finished in 0.42s\n",
        r"Änderungen übernommen – naïve façade, 東京. ",
        r"\tif (count > 0) { return items.map((item) => item.id); }\n",
    ];
    let mut text = String::with_capacity(bytes + 100);
    let mut line = number;
    while text.len() < bytes {
        text += LINES[line % LINES.len()];
        line += 1 + number % 3 * 2;
    }
    text
}
