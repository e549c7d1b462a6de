//! Whether a program still uses a session file.
//!
//! A program that has a file open writes to the old bytes after a rename, and loses them. A program that opens the file for
//! each record may open it at any moment. So a file that is open, or that changed a moment ago, is not replaced.

use std::fs::{File, Metadata, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::failure::Failure;
use crate::screen;

/// How long a file has to be unchanged.
pub(crate) const REST: Duration = Duration::from_secs(10);

/// How long a tool may run that is the last thing in a session. Its program writes nothing meanwhile.
const TOOL: Duration = Duration::from_mins(10);

/// The time since a session changed, if the tool that it waits for may still run.
pub(crate) fn tool_may_run(modified: Option<SystemTime>, now: SystemTime) -> Option<Duration> {
    let distance = now.duration_since(modified?).unwrap_or_else(|error| error.duration());
    (distance < TOOL).then_some(distance)
}

/// Why a file counts as used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InUse {
    /// Processes have it open.
    Open(Vec<Holder>),
    /// A process holds a lock on it.
    Locked,
    /// It changed this long ago.
    Changed(Duration),
}

/// A process that has a file open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// The name of its command.
    pub(crate) command: String,
}

impl InUse {
    /// The reason in one clause.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Open(holders) => {
                let one =
                    |holder: &Holder| format!("`{}` (process {})", screen::printable(&holder.command), holder.pid);
                let all: Vec<_> = holders.iter().map(one).collect();
                let have = if holders.len() == 1 { "has" } else { "have" };
                format!("{} {have} it open", all.join(" and "))
            }
            Self::Locked => "another process holds a lock on it".to_owned(),
            Self::Changed(ago) => match ago.as_secs() {
                0 => "it changed less than a second ago".to_owned(),
                seconds => format!("it changed {} ago", screen::count(seconds as usize, "second")),
            },
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Open(_) | Self::Locked => "end that program first; `--force` writes the file anyway",
            Self::Changed(_) => {
                "its program may still be writing; end it and wait 10 seconds; `--force` writes the file anyway"
            }
        }
    }
}

impl From<InUse> for Failure {
    fn from(in_use: InUse) -> Self {
        Self::new(format!("{}; nothing was changed", in_use.reason())).with_hint(in_use.hint())
    }
}

/// Finds out whether a program uses a file: it is open, it is locked, or it changed within the last seconds.
pub(crate) fn look(path: &Path) -> Option<InUse> {
    let metadata = path.metadata().ok()?;
    let holders = holders(&metadata);
    if !holders.is_empty() {
        return Some(InUse::Open(holders));
    }
    let is_locked = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    if File::open(path).is_ok_and(is_locked) {
        return Some(InUse::Locked);
    }
    changed_lately(&metadata, SystemTime::now())
}

/// Whether a file changed within the last seconds.
pub(crate) fn changed_lately(file: &Metadata, now: SystemTime) -> Option<InUse> {
    let modified = file.modified().ok()?;
    // A clock that was set back may leave a time that is a little ahead.
    let distance = now.duration_since(modified).unwrap_or_else(|error| error.duration());
    (distance < REST).then_some(InUse::Changed(distance))
}

/// As [`look`], for a database: a process that uses it has it open or the log beside it.
pub(crate) fn look_at_database(path: &Path) -> Option<InUse> {
    let [log, index] = ["-wal", "-shm"].map(|ending| beside(path, ending));
    look(path).or_else(|| look(&log)).or_else(|| look_again(&index))
}

/// The path of a file that SQLite keeps beside a database.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Finds out whether another process opened a file after the first look. The lock and the bytes are known.
pub(crate) fn look_again(path: &Path) -> Option<InUse> {
    let holders = path.metadata().map(|metadata| holders(&metadata)).unwrap_or_default();
    (!holders.is_empty()).then_some(InUse::Open(holders))
}

/// How often a file is looked at while other processes close it, and the time between two looks.
const LOOKS: usize = 50;
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// Waits until no other process has a file open that has lost its name, so that no process can open it any more. Returns
/// the processes that do not close it in time.
pub(crate) fn wait_for_holders(file: &File) -> Option<InUse> {
    let metadata = file.metadata().ok()?;
    let mut found = Vec::new();
    for _ in 0..LOOKS {
        found = holders(&metadata);
        if found.is_empty() {
            return None;
        }
        std::thread::sleep(LOOK_PAUSE);
    }
    Some(InUse::Open(found))
}

/// The other processes that have a file open, as far as this user may know.
#[cfg(target_os = "linux")]
fn holders(file: &Metadata) -> Vec<Holder> {
    let own = std::process::id();
    let pids = names(Path::new("/proc")).filter_map(|name| name.parse::<u32>().ok());
    let mut holders: Vec<_> = pids.filter(|pid| *pid != own).filter_map(|pid| linux::holder(pid, file)).collect();
    holders.sort_by_key(|holder| holder.pid);
    holders
}

/// Other systems do not tell which processes have a file open; only a lock shows one.
#[cfg(not(target_os = "linux"))]
fn holders(_: &Metadata) -> Vec<Holder> {
    Vec::new()
}

/// The names in a folder; none if it cannot be read.
#[cfg(target_os = "linux")]
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::MetadataExt as _;

    use super::{Holder, Metadata, Path, names};

    pub(super) fn holder(pid: u32, file: &Metadata) -> Option<Holder> {
        let process = Path::new("/proc").join(pid.to_string());
        let folder = process.join("fd");
        let is_file = |name: &String| {
            let found = folder.join(name).metadata();
            found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
        };
        let is_open = names(&folder).filter(is_file).any(|name| !is_own_reader(&process, &name));
        let command = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
        is_open.then(|| Holder { pid, command: command.trim_end().to_owned() })
    }

    /// The bits of the flags that say whether a file is read or written.
    const ACCESS_MODE: u32 = 0o3;
    const READ_ONLY: u32 = 0;

    /// Whether the process is this command and only reads: `seamline watch` or another check.
    fn is_own_reader(process: &Path, descriptor: &str) -> bool {
        let exe = |process: &Path| std::fs::read_link(process.join("exe")).ok();
        let info = std::fs::read_to_string(process.join("fdinfo").join(descriptor)).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & ACCESS_MODE == READ_ONLY)
            && exe(process).is_some()
            && exe(process) == exe(Path::new("/proc/self"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_age(path: &Path, age: Duration) {
        File::options().append(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        assert!(matches!(look(&path), Some(InUse::Changed(_))));
        set_age(&path, REST + Duration::from_secs(1));
        assert_eq!(look(&path), None);
    }

    #[test]
    fn a_locked_file_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        set_age(&path, 2 * REST);
        let held = File::open(&path).unwrap();
        held.lock().unwrap();
        assert_eq!(look(&path), Some(InUse::Locked));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_that_has_a_file_open_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        set_age(&path, 2 * REST);
        let open = File::options().append(true).open(&path).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").stdout(open).spawn().unwrap();
        let found = loop {
            // The child has its own name after it has started its program.
            match look(&path) {
                Some(InUse::Open(holders)) if holders[0].command == "sleep" => break holders,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert_eq!(found, [Holder { pid: child.id(), command: "sleep".to_owned() }]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(look(&path), None);
    }
}
