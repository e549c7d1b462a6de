//! Reads and writes messages for the dialects whose messages are lists of blocks, with tool results among them.
//!
//! Such a dialect provides a reader of one block ([`Shape`]) and a writer of one block ([`Blocks`]). The effect of each
//! edit is the same for all of them.

mod decode;
mod encode;
mod rewrite;
mod write;

pub(crate) use decode::{Shape, message};
pub(crate) use encode::encode;
pub(crate) use write::{Blocks, Keys, Patch, block, fields_of, listed, results, said};
