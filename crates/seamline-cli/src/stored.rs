//! Sessions that are not one file each: a database holds many.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seamline::Options;
use seamline::files::database::{self, Database, RepairedSession, SessionRow};
use seamline::files::{CheckedFile, RepairedFile};

use crate::failure::Failure;
use crate::files;
use crate::files::undo::Force;
use crate::render::record::Record;
use crate::screen;

/// A place with sessions of one program.
pub(crate) struct Store {
    database: Database,
    path: PathBuf,
}

/// A session in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub(crate) id: String,
    /// When it changed last.
    pub(crate) modified: Option<SystemTime>,
    row: SessionRow,
}

/// A session that was checked.
pub(crate) struct CheckedStored {
    pub(crate) checked: CheckedFile,
    pub(crate) records: Vec<Record>,
}

/// A session that was repaired. Nothing is written yet.
pub(crate) struct RepairedStored {
    pub(crate) repaired: RepairedFile<'static>,
    pub(crate) records: Vec<Record>,
    /// The records that the repair changes.
    pub(crate) changes: Vec<RecordChange>,
    session: RepairedSession,
}

/// A record that a repair changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordChange {
    /// The place of the record; nothing for a new one.
    pub(crate) place: Option<String>,
    /// The record before the repair; nothing for a new one.
    pub(crate) before: Option<String>,
    /// The record after the repair; nothing for a removed one.
    pub(crate) after: Option<String>,
}

impl RecordChange {
    /// What happens to the record, in one word.
    pub(crate) fn kind(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (Some(_), None) => "removed",
            (Some(_), Some(_)) => "changed",
        }
    }
}

impl Store {
    /// Opens the store at a path; nothing if something else is there, also a path that cannot be read.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>, Failure> {
        if !is_database(path) {
            return Ok(None);
        }
        let opened = Database::open(path).map_err(seamline::Error::from)?;
        Ok(opened.map(|database| Self { database, path: path.to_owned() }))
    }

    /// Refuses the id of a session where there is only one.
    pub(crate) fn has_one_session() -> Failure {
        Failure::new("`--session` chooses a session of a database, and this is not one")
            .with_hint("leave `--session` out; a session file has only one session")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in output.
    pub(crate) fn label(&self) -> String {
        self.path.display().to_string()
    }

    /// The name of a session in output.
    pub(crate) fn label_of(&self, session: &StoredSession) -> String {
        format!("{}: session {}", self.label(), session.id)
    }

    /// The sessions, the last changed one first.
    pub(crate) fn sessions(&self) -> Result<Vec<StoredSession>, Failure> {
        let rows = self.database.sessions().map_err(seamline::Error::from)?;
        let time = |ms: i64| Some(UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).ok()?));
        let session = |row: SessionRow| StoredSession {
            id: row.id.clone(),
            modified: row.updated_ms.and_then(time),
            row,
        };
        Ok(rows.into_iter().map(session).collect())
    }

    /// The sessions with an id, or with a part of it; all of them without one.
    pub(crate) fn chosen(&self, id: Option<&str>) -> Result<Vec<StoredSession>, Failure> {
        let mut sessions = self.sessions()?;
        let Some(id) = id else { return Ok(sessions) };
        let has_id = sessions.iter().any(|session| session.id == id);
        let fits = |session: &StoredSession| if has_id { session.id == id } else { session.has_id(id) };
        sessions.retain(fits);
        match sessions.as_slice() {
            [_] => Ok(sessions),
            [] => Err(Failure::new(format!("no session has `{}` in its id", screen::printable(id)))
                .with_hint(format!("`{}` lists them", self.list_command()))),
            several => {
                let ids: Vec<_> = several.iter().take(FITTING_MAX).map(|session| session.id.as_str()).collect();
                let count = screen::count(several.len(), "session");
                Err(Failure::new(format!("`{}` is part of the ids of {count}", screen::printable(id)))
                    .with_hint(format!("give more of the id:\n  {}", ids.join("\n  "))))
            }
        }
    }

    fn list_command(&self) -> String {
        format!("seamline check {} --format json", crate::failure::quoted(&self.label()))
    }

    /// Checks a session; nothing if it is gone.
    pub(crate) fn check(&self, session: &StoredSession, options: &Options) -> Result<Option<CheckedStored>, Failure> {
        let found = database::check(&self.database, &session.id, options)?;
        Ok(found.map(|found| {
            let mut checked = found.checked;
            session.describe(&mut checked.about);
            CheckedStored { checked, records: self.records(&found.rows) }
        }))
    }

    /// Repairs a session; nothing if it is gone.
    pub(crate) fn repair(&self, session: &StoredSession, options: &Options) -> Result<Option<RepairedStored>, Failure> {
        let found = database::repair(&self.database, &session.id, options)?;
        Ok(found.map(|found| {
            let mut repaired = found.repaired.clone();
            session.describe(&mut repaired.about);
            let records = self.records(&found.rows.places);
            let changes = changes(&found, &records);
            RepairedStored { repaired, records, changes, session: found }
        }))
    }

    /// Writes repaired sessions, all of them or none.
    pub(crate) fn write(&self, repaired: &[&RepairedStored], force: Force) -> Result<(), Failure> {
        let sessions: Vec<_> = repaired.iter().map(|repaired| &repaired.session).collect();
        files::database::repair(&self.database, &sessions, force)
    }

    fn records(&self, rows: &[database::RowPlace]) -> Vec<Record> {
        let file = self.label();
        rows.iter().map(|row| Record { file: file.clone(), row: Some(row.to_string()) }).collect()
    }
}

/// Whether a file is a database. Opening a pipe would wait for its writer.
fn is_database(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = |file: File| file.take(HEAD_BYTES).read_to_end(&mut head);
    path.is_file() && File::open(path).and_then(read).is_ok() && database::is_database(&head)
}

/// The bytes that identify a database.
const HEAD_BYTES: u64 = 16;

/// The most sessions that are listed when an id fits several.
const FITTING_MAX: usize = 5;

impl StoredSession {
    /// Whether a text is part of its id.
    pub(crate) fn has_id(&self, part: &str) -> bool {
        self.id.to_lowercase().contains(&part.to_lowercase())
    }

    /// Fills in what only the list of sessions tells.
    fn describe(&self, about: &mut seamline::files::About) {
        about.id.get_or_insert_with(|| self.id.clone());
        if about.title.is_none() {
            about.title.clone_from(&self.row.title);
        }
        if about.folder.is_none() {
            about.folder.clone_from(&self.row.folder);
        }
        about.is_subagent |= self.row.is_subagent;
    }
}

/// The rows that a repair changes, adds and removes.
fn changes(session: &RepairedSession, records: &[Record]) -> Vec<RecordChange> {
    if !session.changed() {
        return Vec::new();
    }
    let lines = session.rows.lines();
    let texts: Vec<String> = lines.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into()).collect();
    let place = |row: usize| records.get(row).map(|record| record.short().to_owned());
    let mut changes = Vec::new();
    for new in &session.new {
        let before = new.origin.and_then(|row| texts.get(row)).cloned();
        if before.as_ref() != Some(&new.text) {
            let place = new.origin.and_then(place);
            changes.push(RecordChange { place, before, after: Some(new.text.clone()) });
        }
    }
    let stays: std::collections::HashSet<usize> = session.new.iter().filter_map(|new| new.origin).collect();
    for row in (0..records.len()).filter(|row| !stays.contains(row)) {
        changes.push(RecordChange { place: place(row), before: texts.get(row).cloned(), after: None });
    }
    changes
}
