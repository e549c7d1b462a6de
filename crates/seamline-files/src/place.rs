//! The folders in which programs keep their sessions.

/// A folder in which a program keeps its sessions, on any system. A program that has different folders on different systems
/// has several places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFolder {
    /// The environment variable that names the folder in which `path` begins, if it is set.
    pub variable: Option<&'static str>,
    /// The folder in which `path` begins otherwise, from the home folder of the user.
    pub home: &'static str,
    /// The path to the sessions, with `/` between folders. A folder `*` means every folder.
    pub path: &'static str,
    /// The endings of the names of session files. They may be in folders below.
    pub endings: &'static [&'static str],
}

impl SessionFolder {
    /// A place below the home folder.
    pub(crate) const fn home(home: &'static str, path: &'static str, endings: &'static [&'static str]) -> Self {
        Self { variable: None, home, path, endings }
    }

    /// A place below the folder that a variable names.
    pub(crate) const fn variable(
        (variable, home): (&'static str, &'static str),
        path: &'static str,
        endings: &'static [&'static str],
    ) -> Self {
        Self { variable: Some(variable), home, path, endings }
    }

    /// The folder of data on Linux; some programs use it on macOS, too.
    pub(crate) const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");
    /// The folder of settings on Linux.
    pub(crate) const CONFIG: (&str, &str) = ("XDG_CONFIG_HOME", ".config");
    /// The folder of data and settings on macOS.
    pub(crate) const SUPPORT: &str = "Library/Application Support";
    /// The folder of data and settings on Windows.
    pub(crate) const ROAMING: (&str, &str) = ("APPDATA", "AppData/Roaming");
}
