//! Takes the elements of one list while a text is read, so that they need not be kept.

use std::ops::ControlFlow;

use super::view::Value;

/// Takes the elements of a list while a text is read.
pub(crate) trait ListVisitor<'a> {
    /// Whether the list under this key is the list of messages. Without a key, the text itself is the list. The last list
    /// with such a key is used.
    fn enter(&mut self, key: Option<&str>) -> bool;

    /// The number of bytes at the start of the list that need not be read, given the text after its bracket. They are
    /// known to be valid and end with an element; none of their elements is handed over.
    fn skip(&mut self, _rest: &'a [u8], _start: usize) -> usize {
        0
    }

    /// Takes one element. `Break` ends the reading; the rest of the text is not read.
    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()>;
}

/// Keeps every list in the document.
pub(super) struct NoList;

impl<'a> ListVisitor<'a> for NoList {
    fn enter(&mut self, _: Option<&str>) -> bool {
        false
    }

    fn element(&mut self, _: Value<'_, 'a>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
