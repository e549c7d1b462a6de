//! The folders in which programs keep their sessions, on this machine.

use std::path::{Path, PathBuf};

use seamline::files::SessionFolder;

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
