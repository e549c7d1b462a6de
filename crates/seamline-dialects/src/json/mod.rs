//! JSON as spans over the text it was read from.
//!
//! A `serde_json::Value` forgets key order, number spelling, duplicate keys and positions, and refuses half surrogate
//! pairs. Splicing a repair into the original bytes needs all of that, so a [`Document`] is a flat list of nodes with
//! spans, built in one pass without recursion.

mod alike;
mod growth;
mod plain;
mod readable;
mod scan;
mod syntax;
mod tail;
mod text;
mod view;
mod visit;
mod write;

pub(crate) use alike::Alike;
pub(crate) use growth::grow;
pub use readable::readable;
pub use scan::{BYTES_MAX, Document, NODES_MAX};
pub use syntax::{Syntax, SyntaxKind};
pub(crate) use tail::{Tail, tail};
pub use text::said;
pub(crate) use text::{escape_into, quoted};
pub(crate) use view::{Kind, Object, Value};
pub(crate) use visit::ListVisitor;
pub(crate) use write::{Json, Style, list, member, object};
