//! The conversation that is converted: a request body, a session file, or a session in a database.

use std::path::Path;

use seamline::Options;
use seamline::files::SavedConversation;
use seamline::files::database::{self, Database, SessionRow};

use crate::failure::Failure;
use crate::input::Source;
use crate::screen;
use crate::stored::open_database;

/// The most sessions of a database that a message lists.
const LISTED_MAX: usize = 10;
/// The most columns of a session's title in a list.
const TITLE_COLUMNS: usize = 40;

/// The conversation that is converted.
pub(crate) enum Subject {
    /// A request body, or the history of a program.
    Body(Vec<u8>),
    /// The conversation of a session.
    Saved(Box<SavedConversation>),
}

impl Subject {
    /// Reads a source. `session` names the session of a database.
    pub(crate) fn read(source: &Source, session: Option<&str>, options: &Options) -> Result<Self, Failure> {
        // Reading the start of a pipe would take it away from the next reader.
        let file = source.path().filter(|path| path.is_file());
        if let Some(path) = file
            && let Some(database) = open_database(path)?
        {
            return Self::of_database(&database, path, session, options);
        }
        if session.is_some() {
            return Err(Failure::new("`--session` needs a database; this is a single file").with_hint("omit it"));
        }
        let bytes = source.read()?;
        let Some(program) = seamline::files::recognise(&source.name(), &bytes) else { return Ok(Self::Body(bytes)) };
        match seamline::files::conversation(&source.name(), &bytes, options)? {
            Some(saved) => Ok(Self::Saved(Box::new(saved))),
            None => Err(Failure::of_file(source, program)),
        }
    }

    fn of_database(
        database: &Database,
        path: &Path,
        session: Option<&str>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let sessions = database.sessions().map_err(seamline::Error::from)?;
        let chosen = choose(&sessions, session, path)?;
        let lost = || Failure::new(format!("session `{}` has no rows", chosen.id));
        let saved = database::conversation(database, &chosen.id, options)?.ok_or_else(lost)?;
        Ok(Self::Saved(Box::new(saved)))
    }
}

/// The session that a user means: the named one, or the last changed one.
pub(crate) fn newest<'s>(
    sessions: &'s [SessionRow],
    named: Option<&str>,
    path: &Path,
) -> Result<&'s SessionRow, Failure> {
    let newest = sessions.iter().find(|session| !session.is_subagent).filter(|_| named.is_none());
    newest.map_or_else(|| choose(sessions, named, path), Ok)
}

/// The session that a user means: the named one, or the only one.
pub(crate) fn choose<'s>(
    sessions: &'s [SessionRow],
    named: Option<&str>,
    path: &Path,
) -> Result<&'s SessionRow, Failure> {
    let candidates: Vec<&SessionRow> = match named {
        Some(id) => {
            let exact: Vec<_> = sessions.iter().filter(|session| session.id == id).collect();
            let part = || sessions.iter().filter(|session| session.id.contains(id)).collect();
            if exact.is_empty() { part() } else { exact }
        }
        None if sessions.len() == 1 => sessions.iter().collect(),
        None => sessions.iter().filter(|session| !session.is_subagent).collect(),
    };
    match (candidates.as_slice(), named) {
        ([only], _) => Ok(only),
        ([], Some(id)) => Err(Failure::new(format!("no session of this database has an id with `{id}`"))
            .with_hint(listed(&sessions.iter().collect::<Vec<_>>()))),
        ([], None) => Err(Failure::new("this database has no sessions")),
        (several, Some(id)) => {
            let count = screen::count(several.len(), "session");
            Err(Failure::new(format!("{count} of this database have an id with `{id}`")).with_hint(listed(several)))
        }
        (several, None) => {
            let count = screen::count(several.len(), "session");
            let command = format!("`--session ID` says which one; {}", listed(several));
            Err(Failure::new(format!("{} has {count}", path.display())).with_hint(command))
        }
    }
}

/// The ids of sessions, the newest first.
fn listed(sessions: &[&SessionRow]) -> String {
    let one = |session: &&SessionRow| {
        let title = session.title.as_deref().unwrap_or_default();
        let title = screen::cut(title, TITLE_COLUMNS);
        format!("\n  {}  {title}", session.id).trim_end().to_owned()
    };
    let list: String = sessions.iter().take(LISTED_MAX).map(one).collect();
    let more = match sessions.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!("\n  and {} more", screen::grouped(more)),
    };
    format!("the newest are:{list}{more}")
}
