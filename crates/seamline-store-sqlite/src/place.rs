//! Where a store is, and how its file is opened.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use seamline_store::Error;

use crate::fault::{Doing, Fault, Outcome};
use crate::file;
use crate::options::Options;
use crate::schema::{self, FORMAT, Format};

/// How long to wait before opening is tried again where another process is making the same file.
const PAUSE: Duration = Duration::from_millis(20);

/// How long to wait for others to let go of a log that is to be emptied when the file is opened.
const LOG_PAUSE: Duration = Duration::from_millis(100);

/// What the log is cut back to once everything in it is in the database.
const LOG_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// How the file is opened.
const READ: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
const WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// SQLite's name for the one database of a connection.
const MAIN: &str = "main";

/// A file, and how it is opened.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    options: Options,
    /// Whether another file was seen under the name than the one that was open.
    is_replaced: AtomicBool,
}

/// A connection, and the file it was made to.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    file: Option<FileNumber>,
    /// Whether SQLite was told that nobody writes the file. It never looks at it again, so this is good for once.
    is_frozen: bool,
}

/// What tells one file from another that has its name later: the device it is on, its number there, and how many names
/// it has.
type FileNumber = (u64, u64, u64);

impl Opened {
    /// Closes it without touching the file again.
    pub(crate) fn discard(self) {
        // The last connection to close would copy the log into the database. After an error of the disk that is left
        // to the next one, which reads it afresh; where it cannot be switched off, closing is all that can be done.
        let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }
}

impl Place {
    pub(crate) fn new(path: &Path, options: Options) -> Result<Self, Error> {
        // An absolute path is never taken for `:memory:` or an address of SQLite's own.
        let path = std::path::absolute(path).map_err(|error| file::of_io(path, &error))?;
        file::can_be_a_store(&path)?;
        Ok(Self { path, options, is_replaced: AtomicBool::new(false) })
    }

    /// Makes the file if there is none, for nobody else to read, and the folder it is in.
    pub(crate) fn make(&self) -> Result<(), Error> {
        if self.options.read_only {
            return Ok(());
        }
        file::can_be_made(&self.path)?;
        file::make(&self.path).map_err(|error| file::of_io(&self.path, &error))
    }

    /// A connection to write with.
    pub(crate) fn writer(&self) -> Result<Opened, Error> {
        if self.options.read_only {
            return Err(Error::ReadOnly("it was opened for reading only".to_owned()));
        }
        let opened = patiently(self.options.busy_timeout, || {
            let opened = self.open(&self.path, WRITE, prepare_to_write)?;
            self.empty_log(&opened.connection)?;
            if let Some(bytes_max) = self.options.bytes_max {
                limit(&opened.connection, bytes_max)?;
            }
            Ok(opened)
        });
        opened.map_err(|fault| self.error(fault))
    }

    /// A connection to read with.
    pub(crate) fn reader(&self) -> Result<Opened, Error> {
        let opened = patiently(self.options.busy_timeout, || self.open_to_read()).or_else(|fault| {
            let is_closed_off = [ErrorCode::CannotOpen, ErrorCode::ReadOnly].iter().any(|code| is_code(&fault, *code));
            if is_closed_off && file::is_without_log(&self.path) { self.open_frozen(fault) } else { Err(fault) }
        });
        opened.map_err(|fault| match fault {
            fault if is_code(&fault, ErrorCode::CannotOpen) => file::unreadable(&self.path),
            fault => self.named(fault, Doing::Reading),
        })
    }

    /// Whoever may not write the file makes none beside it: SQLite would make a log and its index there which belong to
    /// the reader, and those who may write the file could not write them.
    fn open_to_read(&self) -> Outcome<Opened> {
        let address = if self.may_write() { None } else { self.address("readonly_shm=1") };
        let Some(address) = address else { return self.open(&self.path, READ, prepare_to_read) };
        if file::has_log(&self.path) {
            return self.open(Path::new(&address), READ | OpenFlags::SQLITE_OPEN_URI, prepare_to_read);
        }
        if !file::is_without_log(&self.path) {
            return Err(Error::Failed(
                "what is in its log is not in the file yet, and only who may write it can bring it there\n\
                 hint: list its sessions once as the user whom the file belongs to"
                    .to_owned(),
            )
            .into());
        }
        self.open_frozen(Fault::Odd("its name is none that SQLite reads"))
    }

