//! The value of one column of one row.

use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef};
use serde::{Deserialize, Serialize};

/// The value of one column of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// No value at all.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, written so that it is read as the same number again.
    #[serde(with = "real")]
    Real(f64),
    /// A text in UTF-8.
    Text(String),
    /// Bytes, written in hexadecimal digits.
    #[serde(with = "hex")]
    Blob(Vec<u8>),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Blob(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl FromSql for Cell {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(FromSqlError::other)?;
                Self::Text(text.to_owned())
            }
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        })
    }
}

mod real {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
    pub(super) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{number:?}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

mod hex {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
        let digits: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        serializer.serialize_str(&digits)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let digits = String::deserialize(deserializer)?;
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some(value(*high)? << 4 | value(*low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        bytes.ok_or_else(|| D::Error::custom("hexadecimal digits expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_its_json() {
        let cells = [
            Cell::Null,
            Cell::Integer(i64::MIN),
            Cell::Real(0.1),
            Cell::Real(f64::INFINITY),
            Cell::Text("é\u{0}\"".to_owned()),
            Cell::Blob(vec![0, 15, 255]),
        ];
        let json = serde_json::to_string(&cells).unwrap();
        assert!(json.starts_with(r#"["null",{"integer":-9223372036854775808},{"real":"0.1"}"#), "{json}");
        assert!(json.ends_with(r#"{"blob":"000fff"}]"#), "{json}");
        assert_eq!(serde_json::from_str::<Vec<Cell>>(&json).unwrap(), cells);
        assert!(serde_json::from_str::<Cell>(r#"{"blob":"0g"}"#).is_err());
    }
}
