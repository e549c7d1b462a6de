//! The folder that keeps the bytes that repairs replaced.
//!
//! ```text
//! $XDG_STATE_HOME/seamline/
//!   sessions.db                      sessions, unless another store is named
//!   lock                             held while repairs are written or undone, alone while they are pruned
//!   objects/<hash>                   bytes, by their BLAKE3
//!   repairs/<hash of the path>/lock  held while repairs of a file are written or undone
//!   repairs/<hash of the path>/1     the first repair of that file, 2 the second, …
//! ```

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::replace::{folder as folder_of, sync_folder};
use super::{drafts, hash, hash_file};
use crate::failure::Failure;

/// The state folder; it is created when something is stored in it.
#[derive(Debug)]
pub(crate) struct State {
    root: PathBuf,
}

impl State {
    /// The user's state folder.
    pub(crate) fn find() -> Result<Self, Failure> {
        let root = folder().ok_or_else(|| {
            Failure::new("no folder for the old bytes: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("set one of them, or use `--output FILE`")
        })?;
        Ok(Self { root })
    }

    /// Whether anything was stored.
    pub(super) fn is_there(&self) -> bool {
        self.root.is_dir()
    }

    /// Stores bytes under their hash, durably.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<String, Failure> {
        let hash = hash(bytes);
        let path = self.object(&hash);
        let failed = |error: std::io::Error| self.failed(&error);
        if std::fs::read(&path).is_ok_and(|kept| kept == bytes) {
            return Ok(hash);
        }
        let folder = self.root.join("objects");
        make_folder(&folder).map_err(failed)?;
        drafts::remove_stale(&folder, drafts::is_of_state);
        write_new(&path, bytes).map_err(failed)?;
        Ok(hash)
    }

    /// Creates an empty file beside the stored bytes, for bytes that another library writes. Dropping it removes it.
    pub(super) fn draft(&self) -> Result<NamedTempFile, Failure> {
        let failed = |error: std::io::Error| self.failed(&error);
        let folder = self.root.join("objects");
        make_folder(&folder).map_err(failed)?;
        drafts::remove_stale(&folder, drafts::is_of_state);
        let draft = tempfile::Builder::new().suffix(".draft").tempfile_in(folder).map_err(failed)?;
        drafts::hold(draft.as_file());
        Ok(draft)
    }

    /// Stores the bytes of a draft under their hash, durably.
    pub(super) fn keep_draft(&self, draft: NamedTempFile) -> std::io::Result<String> {
        let hash = hash_file(&mut File::open(draft.path())?)?;
        let path = self.object(&hash);
        draft.as_file().sync_all()?;
        draft.persist(&path).map_err(|error| error.error)?;
        sync_folder(&path)?;
        Ok(hash)
    }

    /// Keeps a prune from removing what this process writes, until the value is dropped.
    pub(crate) fn share(&self) -> Result<File, Failure> {
        self.lock_with(File::lock_shared)
    }

    /// Keeps every other process from writing or undoing repairs, until the value is dropped.
    pub(super) fn lock(&self) -> Result<File, Failure> {
        self.lock_with(File::lock)
    }