    /// Where nothing can be written beside the file, SQLite reads it only if it is told that nobody writes it. What a
    /// process that does write it could cause is seen by replay.
    fn open_frozen(&self, otherwise: Fault) -> Outcome<Opened> {
        let address = self.address("immutable=1").ok_or(otherwise)?;
        let opened = self.open(Path::new(&address), READ | OpenFlags::SQLITE_OPEN_URI, prepare_to_read)?;
        Ok(Opened { is_frozen: true, ..opened })
    }

    /// Whether the file may be written, as SQLite sees it. Nothing of it is read.
    fn may_write(&self) -> bool {
        let opened = Connection::open_with_flags(&self.path, WRITE);
        opened.and_then(|connection| connection.is_readonly(MAIN)).is_ok_and(|is_read_only| !is_read_only)
    }

    /// Whether the file that a connection was made to is still the one that has its name. What is written to another
    /// one is lost when it is closed.
    pub(crate) fn is_there(&self, opened: &Opened) -> bool {
        if self.has_another(opened) {
            self.is_replaced.store(true, Ordering::Relaxed);
        }
        !opened.is_frozen && (opened.file.is_none() || opened.file == self.file())
    }

    /// Whether another file has the name of the one that a connection was made to, however many names that has.
    fn has_another(&self, opened: &Opened) -> bool {
        let own = |(device, number, _): FileNumber| (device, number);
        opened.file.zip(self.file()).is_some_and(|(opened, found)| own(opened) != own(found))
    }

    /// Refuses a file that took the name of another one while that was open: the log beside it is that of the other, and
    /// SQLite would take it for its own.
    fn is_its_own_log(&self) -> Result<(), Error> {
        if !self.is_replaced.load(Ordering::Relaxed) || file::is_without_log(&self.path) {
            return Ok(());
        }
        let name = self.path.display();
        Err(Error::Failed(format!(
            "`{name}` is another file than the one that was open, and the log beside it belongs to that one\n\
             hint: stop the program, move `{name}-wal` beside the file that it belongs to, and remove `{name}-shm`"
        )))
    }

    /// Closes a connection to a file that has its name no more, or another one besides. What was acknowledged is in the
    /// log beside the old name, so it is brought into the file first, unless another file has that name by now: its log
    /// would be taken for that of this one.
    pub(crate) fn leave(&self, opened: Opened) {
        if !self.has_another(&opened) {
            // Where that fails the log stays where it is, with all that is in it.
            let _ = copy_log(&opened.connection, "PASSIVE");
        }
        opened.discard();
    }

    fn open(&self, path: &Path, flags: OpenFlags, prepare: fn(&Connection) -> Outcome<()>) -> Outcome<Opened> {
        file::has_one_name(&self.path)?;
        self.is_its_own_log()?;
        let connection = Connection::open_with_flags(path, flags)?;
        let file = self.file();
        connection.busy_timeout(self.options.busy_timeout)?;
        distrust(&connection)?;
        prepare(&connection)?;
        Ok(Opened { connection, file, is_frozen: false })
    }

    /// Copies what a process left in the log into the database, and syncs it there.
    ///
    /// A log that was left after an error of the disk may hold commits that are in memory only, and that no later sync
    /// of the log would bring to the disk. Where others have the file open, the log is theirs and such commits are not
    /// in it.
    fn empty_log(&self, connection: &Connection) -> Outcome<()> {
        connection.busy_timeout(LOG_PAUSE)?;
        copy_log(connection, "TRUNCATE")?;
        Ok(connection.busy_timeout(self.options.busy_timeout)?)
    }

    fn error(&self, fault: Fault) -> Error {
        if is_code(&fault, ErrorCode::CannotOpen) && self.file().is_none() && cfg!(unix) {
            return Error::Failed(format!("the file `{}` is gone", self.path.display()));
        }
        if [ErrorCode::CannotOpen, ErrorCode::ReadOnly].iter().any(|code| is_code(&fault, *code))
            && let Some(why) = file::belongs_to_another(&self.path)
        {
            return Error::ReadOnly(why);
        }
        self.named(fault, Doing::Writing)
    }

