//! What the dialects share whose messages are lists of blocks, results among them.
//!
//! Such a dialect says how it reads a message ([`Shape`]) and how it writes a block
//! ([`Blocks`]); which edit changes what is the same for all of them.

mod decode;
mod encode;
mod rewrite;
mod write;

pub(crate) use decode::{Shape, message};
pub(crate) use encode::encode;
pub(crate) use write::{Blocks, Keys, Patch, fields_of, kept_parts, listed};
