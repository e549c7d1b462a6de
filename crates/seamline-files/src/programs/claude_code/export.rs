//! Writes a conversation as a new session of Claude Code.
//!
//! Each block of a response has a record of its own, and all of them have the same `message.id`. Each result has a record
//! that names the record of its call. Every record names the one before it as its parent. Claude Code finds the result of a
//! call by its id in the whole session, so a repeated id becomes another one.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::json::{Object, elements, members, quoted, string};
use crate::session::{Export, Exporter, NewSession, dashed};

pub(in crate::programs) const EXPORTER: Exporter =
    Exporter { name: "claude-code", program: &super::PROGRAM, side: "anthropic/anthropic_messages", write };

/// The version of Claude Code whose records are written.
const VERSION: &str = "2.1.42";
/// The model of a session whose source does not tell it. Claude Code takes the model of the next request from its settings.
const NO_MODEL: &str = "<unknown>";
/// The longest name of a project's folder; a longer one is cut and gets a hash.
const FOLDER_CHARS_MAX: usize = 200;

fn write(export: &Export<'_>) -> Option<NewSession> {
    let mut session = Session { export, text: String::new(), count: 0, parent: None, calls: HashMap::new() };
    for (index, message) in export.messages.iter().enumerate() {
        session.add(index, message)?;
    }
    if let Some(title) = &export.about.title {
        let _ = writeln!(
            session.text,
            r#"{{"type":"custom-title","customTitle":{},"sessionId":{}}}"#,
            quoted(title),
            quoted(export.id())
        );
    }
    Some(NewSession {
        text: session.text,
        path: format!("{}/{}.jsonl", project(export.folder()), export.id()),
        project: None,
    })
}

/// The name of the folder in which the sessions of a project are.
fn project(folder: &str) -> String {
    let name = dashed(folder);
    if name.len() <= FOLDER_CHARS_MAX {
        name
    } else {
        format!("{}-{}", &name[..FOLDER_CHARS_MAX], base_36(hash(folder)))
    }
}

/// The hash of a long folder name, as Claude Code computes it.
fn hash(text: &str) -> u32 {
    let step = |hash: i32, unit: u16| hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, step).unsigned_abs()
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// A session while it is written.
struct Session<'s> {
    export: &'s Export<'s>,
    text: String,
    /// The number of records so far.
    count: usize,
    parent: Option<String>,
    /// The last call with each id of the source.
    calls: HashMap<String, Call>,
}

/// A call in the new session.
struct Call {
    id: String,
    /// The record that makes it.
    record: String,
    /// How many calls of the source have the id.
    uses: usize,
}

impl Session<'_> {
    fn add(&mut self, index: usize, message: &str) -> Option<()> {
        let [role, content] = members(message, &["role", "content"]).ok()?;
        let (role, content) = (string(role?)?, content?);
        match (role.as_str(), elements(content)) {
            ("user", None) => self.add_user(content, None),
            ("user", Some(blocks)) => self.add_user_blocks(&blocks),
            ("assistant", blocks) => {
                let said = format!(r#"{{"type":"text","text":{content}}}"#);
                let blocks = blocks.unwrap_or_else(|| vec![&said]);
                for block in blocks {
                    self.add_block(index, block);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds the blocks of a user's message: each result by itself, the blocks between them together.
    fn add_user_blocks(&mut self, blocks: &[&str]) {
        let mut said: Vec<&str> = Vec::new();
        for block in blocks {
            match answered(block) {
                None => said.push(block),
                Some(result) => {
                    self.add_said(&mut said);
                    self.add_result(&result);
                }
            }
        }
        self.add_said(&mut said);
    }

    fn add_result(&mut self, result: &Object<'_>) {
        let call = result.string("tool_use_id").and_then(|id| self.calls.get(&id));
        let id = call.map(|call| ("tool_use_id", Some(quoted(&call.id))));
        let asking = call.map(|call| call.record.clone());
        let block = result.with(&id.into_iter().collect::<Vec<_>>());
        self.add_user(&format!("[{block}]"), asking);
    }

    fn add_said(&mut self, blocks: &mut Vec<&str>) {
        if !blocks.is_empty() {
            self.add_user(&format!("[{}]", blocks.join(",")), None);
            blocks.clear();
        }
    }

    fn add_user(&mut self, content: &str, asking: Option<String>) {
        let asking = asking.map(|record| format!(r#","sourceToolAssistantUUID":{}"#, quoted(&record)));
        let message = format!(r#"{{"role":"user","content":{content}}}"#);
        self.add_record("user", &message, &asking.unwrap_or_default());
    }

    fn add_block(&mut self, index: usize, block: &str) {
        let call = Object::of(block).filter(|block| block.says("type", &["tool_use"]));
        let Some((call, source)) = call.and_then(|call| call.string("id").map(|id| (call, id))) else {
            self.add_spoken(index, block);
            return;
        };
        let uses = self.calls.get(&source).map_or(0, |call| call.uses) + 1;
        let id = if uses == 1 { source.clone() } else { format!("{source}_{uses}") };
        let record = self.add_spoken(index, &call.with(&[("id", Some(quoted(&id)))]));
        self.calls.insert(source, Call { id, record, uses });
    }

    /// Adds the record of a block, and returns its id.
    fn add_spoken(&mut self, index: usize, block: &str) -> String {
        let model = quoted(self.export.about.model.as_deref().unwrap_or(NO_MODEL));
        let id = quoted(&format!("msg_{}", &self.export.hash("message", index)[..24]));
        let message = format!(
            r#"{{"model":{model},"id":{id},"type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}}"#
        );
        self.add_record("assistant", &message, "")
    }

    /// Adds a record, and returns its id.
    fn add_record(&mut self, kind: &str, message: &str, rest: &str) -> String {
        let id = self.export.record_id(self.count);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let _ = writeln!(
            self.text,
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":{},"sessionId":{},"version":"{VERSION}","gitBranch":"","type":"{kind}","message":{message},"uuid":"{id}","timestamp":"{}"{rest}}}"#,
            quoted(self.export.folder()),
            quoted(self.export.id()),
            self.export.time(self.count),
        );
        self.count += 1;
        self.parent = Some(id.clone());
        id
    }
}

/// A block, if it is the result of a call.
fn answered(block: &str) -> Option<Object<'_>> {
    Object::of(block).filter(|block| block.says("type", &["tool_result"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_the_folder_that_claude_code_gives_it() {
        assert_eq!(project("/srv/mira/my.app"), "-srv-mira-my-app");
        let long = project(&format!("/{}", "a".repeat(300)));
        assert!(long.starts_with("-aaa") && long.len() > 201 && long.as_bytes()[200] == b'-', "{long}");
        assert_eq!((hash("abc"), base_36(96_354)), (96_354, "22ci".to_owned()));
    }
}