    /// What kept the file from being opened, with its name.
    fn named(&self, fault: Fault, doing: Doing) -> Error {
        let name = self.path.display().to_string();
        if is_code(&fault, ErrorCode::NotADatabase) {
            return Error::Damaged(format!("`{name}` is no SQLite database, or its beginning is damaged"));
        }
        let named = |why: String| if why.contains(&name) { why } else { format!("`{name}`: {why}") };
        match fault.into_error(doing) {
            Error::Address(why) => Error::Address(named(why)),
            Error::ReadOnly(why) => Error::ReadOnly(named(why)),
            Error::Damaged(why) => Error::Damaged(named(why)),
            Error::Failed(why) => Error::Failed(named(why)),
            Error::Unavailable(why) => Error::Unavailable(named(why)),
            error => error,
        }
    }

    /// Whether there is no such file.
    #[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
    pub(crate) fn is_missing(&self) -> bool {
        !self.path.exists()
    }

    /// The address of the file with a setting of SQLite's, where it can be written as one.
    fn address(&self, setting: &str) -> Option<String> {
        let path = self.path.to_str()?;
        let plain = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        Some(format!("file://{plain}?{setting}"))
    }

    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
    fn file(&self) -> Option<FileNumber> {
        use std::os::unix::fs::MetadataExt;
        let file = std::fs::metadata(&self.path).ok()?;
        Some((file.dev(), file.ino(), file.nlink()))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "where files have no numbers, none is compared")]
    fn file(&self) -> Option<FileNumber> {
        None
    }
}

/// Copies the log into the database; false where somebody who reads or writes kept it from getting to the end.
pub(crate) fn copy_log(connection: &Connection, how: &str) -> Outcome<bool> {
    let sql = format!("PRAGMA wal_checkpoint({how})");
    let busy: i64 = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(busy == 0)
}

/// What a file says about itself is not followed: no triggers, no views, no functions in its schema.
fn distrust(connection: &Connection) -> Outcome<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}

fn prepare_to_write(connection: &Connection) -> Outcome<()> {
    // Before anything is read: that would make a log.
    if connection.is_readonly(MAIN)? {
        return Err(Error::ReadOnly("the file may not be written".to_owned()).into());
    }
    // Before anything is changed: it may be somebody else's.
    let format = schema::format(connection)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::Failed(format!("the file cannot have a write-ahead log, only `{mode}`")).into());
    }
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    // The writer copies the log into the database itself, after it has answered.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    if format != Format::Known(FORMAT) {
        schema::migrate(connection)?;
    }
    schema::verify(connection)
}

fn prepare_to_read(connection: &Connection) -> Outcome<()> {
    connection.pragma_update(None, "query_only", true)?;
    match schema::format(connection)? {
        Format::Known(FORMAT) => schema::verify(connection),
        Format::Known(found) => {
            let why = format!("it has format {found} and must be written to be brought to {FORMAT}");
            Err(Error::ReadOnly(why).into())
        }
        Format::Empty => Err(Error::Address("the file is empty, and no store".to_owned()).into()),
    }
}

fn limit(connection: &Connection, bytes_max: u64) -> Outcome<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(bytes_max).unwrap_or(i64::MAX) / page.max(1);
    connection.pragma_update(None, "max_page_count", pages.clamp(1, i64::from(u32::MAX - 1)))?;
    Ok(())
}

/// Tries again where another process is just making the file: SQLite does not wait there by itself.
#[expect(clippy::disallowed_methods, reason = "whoever opens a file waits for another process")]
fn patiently(timeout: Duration, open: impl Fn() -> Outcome<Opened>) -> Outcome<Opened> {
    let is_busy = |fault: &Fault| {
        is_code(fault, ErrorCode::DatabaseBusy)
            || is_code(fault, ErrorCode::DatabaseLocked)
            || is_code(fault, ErrorCode::FileLockingProtocolFailed)
    };
    let started = Instant::now();
    loop {
        match open() {
            Err(fault) if is_busy(&fault) && started.elapsed() < timeout => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

fn is_code(fault: &Fault, code: ErrorCode) -> bool {
    matches!(fault, Fault::Sqlite(error) if error.sqlite_error_code() == Some(code))
}
