//! `seamline session append`

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use seamline::session::{NoMessage, SessionError};
use seamline::store::{DialectName, InboxItem, Pushed, Raw, SessionId};
use seamline::{Options, Policy};
use serde_json::value::RawValue;

use super::context::{StoreContext, WriterArgs};
use super::report_success;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Source;
use crate::nature::Nature;
use crate::output;
use crate::screen;

/// Add messages to a session
///
/// Takes one message, a JSON array of messages, or several messages one after the other, such as one per line. It keeps all
/// of them, byte for byte, or none. It first adds the messages that wait in the inbox of the session.
///
/// With `--inbox` it puts one message into the inbox, and the process that writes the session adds it. Sending the same
/// message again under its id has no effect; another message under that id is refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Append {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// The messages, or `-` for standard input (the default)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Add the messages of a request body
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
  seamline session append s-1 message.json
  seamline session append s-1 request.json --body
  seamline assemble response.sse --format json |
    jq -c '.messages[]' | seamline session append s-1
  seamline session append s-1 note.json --inbox mail-42";

/// The hint for an input without a message.
const A_MESSAGE: &str =
    "nothing was added; a message is a JSON object, such as {\"role\":\"user\",\"content\":\"hello\"}";

impl Append {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let source = self.source()?;
        let label = source.label();
        // The name of the session is checked before the input is read.
        context.wait(context.store.read_head(&self.name))?;
        let text = source.read_text().map_err(|failure| about(&label, unread(failure)))?;
        Failure::of_program(&source, text.as_bytes()).map_err(|failure| about(&label, failure))?;
        let messages = if self.body { self.of_body(context, &text)? } else { several(&text) };
        let messages = messages.map_err(|failure| about(&label, failure))?;
        match &self.inbox {
            Some(id) => self.push(context, id, &messages),
            None => self.append(context, &messages),
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

    fn append(&self, context: &StoreContext, messages: &[&str]) -> Result<Exit, Failure> {
        let (taken, all) = context.write(&self.name, self.writer.options(), |session| {
            session.check_messages(messages).map_err(|error| self.refused(context, &error))?;
            let taken = context.wait(session.take_inbox())?;
            context.warn_of_calls(&session.unresolved());
            context.wait(session.append_all(messages))?;
            Ok((taken, session.entries().len()))
        })?;
        let taken = match taken {
            0 => String::new(),
            count => format!(", and before them {} from the inbox", screen::count(count, "message")),
        };
        let added = screen::count(messages.len(), "message");
        Ok(report_success(&format!("{}: added {added}{taken}; {} now", self.name, screen::count(all, "message"))))
    }

    /// Explains why nothing was added, with the option or command that helps.
    fn refused(&self, context: &StoreContext, error: &SessionError) -> Failure {
        let SessionError::NoMessage { number, what } = error else { return context.failure(error) };
        let hint = match what {
            NoMessage::Request { .. } => "`--body` adds the messages of a body".to_owned(),
            NoMessage::Response { message } => {
                format!("`jq -c '{message}' FILE` extracts the message; nothing was added")
            }
            NoMessage::Error => "`seamline explain --error - < FILE` explains it".to_owned(),
            other => format!("nothing was added; {}", other.hint()),
        };
        let what = Failure::new(format!("message {number} {what}")).with_hint(hint);
        self.source().map_or(what.clone(), |source| about(&source.label(), what))
    }

    fn push(&self, context: &StoreContext, id: &str, messages: &[&str]) -> Result<Exit, Failure> {
        let &[message] = messages else {
            return Err(Failure::new(format!("`--inbox` takes one message, not {}", messages.len()))
                .with_hint("give each message its own id"));
        };
        if let Some(what) = NoMessage::of(None, message) {
            return Err(self.refused(context, &SessionError::NoMessage { number: 1, what }));
        }
        let message = Raw::parse(message).map_err(|error| Failure::new(error.to_string()))?;
        // The session may switch to another dialect before its writer takes the message in.
        let kept = context.read(&self.name)?.options(Policy::default());
        let dialect = kept.ok().and_then(|kept| kept.dialect).map(DialectName::from);
        let item = InboxItem { id: id.into(), message, dialect };
        let pushed = context.wait(context.store.push(&self.name, &item))?;
        let id = screen::printable(id);
        Ok(report_success(&match pushed {
            Pushed::New => format!("{}: put message `{id}` into the inbox", self.name),
            Pushed::Already => format!("{}: message `{id}` is already in the inbox", self.name),
        }))
    }

    /// Reads the messages of a body.
    fn of_body<'t>(&self, context: &StoreContext, text: &'t str) -> Result<Result<Vec<&'t str>, Failure>, Failure> {
        let kept = match context.read(&self.name)?.options(Policy::default()) {
            Ok(kept) => kept,
            // The first commit, which names the dialect, is lost.
            Err(error) => {
                let asked = self.writer.options().dialect.ok_or_else(|| context.failure(&error))?;
                Options { dialect: Some(asked), ..Options::default() }
            }
        };
        let options = Options { dialect: kept.dialect.clone(), ..Options::default() };
        let spans = match seamline::outline::message_spans(text.as_bytes(), &options) {
            Ok(spans) => spans,
            Err(error) => return Ok(Err(self.no_body(context, &kept, error, text))),
        };
        let messages: Vec<&str> = spans.into_iter().filter_map(|span| text.get(span)).collect();
        if messages.is_empty() {
            output::say("seamline: the body has no messages\n");
        }
        Ok(Ok(messages))
    }

    /// Explains why a text is not a body of the session's dialect. The session determines the dialect, not an option.
    fn no_body(&self, context: &StoreContext, kept: &Options, error: seamline::Error, text: &str) -> Failure {
        let name = &self.name;
        let dialect = kept.dialect.as_deref().unwrap_or_default();
        let keeps = format!("session `{name}` keeps {dialect}");
        if let Some(instead) = Nature::of(text.as_bytes()).no_body() {
            return instead;
        }
        let is_of_shape = matches!(error, seamline::Error::Body(seamline::error::BodyError::Envelope { .. }));
        let failure = Failure::from(error);
        if !is_of_shape {
            return failure;
        }
        if let Ok(checked) = seamline::check(text.as_bytes(), &Options::default())
            && checked.dialect != dialect
        {
            let to = kept.provider.as_deref().unwrap_or(dialect);
            let append = format!("seamline session append {name} --body{}", context.address.option());
            return Failure::new(format!("the body is in {}, but {keeps}", checked.dialect))
                .with_hint(format!("`seamline convert FILE --to {to} | {append}` converts and adds it"));
        }
        if several(text).is_ok_and(|messages| messages.iter().all(|one| NoMessage::of(Some(dialect), one).is_none())) {
            return failure.with_hint(format!("{keeps}; without `--body` a message is added unchanged"));
        }
        failure.with_hint(format!("{keeps}; give a request body in that dialect, or its list of messages"))
    }
}

