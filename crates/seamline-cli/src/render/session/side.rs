//! The dialect and the provider of a session, and those before a switch.

use seamline::store::{Begin, Switch};
use serde::Serialize;

/// A dialect, and the provider if the session names one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Side {
    pub(crate) dialect: String,
    pub(crate) provider: Option<String>,
}

/// The current side of a session, and the original one if the session was switched.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sides {
    pub(crate) current: Option<Side>,
    pub(crate) original: Option<Side>,
}

impl Sides {
    pub(crate) fn of(begin: Option<&Begin>, switch: Option<&Switch>) -> Self {
        let original = begin.map(|it| Side { dialect: it.dialect.to_string(), provider: it.provider.clone() });
        let switched = switch.map(|it| Side { dialect: it.dialect.to_string(), provider: it.provider.clone() });
        match switched {
            Some(current) => {
                let original = original.filter(|original| *original != current);
                Self { current: Some(current), original }
            }
            None => Self { current: original, original: None },
        }
    }
}

impl Side {
    /// The dialect and the provider, for people.
    pub(crate) fn text(&self) -> String {
        let provider = self.provider.as_deref().map(|name| format!(" for {name}")).unwrap_or_default();
        format!("{}{provider}", self.dialect)
    }

    /// The provider, or the dialect of a session that names no provider.
    pub(crate) fn brief(&self) -> &str {
        self.provider.as_deref().unwrap_or(&self.dialect)
    }
}
