//! Content of records that their messages do not hold: media, reasoning, and calls that a program stores without an id.
//!
//! A repair does not need them, and some messages of a carrier cannot hold them. An export names them. They are found in any record by their usual members, and count as left out
//! where no message has their content.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{CarriedMessage, Reading};

/// A kind of content that the messages of a session may not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftKind {
    /// A still image.
    Image,
    /// A recording of sound.
    Audio,
    /// A recording of pictures.
    Video,
    /// A file of another kind.
    File,
    /// The reasoning of the model.
    Reasoning,
    /// A tool call.
    Call,
}

/// Content of the records of a session that its messages do not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The kind of the content.
    pub kind: LeftKind,
    /// How often the records hold it.
    pub count: usize,
}

/// The content that a session leaves out, and its places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutOf {
    /// The kinds of content, with their counts.
    pub content: Vec<LeftOut>,
    /// The records that hold it, in the order of the file.
    pub records: Vec<usize>,
}

impl Reading {
    /// Finds what the records of the conversation hold and its messages do not. `text` gives the text of a record.
    pub fn left_out<'t>(&self, text: impl Fn(usize) -> std::borrow::Cow<'t, str>) -> LeftOutOf {
        let mut said: BTreeMap<usize, Vec<&CarriedMessage>> =
            self.unshown.iter().map(|record| (*record, Vec::new())).collect();
        for message in &self.messages {
            for record in message.records() {
                said.entry(record).or_default().push(message);
            }
        }
        let mut counts: BTreeMap<LeftKind, usize> = BTreeMap::new();
        let mut records = Vec::new();
        for (record, messages) in said {
            let Ok(value) = serde_json::from_str::<Value>(&text(record)) else { continue };
            let mut found = Vec::new();
            find(&value, "", &mut found);
            if found.is_empty() {
                continue;
            }
            let mut words = Words::default();
            for message in messages {
                words.add(&message.text);
            }
            found.retain(|found| !words.hold(found));
            if !found.is_empty() {
                records.push(record);
            }
            for found in found {
                *counts.entry(found.kind).or_default() += 1;
            }
        }
        let content = counts.into_iter().map(|(kind, count)| LeftOut { kind, count }).collect();
        LeftOutOf { content, records }
    }
}

/// Members that repeat the content of a message for the screen.
const MIRRORS: [&str; 4] = ["toolUseResult", "resultDisplay", "displayContent", "toolCallResult"];
/// Members that hold reasoning, as a text or a list of thoughts.
const REASONING: [&str; 6] =
    ["reasoning_content", "reasoning", "reasoningText", "reasoning_text", "thinking", "thoughts"];
const REASONING_TYPES: [&str; 4] = ["thinking", "reasoning", "think", "thought"];
const CALL_TYPES: [&str; 5] = ["tool_use", "toolCall", "tool-call", "tool_call", "function_call"];
const KIND_MEMBERS: [&str; 3] = ["type", "kind", "part_kind"];
const MIME_MEMBERS: [&str; 6] = ["mimeType", "mime_type", "mediaType", "media_type", "mime", "contentType"];
/// Members that hold the content of media, or say where it is.
const PAYLOADS: [&str; 11] =
    ["data", "base64", "bytes", "url", "uri", "fileUri", "file_uri", "file_data", "file_id", "blob", "image_url"];
/// Members that hold an object with media.
const HOLDERS: [&str; 9] =
    ["inlineData", "inline_data", "image_url", "imageUrl", "fileData", "file_data", "input_audio", "image", "source"];
const MEDIA_TYPES: [(&str, LeftKind); 5] = [
    ("image", LeftKind::Image),
    ("audio", LeftKind::Audio),
    ("video", LeftKind::Video),
    ("document", LeftKind::File),
    ("file", LeftKind::File),
];

/// Content that a message may lack.
struct Found {
    kind: LeftKind,
    /// The word in a message that has such content.
    word: String,
}

