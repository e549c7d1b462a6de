//! Reads the conversation that Codex would send.

use super::head::{Head, Meta, thread_id};
use super::ordinals::Ordinals;
use super::replay::{Replay, Replayed, rolled_back};
use crate::json::{members, string};
use crate::lines;
use crate::session::{About, FileInput, FileReading, KeptTexts, Reading};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let content = input.content;
    let mut rollout = Rollout::default();
    let lines = lines::read(input.bytes, &mut |text| rollout.take(text, content))?;
    let session = rollout.finish(input.name, content);
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session })
}

/// A rollout while it is read.
#[derive(Default)]
struct Rollout {
    about: About,
    head: Head,
    ordinals: Ordinals,
    replay: Replay,
    /// The number of records so far.
    count: usize,
}

impl Rollout {
    fn take(&mut self, text: &str, content: KeptTexts) -> Result<(), serde_json::Error> {
        let [time, ordinal, kind, payload, id] = members(text, &["timestamp", "ordinal", "type", "payload", "id"])?;
        let record = self.count;
        self.count += 1;
        let ordinal = ordinal.and_then(|ordinal| ordinal.parse().ok());
        self.ordinals.push(ordinal, text, content);
        let kind = kind.and_then(string);
        if let Some(updated) = time.and_then(string) {
            self.about.updated = Some(updated);
        }
        let (kind, payload) = match (kind, payload) {
            (Some(kind), Some(payload)) => (kind, payload),
            // Until August 2025 a record was an item, and the first one described the session.
            (Some(_), None) => {
                self.replay.add(record, text, content);
                return Ok(());
            }
            (None, _) => {
                if self.about.id.is_none() {
                    self.about.id = id.and_then(string);
                }
                return Ok(());
            }
        };
        if record == 0 {
            self.head.begin(time, ordinal);
        }
        match kind.as_str() {
            "session_meta" => self.describe(record, payload),
            "turn_context" => self.note_turn(payload),
            "response_item" => self.replay.add(record, payload, content),
            "inter_agent_communication" => self.replay.add_message(record, payload, content),
            "compacted" => self.replay.compact(record, payload, content),
            "event_msg" => self.take_event(payload),
            _ => {}
        }
        Ok(())
    }

    /// Takes over the description of the session. Only the first one is about this file.
    fn describe(&mut self, record: usize, payload: &str) {
        let meta = Meta::of(payload).unwrap_or_default();
        self.head.add(record, meta.id.clone());
        if record > 0 {
            return;
        }
        if meta.is_numbered {
            self.ordinals.start_at(meta.base.unwrap_or_default());
        }
        if let Some(start) = meta.own_start {
            self.ordinals.own_start(start, payload);
        }
        if meta.base.is_some() {
            self.replay.continue_other_file();
        }
        self.about.id = meta.id;
        self.about.folder = meta.folder;
        self.about.is_subagent = meta.is_subagent;
    }

    /// Notes what a turn worked with.
    fn note_turn(&mut self, payload: &str) {
        let Ok([folder, model]) = members(payload, &["cwd", "model"]) else { return };
        if let Some(model) = model.and_then(string) {
            self.about.model = Some(model);
        }
        if self.about.folder.is_none() {
            self.about.folder = folder.and_then(string);
        }
    }

    fn take_event(&mut self, payload: &str) {
        if let Some(turns) = rolled_back(payload) {
            self.replay.roll_back(turns);
        }
        // Most events have no name, and some are long.
        if payload.contains("thread_name")
            && let Ok([Some(name)]) = members(payload, &["thread_name"])
        {
            self.about.title = string(name);
        }
    }

    fn finish(mut self, name: &str, content: KeptTexts) -> Reading {
        let mut defects: Vec<_> = self.head.defect(&self.about, name).into_iter().collect();
        if defects.is_empty() {
            defects = self.ordinals.defects();
        }
        if self.about.id.is_none() {
            self.about.id = thread_id(name).map(str::to_owned);
        }
        // A long file has many of them, and its messages are written next.
        drop(self.ordinals);
        let Replayed { messages, texts, base, inactive } = self.replay.finish(content);
        self.about.inactive = inactive;
        // The first record describes the session, and a compaction replaces what is before it.
        let chain = (base.unwrap_or_default() + 1..self.count).collect();
        let (dialect, provider) = ("openai_responses", Some("openai"));
        let mut reading =
            Reading { dialect, provider, messages, defects, chain, about: self.about, ..Reading::default() };
        if let Some(texts) = texts {
            reading.set_texts(texts);
        }
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> Reading {
        let mut bytes = text.as_bytes();
        read(&mut FileInput { bytes: &mut bytes, name, content: KeptTexts::Whole }).unwrap().session
    }

    const USER: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#;

    #[test]
    fn a_session_is_described() {
        let text = format!(
            "{}\n{}\n{}\n{}\n",
            r#"{"timestamp":"t0","type":"session_meta","payload":{"id":"a","cwd":"/w","source":"cli"}}"#,
            r#"{"timestamp":"t1","type":"turn_context","payload":{"cwd":"/other","model":"gpt-5"}}"#,
            r#"{"timestamp":"t2","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"Tests"}}"#,
            r#"{"timestamp":"t3","type":"session_meta","payload":{"id":"copied","cwd":"/x","source":{"subagent":"review"}}}"#,
        );
        let about = read_text("x.jsonl", &text).about;
        let expected = About {
            id: Some("a".to_owned()),
            title: Some("Tests".to_owned()),
            folder: Some("/w".to_owned()),
            model: Some("gpt-5".to_owned()),
            updated: Some("t3".to_owned()),
            is_subagent: false,
            inactive: 0,
            file: None,
            is_running: false,
        };
        assert_eq!(about, expected);
    }

    #[test]
    fn older_rollouts_have_items_as_records() {
        let text = format!(
            "{}\n{}\n{USER}\n",
            r#"{"id":"a","timestamp":"t","instructions":null}"#, r#"{"record_type":"state"}"#
        );
        let reading = read_text("x.jsonl", &text);
        assert_eq!((reading.about.id.as_deref(), reading.messages.len(), reading.defects.len()), (Some("a"), 1, 0));
        assert_eq!((reading.messages[0].record, reading.messages[0].text.as_str()), (2, USER));
    }

    #[test]
    fn a_lost_description_is_found() {
        let item = format!(r#"{{"timestamp":"t1","type":"response_item","payload":{USER}}}"#);
        let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
        let name = format!("rollout-2026-01-02T03-04-05-{id}.jsonl");
        let codes = |text: &str| {
            let found = read_text(&name, text).defects;
            found.into_iter().map(|defect| (defect.kind.code, defect.edits)).collect::<Vec<_>>()
        };
        let meta = format!(r#"{{"timestamp":"t0","type":"session_meta","payload":{{"id":"{id}"}}}}"#);
        assert_eq!(codes(&format!("{meta}\n{item}\n")), []);
        let moved = codes(&format!("{item}\n{meta}\n"));
        assert!(matches!(&moved[..], [("FILE015", edits)] if format!("{edits:?}").contains("Move")));
        let missing = codes(&format!("{item}\n"));
        assert!(matches!(&missing[..], [("FILE015", edits)] if format!("{edits:?}").contains(id)));
    }
}
