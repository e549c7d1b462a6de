//! `seamline session append`

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use seamline::session::{NoMessage, SessionError};
use seamline::store::{InboxItem, Pushed, Raw, SessionId};
use seamline::{Options, Policy};
use serde_json::value::RawValue;

use super::done;
use super::place::{Place, WriterArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Source;
use crate::output;
use crate::screen;

/// Add messages to a session
///
/// Takes one message, a JSON array of messages, or several messages one after the other, such as one per line. All of
/// them are kept, byte for byte, or none is. Messages that wait in the session's inbox are taken in first.
///
/// With `--inbox` nothing is written but a message put into the session's inbox, for whoever writes the session to take
/// in; the same message is taken once, however often it is sent under its id, and another one under that id is refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Append {
    /// The session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The messages, or `-` for standard input, which is the default
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Take the messages of a whole request body
    #[arg(long, conflicts_with = "inbox")]
    body: bool,
    /// Put one message into the inbox, under this id
    #[arg(long, value_name = "ID", conflicts_with_all = ["take_over", "dialect"])]
    inbox: Option<String>,
    #[command(flatten)]
    writer: WriterArgs,
}

const EXAMPLES: &str = "\
Examples:
  echo '{\"role\":\"user\",\"content\":\"hello\"}' | seamline session append s-1
  seamline session append s-1 answer.json
  seamline session append s-1 request.json --body
  seamline session append s-1 note.json --inbox mail-42";

impl Append {
    pub(super) fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let source = self.source()?;
        let label = source.label();
        let bytes = source.read().map_err(|failure| about(&label, failure))?;
        let text = String::from_utf8(bytes).map_err(|_| about(&label, Failure::new("not UTF-8")))?;
        let messages = if self.body { self.of_body(place, &text) } else { several(&text) };
        let messages = messages.map_err(|failure| about(&label, failure))?;
        match &self.inbox {
            Some(id) => self.push(place, id, &messages),
            None => self.append(place, &messages),
        }
    }

    fn source(&self) -> Result<Source, Failure> {
        match &self.file {
            Some(path) if path.as_os_str() != "-" => Ok(Source::Path(path.clone())),
            None if std::io::stdin().is_terminal() => {
                Err(Failure::new("no file given, and standard input is a terminal")
                    .with_hint("give a file with messages, or pipe them in"))
            }
            _ => Ok(Source::Stdin),
        }
    }

    fn append(&self, place: &Place, messages: &[&str]) -> Result<Exit, Failure> {
        let (taken, all) = place.write(&self.name, self.writer.options(), |session| {
            session.takes(messages).map_err(|error| self.refused(place, &error))?;
            let taken = place.wait(session.take_inbox())?;
            place.warn_of_calls(&session.unresolved());
            place.wait(session.append_all(messages))?;
            Ok((taken, session.entries().len()))
        })?;
        let taken = match taken {
            0 => String::new(),
            count => format!(", and before them {} from the inbox", screen::count(count, "message")),
        };
        let added = screen::count(messages.len(), "message");
        Ok(done(&format!("{}: added {added}{taken}; {} now", self.name, screen::count(all, "message"))))
    }

    /// Why nothing was added, and what this command can do about it.
    fn refused(&self, place: &Place, error: &SessionError) -> Failure {
        let SessionError::NoMessage { number, what } = error else { return place.failure(error) };
        let hint = match what {
            NoMessage::Request { .. } => "`--body` adds the messages of a body".to_owned(),
            NoMessage::Response { message } => {
                format!("`jq -c '{message}' FILE` takes the message out; nothing was added")
            }
            NoMessage::Error => "`seamline explain --error - < FILE` explains it".to_owned(),
            other => format!("nothing was added; {}", other.hint()),
        };
        let what = Failure::new(format!("message {number} {what}")).with_hint(hint);
        self.source().map_or(what.clone(), |source| about(&source.label(), what))
    }

    fn push(&self, place: &Place, id: &str, messages: &[&str]) -> Result<Exit, Failure> {
        let &[message] = messages else {
            return Err(Failure::new(format!("`--inbox` takes one message, and there are {}", messages.len()))
                .with_hint("give each message an id of its own"));
        };
        if let Some(what) = NoMessage::of(None, message) {
            return Err(self.refused(place, &SessionError::NoMessage { number: 1, what }));
        }
        let message = Raw::parse(message).map_err(|error| Failure::new(error.to_string()))?;
        let item = InboxItem { id: id.to_owned(), message };
        let pushed = place.wait(place.store.push(&self.name, &item))?;
        let id = screen::printable(id);
        Ok(done(&match pushed {
            Pushed::New => format!("{}: put message `{id}` into the inbox", self.name),
            Pushed::Already => format!("{}: message `{id}` was in the inbox before", self.name),
        }))
    }

    fn of_body<'t>(&self, place: &Place, text: &'t str) -> Result<Vec<&'t str>, Failure> {
        let Options { dialect, .. } =
            place.read(&self.name)?.options(Policy::default()).map_err(|error| place.failure(&error))?;
        let options = Options { dialect, ..Options::default() };
        let spans = seamline::message_spans(text.as_bytes(), &options)
            .map_err(|error| Failure::of_body(error, text.as_bytes()))?;
        let messages: Vec<&str> = spans.into_iter().filter_map(|span| text.get(span)).collect();
        if messages.is_empty() {
            output::say("seamline: the body has no messages\n");
        }
        Ok(messages)
    }
}

fn about(label: &str, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", output::named(label), failure.message), ..failure }
}

/// The messages of a text: JSON objects one after the other, or arrays of them.
fn several(text: &str) -> Result<Vec<&str>, Failure> {
    let wrong = |error: serde_json::Error| {
        Failure::new(format!("no JSON: {error}")).with_hint("nothing was added; a message is a JSON object")
    };
    let mut messages = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = value.map_err(wrong)?;
        match value.get().as_bytes().first() {
            Some(b'[') => {
                let list: Vec<&RawValue> = serde_json::from_str(value.get()).map_err(wrong)?;
                messages.extend(list.into_iter().map(RawValue::get));
            }
            _ => messages.push(value.get()),
        }
    }
    if messages.is_empty() {
        return Err(Failure::new("no message in it").with_hint("a message is a JSON object"));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_bytes_however_they_come() {
        let one = "{\"role\" : \"user\",\n \"content\":\"a\"}";
        assert_eq!(several(one).unwrap(), [one]);
        assert_eq!(several(&format!(" [{one} , {one}]\n")).unwrap(), [one, one]);
        assert_eq!(several(&format!("{one}\n{one}\n\n{one}")).unwrap(), [one, one, one]);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for wrong in ["", " \n", "{\"role\":", "{} {"] {
            assert!(several(wrong).is_err(), "{wrong}");
        }
    }
}
