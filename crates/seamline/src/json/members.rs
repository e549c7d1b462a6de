//! The members of an object of options.

use serde_json::{Map, Value};

use crate::Policy;
use crate::policy::nearest;

/// The error of options that cannot be read: which one, and what to write.
///
/// ```
/// use seamline::json::OptionsError;
///
/// let error = seamline::Options::from_json(&serde_json::json!({"kept": 1})).unwrap_err();
/// assert!(matches!(error, OptionsError::Type { .. }));
/// assert_eq!(error.to_string(), "the option `kept` is a number; give true or false");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The options are not an object.
    #[error("the options are {found}; give an object")]
    NotAnObject {
        /// The type of the value.
        found: &'static str,
    },
    /// No option has this name.
    #[error("no option is called `{name}`; {}the options are {}", did_you_mean(name, known), listed(known))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The options that exist.
        known: &'static [&'static str],
    },
    /// The value has another type.
    #[error("the option `{name}` is {found}; give {wanted}")]
    Type {
        /// The name of the option.
        name: String,
        /// The type of the value.
        found: &'static str,
        /// The kind of value that the option takes.
        wanted: &'static str,
    },
    /// The option takes certain words, and this is none of them.
    #[error("the option `{name}` does not take `{value}`; it takes {}", listed(known))]
    Word {
        /// The name of the option.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The words that it takes.
        known: Vec<&'static str>,
    },
    /// The option is needed.
    #[error("the option `{name}` is missing")]
    Missing {
        /// The name of the option.
        name: &'static str,
    },
    /// The policy cannot be read.
    #[error("{0}")]
    Policy(String),
}

fn did_you_mean(name: &str, known: &[&'static str]) -> String {
    nearest(name, known.iter().copied()).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default()
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The error of a value of another type.
pub(super) fn wrong(name: &str, wanted: &'static str, value: &Value) -> OptionsError {
    OptionsError::Type { name: name.to_owned(), found: kind(value), wanted }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The members of an object of options.
pub(super) struct Members<'v>(Option<&'v Map<String, Value>>);

impl<'v> Members<'v> {
    /// The members of a value that may have these names.
    pub(super) fn of(value: &'v Value, names: &'static [&'static str]) -> Result<Self, OptionsError> {
        let members = match value {
            Value::Null => return Ok(Self(None)),
            Value::Object(members) => members,
            other => return Err(OptionsError::NotAnObject { found: kind(other) }),
        };
        match members.keys().find(|key| !names.contains(&key.as_str())) {
            Some(name) => Err(OptionsError::Unknown { name: name.clone(), known: names }),
            None => Ok(Self(Some(members))),
        }
    }

    fn get(&self, name: &str) -> Option<&'v Value> {
        self.0?.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, OptionsError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(name, "a text", other)),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, OptionsError> {
        self.given_flag(name).map(Option::unwrap_or_default)
    }

    pub(super) fn given_flag(&self, name: &str) -> Result<Option<bool>, OptionsError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// A status of HTTP.
    pub(super) fn status(&self, name: &str) -> Result<Option<u16>, OptionsError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let status = value.as_u64().and_then(|status| u16::try_from(status).ok());
        status.map(Some).ok_or_else(|| wrong(name, "a status of HTTP, such as 400", value))
    }

    /// The members of an object of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(String, String)>, OptionsError> {
        let texts = match self.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(texts)) => texts,
            Some(other) => return Err(wrong(name, "an object of texts", other)),
        };
        let text = |(key, value): (&String, &Value)| match value {
            Value::String(text) => Ok((key.clone(), text.clone())),
            other => Err(wrong(&format!("{name}.{key}"), "a text", other)),
        };
        texts.iter().map(text).collect()
    }

    /// One of certain words.
    pub(super) fn word<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, OptionsError> {
        let Some(value) = self.text(name)? else { return Ok(None) };
        let same = value.replace('_', "-");
        match words.iter().find(|(word, _)| word.replace('_', "-") == same) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => Err(OptionsError::Word { name, value, known: words.iter().map(|(word, _)| *word).collect() }),
        }
    }

    pub(super) fn policy(&self) -> Result<Option<Policy>, OptionsError> {
        self.get("policy").map(Policy::from_json).transpose()
    }
}
