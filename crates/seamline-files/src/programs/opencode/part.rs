//! The parts of a message.

use crate::json::{Object, elements, quoted, string};
use crate::native::message::Call;

/// The text that opencode sends in place of a result that a compaction cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// The content of a part for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Text(String),
    /// A file, as a part of a message's content in the carrier.
    File(String),
    Call {
        call: Call,
        /// The text of the result; nothing if the tool has not finished.
        result: Option<String>,
    },
    /// The start of a response: opencode sends what follows as a message of its own.
    Step,
    /// The request for a summary of the messages before; `tail` is the message from which on they are kept.
    Compaction {
        tail: Option<String>,
    },
    /// A part that opencode does not send.
    Nothing,
}

/// Reads a part of a message of the user or of the model.
pub(super) fn read(part: &Object<'_>, is_user: bool) -> Said {
    match part.string("type").as_deref() {
        Some("text") if part.get("ignored") == Some("true") && is_user => Said::Nothing,
        Some("text") => part.string("text").map_or(Said::Nothing, Said::Text),
        Some("file") if is_user => file(part).map_or(Said::Nothing, Said::File),
        Some("compaction") if is_user => Said::Compaction { tail: part.string("tail_start_id") },
        Some("subtask") if is_user => Said::Text("The following tool was executed by the user".to_owned()),
        Some("tool") if !is_user => tool(part).unwrap_or(Said::Nothing),
        Some("step-start") if !is_user => Said::Step,
        _ => Said::Nothing,
    }
}

/// A file for the carrier. Plain text and folders are in text parts of their own.
fn file(part: &Object<'_>) -> Option<String> {
    let kind = part.string("mime")?;
    let url = part.get("url")?;
    match kind.as_str() {
        "text/plain" | "application/x-directory" => None,
        image if image.starts_with("image/") => Some(format!(r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#)),
        _ => {
            let name = part.get("filename").unwrap_or("\"file\"");
            Some(format!(r#"{{"type":"file","file":{{"filename":{name},"file_data":{url}}}}}"#))
        }
    }
}

fn tool(part: &Object<'_>) -> Option<Said> {
    let state = Object::of(part.get("state")?)?;
    let arguments = match state.get("input") {
        None | Some("null") => "{}".to_owned(),
        Some(input) => string(input).unwrap_or_else(|| input.to_owned()),
    };
    let call = Call { id: part.string("callID"), name: part.string("tool"), arguments, index: None };
    Some(Said::Call { call, result: result(&state) })
}

/// The text of a result.
fn result(state: &Object<'_>) -> Option<String> {
    let member = |outer: &str, inner: &str| Object::of(state.get(outer)?).and_then(|object| object.get(inner));
    match state.string("status")?.as_str() {
        "completed" if member("time", "compacted").is_some() => Some(CLEARED.to_owned()),
        "completed" => Some(state.get("output").map(text_of).unwrap_or_default()),
        "error" => {
            let is_interrupted = member("metadata", "interrupted") == Some("true");
            let partial = member("metadata", "output").filter(|_| is_interrupted).and_then(string);
            Some(partial.unwrap_or_else(|| state.get("error").map(text_of).unwrap_or_default()))
        }
        _ => None,
    }
}

fn text_of(value: &str) -> String {
    string(value).unwrap_or_else(|| value.to_owned())
}

/// The changes of a repair to a part.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
    /// The text of a result that the part had.
    pub(super) result: Option<String>,
    /// The text of the error of a call that has not finished, and the time of its message as JSON.
    pub(super) error: Option<(String, String)>,
}

impl Change {
    /// Writes the part with the change. Returns nothing if the part cannot hold it.
    pub(super) fn apply(&self, part: &str) -> Option<String> {
        let object = Object::of(part)?;
        let mut members = Vec::new();
        members.extend(self.text.as_deref().map(|text| ("text", Some(quoted(text)))));
        members.extend(self.id.as_deref().map(|id| ("callID", Some(quoted(id)))));
        members.extend(self.name.as_deref().map(|name| ("tool", Some(quoted(name)))));
        if self.arguments.is_some() || self.result.is_some() || self.error.is_some() {
            members.push(("state", Some(self.state(object.get("state")?)?)));
        }
        Some(object.with(&members))
    }

    fn state(&self, state: &str) -> Option<String> {
        let state = Object::of(state)?;
        let mut members = Vec::new();
        members.extend(self.arguments.as_deref().map(|input| ("input", Some(input_value(input)))));
        if let Some(result) = &self.result {
            let member = if state.says("status", &["error"]) { "error" } else { "output" };
            // The text of an interrupted tool is elsewhere, and that of a cleared result is not stored.
            let is_stored = self::result(&state).is_some_and(|old| state.string(member) == Some(old));
            members.push((member, Some(quoted(result)).filter(|_| is_stored)));
            members.last().filter(|(_, value)| value.is_some())?;
        }
        if let Some((error, created)) = &self.error {
            let time = state.get("time").and_then(Object::of);
            let start = time.as_ref().and_then(|time| time.get("start")).unwrap_or(created);
            let time = match &time {
                Some(time) => time.with(&[("start", Some(start.to_owned())), ("end", Some(start.to_owned()))]),
                None => format!(r#"{{"start":{start},"end":{start}}}"#),
            };
            // The program shows what a tool has written so far and does not send it.
            let partial = state.get("metadata").and_then(Object::of).and_then(|metadata| metadata.string("output"));
            let error = match partial.filter(|output| !output.is_empty()) {
                Some(output) => format!("{error}\n\nIts output until then:\n{output}"),
                None => error.clone(),
            };
            members.extend([
                ("status", Some("\"error\"".to_owned())),
                ("error", Some(quoted(&error))),
                ("time", Some(time)),
            ]);
        }
        Some(state.with(&members))
    }
}

/// The input of a tool: an object where the arguments are one.
fn input_value(arguments: &str) -> String {
    let is_json = Object::of(arguments).is_some() || elements(arguments).is_some();
    if is_json { arguments.to_owned() } else { quoted(arguments) }
}
