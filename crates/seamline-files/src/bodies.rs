//! Files with many request bodies: one in each record.

use std::borrow::Cow;
use std::ops::Range;

/// Where the request body of a record is.
pub struct Bodies {
    /// Finds the body in a record; nothing if the record holds none.
    pub(crate) find: fn(record: &str) -> Option<HeldBody<'_>>,
}

impl Bodies {
    /// Finds the body in a record; nothing if the record holds none.
    pub fn find<'r>(&self, record: &'r str) -> Option<HeldBody<'r>> {
        (self.find)(record)
    }
}

/// A request body inside a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBody<'r> {
    /// The request body.
    pub text: Cow<'r, str>,
    /// The bytes of the record that hold it.
    pub span: Range<usize>,
    /// The JSON pointer of the body in the record.
    pub pointer: &'static str,
}

impl<'r> HeldBody<'r> {
    /// A body that is the whole record.
    pub(crate) fn whole(record: &'r str) -> Self {
        Self { text: Cow::Borrowed(record), span: 0..record.len(), pointer: "" }
    }

    /// A body that is a member of the record.
    pub(crate) fn member(record: &'r str, value: &'r str, pointer: &'static str) -> Self {
        let start = crate::json::offset(record, value);
        Self { text: Cow::Borrowed(value), span: start..start + value.len(), pointer }
    }
}
