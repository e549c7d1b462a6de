//! Reads the conversation that Kimi CLI would send.
//!
//! The log has one file per agent. Records append messages, or parts of a step of the model: text, calls and results. Kimi
//! CLI refuses a log with a part of a step that did not begin.

use std::collections::HashSet;

use super::fold::{Compaction, Entry, History, Origin};
use crate::json::{Object, members, quoted};
use crate::lines;
use crate::native::message::{Call, Message, Role};
use crate::native::text::{call, text_of};
use crate::session::catalogue::{FILE007, FILE009};
use crate::session::{About, CarriedMessage, Defect, FileInput, FileReading, Reading, RecordEdit};

const MEMBERS: [&str; 2] = ["type", "time"];

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut session = Session { about: about(input.name), ..Session::default() };
    let lines = lines::read(input.bytes, &mut |text| {
        let [kind, time] = members(text, &MEMBERS)?;
        if let Some(time) = time {
            session.about.updated = Some(time.to_owned());
        }
        session.take(kind.unwrap_or_default().trim_matches('"'), &content.keep(text), text);
        session.records += 1;
        Ok(())
    })?;
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: session.finish() })
}

/// Reads the path of the file: `…/<session>/agents/<agent>/wire.jsonl`.
fn about(name: &str) -> About {
    let mut parts = name.rsplit(['/', '\\']).skip(1);
    let (agent, agents, id) = (parts.next(), parts.next(), parts.next());
    let is_known = agents == Some("agents");
    About {
        id: id.filter(|_| is_known).map(str::to_owned),
        is_subagent: is_known && agent != Some("main"),
        ..About::default()
    }
}

/// The state of a reading.
#[derive(Default)]
struct Session {
    about: About,
    records: usize,
    history: History,
    messages: usize,
    /// The hashes of the parts of steps, to tell copies.
    hashes: HashSet<[u8; 32]>,
    defects: Vec<Defect>,
    /// The parts of steps that are not text: the record of the step, and that of the part.
    unshown: Vec<(usize, usize)>,
}

impl Session {
    fn take(&mut self, kind: &str, text: &str, record: &str) {
        let Some(object) = Object::of(text) else { return };
        match kind {
            "context.append_message" => {
                let entry = object.get("message").and_then(Object::of).and_then(|message| self.entry(&message));
                if let Some(entry) = entry {
                    self.messages += 1;
                    self.history.append(entry);
                }
            }
            "context.append_loop_event" => {
                if let Some(event) = object.get("event").and_then(Object::of) {
                    self.take_event(&event, record);
                }
            }
            "context.clear" => self.history.clear(),
            "context.undo" => self.history.undo(number(&object, "count").unwrap_or_default()),
            "context.apply_compaction" => self.compact(&object),
            _ => self.note(&object),
        }
    }

    /// Keeps what describes the session.
    fn note(&mut self, object: &Object<'_>) {
        let environment = object.get("environmentDisclosure").and_then(Object::of);
        let folder = object.string("cwd").or_else(|| environment?.string("cwd"));
        if folder.is_some() {
            self.about.folder = folder;
        }
        if let Some(model) = object.string("modelAlias") {
            self.about.model = Some(model);
        }
    }

    fn entry(&self, message: &Object<'_>) -> Option<Entry> {
        let text = text_of(message.get("content"));
        let role = match message.string("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            Some("system") => Role::System,
            _ => return None,
        };
        let calls: Vec<Call> = message.list("toolCalls").into_iter().enumerate().filter_map(tool_call).collect();
        let call_id = message.string("toolCallId").filter(|_| role == Role::Tool);
        let owners = vec![self.records; calls.len()];
        let origin = if role == Role::User { origin(message.get("origin")) } else { Origin::Other };
        let message = Message { calls, call_id, ..Message::said(role, text) };
        Some(Entry { record: self.records, message, calls: owners, origin })
    }

