//! Connections to the file of a store.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use seamline_store::{Error, LogLoss, cause};

use crate::failure::{Doing, Failure, Outcome};
use crate::file;
use crate::lost;
use crate::options::SqliteOptions;
use crate::reads;
use crate::schema::{self, FORMAT, Format};
use crate::wal;

/// The pause before a retry while another process creates the same file.
const PAUSE: Duration = Duration::from_millis(20);

/// How long opening waits for other processes before it leaves the log as it is.
const LOG_PAUSE: Duration = Duration::from_millis(100);

/// The size that SQLite truncates the log to after a checkpoint.
const LOG_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// SQLite's flags for readers and for the writer.
const READ: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
const WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// SQLite's name for the one database of a connection.
const MAIN: &str = "main";

/// The file of a store and the options that it is opened with.
#[derive(Debug)]
pub(crate) struct StoreFile {
    path: PathBuf,
    options: SqliteOptions,
    /// Whether another file took the name of the open file.
    is_replaced: AtomicBool,
    /// A loss that could not be noted beside the file.
    unkept: Mutex<Option<LogLoss>>,
}

/// A connection and the file that it belongs to.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    file: Option<FileNumber>,
    /// Whether the connection treats the file as immutable. It never sees later writes, so it serves one request only.
    is_frozen: bool,
}

/// The identity of a file: its device, its inode number, and its number of hard links.
type FileNumber = (u64, u64, u64);

impl Opened {
    /// Closes the connection without touching the file again.
    pub(crate) fn discard(self) {
        // The last connection that closes copies the log into the database. After a disk error the next connection
        // must do that, because it reads the log afresh. If the setting fails, closing is all that is left to do.
        let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }
}

impl StoreFile {
    pub(crate) fn new(path: &Path, options: SqliteOptions) -> Result<Self, Error> {
        // SQLite never reads an absolute path as `:memory:` or as a URI.
        let path = std::path::absolute(path).map_err(|error| file::of_io(path, &error))?;
        file::check_is_file(&path)?;
        Ok(Self { path, options, is_replaced: AtomicBool::new(false), unkept: Mutex::new(None) })
    }

    /// Creates the file and its folders if they are missing. Only the owner can read them.
    pub(crate) fn create(&self) -> Result<(), Error> {
        if self.options.read_only {
            return Ok(());
        }
        file::check_can_create(&self.path)?;
        file::create(&self.path).map_err(|error| file::of_io(&self.path, &error))
    }

    /// Opens a connection for writing.
    pub(crate) fn connect_writer(&self) -> Result<Opened, Error> {
        if self.options.read_only {
            return Err(Error::ReadOnly(cause::ReadOnly::OpenedForReading));
        }
        let opened = retry_while_busy(self.options.busy_timeout, || {
            let opened = self.open(&self.path, WRITE, prepare_to_write)?;
            self.empty_log(&opened.connection)?;
            if let Some(bytes_max) = self.options.bytes_max {
                limit(&opened.connection, bytes_max)?;
            }
            Ok(opened)
        });
        opened.map_err(|failure| self.write_error(failure))
    }

    /// Opens a connection for reading.
    pub(crate) fn connect_reader(&self) -> Result<Opened, Error> {
        let opened = retry_while_busy(self.options.busy_timeout, || self.open_to_read()).or_else(|failure| {
            let is_closed_off = is_permission(&failure);
            if is_closed_off && file::is_without_log(&self.path) { self.open_frozen(failure) } else { Err(failure) }
        });
        opened.map_err(|failure| match failure {
            failure if failure.has_code(ErrorCode::CannotOpen) => file::unreadable(&self.path),
            failure => failure.into_error(Doing::Reading, &self.path),
        })
    }

    /// Opens the file for reading. If this process may not write the file, it must create no file beside it: SQLite
    /// would create a log and an index that the reader owns, and the writers could not write them.
    fn open_to_read(&self) -> Outcome<Opened> {
        let uri = if self.may_write() { None } else { self.uri("readonly_shm=1") };
        let Some(uri) = uri else { return self.open(&self.path, READ, prepare_to_read) };
        if file::has_log(&self.path) {
            return self.open(Path::new(&uri), READ | OpenFlags::SQLITE_OPEN_URI, prepare_to_read);
        }
        if !file::is_without_log(&self.path) {
            return Err(Error::Failed(cause::Failed::LogUnread { path: self.path.clone() }).into());
        }
        self.open_frozen(Failure::Inconsistent("its name is not UTF-8, so SQLite cannot open it without locks"))
    }

