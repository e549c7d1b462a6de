//! Values of columns, taken for nothing but what was written there.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use seamline_store::Hash;

use crate::fault::{Fault, Outcome};

/// A number that a store wrote: never below zero.
pub(crate) fn number(row: &Row<'_>, column: usize) -> Outcome<u64> {
    match row.get_ref(column)? {
        ValueRef::Integer(number) => u64::try_from(number).map_err(|_| Fault::Odd("a number is below zero")),
        _ => Err(Fault::Odd("a number is none")),
    }
}

pub(crate) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes),
        _ => Err(Fault::Odd("bytes are none")),
    }
}

/// The bytes that stand in a column, whatever they are taken for.
pub(crate) fn stands<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        _ => Ok(&[]),
    }
}

pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a str> {
    optional_text(row, column)?.ok_or(Fault::Odd("a text is missing"))
}

pub(crate) fn optional_text<'a>(row: &'a Row<'_>, column: usize) -> Outcome<Option<&'a str>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => {
            std::str::from_utf8(text).map(Some).map_err(|_| Fault::Odd("a text has bytes that are none"))
        }
        _ => Err(Fault::Odd("a text is none")),
    }
}

pub(crate) fn hash(row: &Row<'_>, column: usize) -> Outcome<Hash> {
    optional_hash(row, column)?.ok_or(Fault::Odd("a hash is missing"))
}

pub(crate) fn optional_hash(row: &Row<'_>, column: usize) -> Outcome<Option<Hash>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => {
            let bytes = bytes.try_into().map_err(|_| Fault::Odd("a hash has another length"))?;
            Ok(Some(Hash::from_bytes(bytes)))
        }
        _ => Err(Fault::Odd("a hash is none")),
    }
}

/// A number as SQLite keeps it.
pub(crate) fn kept(number: u64) -> Outcome<i64> {
    i64::try_from(number).map_err(|_| Fault::Odd("a number is more than can be kept"))
}

/// A number to compare with: nothing that is kept is greater than the greatest.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
