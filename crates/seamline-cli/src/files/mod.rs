//! Files: written whole or not at all, and given back as they were.

pub(crate) mod replace;
pub(crate) mod state;
pub(crate) mod undo;

use std::fs::File;
use std::io::{BufWriter, Write as _};

/// The hash by which bytes are known.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hash_pieces(&[bytes])
}

/// The same of bytes that stand in pieces.
fn hash_pieces(pieces: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().to_hex().to_string()
}

/// Writes pieces one after the other. Short ones are gathered, long ones go as they are.
fn write_pieces(file: &mut File, pieces: &[&[u8]]) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.flush()
}