    fn lock_with(&self, lock: fn(&File) -> std::io::Result<()>) -> Result<File, Failure> {
        let failed = |error: std::io::Error| self.failed(&error);
        make_folder(&self.root).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.root.join("lock")).map_err(failed)?;
        lock(&file).map_err(failed)?;
        Ok(file)
    }

    /// The folders with the repairs of a file, and the folder with the old bytes.
    pub(super) fn folders(&self) -> std::io::Result<(Vec<PathBuf>, PathBuf)> {
        Ok((entries(&self.root.join("repairs"))?, self.root.join("objects")))
    }

    /// Reads the bytes that are stored under a hash.
    pub(crate) fn get(&self, wanted: &str) -> Result<Vec<u8>, Failure> {
        let path = self.object(wanted);
        let bytes = std::fs::read(&path).map_err(|error| Failure::io("read the stored bytes", &error))?;
        if hash(&bytes) == wanted {
            Ok(bytes)
        } else {
            Err(Failure::new(format!("the bytes stored in `{}` are damaged", path.display())))
        }
    }

    /// The path of the bytes with a hash.
    pub(crate) fn object(&self, hash: &str) -> PathBuf {
        self.root.join("objects").join(hash)
    }

    /// Whether repairs of a file are recorded.
    pub(crate) fn has_repairs_of(&self, path: &Path) -> bool {
        self.folder_of(path).is_dir()
    }

    fn folder_of(&self, path: &Path) -> PathBuf {
        let key = hash(path.as_os_str().as_encoded_bytes());
        self.root.join("repairs").join(key)
    }

    /// Opens the folder of a file's repairs. The lock is held until the value is dropped.
    pub(crate) fn repairs_of(&self, path: &Path) -> Result<Repairs, Failure> {
        let failed = |error: std::io::Error| self.failed(&error);
        let folder = self.folder_of(path);
        make_folder(&folder).map_err(failed)?;
        let lock = OpenOptions::new().create(true).append(true).open(folder.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        drafts::remove_stale(&folder, drafts::is_of_state);
        Ok(Repairs { folder, _lock: lock })
    }

    /// The records of all repairs, as text; those of one file in the order of their numbers.
    pub(crate) fn records(&self) -> std::io::Result<Vec<String>> {
        let mut records = Vec::new();
        for folder in entries(&self.root.join("repairs"))? {
            for number in numbers(&folder)? {
                records.push(std::fs::read_to_string(folder.join(number.to_string()))?);
            }
        }
        Ok(records)
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        let failure = Failure::io("keep the old bytes", error);
        Failure {
            message: format!("{} (in `{}`)", failure.message, self.root.display()),
            hint: Some("set XDG_STATE_HOME to a folder you can write to, or use `--output FILE`".to_owned()),
        }
    }
}

/// Seamline's part of the user's state folder, as the XDG base directory specification defines it.
pub(crate) fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let folder = absolute("XDG_STATE_HOME").or_else(home)?;
    Some(folder.join("seamline"))
}

/// The repairs of one file, from the first to the last.
#[derive(Debug)]
pub(crate) struct Repairs {
    folder: PathBuf,
    _lock: File,
}

impl Repairs {
    /// The numbers of the repairs, the last one last.
    pub(crate) fn numbers(&self) -> std::io::Result<Vec<u64>> {
        numbers(&self.folder)
    }

    /// Writes the record of a further repair, durably.
    pub(crate) fn push(&self, record: &str) -> std::io::Result<u64> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        write_new(&self.path(number), record.as_bytes())?;
        Ok(number)
    }

    /// Replaces the record of a repair, durably.
    pub(super) fn replace(&self, number: u64, record: &str) -> std::io::Result<()> {
        write_new(&self.path(number), record.as_bytes())
    }

    pub(crate) fn read(&self, number: u64) -> std::io::Result<String> {
        std::fs::read_to_string(self.path(number))
    }

    pub(crate) fn remove(&self, number: u64) -> std::io::Result<()> {
        let path = self.path(number);
        std::fs::remove_file(&path)?;
        sync_folder(&path)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(number.to_string())
    }
}

/// The numbers among the names in a folder, in order.
pub(super) fn numbers(folder: &Path) -> std::io::Result<Vec<u64>> {
    let names = entries(folder)?.into_iter();
    let mut numbers: Vec<u64> = names.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Lists a folder; a missing folder is empty.
pub(super) fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Creates a folder that only its owner can read: conversations are private.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file atomically and durably. Only its owner can read it.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut draft = tempfile::Builder::new().suffix(".draft").tempfile_in(folder_of(path))?;
    drafts::hold(draft.as_file());
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}
