//! The machine as a program finds it: environment, home folder and working folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest configuration file of a program that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The most folders in which a file is searched upwards.
const FOLDERS_MAX: usize = 64;

/// The machine as a program finds it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
    /// The folder that the program starts in.
    pub folder: PathBuf,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            environment: std::env::vars_os().filter_map(text).collect(),
            home: std::env::home_dir(),
            folder: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// A variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A folder that a variable names, else the one at this place of the home folder.
    pub(super) fn folder_of(&self, variable: &str, place: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from);
        named.or_else(|| Some(self.home.as_ref()?.join(place)))
    }

    /// The text of a file at this place of the home folder.
    pub(super) fn read_in_home(&self, place: &str) -> Option<String> {
        read(&self.home.as_ref()?.join(place))
    }

    /// The texts of the files with this name in the working folder and above it, the farthest first.
    pub(super) fn read_upwards(&self, name: &str) -> Vec<String> {
        let mut texts: Vec<String> =
            self.folder.ancestors().take(FOLDERS_MAX).filter_map(|folder| read(&folder.join(name))).collect();
        texts.reverse();
        texts
    }
}

/// The text of a file, if it can be read and has the size of a configuration.
pub(super) fn read(path: &Path) -> Option<String> {
    let is_small = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX);
    is_small.then(|| std::fs::read_to_string(path).ok())?
}
