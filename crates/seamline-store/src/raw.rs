//! JSON that keeps its bytes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value, byte for byte as it came. A clone costs nothing.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

/// Why bytes cannot be kept: they are not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not one JSON value: {0}")]
pub struct NotJson(String);

impl Raw {
    /// Keeps one JSON value; white space around it goes.
    ///
    /// # Errors
    /// When the text is no JSON, or more than one value.
    pub fn parse(text: impl Into<String>) -> Result<Self, NotJson> {
        match RawValue::from_string(text.into()) {
            Ok(value) => Ok(Self(value.into())),
            Err(error) => Err(NotJson(error.to_string())),
        }
    }

    /// Keeps what can be written as JSON.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotJson> {
        match serde_json::value::to_raw_value(value) {
            Ok(value) => Ok(Self(value.into())),
            Err(error) => Err(NotJson(error.to_string())),
        }
    }

    /// Its bytes, as text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.get().as_bytes()
    }
}

impl Default for Raw {
    /// `null`.
    fn default() -> Self {
        Self(RawValue::NULL.to_owned().into())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_as_they_are() {
        let odd = "{ \"b\" : 1.0e+2,\n \"a\":\"\\u00e9\\ud800\", \"a\":[ ] }";
        let raw = Raw::parse(odd).unwrap();
        assert_eq!(raw.as_str(), odd);
        let kept: Raw = serde_json::from_str(&serde_json::to_string(&raw).unwrap()).unwrap();
        assert_eq!(kept.as_str(), odd);
    }

    #[test]
    fn two_values_or_none_are_refused() {
        for wrong in ["", "{} {}", "{", "nil"] {
            assert!(Raw::parse(wrong).is_err(), "{wrong}");
        }
    }
}
