//! The damage that session files get.

use serde_json::Value;

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// The process was killed while the tool ran: everything after the call is lost.
    Missing,
    /// The record of the call is lost, and its result is kept.
    Orphan,
    /// The last line is cut in half.
    Torn,
    /// The record of the result is on the line of the record before it.
    Glued,
    /// Part of the result's record is before the whole record.
    Spliced,
    /// A run of NUL bytes is before the result's record.
    Nul,
}

pub(super) const ALL: [Damage; 6] =
    [Damage::Missing, Damage::Orphan, Damage::Torn, Damage::Glued, Damage::Spliced, Damage::Nul];

impl Damage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Orphan => "orphan",
            Self::Torn => "torn",
            Self::Glued => "glued",
            Self::Spliced => "spliced",
            Self::Nul => "nul",
        }
    }

    /// Whether the real tool result is still in the file.
    pub(super) fn keeps_result(self) -> bool {
        !matches!(self, Self::Missing)
    }

    /// Damages a file with one record per line; nothing if it has no call or no result of its own.
    pub(super) fn apply(self, file: &str) -> Option<Vec<u8>> {
        let mut lines: Vec<Vec<u8>> = file.lines().map(|line| line.as_bytes().to_vec()).collect();
        let kinds: Vec<Holds> = file.lines().map(holds).collect();
        let call = kinds.iter().position(|holds| *holds == Holds::Call)?;
        let result = kinds.iter().position(|holds| *holds == Holds::Result)?;
        let mut end: &[u8] = b"\n";
        match self {
            Self::Missing => lines.truncate(result),
            Self::Orphan => {
                lines.remove(call);
            }
            Self::Torn => {
                let last = lines.last_mut()?;
                last.truncate(last.len() / 2);
                end = b"";
            }
            Self::Glued => {
                let line = lines.remove(result);
                lines[result - 1].extend(line);
            }
            Self::Spliced => {
                let line = lines[result].clone();
                lines[result] = [&line[..line.len() / 2], &line].concat();
            }
            Self::Nul => {
                lines[result] = [&[0; 300][..], &lines[result]].concat();
            }
        }
        Some([lines.join(&b'\n').as_slice(), end].concat())
    }
}

/// The role of a record in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Call,
    Result,
    Other,
}

/// The types of calls and results, in the formats of all clients.
const CALLS: [&str; 5] = ["tool_use", "toolCall", "function_call", "custom_tool_call", "local_shell_call"];
const RESULTS: [&str; 4] = ["tool_result", "toolResult", "function_call_output", "custom_tool_call_output"];

fn holds(line: &str) -> Holds {
    let Ok(record) = serde_json::from_str::<Value>(line) else { return Holds::Other };
    // Records about requests and the interface mirror messages; they are not part of the conversation.
    let is_mirror = record["type"].as_str().is_some_and(|kind| kind.starts_with("api-") || kind == "event_msg");
    match () {
        () if is_mirror => Holds::Other,
        // Gemini CLI writes the result into the record of the call, too.
        () if mentions(&record, &[], "toolCalls") => Holds::Call,
        () if mentions(&record, &RESULTS, "functionResponse") => Holds::Result,
        () if mentions(&record, &CALLS, "functionCall") => Holds::Call,
        () => Holds::Other,
    }
}

/// Whether a value has a member `type` or `role` with one of these words, or a member with this name.
fn mentions(value: &Value, words: &[&str], member: &str) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| {
            let is_word =
                matches!(name.as_str(), "type" | "role") && value.as_str().is_some_and(|word| words.contains(&word));
            is_word || name == member || mentions(value, words, member)
        }),
        Value::Array(list) => list.iter().any(|value| mentions(value, words, member)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_finds_the_call_and_its_result() {
        let file =
            "{\"type\":\"x\"}\n{\"m\":[{\"type\":\"tool_use\"}]}\n{\"m\":[{\"type\":\"tool_result\"}]}\n{\"z\":1}\n";
        let text = |damage: Damage| String::from_utf8(damage.apply(file).unwrap()).unwrap();
        assert_eq!(text(Damage::Missing).lines().count(), 2);
        assert!(!text(Damage::Orphan).contains("tool_use\""));
        assert!(text(Damage::Glued).contains("}{"));
        assert_eq!(Damage::Torn.apply("{}\n"), None);
    }
}
