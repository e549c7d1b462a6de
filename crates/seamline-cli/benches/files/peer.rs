//! The peer of a check: counts lines and parses each of them.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;

/// The argument with which the benchmark starts itself as the peer.
pub(crate) const ARGUMENT: &str = "--peer";

/// Counts the lines of a file and parses each into a value, which is dropped before the next one.
pub(crate) fn run(file: &Path) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, File::open(file)?);
    let mut line = Vec::new();
    let mut count = 0_usize;
    while input.read_until(b'\n', &mut line)? > 0 {
        count += 1;
        black_box(serde_json::from_slice::<Value>(&line)?);
        line.clear();
    }
    black_box(count);
    Ok(())
}
