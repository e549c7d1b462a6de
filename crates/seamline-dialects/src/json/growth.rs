//! How lists of what was read grow.

/// The number of elements up to which a list doubles.
const DOUBLED_MAX: usize = 1 << 16;

/// Makes room for more elements; `rest` bytes of the text are not read yet, and `read` bytes are.
///
/// Doubling a long list would take twice the memory that a dense text needs. So it grows to the size that the rest of
/// the text needs if that is as dense as the part that was read.
#[cold]
pub(crate) fn grow<T>(list: &mut Vec<T>, rest: usize, read: usize) {
    let known = list.len();
    if known < DOUBLED_MAX {
        list.reserve(1);
    } else {
        let more = rest.saturating_mul(known) / read.max(1);
        list.reserve_exact(more.clamp(known / 16, known) + 1);
    }
}
