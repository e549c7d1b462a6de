//! Files: atomic writes, and undo of repairs.

pub(crate) mod database;
mod drafts;
pub(crate) mod in_use;
pub(crate) mod places;
mod projections;
pub(crate) mod prune;
pub(crate) mod replace;
pub(crate) mod replace_session;
pub(crate) mod state;
pub(crate) mod times;
pub(crate) mod undo;
pub(crate) mod unknown;

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};

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

/// As [`hash`], of a file that may be longer than the memory.
fn hash_file(file: &mut File) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            length => hasher.update(&piece[..length]),
        };
    }
}

/// How much of a file is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Writes pieces in order. It joins short pieces and writes long ones directly.
fn write_pieces(file: &mut File, pieces: &[&[u8]]) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.flush()
}
