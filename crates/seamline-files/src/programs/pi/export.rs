//! Writes a conversation as a new session of `pi`.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::json::{Object, elements, quoted, string};
use crate::session::{Export, Exporter, NewSession, time};

pub(in crate::programs) const EXPORTER: Exporter =
    Exporter { name: "pi", program: &super::PROGRAM, side: "openai-compatible/openai_chat", write };

/// The tokens and costs of a message, which `pi` adds up.
const USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

fn write(export: &Export<'_>) -> Option<NewSession> {
    let started = export.time(0);
    let mut session = Session { export, text: String::new(), count: 1, parent: None, tools: HashMap::new() };
    let (id, folder) = (quoted(export.id()), quoted(export.folder()));
    let _ =
        writeln!(session.text, r#"{{"type":"session","version":3,"id":{id},"timestamp":"{started}","cwd":{folder}}}"#);
    if let Some(title) = &export.about.title {
        session.add_entry("session_info", &format!(r#""name":{}"#, quoted(title)));
    }
    for message in export.messages {
        session.add(&Object::of(message)?)?;
    }
    let inner = export.folder().trim_start_matches(['/', '\\']).replace(['/', '\\', ':'], "-");
    let path = format!("--{inner}--/{}_{}.jsonl", started.replace([':', '.'], "-"), export.id());
    Some(NewSession { text: session.text, path, project: None })
}

/// A session while it is written.
struct Session<'s> {
    export: &'s Export<'s>,
    text: String,
    /// The number of records so far.
    count: usize,
    parent: Option<String>,
    /// The names of the tools, by the ids of their calls.
    tools: HashMap<String, String>,
}

impl Session<'_> {
    fn add(&mut self, message: &Object<'_>) -> Option<()> {
        let written = match message.string("role")?.as_str() {
            "assistant" => self.spoken(message),
            "tool" => {
                let id = message.string("tool_call_id")?;
                let tool = quoted(self.tools.get(&id).map(String::as_str).unwrap_or_default());
                format!(
                    r#"{{"role":"toolResult","toolCallId":{},"toolName":{tool},"content":[{}],"isError":false"#,
                    quoted(&id),
                    blocks(message.get("content")).join(",")
                )
            }
            // `pi` writes its own system text. A message of another role is said by the user.
            _ => format!(r#"{{"role":"user","content":[{}]"#, blocks(message.get("content")).join(",")),
        };
        let ms = self.export.time_ms.saturating_add(i64::try_from(self.count).ok()?);
        self.add_entry("message", &format!(r#""message":{written},"timestamp":{ms}}}"#));
        Some(())
    }

    /// The message of the model, without its end.
    fn spoken(&mut self, message: &Object<'_>) -> String {
        let mut content = blocks(message.get("content"));
        let calls = message.list("tool_calls");
        for call in &calls {
            content.extend(Object::of(call).and_then(|call| self.call(&call)));
        }
        let reason = if calls.is_empty() { "stop" } else { "toolUse" };
        let model = quoted(self.export.about.model.as_deref().unwrap_or("unknown"));
        format!(
            r#"{{"role":"assistant","content":[{}],"api":"openai-completions","provider":"openai","model":{model},"usage":{USAGE},"stopReason":"{reason}""#,
            content.join(",")
        )
    }

    fn call(&mut self, call: &Object<'_>) -> Option<String> {
        let (_, called) = call.first(&["function", "custom"])?;
        let called = Object::of(called)?;
        let (id, name) = (call.string("id")?, called.string("name")?);
        let (_, arguments) = called.first(&["arguments", "input"])?;
        let object = string(arguments).filter(|text| Object::of(text).is_some());
        // Each record is one line. Line breaks are between values here, because strings escape them.
        let object = object.map(|text| text.replace(['\n', '\r'], " "));
        // A tool that takes any text takes it as a member here.
        let object = object.unwrap_or_else(|| format!(r#"{{"input":{arguments}}}"#));
        let written =
            format!(r#"{{"type":"toolCall","id":{},"name":{},"arguments":{object}}}"#, quoted(&id), quoted(&name));
        self.tools.insert(id, name);
        Some(written)
    }

    fn add_entry(&mut self, kind: &str, rest: &str) {
        // Entries have ids of 8 hexadecimal digits. The number of the record keeps them apart.
        let first = u32::from_str_radix(&self.export.hash("session", 0)[..8], 16).unwrap_or_default();
        let id = format!("{:08x}", first.wrapping_add(u32::try_from(self.count).unwrap_or_default()));
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let stamp = time::text(self.export.time_ms.saturating_add(i64::try_from(self.count).unwrap_or_default()));
        let _ =
            writeln!(self.text, r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"{stamp}",{rest}}}"#);
        self.count += 1;
        self.parent = Some(id);
    }
}

/// The blocks of a content of Chat Completions.
fn blocks(content: Option<&str>) -> Vec<String> {
    let text = |text: &str| format!(r#"{{"type":"text","text":{text}}}"#);
    match content.map(|content| (content, elements(content))) {
        Some((_, Some(parts))) => parts.iter().map(|part| block(part).unwrap_or_else(|| text(&quoted(part)))).collect(),
        Some((content, None)) if string(content).is_some_and(|content| !content.is_empty()) => vec![text(content)],
        _ => Vec::new(),
    }
}

/// A part of a content as a block: a text, or an image whose bytes are in the part.
fn block(part: &str) -> Option<String> {
    let part = Object::of(part)?;
    if let Some(text) = part.get("text") {
        return Some(format!(r#"{{"type":"text","text":{text}}}"#));
    }
    let url = Object::of(part.get("image_url")?)?.string("url")?;
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(format!(r#"{{"type":"image","data":{},"mimeType":{}}}"#, quoted(data), quoted(kind)))
}