/// Finds media, reasoning and calls in a value. `holder` is the name of the member that it is in.
fn find(value: &Value, holder: &str, out: &mut Vec<Found>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| find(value, holder, out)),
        Value::Object(members) => find_in(members, holder, out),
        Value::String(text) if REASONING.contains(&holder) => out.extend(reasoning(text)),
        Value::String(text) => out.extend(embedded(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn find_in(members: &Map<String, Value>, holder: &str, out: &mut Vec<Found>) {
    let kind = KIND_MEMBERS.iter().find_map(|name| members.get(*name)?.as_str()).unwrap_or_default();
    let is_thought = members.get("thought") == Some(&Value::Bool(true)) || holder == "thoughts";
    if is_thought || REASONING_TYPES.contains(&kind) {
        out.extend(first_text(members).and_then(reasoning));
        return;
    }
    if let Some(media) = media(members, kind, holder) {
        out.push(media);
        return;
    }
    if CALL_TYPES.contains(&kind)
        && let Some(name) = ["name", "toolName", "tool_name"].iter().find_map(|name| members.get(*name)?.as_str())
    {
        out.push(Found { kind: LeftKind::Call, word: name.to_owned() });
    }
    for (name, value) in members.iter().filter(|(name, _)| !MIRRORS.contains(&name.as_str())) {
        find(value, name, out);
    }
}

/// The first text of a block of reasoning. Encrypted reasoning has none, and only its model reads it.
fn first_text(members: &Map<String, Value>) -> Option<&str> {
    ["thinking", "text", "think", "description", "content", "reasoning"]
        .iter()
        .find_map(|name| members.get(*name)?.as_str())
}

fn reasoning(text: &str) -> Option<Found> {
    let word = text.trim();
    (!word.is_empty()).then(|| Found { kind: LeftKind::Reasoning, word: word.to_owned() })
}

/// Media whose content is in the text.
fn embedded(text: &str) -> Option<Found> {
    let (mime, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Found { kind: kind_of(mime), word: data.to_owned() })
}

fn media(members: &Map<String, Value>, kind: &str, holder: &str) -> Option<Found> {
    let payload =
        PAYLOADS.iter().find_map(|name| members.get(*name)?.as_str()).filter(|payload| !payload.is_empty())?;
    let mime = MIME_MEMBERS.iter().find_map(|name| members.get(*name)?.as_str());
    let (lower, about) = (kind.to_ascii_lowercase(), holder.to_ascii_lowercase());
    let typed = |text: &str| MEDIA_TYPES.iter().find(|(word, _)| text.contains(word)).map(|(_, kind)| *kind);
    let is_held = HOLDERS.contains(&holder);
    let found = match mime {
        Some(mime) => kind_of(mime),
        None => typed(&lower).or_else(|| is_held.then(|| typed(&about).unwrap_or(LeftKind::File)))?,
    };
    let data = payload.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let word = data.map_or(payload, |(_, data)| data);
    Some(Found { kind: data.map_or(found, |(mime, _)| kind_of(mime)), word: word.to_owned() })
}

/// The kind of media with a MIME type.
fn kind_of(mime: &str) -> LeftKind {
    let start = mime.split('/').next().unwrap_or_default();
    MEDIA_TYPES.iter().find(|(word, _)| *word == start).map_or(LeftKind::File, |(_, kind)| *kind)
}

/// All that the messages of a record say.
#[derive(Default)]
struct Words {
    texts: Vec<String>,
}

impl Words {
    fn add(&mut self, message: &str) {
        if let Ok(value) = serde_json::from_str(message) {
            self.add_value(value);
        }
    }

    fn add_value(&mut self, value: Value) {
        match value {
            Value::String(text) => self.texts.push(text),
            Value::Array(list) => list.into_iter().for_each(|value| self.add_value(value)),
            Value::Object(members) => members.into_iter().for_each(|(_, value)| self.add_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn hold(&self, found: &Found) -> bool {
        let word = found.word.as_str();
        match found.kind {
            LeftKind::Call => self.texts.iter().any(|text| text == word),
            _ => self.texts.iter().any(|text| text.contains(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(record: &str, message: &str) -> Vec<(LeftKind, usize)> {
        let mut reading = Reading { unshown: vec![0], ..Reading::default() };
        if !message.is_empty() {
            reading.messages.push(CarriedMessage::of(0, message.to_owned()));
        }
        let found = reading.left_out(|_| record.into());
        assert_eq!(found.records.is_empty(), found.content.is_empty());
        found.content.into_iter().map(|left| (left.kind, left.count)).collect()
    }

    #[test]
    fn content_that_no_message_has_is_found_in_the_forms_of_all_programs() {
        for (block, kind) in [
            (r#"{"type":"image","data":"QUJD","mimeType":"image/png"}"#, LeftKind::Image),
            (r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#, LeftKind::Image),
            (r#"{"type":"imageUrl","imageUrl":{"url":"https://x/QUJD"}}"#, LeftKind::Image),
            (r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#, LeftKind::Image),
            (r#"{"inlineData":{"mimeType":"audio/wav","data":"QUJD"}}"#, LeftKind::Audio),
            (r#"{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,QUJD"}"#, LeftKind::File),
            (r#"{"kind":"binary","data":"QUJD","media_type":"video/mp4"}"#, LeftKind::Video),
            (r#"{"image":{"format":"png","source":{"bytes":"QUJD"}}}"#, LeftKind::File),
            (r#"{"type":"thinking","thinking":"QUJD","signature":"s"}"#, LeftKind::Reasoning),
            (r#"{"text":"QUJD","thought":true}"#, LeftKind::Reasoning),
            (r#"{"type":"reasoning","text":"QUJD"}"#, LeftKind::Reasoning),
            (r#"{"reasoning_content":"QUJD"}"#, LeftKind::Reasoning),
            (r#"{"thoughts":[{"subject":"s","description":"QUJD"}]}"#, LeftKind::Reasoning),
            (r#"{"type":"tool_use","name":"QUJD","input":{}}"#, LeftKind::Call),
        ] {
            let record = format!(r#"{{"message":{{"content":[{block}]}}}}"#);
            assert_eq!(left(&record, ""), [(kind, 1)], "{block}");
            assert_eq!(left(&record, r#"{"role":"user","content":"look"}"#), [(kind, 1)], "{block}");
            assert_eq!(left(&record, &format!(r#"{{"content":[{block}]}}"#)), [], "{block}");
        }
    }

    #[test]
    fn other_content_is_not_taken_for_media() {
        for record in [
            r#"{"type":"user","data":{"url":"https://x"},"text":"hi"}"#,
            r#"{"type":"reasoning","encrypted_content":"x"}"#,
            r#"{"toolUseResult":{"file":{"type":"image/png","base64":"QUJD","mimeType":"image/png"}}}"#,
            r#"{"type":"text","text":"thinking"}"#,
        ] {
            assert_eq!(left(record, ""), [], "{record}");
        }
    }
}
