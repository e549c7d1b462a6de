//! Reads the conversation in UI messages. A tool part holds the call and its result.

use crate::json::{Object, elements, members, quoted, string};
use crate::list::{self, Shape};
use crate::session::{About, CarriedMessage, FileInput, FileReading, Reading};

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| members(text, &["role", "parts"]).is_ok_and(|[role, parts]| role.is_some() && parts.is_some()),
};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut messages = Vec::new();
    let mut count = 0;
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        members(text, &[])?;
        let shown = show(text).into_iter().enumerate();
        messages.extend(shown.map(|(part, text)| CarriedMessage {
            record: count,
            part,
            owners: Vec::new(),
            text: content.keep(&text).into_owned(),
        }));
        count += 1;
        Ok(())
    })?;
    let about = About { inactive: 0, ..About::default() };
    let session = Reading { dialect: "openai_chat", messages, about, ..Reading::default() }.of_all(count);
    Ok(FileReading { records: list.records, damaged: list.damaged, session })
}

/// The messages of a UI message: what was said with the calls, and a result for each answered call.
pub(super) fn show(record: &str) -> Vec<String> {
    let Some(object) = Object::of(record) else { return Vec::new() };
    let role = object.string("role").unwrap_or_default();
    if !matches!(role.as_str(), "system" | "user" | "assistant") {
        return Vec::new();
    }
    let parts = object.list("parts");
    let texts: Vec<String> = parts.iter().filter_map(|part| text_of(part)).collect();
    let tools: Vec<Tool> = parts.iter().filter_map(|part| Tool::of(part)).collect();
    let calls: Vec<String> = tools.iter().map(Tool::call).collect();
    let text = texts.join("\n");
    let said = if text.is_empty() && !calls.is_empty() { "null".to_owned() } else { quoted(&text) };
    let calls = if calls.is_empty() { String::new() } else { format!(",\"tool_calls\":[{}]", calls.join(",")) };
    let mut messages = vec![format!("{{\"role\":{},\"content\":{said}{calls}}}", quoted(&role))];
    if text.is_empty() && tools.is_empty() {
        // Parts of other types, such as files and data, are content of their own.
        messages.clear();
    }
    messages.extend(tools.iter().filter_map(Tool::result));
    messages
}

fn text_of(part: &str) -> Option<String> {
    Object::of(part).filter(|part| part.says("type", &["text"]))?.string("text")
}

/// A tool part.
pub(super) struct Tool {
    pub(super) id: String,
    name: String,
    input: String,
    output: Option<String>,
}

impl Tool {
    pub(super) fn of(part: &str) -> Option<Self> {
        let part = Object::of(part)?;
        let kind = part.string("type")?;
        let name = match kind.strip_prefix("tool-") {
            Some(name) => name.to_owned(),
            None if kind == "dynamic-tool" => part.string("toolName")?,
            None => return None,
        };
        let state = part.string("state")?;
        let is_answered = state.starts_with("output-");
        // The user is asked, or the tool runs when the chat goes on. A call that the provider runs has its result from there.
        if state.starts_with("approval-") || !is_answered && part.get("providerExecuted") == Some("true") {
            return None;
        }
        let output = match state.as_str() {
            "output-available" => part.get("output").map(|output| string(output).unwrap_or_else(|| output.to_owned())),
            "output-error" => Some(part.string("errorText").unwrap_or_default()),
            "output-denied" => Some("denied".to_owned()),
            _ => None,
        };
        let input = part.get("input").unwrap_or("{}").to_owned();
        Some(Self { id: part.string("toolCallId")?, name, input, output })
    }

    fn call(&self) -> String {
        let (id, name, arguments) = (quoted(&self.id), quoted(&self.name), quoted(&self.input));
        format!("{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
    }

    fn result(&self) -> Option<String> {
        let output = quoted(self.output.as_deref()?);
        Some(format!("{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{output}}}", quoted(&self.id)))
    }
}

/// The ids and texts of the results among messages of the carrier.
pub(super) fn result_of(message: &str) -> Option<(String, String)> {
    let message = Object::of(message).filter(|message| message.says("role", &["tool"]))?;
    let content = message.get("content")?;
    let text = string(content)
        .or_else(|| Some(elements(content)?.into_iter().filter_map(text_of).collect::<Vec<_>>().join("\n")));
    Some((message.string("tool_call_id")?, text?))
}
