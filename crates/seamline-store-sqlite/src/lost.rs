//! Damaged write-ahead logs: finds them before SQLite opens the file, and keeps their bytes beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use seamline_store::{Hash, LogLoss, SessionId};
use serde_json::{Value, json};

use crate::file::{beside, sync_folder};
use crate::index_file;
use crate::wal::{self, INDEX, Index, Log};

/// The end of the name of the folder beside the database that keeps damaged logs.
const FOLDER: &str = "-quarantine";

/// The length of the name of a kept log, and the bytes that are copied at a time.
const NAME_LEN: usize = 16;
const PIECE: usize = 1 << 20;

/// How often the log is read again when another connection changes it meanwhile.
const TRIES: usize = 4;

/// Looks for commits that SQLite would not recover. Returns nothing while another process has the file open: its first
/// connection looked before.
pub(crate) fn examine(path: &Path) -> io::Result<Option<wal::Loss>> {
    for _ in 0..TRIES {
        let Some(seen) = Seen::read(path)? else { return Ok(None) };
        let Some(loss) = seen.judge() else { return Ok(None) };
        // A connection that opened the file in the meantime changed the log or its index.
        if Seen::read(path)?.as_ref() == Some(&seen) {
            return Ok(Some(loss));
        }
    }
    Ok(None)
}

/// The log and its index, as they were read.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    log: Log,
    index: Option<[u8; INDEX]>,
    is_fresh: bool,
}

impl Seen {
    /// Reads both files; nothing if neither can have commits, or a process has the database open.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        // The index is read first: a log that is read later has all commits that the index knows.
        let index = match index_file::read(&beside(path, "-shm"))? {
            index_file::Found::InUse => return Ok(None),
            index_file::Found::Idle { bytes, is_fresh } => Some((bytes, is_fresh)),
            index_file::Found::Nothing => None,
        };
        let log = match open(&log_of(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Log::default(),
            log => Log::read(BufReader::with_capacity(1 << 16, log?))?,
        };
        let (index, is_fresh) = index.unzip();
        Ok(Some(Self { log, index, is_fresh: is_fresh.unwrap_or_default() }))
    }

    fn judge(&self) -> Option<wal::Loss> {
        wal::judge(&self.log, self.index.as_ref().and_then(Index::read).as_ref(), self.is_fresh)
    }
}

/// Copies the log into the quarantine and notes the loss there. Only the owner can read the files.
///
/// The same log is kept once, also if two processes find it at the same time.
pub(crate) fn keep(path: &Path, loss: wal::Loss) -> io::Result<()> {
    let folder = beside(path, FOLDER);
    create_folder(path, &folder)?;
    let draft = folder.join(format!("draft-{}", std::process::id()));
    let copied = match open(&log_of(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Hash::ZERO),
        log => log.and_then(|log| create(&draft)?.fill_from(log)),
    };
    // The note comes last: a log without a note is not reported, and is found again.
    let noted = copied.and_then(|hash| {
        let mut name = hash.to_string();
        name.truncate(NAME_LEN);
        if exists(&draft) {
            rename(&draft, &folder.join(format!("{name}.wal")))?;
        }
        let place = folder.join(format!("{name}.json"));
        // The note of an earlier opening knows the sessions.
        if Note::read(&place).is_some() {
            return Ok(());
        }
        Note { is_certain: loss == wal::Loss::Certain, heads: None }.write(&place)
    });
    if noted.is_err() {
        // The first error is the one to report.
        let _ = remove(&draft);
    }
    noted.and_then(|()| adopt(path, &folder)).and_then(|()| sync_folder(&folder))
}

/// Returns the losses that the quarantine beside a database has.
pub(crate) fn losses(path: &Path) -> io::Result<Vec<LogLoss>> {
    let mut found = Vec::new();
    let notes = match notes(path) {
        // Another user keeps a log that this one may not see.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(vec![LogLoss { is_certain: false, kept: Some(beside(path, FOLDER)), heads: None }]);
        }
        notes => notes?,
    };
    for place in notes {
        // A note that cannot be read still says that there was a loss.
        let note = Note::read(&place).unwrap_or(Note { is_certain: false, heads: None });
        let kept = Some(place.with_extension("wal")).filter(|log| exists(log));
        found.push(LogLoss { is_certain: note.is_certain, kept, heads: note.heads });
    }
    Ok(found)
}