    /// Opens the file as immutable: SQLite needs that where it can create no file beside it. If a process writes the
    /// file meanwhile, replay detects the damage.
    fn open_frozen(&self, otherwise: Failure) -> Outcome<Opened> {
        let uri = self.uri("immutable=1").ok_or(otherwise)?;
        let opened = self.open(Path::new(&uri), READ | OpenFlags::SQLITE_OPEN_URI, prepare_to_read)?;
        Ok(Opened { is_frozen: true, ..opened })
    }

    /// Whether this process may write the file, according to SQLite. It reads nothing.
    fn may_write(&self) -> bool {
        let opened = Connection::open_with_flags(&self.path, WRITE);
        opened.and_then(|connection| connection.is_readonly(MAIN)).is_ok_and(|is_read_only| !is_read_only)
    }

    /// Whether the connection's file still has its name. Writes to a file without its name would be lost.
    pub(crate) fn is_current(&self, opened: &Opened) -> bool {
        if self.is_replaced_by_another(opened) {
            self.is_replaced.store(true, Ordering::Relaxed);
        }
        !opened.is_frozen && (opened.file.is_none() || opened.file == self.file())
    }

    /// Whether another file has the name of the connection's file.
    fn is_replaced_by_another(&self, opened: &Opened) -> bool {
        let own = |(device, number, _): FileNumber| (device, number);
        opened.file.zip(self.file()).is_some_and(|(opened, found)| own(opened) != own(found))
    }

    /// Fails where this file replaced another one while the store was open: the log beside it belongs to the old file,
    /// and SQLite would apply it to the new one.
    fn check_own_log(&self) -> Result<(), Error> {
        if !self.is_replaced.load(Ordering::Relaxed) || file::is_without_log(&self.path) {
            return Ok(());
        }
        Err(Error::Failed(cause::Failed::FileReplaced { path: self.path.clone() }))
    }

    /// Closes a connection to a file that was renamed or got a second name. Acknowledged commits are in the log beside
    /// the old name, so they are copied into the file first. If another file has that name now, the log is left alone:
    /// it would be applied to the wrong file.
    pub(crate) fn leave(&self, opened: Opened) {
        if !self.is_replaced_by_another(&opened) {
            // If the copy fails, the log stays as it is, with all its commits.
            let _ = copy_log(&opened.connection, "PASSIVE");
        }
        opened.discard();
    }

    fn open(&self, path: &Path, flags: OpenFlags, prepare: fn(&Connection, &Path) -> Outcome<()>) -> Outcome<Opened> {
        file::check_single_name(&self.path)?;
        self.check_own_log()?;
        self.examine_log(flags)?;
        let connection = Connection::open_with_flags(path, flags)?;
        let file = self.file();
        connection.busy_timeout(self.options.busy_timeout)?;
        harden(&connection)?;
        prepare(&connection, &self.path)?;
        // If the note cannot be written, the loss is reported for all sessions.
        let _ = lost::settle(&self.path, || reads::heads(&connection).ok());
        Ok(Opened { connection, file, is_frozen: false })
    }

