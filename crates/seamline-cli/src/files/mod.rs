//! Files: written whole or not at all, and given back as they were.

pub(crate) mod replace;
pub(crate) mod state;
pub(crate) mod undo;

/// The hash by which bytes are known.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
