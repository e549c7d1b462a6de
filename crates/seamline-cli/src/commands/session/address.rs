//! Where sessions are kept.

use std::fmt;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::files::state;

/// The variable that names the store where no option does.
const VARIABLE: &str = "SEAMLINE_STORE";
/// What is shown in the place of a password.
const HIDDEN: &str = "…";

/// The address of a store. Shown to people it keeps its password to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address(String);

impl Address {
    /// The one that was asked for, else the one of the environment, else the file in the user's state folder.
    pub(super) fn of(asked: Option<&str>) -> Result<Self, Failure> {
        let variable = || std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
        let default = || state::folder().map(|folder| format!("sqlite:{}", folder.join("sessions.db").display()));
        asked.map(str::to_owned).or_else(variable).or_else(default).map(Self).ok_or_else(|| {
            Failure::new("no place to keep sessions: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("`--store sqlite:FILE` names a store")
        })
    }

    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What kind of store it is of.
    pub(super) fn scheme(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// Whether there is a store, as far as can be told without opening it.
    pub(super) fn is_there(&self) -> bool {
        self.file().is_none_or(|path| path.exists())
    }

    /// The file of a store that is one.
    fn file(&self) -> Option<PathBuf> {
        let path = self.0.strip_prefix("sqlite:")?;
        Some(PathBuf::from(path.strip_prefix("//").unwrap_or(path)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") else {
            return f.write_str(&self.0);
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let place = match place.rsplit_once('@') {
            Some((user, host)) if user.contains(':') => {
                format!("{}:{HIDDEN}@{host}", user.split(':').next().unwrap_or_default())
            }
            _ => place.to_owned(),
        };
        write!(f, "{scheme}://{place}")?;
        let hidden = if query.is_empty() { "" } else { "?…" };
        f.write_str(hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |address: &str| Address(address.to_owned()).to_string();
        assert_eq!(shown("postgres://me:se:cr@et@host/db"), "postgres://me:…@host/db");
        assert_eq!(shown("postgres://host/db?user=me&password=secret"), "postgres://host/db?…");
        for plain in ["postgres://me@host/db", "postgres://host:5432/db", "sqlite:/a/b@c:d.db", "memory:"] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_known() {
        for missing in ["sqlite:/nowhere/at/all.db", "sqlite:///nowhere/at/all.db"] {
            assert!(!Address(missing.to_owned()).is_there(), "{missing}");
        }
        assert!(Address("postgres://host/db".to_owned()).is_there());
    }
}
