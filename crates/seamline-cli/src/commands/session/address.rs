//! Where sessions are kept.

use std::fmt;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::files::state;

/// The variable that names the store where no option does.
const VARIABLE: &str = "SEAMLINE_STORE";
/// What is shown in the place of a password.
const HIDDEN: &str = "…";

/// The addresses that stores have whose sessions outlive a command.
const ADDRESSES: &str = "a store is `sqlite:PATH` or `postgres://…`";

/// The address of a store. Shown to people it keeps its password to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    text: String,
    /// Whether an option named it, and so must again.
    is_asked: bool,
}

impl Address {
    /// The one that was asked for, else the one of the environment, else the file in the user's state folder.
    pub(super) fn of(asked: Option<&str>) -> Result<Self, Failure> {
        let variable = || std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
        let default = || state::folder().map(|folder| format!("sqlite:{}", folder.join("sessions.db").display()));
        let text = asked.map(str::to_owned).or_else(variable).or_else(default).ok_or_else(|| {
            Failure::new("no place to keep sessions: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("`--store sqlite:FILE` names a store")
        })?;
        let address = Self { text, is_asked: asked.is_some() };
        if let Some(path) = address.file().filter(|path| path.starts_with("~")) {
            let home = format!("sqlite:$HOME/{}", path.iter().skip(1).collect::<PathBuf>().display());
            return Err(Failure::new(format!("`{address}`: `~` stands for a home folder in a shell only"))
                .with_hint(format!("write the path out, such as \"{home}\"")));
        }
        // It may hold a password, so no more of it is shown.
        match address.scheme() {
            "memory" => Err(Failure::new("`memory:` forgets everything when the command ends").with_hint(ADDRESSES)),
            "sqlite" | "postgres" | "postgresql" => Ok(address),
            _ if !address.text.contains(':') => Err(Failure::new("this is no address of a store").with_hint(ADDRESSES)),
            scheme => Err(Failure::new(format!("`{scheme}:` is no store")).with_hint(ADDRESSES)),
        }
    }

    /// The option that names it in another command, where one did in this: with a space before it.
    pub(super) fn option(&self) -> String {
        if !self.is_asked {
            return String::new();
        }
        let shown = self.to_string();
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@=+,".contains(letter);
        if shown.chars().all(is_plain) {
            format!(" --store {shown}")
        } else {
            format!(" --store '{}'", shown.replace('\'', "'\\''"))
        }
    }

    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// What kind of store it is of.
    pub(super) fn scheme(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }

    /// Whether there is a store, as far as can be told without opening it.
    pub(super) fn is_there(&self) -> bool {
        self.file().is_none_or(|path| path.exists())
    }

    /// Whether it is a file of which nothing is left.
    pub(super) fn is_emptied(&self) -> bool {
        self.file().and_then(|path| path.metadata().ok()).is_some_and(|file| file.is_file() && file.len() == 0)
    }

    /// Whether an option named it.
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// The file of a store that is one.
    fn file(&self) -> Option<PathBuf> {
        let path = self.text.strip_prefix("sqlite:")?;
        Some(PathBuf::from(path.strip_prefix("//").unwrap_or(path)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.text.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") else {
            return f.write_str(&self.text);
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

    fn asked(text: &str) -> Address {
        Address { text: text.to_owned(), is_asked: true }
    }

    #[test]
    fn hints_name_the_store_that_was_named() {
        assert_eq!(asked("sqlite:a/b.db").option(), " --store sqlite:a/b.db");
        assert_eq!(asked("sqlite:my b's.db").option(), " --store 'sqlite:my b'\\''s.db'");
        assert_eq!(asked("postgres://me:secret@host/db").option(), " --store 'postgres://me:…@host/db'");
        assert_eq!(Address { is_asked: false, ..asked("sqlite:a.db") }.option(), "");
    }

    #[test]
    fn a_home_folder_is_for_a_shell_to_write_out() {
        let failure = Address::of(Some("sqlite:~/a/b.db")).unwrap_err();
        assert_eq!(failure.hint.as_deref(), Some("write the path out, such as \"sqlite:$HOME/a/b.db\""));
        assert!(Address::of(Some("sqlite:./~/b.db")).is_ok() && Address::of(Some("sqlite:~b.db")).is_ok());
    }

    #[test]
    fn passwords_are_not_shown() {
        let shown = |address: &str| asked(address).to_string();
        assert_eq!(shown("postgres://me:se:cr@et@host/db"), "postgres://me:…@host/db");
        assert_eq!(shown("postgres://host/db?user=me&password=secret"), "postgres://host/db?…");
        for plain in ["postgres://me@host/db", "postgres://host:5432/db", "sqlite:/a/b@c:d.db", "memory:"] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_known() {
        for missing in ["sqlite:/nowhere/at/all.db", "sqlite:///nowhere/at/all.db"] {
            assert!(!asked(missing).is_there(), "{missing}");
        }
        assert!(asked("postgres://host/db").is_there());
    }
}