/// Explains why an input could not be read as text.
fn unread(failure: Failure) -> Failure {
    let hint = failure.hint.map_or_else(|| A_MESSAGE.to_owned(), |hint| format!("nothing was added; {hint}"));
    Failure { hint: Some(hint), ..failure }
}

fn about(label: &str, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", output::named(label), failure.message), ..failure }
}

/// The messages of a text: JSON objects one after the other, or arrays of them.
fn several(text: &str) -> Result<Vec<&str>, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::new("it is empty").with_hint(A_MESSAGE));
    }
    let wrong = |error: serde_json::Error| {
        let instead = Nature::of(text.as_bytes()).no_message();
        instead.unwrap_or_else(|| Failure::new(format!("not JSON: {error}")).with_hint(A_MESSAGE))
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
        return Err(Failure::new("it contains no message").with_hint(A_MESSAGE));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_bytes_in_an_array_and_in_lines() {
        let one = "{\"role\" : \"user\",\n \"content\":\"a\"}";
        assert_eq!(several(one).unwrap(), [one]);
        assert_eq!(several(&format!(" [{one} , {one}]\n")).unwrap(), [one, one]);
        assert_eq!(several(&format!("{one}\n{one}\n\n{one}")).unwrap(), [one, one, one]);
    }

    #[test]
    fn a_text_that_is_not_json_is_refused() {
        for wrong in ["", " \n", "{\"role\":", "{} {"] {
            assert!(several(wrong).is_err(), "{wrong}");
        }
    }
}
