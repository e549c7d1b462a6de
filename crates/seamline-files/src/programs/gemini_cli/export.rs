//! Writes a conversation as a new session of Gemini CLI.
//!
//! A record of the model holds its calls together with their results. Gemini CLI records results twice itself, in the
//! record of the call and in one of the user, and then sends them twice; here each result is in the record of its call only.

use std::fmt::Write as _;

use super::render::{is_failure, result_members};
use super::turn::has;
use crate::json::{Object, members, quoted};
use crate::session::{Export, Exporter, NewSession};

pub(in crate::programs) const EXPORTER: Exporter =
    Exporter { name: "gemini-cli", program: &super::LOG, side: "gemini/gemini_generate", write };

/// The length of a date with hours and minutes in the name of a session.
const TIME_CHARS: usize = 16;
/// The number of characters of the id in the name of a session.
const ID_CHARS: usize = 8;
/// Gemini CLI does not send texts of the user that begin like this.
const UNSENT: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];
/// The part before a text that Gemini CLI would not send.
const INTRODUCTION: &str = r#"{"text":"The user wrote:"}"#;

fn write(export: &Export<'_>) -> Option<NewSession> {
    let mut session = Session::default();
    for message in export.messages {
        session.add(message)?;
    }
    let (id, count) = (export.id(), session.records.len());
    let (started, updated) = (export.time(0), export.time(count));
    // Gemini CLI keeps this hash and compares it with nothing.
    let hash = blake3::hash(export.folder().as_bytes()).to_hex();
    let title = export.about.title.as_ref().map(|title| format!(r#","summary":{}"#, quoted(title))).unwrap_or_default();
    let mut text = format!(
        r#"{{"sessionId":{},"projectHash":"{hash}","startTime":"{started}","lastUpdated":"{updated}","kind":"main"{title}}}"#,
        quoted(id)
    );
    text.push('\n');
    for record in &mut session.records {
        record.write(export, &mut text);
    }
    let time = started[..TIME_CHARS].replace(':', "-");
    let path = format!("chats/session-{time}-{}.jsonl", id.get(..ID_CHARS).unwrap_or(id));
    Some(NewSession { text, path, project: Some(slug(export.folder())) })
}

/// The name that Gemini CLI gives to the folder of a project: the last part of its path in small letters, digits and
/// hyphens.
fn slug(folder: &str) -> String {
    let name = folder.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_lowercase();
    let parts: Vec<&str> =
        name.split(|char: char| !char.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "project".to_owned() } else { parts.join("-") }
}

/// A session while it is written.
#[derive(Default)]
struct Session {
    records: Vec<Record>,
}

/// A record while it is written.
struct Record {
    index: usize,
    is_model: bool,
    /// Whether the content has the calls, too.
    is_complete: bool,
    parts: Vec<String>,
    calls: Vec<Call>,
}

/// A call with its result.
struct Call {
    id: Option<String>,
    name: String,
    arguments: String,
    result: Vec<String>,
    /// The place of the result among those of the record; a call without one is the last.
    place: usize,
}

impl Session {
    fn add(&mut self, message: &str) -> Option<()> {
        let object = Object::of(message)?;
        let parts = object.list("parts");
        if object.says("role", &["model"]) {
            return self.add_spoken(&parts);
        }
        self.add_said(&parts);
        Some(())
    }

    fn add_spoken(&mut self, parts: &[&str]) -> Option<()> {
        let calls: Vec<&str> = parts.iter().copied().filter(|part| has(part, "functionCall")).collect();
        // A signature has no place in the list of calls, so that the content has all parts.
        let is_complete = parts.iter().any(|part| has(part, "thought"))
            || calls.iter().any(|call| Object::of(call).is_some_and(|call| !call.has_only(&["functionCall"])));
        let calls = calls.iter().map(|part| Call::of(part)).collect::<Option<Vec<_>>>()?;
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        self.records.push(Record { index: self.records.len(), is_model: true, is_complete, parts, calls });
        Some(())
    }

    /// Adds a record with the parts of the user. Adds each result, with the media after it, to its call in the record before.
    fn add_said(&mut self, parts: &[&str]) {
        let mut said: Vec<String> = Vec::new();
        let mut answered = None;
        for (place, part) in parts.iter().enumerate() {
            if let Some([id, _]) = result_members(part) {
                answered = self.call_with(id);
                match answered.and_then(|at| self.call(at)) {
                    Some(call) => {
                        call.result.push((*part).to_owned());
                        call.place = place;
                    }
                    None => said.push((*part).to_owned()),
                }
                continue;
            }
            let is_text = members(part, &["text"]).is_ok_and(|[text]| text.is_some());
            match answered.filter(|_| !is_text && said.is_empty()).and_then(|at| self.call(at)) {
                Some(call) => call.result.push((*part).to_owned()),
                None => said.push((*part).to_owned()),
            }
        }
        if !said.is_empty() {
            if is_unsent(&said) {
                said.insert(0, INTRODUCTION.to_owned());
            }
            let index = self.records.len();
            self.records.push(Record { index, is_model: false, is_complete: true, parts: said, calls: Vec::new() });
        }
    }

    /// The index of the call in the last record that a result with this id answers and no result answers yet.
    fn call_with(&self, id: Option<&str>) -> Option<usize> {
        let calls = &self.records.last().filter(|record| record.is_model)?.calls;
        calls.iter().position(|call| call.result.is_empty() && call.id.as_deref() == id)
    }

    fn call(&mut self, at: usize) -> Option<&mut Call> {
        self.records.last_mut()?.calls.get_mut(at)
    }
}

/// Whether Gemini CLI leaves out a message of the user with these parts.
fn is_unsent(parts: &[String]) -> bool {
    let mut text = String::new();
    for part in parts {
        let Some(said) = Object::of(part).and_then(|part| part.string("text")) else { break };
        text += &said;
    }
    UNSENT.iter().any(|start| text.trim_start().starts_with(start))
}

impl Call {
    fn of(part: &str) -> Option<Self> {
        let [call] = members(part, &["functionCall"]).ok()?;
        let [id, name, arguments] = members(call?, &["id", "name", "args"]).ok()?;
        let (id, arguments) = (id.map(str::to_owned), arguments.unwrap_or("{}").to_owned());
        Some(Self { id, name: name?.to_owned(), arguments, result: Vec::new(), place: usize::MAX })
    }

    fn write(&self, time: &str) -> String {
        let id = self.id.as_ref().map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let (result, status) = match self.result.as_slice() {
            [] => ("null".to_owned(), "cancelled"),
            parts if parts.iter().any(|part| is_failure(part)) => (format!("[{}]", parts.join(",")), "error"),
            parts => (format!("[{}]", parts.join(",")), "success"),
        };
        format!(
            r#"{{{id}"name":{},"args":{},"result":{result},"status":"{status}","timestamp":"{time}"}}"#,
            self.name, self.arguments
        )
    }
}

impl Record {
    fn write(&mut self, export: &Export<'_>, out: &mut String) {
        // Gemini CLI sends results in the order of this list, and calls in that of the content if it has them.
        self.is_complete |= !self.calls.is_sorted_by_key(|call| call.place);
        self.calls.sort_by_key(|call| call.place);
        let parts = self.parts.iter().filter(|part| self.is_complete || !has(part, "functionCall"));
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        let (id, time) = (export.record_id(self.index), export.time(self.index));
        let kind = if self.is_model { "gemini" } else { "user" };
        let content = match parts.as_slice() {
            [] => "\"\"".to_owned(),
            parts => format!("[{}]", parts.join(",")),
        };
        let model = export.about.model.as_deref().filter(|_| self.is_model);
        let model = model.map(|model| format!(r#","model":{}"#, quoted(model))).unwrap_or_default();
        let calls: Vec<String> = self.calls.iter().map(|call| call.write(&time)).collect();
        let calls = if calls.is_empty() { String::new() } else { format!(r#","toolCalls":[{}]"#, calls.join(",")) };
        let _ =
            writeln!(out, r#"{{"id":"{id}","timestamp":"{time}","type":"{kind}","content":{content}{calls}{model}}}"#);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_the_name_that_gemini_cli_gives_it() {
        let slugs = ["/srv/mira/My_App.2", r"C:\work\Über", "/", "/srv/--x--/"].map(slug);
        assert_eq!(slugs, ["my-app-2", "ber", "project", "x"]);
    }

    #[test]
    fn texts_that_are_not_sent_are_found() {
        let part = |text: &str| format!(r#"{{"text":{}}}"#, quoted(text));
        assert!(is_unsent(&[part(" "), part("/tmp is full")]) && is_unsent(&[part("?")]));
        assert!(!is_unsent(&[part("a"), part("/tmp")]) && !is_unsent(&[r#"{"inlineData":{}}"#.to_owned(), part("/")]));
    }
}
