//! The address of the store.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::state;

/// The variable that names the store if no option does.
const VARIABLE: &str = "SEAMLINE_STORE";
/// The replacement of a password in output.
const HIDDEN: &str = "…";

/// The addresses of stores that outlive a command.
const ADDRESSES: &str = "a store is `sqlite:PATH` or `postgres://…`";

/// The source of the address of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Option,
    Variable,
    Default,
}

impl Named {
    /// The source as messages name it.
    fn shown(self) -> &'static str {
        match self {
            Self::Option => "`--store`",
            Self::Variable => VARIABLE,
            Self::Default => "the default",
        }
    }
}

/// The address of a store. Its `Display` hides the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    text: String,
    named: Named,
}

impl Address {
    /// The address of the option, else of the environment, else the file in the user's state folder.
    pub(super) fn of(asked: Option<&str>) -> Result<Self, Failure> {
        let option = || asked.map(|text| (text.to_owned(), Named::Option));
        let variable = || Some((std::env::var(VARIABLE).ok().filter(|value| !value.is_empty())?, Named::Variable));
        let default = || {
            let folder = state::folder()?;
            Some((format!("sqlite:{}", folder.join("sessions.db").display()), Named::Default))
        };
        let (text, named) = option().or_else(variable).or_else(default).ok_or_else(|| {
            Failure::new("no folder for sessions: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("`--store sqlite:FILE` names a store")
        })?;
        let address = Self { text, named };
        address.usable()?;
        Ok(address)
    }

    /// Checks that the address names a store that outlives a command. The address may contain a password, so errors show
    /// only its scheme.
    fn usable(&self) -> Result<(), Failure> {
        let wrong = |what: String| Failure::new(what).with_hint(ADDRESSES);
        match self.scheme() {
            "memory" => Err(wrong("`memory:` forgets everything when the command ends".to_owned())),
            "sqlite" => self.usable_file(),
            "postgres" | "postgresql" => Ok(()),
            _ if !self.text.contains(':') => {
                let failure = wrong(format!("{} is not a store URL", self.named.shown()));
                let is_path = !self.text.contains(['=', '@', ' ']);
                Err(if is_path {
                    failure.with_hint(format!("did you mean `sqlite:{}`? {ADDRESSES}", self.text))
                } else {
                    failure
                })
            }
            scheme => Err(wrong(format!("{}: unsupported store URL scheme `{scheme}:`", self.named.shown()))),
        }
    }

    fn usable_file(&self) -> Result<(), Failure> {
        match self.file() {
            Some(path) if path.starts_with("~") => {
                let home = format!("sqlite:$HOME/{}", path.iter().skip(1).collect::<PathBuf>().display());
                Err(Failure::new(format!("`{self}`: only a shell expands `~`"))
                    .with_hint(format!("write the path out, such as \"{home}\"")))
            }
            Some(path) if path.as_os_str().is_empty() => {
                let hint = "name one, such as `sqlite:sessions.db`";
                Err(Failure::new(format!("{}: `{}` does not name a file", self.named.shown(), self.text))
                    .with_hint(hint))
            }
            Some(path) if path.is_dir() => {
                let inside = path.join("sessions.db").display().to_string();
                Err(Failure::new(format!("{}: {} is a folder", self.named.shown(), absolute(&path).display()))
                    .with_hint(format!("a store is a file in it, such as `sqlite:{inside}`")))
            }
            _ => Ok(()),
        }
    }

    /// The failure for a missing store, with its file and the source of its address.
    pub(super) fn missing(&self) -> Failure {
        let file = self.file().map(|path| absolute(&path).display().to_string()).unwrap_or_default();
        let who = match self.named {
            Named::Default => "which is the default".to_owned(),
            named => format!("which {} names", named.shown()),
        };
        Failure::new(format!("there is no store yet: no file {file}, {who}")).with_hint(self.missing_hint())
    }

    /// The hint for a missing store.
    pub(super) fn missing_hint(&self) -> String {
        let new = format!("`seamline session new NAME{}` creates a session and the store", self.option());
        match self.named {
            Named::Default => format!("{new}; `--store` names another store"),
            named => format!("check {}; {new}", named.shown()),
        }
    }

    /// The hint for a file or database that is not a store.
    pub(super) fn other_hint(&self) -> String {
        let kind = if self.file().is_some() { "file" } else { "database" };
        match self.named {
            Named::Default => {
                format!("move `{}` away, or restore it from a backup; `--store` names another store", self.text)
            }
            named => format!("check that {} names the right {kind}, or restore it from a backup", named.shown()),
        }
    }

    /// The option `--store` for other commands, with a leading space, if this command got it.
    pub(super) fn option(&self) -> String {
        if self.named != Named::Option {
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

    /// The address as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme of the address.
    pub(super) fn scheme(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }

    /// Whether the store exists, as far as is known without opening it.
    pub(super) fn is_there(&self) -> bool {
        // Only a path that is known to lead nowhere is missing. A folder that may not be searched says nothing.
        self.file().is_none_or(|path| path.try_exists().unwrap_or(true))
    }

    /// Whether the store is an empty file.
    pub(super) fn is_emptied(&self) -> bool {
        self.file().and_then(|path| path.metadata().ok()).is_some_and(|file| file.is_file() && file.len() == 0)
    }

    /// Whether an option or a variable names it; then it must exist.
    pub(super) fn is_named(&self) -> bool {
        self.named != Named::Default
    }

    /// The file of the store, if the store is a file.
    fn file(&self) -> Option<PathBuf> {
        let path = self.text.strip_prefix("sqlite:")?;
        Some(PathBuf::from(path.strip_prefix("//").unwrap_or(path)))
    }
}

/// The absolute form of a path.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.text.split_once("://").filter(|(scheme, _)| *scheme != "sqlite") else {
            return f.write_str(&self.text);
        };
        let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = match authority.rsplit_once('@') {
            Some((user, host)) if user.contains(':') => {
                format!("{}:{HIDDEN}@{host}", user.split(':').next().unwrap_or_default())
            }
            _ => authority.to_owned(),
        };
        write!(f, "{scheme}://{authority}")?;
        let hidden = if query.is_empty() { "" } else { "?…" };
        f.write_str(hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Address {
        Address { text: text.to_owned(), named: Named::Option }
    }

    #[test]
    fn hints_name_the_store_that_was_named() {
        assert_eq!(asked("sqlite:a/b.db").option(), " --store sqlite:a/b.db");
        assert_eq!(asked("sqlite:my b's.db").option(), " --store 'sqlite:my b'\\''s.db'");
        assert_eq!(asked("postgres://me:secret@host/db").option(), " --store 'postgres://me:…@host/db'");
        assert_eq!(Address { named: Named::Variable, ..asked("sqlite:a.db") }.option(), "");
    }

    #[test]
    fn a_database_is_not_called_a_file() {
        assert!(asked("postgres://host/db").other_hint().starts_with("check that `--store` names the right database"));
        assert!(asked("sqlite:a.db").other_hint().starts_with("check that `--store` names the right file"));
        let variable = Address { named: Named::Variable, ..asked("postgres://host/db") };
        assert!(variable.missing_hint().starts_with("check SEAMLINE_STORE; `seamline session new NAME`"));
    }

    #[test]
    fn a_tilde_in_an_address_gets_a_hint_with_the_home_folder() {
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
    fn a_missing_file_is_recognized() {
        for missing in ["sqlite:/nowhere/at/all.db", "sqlite:///nowhere/at/all.db"] {
            assert!(!asked(missing).is_there(), "{missing}");
        }
        assert!(asked("postgres://host/db").is_there());
    }
}
