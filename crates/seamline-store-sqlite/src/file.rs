//! The file itself, before SQLite has it.

use std::io;
use std::path::Path;

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
