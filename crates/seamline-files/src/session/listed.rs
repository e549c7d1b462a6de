//! Programs whose file is one JSON value with a list of messages, each in a provider's own form.

use super::{About, CarriedMessage, FileInput, FileReading, KeptTexts, NewMessage, Reading};
use crate::json::{Object, members, string};
use crate::list::{self, List, Shape};

/// How a file with a list of messages is read.
pub(crate) struct Listed {
    pub(crate) shape: Shape,
    /// The dialect of the messages.
    pub(crate) dialect: &'static str,
    /// The provider that the program sends them to, if there is only one.
    pub(crate) provider: Option<&'static str>,
    /// The message of a record for the carrier; nothing if the program would not send it.
    pub(crate) show: fn(record: &str, content: KeptTexts) -> Option<String>,
    /// The description of the session, from the value around the list.
    pub(crate) about: fn(&List) -> About,
    /// Whether a session ends with calls that nothing answers, because the program stops there.
    pub(crate) ends_with_calls: bool,
}

impl Listed {
    pub(crate) fn read(&self, input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
        let content = input.content;
        let mut messages = Vec::new();
        let mut count = 0;
        let list = list::read(input.bytes, &self.shape, &mut |text| {
            members(text, &[])?;
            messages.extend((self.show)(text, content).map(|message| CarriedMessage::of(count, message)));
            count += 1;
            Ok(())
        })?;
        if self.ends_with_calls && messages.last().is_some_and(|last| has_calls(&last.text)) {
            messages.pop();
        }
        let mut about = (self.about)(&list);
        about.inactive = count - messages.len();
        let (dialect, provider) = (self.dialect, self.provider);
        let session = Reading { dialect, provider, messages, about, ..Reading::default() }.of_all(count);
        Ok(FileReading { records: list.records, damaged: list.damaged, session })
    }
}

/// Whether a Chat Completions message makes calls.
fn has_calls(message: &str) -> bool {
    let calls = members(message, &["tool_calls"]).ok().and_then(|[calls]| calls);
    calls.is_some_and(|calls| calls != "null" && calls != "[]")
}

/// The roles of messages that a server of Chat Completions takes.
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// As [`message_with`], for a record that is a message of Chat Completions; nothing if it has another role, which the
/// program does not send.
pub(crate) fn chat_message(record: &str, names: &[&str], content: KeptTexts) -> Option<String> {
    let [role] = members(record, &["role"]).ok()?;
    let is_sent = ROLES.contains(&string(role?)?.as_str());
    is_sent.then(|| message_with(record, names, content))?
}

/// A message with some of the members of a record. A member that is `null` is left out, but for the content.
pub(crate) fn message_with(record: &str, names: &[&str], content: KeptTexts) -> Option<String> {
    let object = Object::of(record)?;
    let member = |name: &&str| {
        let value = object.get(name).filter(|value| *value != "null" || *name == "content")?;
        Some(format!("\"{name}\":{}", content.keep(value)))
    };
    Some(format!("{{{}}}", names.iter().filter_map(member).collect::<Vec<_>>().join(",")))
}

/// A record with the members of a changed message. Members that the message does not have any more are removed.
pub(crate) fn record_with(record: &str, message: &str, names: &[&'static str]) -> Option<String> {
    let (object, message) = (Object::of(record)?, Object::of(message)?);
    let is_changed = |name: &&&str| object.get(name) != message.get(name);
    let is_null = |name: &&&str| object.get(name) == Some("null") && message.get(name).is_none();
    let names = names.iter().filter(is_changed).filter(|name| !is_null(name));
    let changes: Vec<_> = names.map(|name| (*name, message.get(name).map(str::to_owned))).collect();
    Some(object.with(&changes))
}

/// A new record: the message, and the time of the record before it in the member `time`.
pub(crate) fn new_record(new: &NewMessage<'_>, time: &'static str) -> Option<String> {
    let value = members(new.after, &[time]).ok().and_then(|[value]| value);
    Some(
        Object::of(new.message)?
            .with(&value.map(|value| (time, Some(value.to_owned()))).into_iter().collect::<Vec<_>>()),
    )
}

/// A member of the value around the list, as text.
pub(crate) fn envelope_text(list: &List, name: &str) -> Option<String> {
    let [value] = list.members(&[name]);
    value.and_then(string)
}
