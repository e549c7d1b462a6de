//! Reads the conversation that a graph would send: the channel `messages` of the newest checkpoint.

use super::message::{message, model};
use crate::json::{members, string};
use crate::lines;
use crate::list::{self, Shape};
use crate::session::{About, CarriedMessage, FileInput, FileReading, KeptTexts, Reading};

/// The rows of a thread: a description, one message per line, and the messages of steps that the graph did not finish.
pub(super) fn rows(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let mut session = Session::of(input.content);
    let lines = lines::read(input.bytes, &mut |text| {
        let [thread, graph, time, pending] = members(text, &["thread_id", "checkpoint_ns", "ts", "pending"])?;
        match (thread, pending) {
            (Some(thread), _) => {
                let parts = [Some(thread), graph].map(|part| part.and_then(string));
                session.about.is_subagent = graph.is_some();
                session.about.id = Some(parts.into_iter().flatten().collect::<Vec<_>>().join("|"));
                session.about.updated = time.and_then(string);
                session.others += 1;
            }
            // A graph that continues adds them; one that gets a new request drops them.
            (None, Some(_)) => {
                session.about.is_running = true;
                session.others += 1;
            }
            (None, None) => session.add(text),
        }
        Ok(())
    })?;
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: session.finish() })
}

/// The types of messages that are saved as their own members.
pub(super) const FLAT_TYPES: [&str; 4] = ["human", "ai", "tool", "system"];

const SHAPE: Shape = Shape {
    members: &["messages"],
    is_record: |text| {
        members(text, &["type", "data", "kwargs", "content", "role"]).is_ok_and(
            |[kind, data, kwargs, content, role]| {
                let is_flat = |kind: String| FLAT_TYPES.contains(&kind.as_str()) && content.is_some() && role.is_none();
                let is_saved = kind.is_some() && (data.is_some() || kwargs.is_some());
                is_saved || kind.and_then(string).is_some_and(is_flat)
            },
        )
    },
};

/// A list of saved messages.
pub(super) fn list(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let mut session = Session::of(input.content);
    let list = list::read(input.bytes, &SHAPE, &mut |text| {
        members(text, &[])?;
        session.add(text);
        Ok(())
    })?;
    Ok(FileReading { records: list.records, damaged: list.damaged, session: session.finish() })
}

struct Session {
    content: KeptTexts,
    messages: Vec<CarriedMessage>,
    /// The records without a message of the conversation.
    others: usize,
    about: About,
}

impl Session {
    fn of(content: KeptTexts) -> Self {
        Self { content, messages: Vec::new(), others: 0, about: About::default() }
    }

    fn add(&mut self, text: &str) {
        let record = self.messages.len() + self.others;
        let Some(message) = message(text) else {
            self.others += 1;
            return;
        };
        self.about.model = model(text).or(self.about.model.take());
        let text = self.content.keep(&message.carried()).into_owned();
        self.messages.push(CarriedMessage::of(record, text));
    }

    fn finish(self) -> Reading {
        let about = About { inactive: self.others, ..self.about };
        // The state does not tell which provider gets it. What all providers demand is left.
        let (dialect, provider) = ("openai_chat", Some("openai-compatible"));
        Reading { dialect, provider, messages: self.messages, about, ..Reading::default() }
    }
}
