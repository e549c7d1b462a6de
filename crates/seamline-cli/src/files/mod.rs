//! Files: atomic writes, and undo of repairs.

mod drafts;
pub(crate) mod in_use;
pub(crate) mod prune;
pub(crate) mod replace;
pub(crate) mod replace_session;
pub(crate) mod state;
pub(crate) mod times;
pub(crate) mod undo;

use std::fs::File;
use std::io::{BufWriter, Write as _};

/// The hash that identifies bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hash_pieces(&[bytes])
}

/// As [`hash`], of bytes in several pieces.
fn hash_pieces(pieces: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().to_hex().to_string()
}

/// Writes pieces in order. It joins short pieces and writes long ones directly.
fn write_pieces(file: &mut File, pieces: &[&[u8]]) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.flush()
}
