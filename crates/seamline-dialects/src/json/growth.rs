//! How the list of values grows.

use super::scan::Node;

/// The number of values up to which the list doubles.
const DOUBLED_MAX: usize = 1 << 16;

/// Makes room for more values; `rest` bytes of the text are not read yet, and `read` bytes are.
///
/// Doubling a long list would take twice the memory that a dense text needs. So it grows to the size that the rest of
/// the text needs if that is as dense as the part that was read.
#[cold]
pub(super) fn grow(nodes: &mut Vec<Node>, rest: usize, read: usize) {
    let known = nodes.len();
    if known < DOUBLED_MAX {
        nodes.reserve(1);
    } else {
        let more = rest.saturating_mul(known) / read.max(1);
        nodes.reserve_exact(more.clamp(known / 16, known) + 1);
    }
}