    /// Looks for commits in the log that SQLite would not recover, and keeps the bytes of such a log: SQLite will
    /// overwrite them. A process that may only read the file leaves the log as it is.
    fn examine_log(&self, flags: OpenFlags) -> Result<(), Error> {
        let failed = |error: io::Error| file::of_io(&self.path, &error);
        let found = match lost::examine(&self.path) {
            // SQLite reports the same error if it needs the log.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            found => found.map_err(failed)?,
        };
        let Some(loss) = found else { return Ok(()) };
        match lost::keep(&self.path, loss) {
            Err(error) if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) => Err(failed(error)),
            Err(_) => {
                let loss = LogLoss { is_certain: loss == wal::Loss::Certain, kept: None, heads: None };
                *self.unkept.lock().unwrap_or_else(PoisonError::into_inner) = Some(loss);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Returns the commits that the store lost with damaged logs.
    pub(crate) fn losses(&self) -> Outcome<Vec<LogLoss>> {
        let kept = lost::losses(&self.path).map_err(|error| file::of_io(&self.path, &error))?;
        let unkept = self.unkept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(kept.into_iter().chain(unkept).collect())
    }

    /// Copies the log that an earlier process left into the database, and syncs the database.
    ///
    /// After a disk error the log may hold commits that are only in the page cache, and no later sync of the log would
    /// write them. While other processes have the file open, the log is theirs and holds no such commits.
    fn empty_log(&self, connection: &Connection) -> Outcome<()> {
        connection.busy_timeout(LOG_PAUSE)?;
        copy_log(connection, "TRUNCATE")?;
        Ok(connection.busy_timeout(self.options.busy_timeout)?)
    }

    /// Explains why the file cannot be opened for writing.
    fn write_error(&self, failure: Failure) -> Error {
        if failure.has_code(ErrorCode::CannotOpen) && self.file().is_none() && cfg!(unix) {
            return Error::Failed(cause::Failed::FileGone { path: self.path.clone() });
        }
        if is_permission(&failure)
            && let Some(cause) = file::foreign_owner(&self.path)
        {
            return Error::ReadOnly(cause);
        }
        failure.into_error(Doing::Writing, &self.path)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file does not exist.
    #[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
    pub(crate) fn is_missing(&self) -> bool {
        !self.path.exists()
    }

    /// Returns the file as an SQLite URI with a setting; none if its name is not UTF-8.
    fn uri(&self, setting: &str) -> Option<String> {
        let path = self.path.to_str()?;
        let plain = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        Some(format!("file://{plain}?{setting}"))
    }

    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
    fn file(&self) -> Option<FileNumber> {
        use std::os::unix::fs::MetadataExt;
        let file = std::fs::metadata(&self.path).ok()?;
        Some((file.dev(), file.ino(), file.nlink()))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "other systems have no inode numbers to compare")]
    fn file(&self) -> Option<FileNumber> {
        None
    }
}

/// Copies the log into the database. Returns false if a reader or a writer kept it from copying everything.
pub(crate) fn copy_log(connection: &Connection, how: &str) -> Outcome<bool> {
    let sql = format!("PRAGMA wal_checkpoint({how})");
    let busy: i64 = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(busy == 0)
}

/// Makes SQLite ignore the triggers, views and functions of the file's schema.
fn harden(connection: &Connection) -> Outcome<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}

fn prepare_to_write(connection: &Connection, path: &Path) -> Outcome<()> {
    // This comes before the first read, which would create a log.
    if connection.is_readonly(MAIN)? {
        let (path, detail) = (path.to_owned(), "permission denied".to_owned());
        return Err(Error::ReadOnly(cause::ReadOnly::File { path, detail }).into());
    }
    // This comes before the first change: the file may belong to another application.
    let format = schema::format(connection, path)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::Failed(cause::Failed::NoLog { path: path.to_owned(), mode }).into());
    }
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    // The writer copies the log into the database itself, after it has sent its results.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    if format != Format::Known(FORMAT) {
        schema::migrate(connection, path)?;
    }
    schema::verify(connection, FORMAT)
}

fn prepare_to_read(connection: &Connection, path: &Path) -> Outcome<()> {
    connection.pragma_update(None, "query_only", true)?;
    match schema::format(connection, path)? {
        Format::Known(found) => schema::verify(connection, found),
        Format::Empty => Err(Error::Address(cause::Address::Empty { path: path.to_owned() }).into()),
    }
}

fn limit(connection: &Connection, bytes_max: u64) -> Outcome<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(bytes_max).unwrap_or(i64::MAX) / page.max(1);
    connection.pragma_update(None, "max_page_count", pages.clamp(1, i64::from(u32::MAX - 1)))?;
    Ok(())
}

/// Retries while another process creates the file: SQLite does not wait for that by itself.
#[expect(clippy::disallowed_methods, reason = "opening a file may wait for another process")]
fn retry_while_busy(timeout: Duration, open: impl Fn() -> Outcome<Opened>) -> Outcome<Opened> {
    let started = Instant::now();
    loop {
        match open() {
            Err(failure) if failure.is_locked() && started.elapsed() < timeout => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
}

/// Whether SQLite may not write the file, or may create no file beside it.
fn is_permission(failure: &Failure) -> bool {
    [ErrorCode::CannotOpen, ErrorCode::ReadOnly].iter().any(|code| failure.has_code(*code))
}
