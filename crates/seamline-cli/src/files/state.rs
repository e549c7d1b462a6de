//! The folder where bytes are kept that a repair replaced.
//!
//! ```text
//! $XDG_STATE_HOME/seamline/
//!   sessions.db                      sessions, unless another store is named
//!   objects/<hash>                   bytes, by their BLAKE3
//!   repairs/<hash of the path>/lock  held while a file's repairs are written or taken back
//!   repairs/<hash of the path>/1     the first repair of that file, 2 the second, …
//! ```

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::hash;
use super::replace::{folder as folder_of, sync_folder};
use crate::failure::Failure;

/// The folder, made when something is kept in it.
#[derive(Debug)]
pub(crate) struct State {
    root: PathBuf,
}

impl State {
    /// The user's state folder.
    pub(crate) fn find() -> Result<Self, Failure> {
        let root = folder().ok_or_else(|| {
            Failure::new("no place to keep the old bytes: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("set one of them, or use `--output FILE`")
        })?;
        Ok(Self { root })
    }

    /// Keeps bytes under their hash, durably.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<String, Failure> {
        let hash = hash(bytes);
        let path = self.object(&hash);
        let failed = |error: std::io::Error| self.failed(&error);
        if std::fs::read(&path).is_ok_and(|kept| kept == bytes) {
            return Ok(hash);
        }
        make_folder(&self.root.join("objects")).map_err(failed)?;
        write_new(&path, bytes).map_err(failed)?;
        Ok(hash)
    }

    /// The bytes that were kept under a hash.
    pub(crate) fn get(&self, wanted: &str) -> Result<Vec<u8>, Failure> {
        let path = self.object(wanted);
        let bytes = std::fs::read(&path).map_err(|error| Failure::io("read the bytes that were kept", &error))?;
        if hash(&bytes) == wanted {
            Ok(bytes)
        } else {
            Err(Failure::new(format!("the bytes kept in `{}` are damaged", path.display())))
        }
    }

    /// Where the bytes with a hash are.
    pub(crate) fn object(&self, hash: &str) -> PathBuf {
        self.root.join("objects").join(hash)
    }

    /// Whether a file was ever repaired.
    pub(crate) fn has_repairs_of(&self, path: &Path) -> bool {
        self.folder_of(path).is_dir()
    }

    fn folder_of(&self, path: &Path) -> PathBuf {
        let key = hash(path.as_os_str().as_encoded_bytes());
        self.root.join("repairs").join(key)
    }

    /// The folder of a file's repairs, locked until what is returned is dropped.
    pub(crate) fn repairs_of(&self, path: &Path) -> Result<Repairs, Failure> {
        let failed = |error: std::io::Error| self.failed(&error);
        let folder = self.folder_of(path);
        make_folder(&folder).map_err(failed)?;
        let lock = OpenOptions::new().create(true).append(true).open(folder.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
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

/// Our part of the user's state folder, as the XDG base directory specification has it.
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
fn numbers(folder: &Path) -> std::io::Result<Vec<u64>> {
    let names = entries(folder)?.into_iter();
    let mut numbers: Vec<u64> = names.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// What is in a folder; nothing when there is none.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// A folder for its owner only: conversations are private.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file that is there as a whole, durably, or not at all. Only its owner may read it.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut draft = tempfile::Builder::new().suffix(".draft").tempfile_in(folder_of(path))?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}