    fn take_event(&mut self, event: &Object<'_>, record: &str) {
        let is_named = event.get("uuid").or_else(|| event.get("toolCallId")).is_some();
        if is_named && !self.hashes.insert(*blake3::hash(record.as_bytes()).as_bytes()) {
            self.defects.push(copy(self.records));
            return;
        }
        let id = |name: &str| event.string(name).unwrap_or_default();
        match id("type").as_str() {
            "step.begin" => {
                self.messages += 1;
                self.history.begin(self.records, id("uuid"));
            }
            "step.end" => self.history.end(&id("uuid")),
            "content.part" => {
                self.open(&id("stepUuid"), record);
                let part = event.get("part").and_then(Object::of).filter(|part| part.says("type", &["text"]));
                match part.and_then(|part| part.string("text")) {
                    Some(text) => self.history.say(&text),
                    None => self.unshown.extend(self.history.opened_record().map(|step| (step, self.records))),
                }
            }
            "tool.call" => {
                self.open(&id("stepUuid"), record);
                let made = call(event, 0, &["toolCallId"], &["name"], &["args"]);
                self.history.call(self.records, made);
            }
            "tool.result" => {
                let output = event.get("result").and_then(Object::of).map(|result| text_of(result.get("output")));
                self.history.answer(self.records, id("toolCallId"), output.unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Opens a step whose beginning is missing, as the repair would.
    fn open(&mut self, step: &str, record: &str) {
        if self.history.is_open(step) {
            return;
        }
        self.history.begin(self.records, step.to_owned());
        let message = "the step that it belongs to does not begin in the file".to_owned();
        let edits =
            self.records.checked_sub(1).map(|after| RecordEdit::Insert { after, text: beginning(step, record) });
        let edits = edits.into_iter().collect();
        self.defects.push(Defect { kind: &FILE007, record: self.records, message, edits });
    }

    fn compact(&mut self, object: &Object<'_>) {
        let Some(summary) = object.string("contextSummary").or_else(|| object.string("summary")) else { return };
        let replaced = number(object, "compactedCount").or_else(|| number(object, "count")).unwrap_or(usize::MAX);
        let first = number(object, "keptHeadUserMessageCount").unwrap_or_default();
        let kept = number(object, "keptUserMessageCount").map(|kept| (kept, first));
        self.history.compact(Compaction { record: self.records, summary, replaced, kept });
    }

    fn finish(self) -> Reading {
        let Self { mut about, mut history, messages: count, defects, unshown, .. } = self;
        history.settle();
        let messages: Vec<CarriedMessage> = history.entries.iter().filter_map(carried).collect();
        about.inactive = count.saturating_sub(messages.len());
        // Kimi CLI speaks to many providers. What all of them demand of calls and results is left.
        let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
        let steps: HashSet<usize> = history.entries.iter().map(|entry| entry.record).collect();
        let unshown = unshown.into_iter().filter(|(step, _)| steps.contains(step)).map(|(_, record)| record).collect();
        Reading { dialect, provider, messages, defects, unshown, about, ..Reading::default() }
    }
}

fn origin(origin: Option<&str>) -> Origin {
    let Some(origin) = origin.and_then(Object::of) else { return Origin::User };
    match origin.string("kind").as_deref() {
        Some("user") => Origin::User,
        Some("skill_activation" | "plugin_command") if origin.says("trigger", &["user-slash"]) => Origin::User,
        Some("injection") => Origin::Injection,
        Some("compaction_summary") => Origin::Summary,
        _ => Origin::Other,
    }
}

fn tool_call((index, raw): (usize, &str)) -> Option<Call> {
    let object = Object::of(raw)?;
    let function = object.get("function").and_then(Object::of);
    let mut made = call(function.as_ref().unwrap_or(&object), index, &["id"], &["name"], &["arguments"]);
    made.id = object.string("id").or(made.id);
    Some(made)
}

fn number(object: &Object<'_>, name: &str) -> Option<usize> {
    object.get(name)?.parse().ok()
}

/// A message for the carrier; nothing if Kimi CLI does not send it, because it says nothing.
fn carried(entry: &Entry) -> Option<CarriedMessage> {
    let message = &entry.message;
    let is_said = matches!(message.role, Role::User | Role::Assistant);
    let is_blank = is_said && message.calls.is_empty() && message.text.trim().is_empty();
    let owners = entry.calls.clone();
    (!is_blank).then(|| CarriedMessage { record: entry.record, part: 0, owners, text: message.carried() })
}

/// A record that begins a step, beside a record that belongs to the step.
fn beginning(step: &str, beside: &str) -> String {
    let beside = Object::of(beside);
    let event = beside.as_ref().and_then(|beside| beside.get("event")).and_then(Object::of);
    let member = |object: Option<&Object<'_>>, name: &str| {
        object.and_then(|object| object.get(name)).map(|value| format!(",\"{name}\":{value}")).unwrap_or_default()
    };
    let (turn, number) = (member(event.as_ref(), "turnId"), member(event.as_ref(), "step"));
    let event = format!(r#"{{"type":"step.begin","uuid":{}{turn}{number}}}"#, quoted(step));
    let (time, agent) = (member(beside.as_ref(), "time"), member(beside.as_ref(), "agentId"));
    format!(r#"{{"type":"context.append_loop_event","event":{event}{time}{agent}}}"#)
}

/// The defect of a record that is in the file before.
fn copy(record: usize) -> Defect {
    let message = "the same record is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
