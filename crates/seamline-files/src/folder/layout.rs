//! How one program spreads a session over the files of a folder.

use std::path::{Path, PathBuf};

use super::ALL;
use crate::Program;
use crate::sample::Sample;
use crate::session::Format;

/// How one program spreads a session over the files of a folder.
pub struct FolderLayout {
    /// The program that writes it.
    pub program: &'static Program,
    /// How the files of a session are read and written as records.
    pub format: &'static Format,
    /// Finds the sessions of a folder; nothing if the folder is another one.
    pub(super) sessions: fn(&Path, List<'_>) -> Option<Vec<FolderSession>>,
    /// Whether a file alone is a part of a session.
    pub(super) is_part: fn(&Sample<'_>) -> bool,
    /// The folder of the session that a file is a part of, by the path of the file and its records.
    pub(super) folder_of: fn(&Path, &Sample<'_>) -> Option<PathBuf>,
    /// The number in the name of a file, if the program expects each file to have the next number.
    pub(super) number: fn(&str) -> Option<u64>,
}

/// A gap in the numbers of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberGap {
    /// The index of the file behind the gap.
    pub file: usize,
    /// The number of files that are missing.
    pub missing: u64,
}

impl FolderLayout {
    /// The first gap in the numbers of the files of a session.
    pub fn gap(&self, files: &[PathBuf]) -> Option<NumberGap> {
        let number = |path: &PathBuf| (self.number)(&path.file_name()?.to_string_lossy());
        let mut next = 0;
        for (file, number) in files.iter().enumerate().filter_map(|(file, path)| Some((file, number(path)?))) {
            if number > next {
                return Some(NumberGap { file, missing: number - next });
            }
            next = number.saturating_add(1);
        }
        None
    }
}

/// Lists the entries of a folder, in the order of their names; none if it cannot be read.
pub(super) type List<'l> = &'l dyn Fn(&Path) -> Vec<FolderEntry>;

/// A file or a folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name without the folders before it.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// A session that is spread over files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSession {
    /// The id of the session, by the names of its files.
    pub id: String,
    /// The folder that names the session.
    pub folder: PathBuf,
    /// The files of the session, in the order of their records.
    pub files: Vec<PathBuf>,
}

/// Finds the sessions that are spread over the files of a folder. Returns nothing if the folder is not one of a known
/// program.
pub fn find(
    folder: &Path,
    list: &dyn Fn(&Path) -> Vec<FolderEntry>,
) -> Option<(&'static FolderLayout, Vec<FolderSession>)> {
    ALL.iter().find_map(|layout| Some((*layout, (layout.sessions)(folder, list)?)))
}

/// Recognises a file that is a part of a session: its layout, and the folder of the session if its path tells.
pub fn part_of(path: &Path, head: &[u8]) -> Option<(&'static FolderLayout, Option<PathBuf>)> {
    let sample = Sample::of(&path.to_string_lossy(), head);
    let layout = ALL.iter().find(|layout| (layout.is_part)(&sample))?;
    Some((layout, (layout.folder_of)(path, &sample)))
}

/// The names of the files in a folder that begin and end as those of a program do.
pub(super) fn names(list: List<'_>, folder: &Path, start: &str) -> Vec<String> {
    let is_file = |entry: &FolderEntry| {
        !entry.is_folder
            && entry.name.starts_with(start)
            && Path::new(&entry.name).extension().is_some_and(|extension| extension == "json")
    };
    list(folder).into_iter().filter(is_file).map(|entry| entry.name).collect()
}

/// Whether a folder has a folder with a name.
pub(super) fn has_folder(entries: &[FolderEntry], name: &str) -> bool {
    entries.iter().any(|entry| entry.is_folder && entry.name == name)
}
