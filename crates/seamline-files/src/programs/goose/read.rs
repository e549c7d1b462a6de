//! Reads the conversation that goose would send.

use super::message::{SHAPE, is_visible};
use crate::json::{Object, members, string};
use crate::lines;
use crate::native::message::Role;
use crate::session::{About, CarriedMessage, FileInput, FileReading, KeptTexts, Reading};

pub(super) fn read(input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
    let mut session = Session { is_done: true, ..Session::default() };
    let content = input.content;
    let lines = lines::read(input.bytes, &mut |text| {
        members(text, &[])?;
        session.add(text, content);
        Ok(())
    })?;
    let Session { messages, mut about, is_done, hidden, unshown, .. } = session;
    if about.id.is_none() {
        about.id = id_in(input.name);
    }
    about.is_running = !is_done;
    about.inactive = hidden;
    let reading = Reading { dialect: "openai_chat", messages, unshown, about, ..Reading::default() };
    Ok(FileReading { records: lines.records, damaged: lines.damaged, session: reading })
}

#[derive(Default)]
struct Session {
    records: usize,
    messages: Vec<CarriedMessage>,
    about: About,
    /// Whether the last message ends a turn: it is of the model and makes no call.
    is_done: bool,
    /// The number of messages that the model does not see.
    hidden: usize,
    /// The records of messages that the model sees and that say nothing in the carrier.
    unshown: Vec<usize>,
}

impl Session {
    fn add(&mut self, text: &str, content: KeptTexts) {
        let record = self.records;
        self.records += 1;
        let Some(object) = Object::of(text) else { return };
        if object.get("working_dir").is_some() {
            self.describe(&object);
            return;
        }
        if let Some(created) = object.get("created").filter(|_| record > 0) {
            self.about.updated = Some(created.to_owned());
        }
        let parts = (SHAPE.show)(&object);
        if parts.is_empty() && object.get("role").is_some() {
            self.hidden += 1;
            self.unshown.extend(Some(record).filter(|_| is_visible(&object)));
        }
        for (part, shown) in parts.into_iter().enumerate() {
            let message = shown.message;
            self.is_done = message.role == Role::Assistant && message.calls.is_empty();
            let text = content.keep(&message.carried()).into_owned();
            self.messages.push(CarriedMessage { part, ..CarriedMessage::of(record, text) });
        }
    }

    fn describe(&mut self, header: &Object<'_>) {
        let about = &mut self.about;
        let said = |name: &str| header.string(name).filter(|text| !text.trim().is_empty());
        about.id = said("id");
        about.title = said("name").or_else(|| said("description"));
        about.folder = said("working_dir");
        about.is_subagent = header.says("session_type", &["sub_agent"]);
        let model = header.get("model_config").and_then(Object::of);
        about.model = model.and_then(|model| model.get("model_name")).and_then(string);
    }
}

/// The id of a session in the name of its log.
fn id_in(name: &str) -> Option<String> {
    let file = name.rsplit(['/', '\\']).next()?;
    file.strip_suffix(".jsonl").map(str::to_owned)
}
