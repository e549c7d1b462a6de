//! Keeps request bodies that a provider rejected, with every text taken out. Off unless the configuration turns it on.

mod redact;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;

use crate::log;

pub use redact::redact;

/// The most bodies that wait to be written. They may be large.
const WAITING_MAX: usize = 4;

/// The settings of kept bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepSettings {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The largest file, in bytes. The end of a larger one is cut off.
    pub bytes_max: usize,
    /// The most files. The oldest one makes room.
    pub count_max: usize,
}

impl KeepSettings {
    /// The default settings for a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), bytes_max: 1 << 20, count_max: 50 }
    }
}

/// Takes rejected bodies, and has a thread redact and write them.
#[derive(Debug)]
pub struct RejectedBodies {
    sender: Mutex<Option<SyncSender<(String, Bytes)>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl RejectedBodies {
    /// Creates the folder and starts the thread. `complain` hears of the first file that cannot be written.
    ///
    /// # Errors
    /// Fails when the folder cannot be created.
    pub fn start(settings: KeepSettings, complain: impl Fn(&std::io::Error) + Send + 'static) -> std::io::Result<Self> {
        make_folder(&settings.folder)?;
        let (sender, bodies) = sync_channel::<(String, Bytes)>(WAITING_MAX);
        let write_all = move || {
            let mut has_failed = false;
            for (name, body) in bodies {
                if let Err(error) = write(&settings, &name, &body)
                    && !std::mem::replace(&mut has_failed, true)
                {
                    complain(&error);
                }
            }
        };
        let thread = std::thread::Builder::new().name("seamline-rejected".to_owned()).spawn(write_all)?;
        Ok(Self { sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Takes the body of an incident. Drops it where others wait already.
    pub fn take(&self, incident: &str, body: &Bytes) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref()
            && let Err(TrySendError::Full(_)) = sender.try_send((incident.to_owned(), body.clone()))
        {
            log::record_dropped_body();
        }
    }

    /// Writes the remaining bodies and ends the thread.
    pub fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A panic of the thread is a bug of ours; no request waited for it.
            let _ = thread.join();
        }
    }
}

/// Writes one body, redacted, and removes the oldest ones.
fn write(settings: &KeepSettings, incident: &str, body: &[u8]) -> std::io::Result<()> {
    let name: String = incident.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let mut redacted = redact(body, &rand_key());
    redacted.truncate(settings.bytes_max);
    make_room(settings)?;
    let path = settings.folder.join(format!("{name}{ENDING}"));
    create_private(&path)?.write_all(&redacted)
}

/// The end of the names of kept bodies.
const ENDING: &str = ".redacted.json";

/// A key for one file: equal texts of a file have equal hashes, and a hash tells nothing about a guessed text.
fn rand_key() -> [u8; 32] {
    use std::hash::{BuildHasher as _, RandomState};
    let mut key = [0; 32];
    for (index, part) in key.chunks_exact_mut(8).enumerate() {
        part.copy_from_slice(&RandomState::new().hash_one(index).to_le_bytes());
    }
    key
}

/// Removes the oldest kept bodies until there is room for one more. Names of incidents sort by their time.
fn make_room(settings: &KeepSettings) -> std::io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(&settings.folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.ends_with(ENDING)) {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    kept.sort();
    let surplus = (kept.len() + 1).saturating_sub(settings.count_max.max(1));
    kept.iter().take(surplus).try_for_each(|(_, path)| std::fs::remove_file(path))
}

fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = r#"{"model":"m","messages":[{"role":"user","content":"my password is hunter2"}]}"#;

    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_kept_body_is_private_and_has_no_text() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("rejected");
        let bodies = RejectedBodies::start(KeepSettings::new(&folder), |error| panic!("{error}")).unwrap();
        bodies.take("abc-1", &Bytes::from_static(SECRET.as_bytes()));
        bodies.close();
        bodies.take("abc-2", &Bytes::from_static(SECRET.as_bytes()));
        assert_eq!(names(&folder), ["abc-1.redacted.json"]);
        let text = std::fs::read_to_string(folder.join("abc-1.redacted.json")).unwrap();
        assert!(!text.contains("hunter2") && text.contains(r#""role":"user""#), "{text}");
        #[cfg(unix)]
        for (path, mode) in [(folder.clone(), 0o700), (folder.join("abc-1.redacted.json"), 0o600)] {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{path:?}");
        }
    }

    #[test]
    fn files_are_bounded_in_size_and_number() {
        let folder = tempfile::tempdir().unwrap();
        let settings = KeepSettings { bytes_max: 40, count_max: 2, ..KeepSettings::new(folder.path()) };
        std::fs::write(folder.path().join("other.txt"), "stays").unwrap();
        for (number, day) in [(1, 1), (2, 2), (3, 3)] {
            let name = format!("a-{number}");
            write(&settings, &name, SECRET.as_bytes()).unwrap();
            let path = folder.path().join(format!("{name}{ENDING}"));
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(24 * day);
            File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            assert!(path.metadata().unwrap().len() <= 40);
        }
        assert_eq!(names(folder.path()), ["a-2.redacted.json", "a-3.redacted.json", "other.txt"]);
        // A name never leaves the folder.
        write(&settings, "../../b-4", SECRET.as_bytes()).unwrap();
        assert!(names(folder.path()).contains(&"b-4.redacted.json".to_owned()));
    }
}
