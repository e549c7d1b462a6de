//! The folder of a project, for agents that name it in a file of that folder.

use std::path::{Path, PathBuf};

use seamline::files::{ExportedSession, Exporter};

use crate::failure::Failure;

/// The folder of a project below the place of an agent: the one whose file names the root of the project, or a new one with
/// this name. If another project has that name, it gets a number.
pub(super) fn folder(place: &Path, name: &str, exporter: &Exporter, root: &str) -> PathBuf {
    let Some(file) = file_name(exporter) else { return place.join(name) };
    let mut known: Vec<PathBuf> =
        std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    known.sort();
    if let Some(own) = known.iter().find(|folder| owner(folder, file).is_some_and(|owner| is_same(&owner, root))) {
        return own.clone();
    }
    let numbered = (1..).map(|number| format!("{name}-{number}"));
    let mut free = std::iter::once(name.to_owned()).chain(numbered).map(|name| place.join(name));
    // There are `known.len()` folders, so one of `known.len() + 1` names is free.
    free.by_ref().take(known.len() + 1).find(|folder| owner(folder, file).is_none()).unwrap_or_else(|| place.join(name))
}

/// Writes the root of the project into the folder of a new session, unless the file exists.
pub(super) fn mark(session: &Path, exported: &ExportedSession) -> Result<(), Failure> {
    let depth = exported.path.split('/').count();
    let folder = session.ancestors().nth(depth).filter(|_| exported.project.is_some());
    let (Some(folder), Some(file), Some(root)) = (folder, file_name(exported.exporter), &exported.about.folder) else {
        return Ok(());
    };
    let file = folder.join(file);
    if file.exists() {
        return Ok(());
    }
    std::fs::write(&file, root).map_err(|error| Failure::io(&format!("write {}", file.display()), &error))
}

/// The name of the file that holds the root of a project.
fn file_name(exporter: &Exporter) -> Option<&'static str> {
    exporter.program.session.and_then(|format| format.folder_file)
}

/// The project that a folder belongs to.
fn owner(folder: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(file)).ok().map(|text| text.trim().to_owned())
}

/// Whether two paths are the same; on Windows the case of letters does not count.
fn is_same(one: &str, other: &str) -> bool {
    one == other || cfg!(windows) && one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_the_folder_whose_file_names_it_or_a_free_one() {
        let place = tempfile::tempdir().unwrap();
        let gemini = seamline::files::exporter("gemini-cli").unwrap();
        let found = |root: &str| folder(place.path(), "app", gemini, root);
        assert_eq!(found("/srv/app"), place.path().join("app"));
        for (name, root) in [("app", "/var/app"), ("app-1", "/opt/app\n"), ("other", "/srv/own")] {
            std::fs::create_dir(place.path().join(name)).unwrap();
            std::fs::write(place.path().join(name).join(".project_root"), root).unwrap();
        }
        assert_eq!(found("/srv/app"), place.path().join("app-2"));
        assert_eq!((found("/opt/app"), found("/srv/own")), (place.path().join("app-1"), place.path().join("other")));
    }
}
