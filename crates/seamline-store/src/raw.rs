//! JSON that keeps its exact bytes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value with its exact bytes. A clone shares them.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

/// The error for bytes that are not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not one JSON value: {0}")]
pub struct NotJson(String);

impl Raw {
    /// Parses one JSON value. Drops the white space around it.
    ///
    /// # Errors
    /// Fails when the text is not JSON, or holds more than one value.
    pub fn parse(text: impl Into<String>) -> Result<Self, NotJson> {
        match RawValue::from_string(text.into()) {
            Ok(value) => Ok(Self(value.into())),
            Err(error) => Err(NotJson(error.to_string())),
        }
    }

    /// Serializes a value as JSON.
    ///
    /// # Errors
    /// Fails when the value cannot be serialized.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotJson> {
        match serde_json::value::to_raw_value(value) {
            Ok(value) => Ok(Self(value.into())),
            Err(error) => Err(NotJson(error.to_string())),
        }
    }

    /// The exact text of the value.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The exact bytes of the value.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.get().as_bytes()
    }
}

impl Default for Raw {
    /// Returns `null`.
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
    fn exact_bytes_are_kept() {
        let odd = "{ \"b\" : 1.0e+2,\n \"a\":\"\\u00e9\\ud800\", \"a\":[ ] }";
        let raw = Raw::parse(odd).unwrap();
        assert_eq!(raw.as_str(), odd);
        let kept: Raw = serde_json::from_str(&serde_json::to_string(&raw).unwrap()).unwrap();
        assert_eq!(kept.as_str(), odd);
    }

    #[test]
    fn two_values_or_none_are_rejected() {
        for wrong in ["", "{} {}", "{", "nil"] {
            assert!(Raw::parse(wrong).is_err(), "{wrong}");
        }
    }
}
