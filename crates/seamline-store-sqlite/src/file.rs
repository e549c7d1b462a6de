//! The file itself, before SQLite has it.

use std::io;
use std::path::{Path, PathBuf};

use seamline_store::Error;

/// Makes the file if there is none, for nobody else to read, and the folders it is in.
///
/// The file is only opened here where there was none: closing one that is there would take the locks from SQLite's
/// other connections of this process.
#[expect(clippy::disallowed_methods, reason = "a store of files makes its file")]
pub(crate) fn make(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
    if let Some(folder) = missing.first() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // SQLite syncs the folder that the file is in, and knows nothing of those above it.
        made => made.and_then(|_| missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)),
    }
}

/// Refuses to make a file beside a log of another one: SQLite would throw away what is in it.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn can_be_made(path: &Path) -> Result<(), Error> {
    // Looked at last, a file that another process is just making is there.
    if is_without_log(path) || path.exists() {
        return Ok(());
    }
    let (name, log) = (path.display(), beside(path, "-wal"));
    Err(Error::Address(format!(
        "`{name}` is not there, but its log `{}` is: the file was moved or removed without it\n\
         hint: bring the file back, or move the log along with it (its name is that of the file and `-wal`)",
        log.display()
    )))
}

/// Refuses a file that has more than one name. SQLite keeps the log beside the name that the file is opened under, so
/// what is written through one name is not there under the other, and each takes the other's commits away.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn has_one_name(path: &Path) -> Result<(), Error> {
    let names = std::fs::metadata(path).map_or(1, |found| std::os::unix::fs::MetadataExt::nlink(&found));
    if names <= 1 {
        return Ok(());
    }
    let name = path.display();
    Err(Error::Address(format!(
        "`{name}` has {names} names (hard links), and what is written under one would be lost under the other\n\
         hint: remove the other names, or make a copy in place of the link"
    )))
}

#[cfg(not(unix))]
pub(crate) fn has_one_name(_path: &Path) -> Result<(), Error> {
    Ok(())
}

/// Refuses what is there and no file.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn can_be_a_store(path: &Path) -> Result<(), Error> {
    let name = path.display();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            let inside = path.join("sessions.db");
            Err(Error::Address(format!(
                "`{name}` is a folder\nhint: name a file in it, such as `{}`",
                inside.display()
            )))
        }
        Ok(found) if !found.is_file() => Err(Error::Address(format!("`{name}` is no file that a store can be in"))),
        _ => Ok(()),
    }
}

/// Why a file cannot be opened for reading.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn unreadable(path: &Path) -> Error {
    let name = path.display();
    if !path.exists() {
        return Error::Address(format!("there is no store at `{name}`: there is no such file"));
    }
    let hint = "see with `ls -l` who may read it and what stands beside it";
    Error::Address(format!("`{name}` may not be read\nhint: {hint}"))
}

/// A file that SQLite keeps beside the database: beside the file itself, and not beside a link to it.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(end);
    name.into()
}

/// Whether the log and its index are there, as they are while somebody has the file open, and after a crash.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn has_log(path: &Path) -> bool {
    ["-wal", "-shm"].iter().all(|end| beside(path, end).exists())
}

/// Whether nothing is in the log.
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn is_without_log(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).map_or(true, |log| log.len() == 0)
}

/// What keeps those who may write the database from writing it: files beside it that another user made.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a store of files looks at its files")]
pub(crate) fn belongs_to_another(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path).ok()?.uid();
    ["-wal", "-shm"].iter().find_map(|end| {
        let beside = beside(path, end);
        let other = std::fs::metadata(&beside).ok().map(|found| found.uid()).filter(|other| *other != owner)?;
        let (name, log, index) = (path.display(), self::beside(path, "-wal"), self::beside(path, "-shm"));
        let (beside, log, index) = (beside.display(), log.display(), index.display());
        let hint = if is_without_log(path) {
            format!("nothing is in the log: once no process has the store open, delete `{log}` and `{index}`")
        } else {
            format!(
                "the log holds what is nowhere else: do not delete it; \
                 `chown --reference='{name}' '{log}' '{index}'` as root gives it back"
            )
        };
        Some(format!("`{beside}` belongs to user {other}, and `{name}` to user {owner}\nhint: {hint}"))
    })
}

#[cfg(not(unix))]
pub(crate) fn belongs_to_another(_path: &Path) -> Option<String> {
    None
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a folder that was made is to be there after a crash")]
fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// What the file system says, in the words of a store.
pub(crate) fn of_io(path: &Path, error: &io::Error) -> Error {
    let why = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::NoSpace(why),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(why),
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => Error::Address(why),
        _ => Error::Failed(why),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes the files that it looks at")]

    use super::{has_log, is_without_log};

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_hides_nothing_of_its_log() {
        let folder = std::env::temp_dir().join(format!("seamline-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        for end in ["", "-wal", "-shm"] {
            std::fs::write(folder.join(format!("inner/s.db{end}")), "commits").unwrap();
        }
        let link = folder.join("link.db");
        std::os::unix::fs::symlink(folder.join("inner/s.db"), &link).unwrap();
        let found = (is_without_log(&link), has_log(&link));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, (false, true));
    }
}
