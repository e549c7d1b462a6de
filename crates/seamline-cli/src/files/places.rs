//! The folders in which programs keep their sessions, on this machine.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use seamline::files::{Format, SessionFolder};

/// The folder in which the path of a place begins: in this home folder, or in that of the user.
pub(crate) fn start(place: &SessionFolder, home: Option<&Path>) -> Option<PathBuf> {
    if let Some(home) = home {
        return Some(home.join(place.home));
    }
    let named = place.variable.and_then(std::env::var_os).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(std::env::home_dir()?.join(place.home)))
}

/// A path below a folder, with `/` between folders.
pub(crate) fn below(folder: PathBuf, path: &str) -> PathBuf {
    path.split('/').fold(folder, |folder, part| folder.join(part))
}

/// How many folders above a session may hold the file that names the project.
const FOLDERS_MAX: usize = 3;
/// The longest path that such a file may hold.
const PATH_BYTES_MAX: u64 = 4096;

/// The folder that a program worked in, from the file in a folder above the session that holds it.
pub(crate) fn project_of(format: &Format, session: &Path) -> Option<String> {
    let name = format.folder_file?;
    let file =
        session.ancestors().skip(1).take(FOLDERS_MAX).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    let mut folder = String::new();
    File::open(file).and_then(|file| file.take(PATH_BYTES_MAX).read_to_string(&mut folder)).ok()?;
    let folder = folder.trim();
    Path::new(folder).is_absolute().then(|| folder.to_owned())
}
