//! Writes a conversation as a new session of Qwen Code. Each result of a tool has a record of its own.

use std::fmt::Write as _;

use super::write::call_id;
use crate::json::{Object, members, quoted};
use crate::session::{Export, Exporter, NewSession, dashed};

pub(in crate::programs) const EXPORTER: Exporter =
    Exporter { name: "qwen-code", program: &super::PROGRAM, side: "gemini/gemini_generate", write };

/// The version of Qwen Code whose records are written.
const VERSION: &str = "0.21.13";

fn write(export: &Export<'_>) -> Option<NewSession> {
    let mut session = Session { export, text: String::new(), count: 0, parent: None };
    for message in export.messages {
        session.add(message)?;
    }
    let path = format!("{}/chats/{}.jsonl", dashed(export.folder()), export.id());
    Some(NewSession { text: session.text, path, project: None })
}

/// A session while it is written.
struct Session<'s> {
    export: &'s Export<'s>,
    text: String,
    /// The number of records so far.
    count: usize,
    parent: Option<String>,
}

impl Session<'_> {
    /// Adds a message. The results of calls come first, each with the media behind it, so that nothing is between them.
    fn add(&mut self, message: &str) -> Option<()> {
        let object = Object::of(message)?;
        let role = object.string("role").unwrap_or_else(|| "user".to_owned());
        let mut results: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut said: Vec<&str> = Vec::new();
        for part in object.list("parts") {
            let is_text = members(part, &["text"]).is_ok_and(|[text]| text.is_some());
            match (call_id(part).filter(|_| role == "user"), results.last_mut()) {
                (Some(id), _) => results.push((id, vec![part])),
                (None, Some((_, parts))) if !is_text => parts.push(part),
                (None, _) => said.push(part),
            }
        }
        for (id, parts) in results {
            let status = if has_failed(parts[0]) { "error" } else { "success" };
            let rest = format!(r#","toolCallResult":{{"callId":{id},"status":"{status}"}}"#);
            self.add_record("tool_result", &role, &parts.join(","), &rest);
        }
        self.add_said(&role, &said);
        Some(())
    }

    fn add_said(&mut self, role: &str, parts: &[&str]) {
        if parts.is_empty() {
            return;
        }
        let model = self.export.about.model.as_deref().filter(|_| role == "model");
        let model = model.map(|model| format!(r#","model":{}"#, quoted(model))).unwrap_or_default();
        let kind = if role == "model" { "assistant" } else { "user" };
        self.add_record(kind, role, &parts.join(","), &model);
    }

    fn add_record(&mut self, kind: &str, role: &str, parts: &str, rest: &str) {
        let id = self.export.record_id(self.count);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let _ = writeln!(
            self.text,
            r#"{{"uuid":"{id}","parentUuid":{parent},"sessionId":{},"timestamp":"{}","type":"{kind}","cwd":{},"version":"{VERSION}","message":{{"role":{},"parts":[{parts}]}}{rest}}}"#,
            quoted(self.export.id()),
            self.export.time(self.count),
            quoted(self.export.folder()),
            quoted(role),
        );
        self.count += 1;
        self.parent = Some(id);
    }
}

/// Whether a result says that its tool failed: it has an error and no output.
fn has_failed(part: &str) -> bool {
    let result = members(part, &["functionResponse"]).ok().and_then(|[result]| result);
    let response = result.and_then(|result| members(result, &["response"]).ok()).and_then(|[response]| response);
    let outcome = response.and_then(|response| members(response, &["error", "output"]).ok());
    matches!(outcome, Some([Some(_), None]))
}
