//! Strict reading of column values.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use seamline_store::Hash;

use crate::failure::{Failure, Outcome};

/// Reads a number. A store never writes a negative one.
pub(crate) fn number(row: &Row<'_>, column: usize) -> Outcome<u64> {
    match row.get_ref(column)? {
        ValueRef::Integer(number) => u64::try_from(number).map_err(|_| Failure::Inconsistent("a number is negative")),
        _ => Err(Failure::Inconsistent("a number has another type")),
    }
}

pub(crate) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes),
        _ => Err(Failure::Inconsistent("a byte string has another type")),
    }
}

/// Returns the bytes of a column of any type.
pub(crate) fn raw_bytes<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        _ => Ok(&[]),
    }
}

pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a str> {
    optional_text(row, column)?.ok_or(Failure::Inconsistent("a text is missing"))
}

pub(crate) fn optional_text<'a>(row: &'a Row<'_>, column: usize) -> Outcome<Option<&'a str>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => {
            std::str::from_utf8(text).map(Some).map_err(|_| Failure::Inconsistent("a text is not UTF-8"))
        }
        _ => Err(Failure::Inconsistent("a text has another type")),
    }
}

pub(crate) fn hash(row: &Row<'_>, column: usize) -> Outcome<Hash> {
    optional_hash(row, column)?.ok_or(Failure::Inconsistent("a hash is missing"))
}

pub(crate) fn optional_hash(row: &Row<'_>, column: usize) -> Outcome<Option<Hash>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => {
            let bytes = bytes.try_into().map_err(|_| Failure::Inconsistent("a hash has the wrong length"))?;
            Ok(Some(Hash::from_bytes(bytes)))
        }
        _ => Err(Failure::Inconsistent("a hash has another type")),
    }
}

/// Converts a number to SQLite's integer type.
pub(crate) fn integer(number: u64) -> Outcome<i64> {
    i64::try_from(number).map_err(|_| Failure::Inconsistent("a number is larger than SQLite can hold"))
}

/// Converts a bound to SQLite's integer type: no stored number exceeds its maximum.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
