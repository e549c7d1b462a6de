//! The size of what is kept of a body.

use seamline_dialects::NODES_MAX;
use seamline_model::Transcript;

/// The longest body whose reading is kept. A body of this size cannot hold more values than the reader allows, so the
/// values need not be counted while it grows.
pub(crate) const BODY_BYTES_MAX: usize = NODES_MAX;

/// The most bytes of a kept transcript: this multiple of its body, or the next constant.
const TRANSCRIPT_SHARE: usize = 4;
const TRANSCRIPT_BYTES: usize = 1024 * 1024;

/// Whether a body and its transcript are small enough to be kept.
pub(crate) fn may_be_kept(body: &[u8], transcript: &Transcript<'_>) -> bool {
    let Transcript { messages, blocks, members, irregularities, items, .. } = transcript;
    let read = size_of_val(&**messages)
        + size_of_val(&**blocks)
        + size_of_val(&**members)
        + size_of_val(&**irregularities)
        + size_of_val(&**items);
    body.len() <= BODY_BYTES_MAX && read <= TRANSCRIPT_BYTES.max(TRANSCRIPT_SHARE * body.len())
}

/// The number of bytes of memory that a transcript takes, without its source.
pub(super) fn transcript_bytes(transcript: &Transcript<'_>) -> usize {
    let Transcript { messages, blocks, members, irregularities, items, facts, marked, .. } = transcript;
    let texts: usize = facts.iter().map(|fact| fact.id.len()).sum::<usize>()
        + members.iter().map(|member| member.key.len()).sum::<usize>()
        + marked.values().map(String::capacity).sum::<usize>()
        + items.iter().filter_map(|item| item.id.as_deref()).map(str::len).sum::<usize>();
    texts
        + room(messages)
        + room(blocks)
        + room(members)
        + room(irregularities)
        + room(items)
        + room(facts)
        + marked.capacity() * (size_of::<seamline_model::Span>() + size_of::<String>())
}

/// The number of bytes that a list has reserved.
fn room<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}
