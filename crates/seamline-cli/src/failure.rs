//! Failures of commands, for people.

use std::io::ErrorKind;

use seamline::Error;
use seamline::error::{BodyError, HistoryError};
use seamline::files::{Program, shell_word};
use serde::Serialize;

use crate::files::unknown;
use crate::input::Source;
use crate::nature::Nature;
use crate::suggest;

/// A failure, with a hint about the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The failure of a system call; `act` is a verb such as `read`.
    pub(crate) fn io(act: &str, error: &std::io::Error) -> Self {
        let (why, hint) = match error.kind() {
            ErrorKind::NotFound => ("no such file or folder".to_owned(), None),
            ErrorKind::PermissionDenied => ("permission denied".to_owned(), Some("see who owns it with `ls -l`")),
            ErrorKind::NotADirectory => ("part of the path is a file".to_owned(), None),
            ErrorKind::IsADirectory => ("it is a folder".to_owned(), None),
            ErrorKind::ReadOnlyFilesystem => ("the file system is read-only".to_owned(), None),
            ErrorKind::StorageFull => ("the disk is full".to_owned(), None),
            _ => (error.to_string().to_lowercase(), None),
        };
        Self { message: format!("could not {act}: {why}"), hint: hint.map(str::to_owned) }
    }
}

impl Failure {
    /// Explains why an input could not be read: as the session of an agent where it lies among such, else as a body.
    pub(crate) fn of_source(source: &Source, error: Error, body: &[u8]) -> Self {
        let session = source.path().and_then(|path| unknown::failure_at(path, body));
        session.filter(|_| matches!(error, Error::Body(_))).unwrap_or_else(|| Self::of_body(error, body))
    }

    /// Explains why a body could not be read, and names the kind of the input if that is known.
    pub(crate) fn of_body(error: Error, body: &[u8]) -> Self {
        let instead = matches!(error, Error::Body(_)).then(|| Nature::of(body).no_body()).flatten();
        instead.unwrap_or_else(|| error.into())
    }
}

impl Failure {
    /// Refuses a file of another program, which is neither a body nor a message.
    pub(crate) fn of_program(source: &Source, bytes: &[u8]) -> Result<(), Self> {
        seamline::files::recognise(&source.name(), bytes).map_or(Ok(()), |program| Err(Self::of_file(source, program)))
    }

    /// Explains that a file of a program is not a request body.
    pub(crate) fn of_file(source: &Source, program: &Program) -> Self {
        let file = match source {
            Source::Stdin => "FILE".to_owned(),
            Source::Path(path) => quoted(&path.display().to_string()),
        };
        let hint = match program.extract {
            _ if program.session.is_some() => format!(
                "nothing was changed; `seamline check {file}` reads the file, and `seamline convert {file} --to anthropic` \
                 writes its conversation as a request body"
            ),
            Some(command) => {
                let command = command.replace("FILE", &file);
                format!("nothing was changed; `{command} | seamline check -` checks the messages in it")
            }
            None => format!("nothing was changed; {}", program.advice),
        };
        Self::new(format!("this is {}, not a request body", program.what)).with_hint(hint)
    }
}

impl From<Error> for Failure {
    /// Adds hints about options, which the library does not know.
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::Body(BodyError::Envelope { .. }) => {
                error.hint().map(|hint| hint + "; `--dialect` names the dialect")
            }
            Error::Body(BodyError::Split { dialects: [first, second], .. }) => {
                Some(format!("`--dialect {first}` or `--dialect {second}` says which one it is; nothing was changed"))
            }
            Error::History(HistoryError::NoOrder { .. }) => Some(
                "`--order newest-first` or `--order oldest-first` says which one it is; nothing was changed".to_owned(),
            ),
            Error::UnknownProvider(name) => {
                Some(suggest::hint(name, &providers(), "`seamline providers` lists them all"))
            }
            Error::UnknownDialect(name) => {
                Some(suggest::hint(name, &seamline::providers::dialect_names(), &error.hint().unwrap_or_default()))
            }
            Error::UnknownSide(name) => {
                let names = [providers(), seamline::providers::dialect_names()].concat();
                Some(suggest::hint(name, &names, "`seamline providers` lists them all"))
            }
            Error::OtherStream { found, .. } => Some(format!("omit `--dialect`, or pass `--dialect {found}`")),
            Error::UnknownStream => Some(format!(
                "if this is a response, name its dialect with `--dialect`: {}",
                seamline::providers::dialect_names().join(", ")
            )),
            _ => error.hint(),
        };
        Self { message: error.to_string(), hint }
    }
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    shell_word(path)
}

/// The names of all providers.
fn providers() -> Vec<&'static str> {
    let names =
        seamline::providers::ALL.iter().flat_map(|provider| provider.aliases.iter().copied().chain([provider.name]));
    names.collect()
}
