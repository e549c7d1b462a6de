//! Sessions that are not one file each: a database holds many, and some programs spread a session over the files of a folder.

mod choose;
mod database;
mod folder;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use seamline::Options;
use seamline::files::database::{Database, RepairedSession, SessionRow};
use seamline::files::folder::FolderLayout;
use seamline::files::{About, CheckedFile, RepairedFile, Salvaged, SavedConversation};

use crate::failure::Failure;
use crate::files;
use crate::files::in_use::{self, InUse};
use crate::files::undo::Force;
use crate::render::file;
use crate::render::record::Record;

pub(crate) use folder::{failure_of_part, is_folder};

/// A place with sessions of one program.
pub(crate) struct Store {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    Database(Database),
    Folder(&'static FolderLayout, Vec<StoredSession>),
}

/// A session in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub(crate) id: String,
    /// When it changed last.
    pub(crate) modified: Option<SystemTime>,
    /// The row that describes a session of a database.
    row: Option<SessionRow>,
    /// The files of a session in a folder, in the order of their records.
    pub(crate) files: Vec<PathBuf>,
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
    write: PlannedWrite,
}

/// One planned change to the store.
enum PlannedWrite {
    Rows(Box<RepairedSession>),
    Files(folder::NewFiles),
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
    /// Names the change to the record in one word.
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
        let kind = match folder::open(path) {
            Some((layout, sessions)) => Some(Kind::Folder(layout, sessions)),
            None => database::open(path)?.map(Kind::Database),
        };
        Ok(kind.map(|kind| Self { path: path.to_owned(), kind }))
    }

    /// Refuses the id of a session where there is only one.
    pub(crate) fn has_one_session() -> Failure {
        Failure::new("`--session` chooses a session of a database or a folder, and this is one file")
            .with_hint("leave `--session` out; a session file has only one session")
    }

    /// Explains that a session was removed while it was read.
    pub(crate) fn is_gone(session: &StoredSession) -> Failure {
        Failure::new(format!("session `{}` has no records", session.id))
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

    /// The command that continues a session in its program.
    pub(crate) fn resume(&self, about: &About) -> Option<String> {
        let format = match &self.kind {
            Kind::Database(database) => database.format(),
            Kind::Folder(layout, _) => layout.format,
        };
        file::resume(Some(format), about, &self.label())
    }

    /// The sessions, the last changed one first.
    pub(crate) fn sessions(&self) -> Result<Vec<StoredSession>, Failure> {
        match &self.kind {
            Kind::Database(database) => database::sessions(database),
            Kind::Folder(_, sessions) => Ok(sessions.clone()),
        }
    }

    /// When its last session changed.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.sessions().ok()?.iter().filter_map(|session| session.modified).max()
    }

    /// Checks a session; nothing if it is gone.
    pub(crate) fn check(&self, session: &StoredSession, options: &Options) -> Result<Option<CheckedStored>, Failure> {
        let mut found = match &self.kind {
            Kind::Database(database) => database::check(database, session, options)?,
            Kind::Folder(layout, _) => Some(folder::check(layout, session, options)?),
        };
        if let Some(found) = &mut found {
            session.describe(&mut found.checked.about);
        }
        Ok(found)
    }

    /// Repairs a session; nothing if it is gone.
    pub(crate) fn repair(&self, session: &StoredSession, options: &Options) -> Result<Option<RepairedStored>, Failure> {
        let mut found = match &self.kind {
            Kind::Database(database) => database::repair(database, session, options)?,
            Kind::Folder(layout, _) => Some(folder::repair(layout, session, options)?),
        };
        if let Some(found) = &mut found {
            session.describe(&mut found.repaired.about);
        }
        Ok(found)
    }

    /// The conversation that the program would send, repaired; nothing if the session is gone.
    pub(crate) fn conversation(
        &self,
        session: &StoredSession,
        options: &Options,
    ) -> Result<Option<SavedConversation>, Failure> {
        let mut found = match &self.kind {
            Kind::Database(database) => seamline::files::database::conversation(database, &session.id, options)?,
            Kind::Folder(layout, _) => Some(folder::conversation(layout, session, options)?),
        };
        if let Some(found) = &mut found {
            session.describe(&mut found.about);
        }
        Ok(found)
    }

    /// Everything readable of a session; nothing if it is gone.
    pub(crate) fn salvage(
        &self,
        session: &StoredSession,
        options: &Options,
    ) -> Result<Option<Salvaged<'static>>, Failure> {
        let mut found = match &self.kind {
            Kind::Database(database) => seamline::files::database::salvage(database, &session.id, options)?,
            Kind::Folder(layout, _) => Some(folder::salvage(layout, session, options)?),
        };
        if let Some(found) = &mut found {
            session.describe(&mut found.about);
        }
        Ok(found)
    }

    /// Whether a program uses what these repairs would write.
    pub(crate) fn in_use(&self, repaired: &[&RepairedStored]) -> Option<InUse> {
        let mut files = repaired.iter().filter_map(|one| one.new_files());
        match &self.kind {
            Kind::Database(_) => in_use::look_at_database(&self.path),
            Kind::Folder(..) => files.find_map(folder::NewFiles::in_use),
        }
    }

    /// Writes repaired sessions, all of them or none.
    pub(crate) fn write(&self, repaired: &[&RepairedStored], force: Force) -> Result<(), Failure> {
        match &self.kind {
            Kind::Database(database) => {
                let rows: Vec<_> = repaired.iter().filter_map(|one| one.rows()).collect();
                files::database::repair(database, &rows, force)
            }
            Kind::Folder(..) => {
                if let (Force::No, Some(in_use)) = (force, self.in_use(repaired)) {
                    return Err(in_use.into());
                }
                folder::write(repaired.iter().filter_map(|one| one.new_files()), force)
            }
        }
    }
}

impl RepairedStored {
    fn rows(&self) -> Option<&RepairedSession> {
        match &self.write {
            PlannedWrite::Rows(rows) => Some(rows),
            PlannedWrite::Files(_) => None,
        }
    }

    fn new_files(&self) -> Option<&folder::NewFiles> {
        match &self.write {
            PlannedWrite::Files(files) => Some(files),
            PlannedWrite::Rows(_) => None,
        }
    }
}

impl StoredSession {
    /// Whether a text is part of its id.
    pub(crate) fn has_id(&self, part: &str) -> bool {
        self.id.to_lowercase().contains(&part.to_lowercase())
    }

    fn title(&self) -> Option<&str> {
        self.row.as_ref().and_then(|row| row.title.as_deref())
    }

    fn is_subagent(&self) -> bool {
        self.row.as_ref().is_some_and(|row| row.is_subagent)
    }

    /// Fills in what only the list of sessions tells.
    fn describe(&self, about: &mut About) {
        about.id.get_or_insert_with(|| self.id.clone());
        let Some(row) = &self.row else { return };
        if about.title.is_none() {
            about.title.clone_from(&row.title);
        }
        if about.folder.is_none() {
            about.folder.clone_from(&row.folder);
        }
        about.is_subagent |= row.is_subagent;
    }
}