/// Adds the heads of all sessions to the notes that do not have them. Sessions that come later are not concerned.
pub(crate) fn settle(path: &Path, heads: impl FnOnce() -> Option<BTreeMap<SessionId, u64>>) -> io::Result<()> {
    let is_open = |place: &PathBuf| Note::read(place).is_none_or(|note| note.heads.is_none());
    let open: Vec<PathBuf> = notes(path)?.into_iter().filter(is_open).collect();
    let Some(heads) = (if open.is_empty() { None } else { heads() }) else { return Ok(()) };
    for place in open {
        let is_certain = Note::read(&place).is_some_and(|note| note.is_certain);
        Note { is_certain, heads: Some(heads.clone()) }.write(&place)?;
    }
    Ok(())
}

/// Whether the quarantine keeps a log, which may have bytes of any session.
pub(crate) fn kept_logs(path: &Path) -> Option<PathBuf> {
    let is_kept = losses(path).is_ok_and(|losses| losses.iter().any(|loss| loss.kept.is_some()));
    is_kept.then(|| beside(path, FOLDER))
}

/// The note of the quarantine about a loss.
struct Note {
    is_certain: bool,
    heads: Option<BTreeMap<SessionId, u64>>,
}

impl Note {
    #[expect(clippy::disallowed_methods, reason = "a file store reads the notes beside its file")]
    fn read(place: &Path) -> Option<Self> {
        let note: Value = serde_json::from_slice(&std::fs::read(place).ok()?).ok()?;
        let heads = note.get("heads").and_then(Value::as_object).map(|heads| {
            heads.iter().filter_map(|(session, seq)| Some((session.parse().ok()?, seq.as_u64()?))).collect()
        });
        Some(Self { is_certain: note.get("is_certain")?.as_bool()?, heads })
    }

    /// Writes the note completely or not at all.
    fn write(&self, place: &Path) -> io::Result<()> {
        let draft = place.with_extension(format!("draft-{}", std::process::id()));
        let written = create(&draft).and_then(|file| file.fill_from(self.to_json().as_bytes()));
        let written = written.and_then(|_| rename(&draft, place));
        if written.is_err() {
            let _ = remove(&draft);
        }
        written
    }

    fn to_json(&self) -> String {
        let heads: Option<BTreeMap<&str, u64>> =
            self.heads.as_ref().map(|heads| heads.iter().map(|(session, seq)| (session.as_str(), *seq)).collect());
        json!({ "version": 1, "is_certain": self.is_certain, "heads": heads }).to_string()
    }
}

/// Returns the notes in the quarantine, by name.
#[expect(clippy::disallowed_methods, reason = "a file store reads the notes beside its file")]
fn notes(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(beside(path, FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut notes = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    notes.retain(|place| place.extension().is_some_and(|end| end == "json"));
    notes.sort();
    Ok(notes)
}

fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

#[expect(clippy::disallowed_methods, reason = "a file store reads the log beside its file")]
fn open(path: &Path) -> io::Result<File> {
    // SQLite puts no locks on the log, so closing it releases none.
    File::open(path)
}

#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
fn exists(path: &Path) -> bool {
    path.exists()
}

#[expect(clippy::disallowed_methods, reason = "a file store keeps damaged bytes beside its file")]
fn create_folder(path: &Path, folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Gives the quarantine to the owner of the database, who may be another user than the one who found the damage.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file store keeps damaged bytes beside its file")]
fn adopt(path: &Path, folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path)?;
    let inside = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    for place in std::iter::once(folder.to_owned()).chain(inside) {
        if std::fs::metadata(&place).is_ok_and(|found| found.uid() != owner.uid()) {
            // Only root may do that. Another user has written into a folder that it shares with the owner.
            let _ = std::os::unix::fs::chown(&place, Some(owner.uid()), Some(owner.gid()));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn adopt(_path: &Path, _folder: &Path) -> io::Result<()> {
    Ok(())
}

/// A new file that only the owner can read.
struct Draft(File);

#[expect(clippy::disallowed_methods, reason = "a file store keeps damaged bytes beside its file")]
fn create(path: &Path) -> io::Result<Draft> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok(Draft(options.open(path)?))
}

impl Draft {
    /// Copies bytes in pieces, since a log can be large, and returns a hash of them.
    fn fill_from(mut self, from: impl Read) -> io::Result<Hash> {
        let (mut from, mut piece, mut hash) = (BufReader::new(from), vec![0; PIECE], Hash::ZERO);
        loop {
            let count = wal::fill(&mut from, &mut piece)?;
            self.0.write_all(&piece[..count])?;
            hash = hash.then(&piece[..count]);
            if count < piece.len() {
                self.0.sync_all()?;
                return Ok(hash);
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a file store keeps damaged bytes beside its file")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "a file store keeps damaged bytes beside its file")]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}
