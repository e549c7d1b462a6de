//! The file of a store, before SQLite opens it.

use std::io;
use std::path::{Path, PathBuf};

use seamline_store::{Error, cause};

/// Creates the file and its folders if they are missing. Only the owner can read them.
///
/// It opens a file only to create it: closing an existing file would release the locks of this process's SQLite
/// connections.
#[expect(clippy::disallowed_methods, reason = "a file store creates its file")]
pub(crate) fn create(path: &Path) -> io::Result<()> {
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
        // SQLite syncs the folder of the file, but not the folders above it.
        created => created.and_then(|_| missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)),
    }
}

/// Fails where the write-ahead log of another file has this name: SQLite would discard the commits in it.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn check_can_create(path: &Path) -> Result<(), Error> {
    // The file is looked up last: another process may be creating it.
    if is_without_log(path) || path.exists() {
        return Ok(());
    }
    Err(Error::Address(cause::Address::LogWithoutFile { path: path.to_owned(), log: beside(path, "-wal") }))
}

/// Fails where the file has several hard links. SQLite keeps the log beside the name that it opens, so each name would
/// have its own log and lose the commits of the other.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn check_single_name(path: &Path) -> Result<(), Error> {
    let count = std::fs::metadata(path).map_or(1, |found| std::os::unix::fs::MetadataExt::nlink(&found));
    if count <= 1 {
        return Ok(());
    }
    Err(Error::Address(cause::Address::HardLinks { path: path.to_owned(), count }))
}

#[cfg(not(unix))]
pub(crate) fn check_single_name(_path: &Path) -> Result<(), Error> {
    Ok(())
}

/// Fails where the path exists and is not a regular file.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn check_is_file(path: &Path) -> Result<(), Error> {
    let path = path.to_owned();
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => Err(Error::Address(cause::Address::Folder { path })),
        Ok(found) if !found.is_file() => Err(Error::Address(cause::Address::NotAFile { path })),
        _ => Ok(()),
    }
}

/// Explains why a file cannot be opened for reading.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn unreadable(path: &Path) -> Error {
    let (is_there, path) = (path.exists(), path.to_owned());
    Error::Address(if is_there { cause::Address::Unreadable { path } } else { cause::Address::Missing { path } })
}

/// Returns the path of a file that SQLite keeps beside the database. It is beside the file, not beside a link to it.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(end);
    name.into()
}

/// Whether the log and its index exist, as they do while a process has the file open, and after a crash.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn has_log(path: &Path) -> bool {
    ["-wal", "-shm"].iter().all(|end| beside(path, end).exists())
}

/// Whether the log is missing or empty.
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn is_without_log(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).map_or(true, |log| log.len() == 0)
}

/// Finds a file beside the database that another user owns: it keeps the database's owner from writing.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
pub(crate) fn foreign_owner(path: &Path) -> Option<cause::ReadOnly> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path).ok()?.uid();
    ["-wal", "-shm"].iter().find_map(|end| {
        let beside = beside(path, end);
        let other = std::fs::metadata(&beside).ok().map(|found| found.uid()).filter(|other| *other != owner)?;
        let has_log = !is_without_log(path);
        // The files beside a database have the name of the file itself, not of a link to it.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Some(cause::ReadOnly::OtherOwner { path, beside, owner, other, has_log })
    })
}

#[cfg(not(unix))]
pub(crate) fn foreign_owner(_path: &Path) -> Option<cause::ReadOnly> {
    None
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a created folder must survive a crash")]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Converts an error of the file system to a store error.
pub(crate) fn of_io(path: &Path, error: &io::Error) -> Error {
    let (path, detail) = (path.to_owned(), error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::NoSpace(format!("`{}`: {detail}", path.display()))
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::ReadOnly(cause::ReadOnly::File { path, detail })
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
            Error::Address(cause::Address::Path { path, detail })
        }
        _ => Error::Failed(cause::Failed::System { path, detail }),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test creates the files that it inspects")]

    use super::{has_log, is_without_log};

    #[cfg(unix)]
    #[test]
    fn the_log_is_found_through_a_symbolic_link() {
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
