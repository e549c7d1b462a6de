//! Reads the conversation that `OpenHands` would send, from its events.
//!
//! Each event is a file of its own; the caller gives them in the order of their names, one per line. Parallel calls are
//! several events with one `llm_response_id`.

use std::collections::HashSet;

use crate::json::{Object, elements, members, quoted, string};
use crate::lines;
use crate::session::{About, CarriedMessage, FileInput, FileReading, KeptTexts, Reading};

const MEMBERS: [&str; 12] = [
    "kind",
    "id",
    "llm_message",
    "system_prompt",
    "thought",
    "tool_call",
    "tool_call_id",
    "llm_response_id",
    "observation",
    "error",
    "rejection_reason",
    "forgotten_event_ids",
];

/// One event of the conversation.
struct Event {
    record: usize,
    id: Option<String>,
    said: Said,
}

enum Said {
    /// A message, as JSON.
    Message(String),
    /// A call of a response: the response, the thought before it, and the call as JSON.
    Call { response: Option<String>, thought: String, call: String },
}

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut events = Vec::new();
    let mut forgotten = HashSet::new();
    let mut about = About::default();
    let mut count = 0;
    let lines = lines::read(input.bytes, &mut |text| {
        let found = members(text, &MEMBERS)?;
        if let Some(ids) = found[11].and_then(elements) {
            forgotten.extend(ids.into_iter().filter_map(string));
        }
        if let [agent, id] = members(text, &["agent", "id"])?
            && agent.is_some()
        {
            about.id = id.and_then(string);
        }
        events.extend(event(&found, content).map(|said| Event { record: count, id: found[1].and_then(string), said }));
        count += 1;
        Ok(())
    })?;
    events.retain(|event| event.id.as_ref().is_none_or(|id| !forgotten.contains(id)));
    let messages = messages(events);
    about.inactive = count.saturating_sub(messages.len());
    let session = Reading { dialect: "openai_chat", messages, about, ..Reading::default() };
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

fn event(found: &[Option<&str>; MEMBERS.len()], content: KeptTexts) -> Option<Said> {
    let [kind, _, message, system, thought, call, call_id, response, observation, error, rejection, _] = *found;
    let kind = kind.and_then(string)?;
    let said = |role: &str, text: String| {
        Said::Message(format!("{{\"role\":\"{role}\",\"content\":{}}}", content.keep(&quoted(&text))))
    };
    match kind.as_str() {
        "SystemPromptEvent" => Some(said("system", members(system?, &["text"]).ok()?[0].and_then(string)?)),
        "MessageEvent" => {
            let message = Object::of(message?)?;
            let role = message.string("role")?;
            Some(said(&role, text_of(message.get("content")?)))
        }
        "ActionEvent" => {
            let call = Object::of(call?)?;
            let (id, name, arguments) = (call.get("id")?, call.get("name")?, call.get("arguments")?);
            let call = format!(
                "{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
            );
            Some(Said::Call {
                response: response.and_then(string),
                thought: thought.map(text_of).unwrap_or_default(),
                call,
            })
        }
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
            let content_of = |value: &str| members(value, &["content"]).ok().and_then(|[content]| content.map(text_of));
            let text = observation.and_then(content_of).or_else(|| error.or(rejection).and_then(string));
            let text = quoted(&text.unwrap_or_default());
            let id = call_id?;
            Some(Said::Message(format!(
                "{{\"role\":\"tool\",\"tool_call_id\":{id},\"content\":{}}}",
                content.keep(&text)
            )))
        }
        _ => None,
    }
}

/// The text of a content: a string, or the texts of its blocks.
fn text_of(content: &str) -> String {
    let block = |block: &str| members(block, &["text"]).ok().and_then(|[text]| text.and_then(string));
    match elements(content) {
        Some(blocks) => blocks.into_iter().filter_map(block).collect::<Vec<_>>().join("\n"),
        None => string(content).unwrap_or_default(),
    }
}

/// The messages of events. Calls of one response are one message.
fn messages(events: Vec<Event>) -> Vec<CarriedMessage> {
    let mut messages: Vec<CarriedMessage> = Vec::new();
    let mut open: Option<(Option<String>, usize, String, Vec<String>)> = None;
    let close = |open: &mut Option<(Option<String>, usize, String, Vec<String>)>,
                 messages: &mut Vec<CarriedMessage>| {
        if let Some((_, record, thought, calls)) = open.take() {
            let content = if thought.is_empty() { "null".to_owned() } else { quoted(&thought) };
            let text = format!("{{\"role\":\"assistant\",\"content\":{content},\"tool_calls\":[{}]}}", calls.join(","));
            messages.push(CarriedMessage::of(record, text));
        }
    };
    // The results of parallel calls may come between the calls, so they wait for the last call of their response.
    let mut waiting: Vec<CarriedMessage> = Vec::new();
    for event in events {
        match event.said {
            Said::Call { response, thought, call } => match &mut open {
                Some((of, _, _, calls)) if of.is_some() && *of == response => calls.push(call),
                _ => {
                    close(&mut open, &mut messages);
                    messages.append(&mut waiting);
                    open = Some((response, event.record, thought, vec![call]));
                }
            },
            Said::Message(text) if text.starts_with("{\"role\":\"tool\"") => {
                waiting.push(CarriedMessage::of(event.record, text));
            }
            Said::Message(text) => {
                close(&mut open, &mut messages);
                messages.append(&mut waiting);
                messages.push(CarriedMessage::of(event.record, text));
            }
        }
    }
    close(&mut open, &mut messages);
    messages.append(&mut waiting);
    messages
}
