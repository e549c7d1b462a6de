//! How many parts a body of some size may have.
//!
//! A block takes more memory than the bytes that it is read from, if those are few. A body of a million blocks of two
//! bytes is an attack and not a conversation, so the number of blocks depends on the number of bytes.

use std::mem::{Discriminant, discriminant};

use seamline_model::{Irregularity, IrregularityKind, Transcript};

use crate::json::{Kind, Value};

/// The parts that every body may have, and the bytes that each further part must have on average. The shortest messages
/// have about 33 bytes, and a call and its result together more than 160.
const PARTS_FREE: usize = 20_000;
const PART_BYTES: usize = 32;

/// The parts that a call counts as beside its own block, because a repair may have to write its members and its result.
const CALL_PARTS: usize = 2;

/// The irregularities of one kind that are noted for every body, and the bytes that each further one must have on
/// average. The rest is counted, and noted when the first ones are repaired.
pub(crate) const NOTED_FREE: usize = 8192;
const NOTED_BYTES: usize = 512;

/// The most parts that a body of so many bytes may have.
pub(crate) fn parts_max(bytes: usize) -> usize {
    PARTS_FREE + bytes / PART_BYTES
}

/// The number of entries of the longest list beside the messages, if that has more than a body of so many bytes may
/// have, such as tools.
pub(crate) fn entries_exceeding(root: Value<'_, '_>, list: &str, bytes: usize) -> Option<usize> {
    let lists = root.members().filter(|(key, value)| value.is(Kind::Array) && !key.says(list));
    lists.map(|(_, value)| value.elements().count()).max().filter(|entries| *entries > parts_max(bytes))
}

/// The number of parts of a transcript, if it has more than its body may have.
pub(crate) fn parts_exceeding(transcript: &Transcript<'_>) -> Option<usize> {
    let parts = transcript.blocks.len().max(transcript.messages.len())
        + CALL_PARTS * transcript.has.calls as usize
        + transcript.members.len().max(transcript.facts.len());
    (parts > parts_max(transcript.source.len())).then_some(parts)
}

/// The limits of the reader of a body.
pub(crate) struct Density {
    parts_max: usize,
    is_exceeded: bool,
    noted_max: usize,
    noted: Vec<Noted>,
}

/// The irregularities of one kind.
struct Noted {
    kind: Discriminant<IrregularityKind>,
    count: usize,
    /// The place of the last one in the list.
    last: usize,
}

impl Density {
    /// The limits of a body of so many bytes. A repair can take bytes out and thereby make parts denser, so the reader
    /// allows more than [`parts_exceeding`].
    pub(crate) fn of(bytes: usize) -> Self {
        let noted_max = NOTED_FREE + bytes / NOTED_BYTES;
        Self { parts_max: 2 * parts_max(bytes), is_exceeded: false, noted_max, noted: Vec::new() }
    }

    /// Whether a part did not fit, so that what was read is not the whole body.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Whether one more part fits into a list of so many.
    pub(crate) fn has_place_for(&mut self, parts: usize) -> bool {
        self.is_exceeded |= parts >= self.parts_max;
        !self.is_exceeded
    }

    /// Whether one more irregularity of a kind fits into a list. One that does not fit is counted there.
    pub(crate) fn has_place_among(&mut self, found: &mut [Irregularity], kind: &IrregularityKind) -> bool {
        let kind = discriminant(kind);
        let Some(noted) = self.noted.iter_mut().find(|noted| noted.kind == kind) else {
            self.noted.push(Noted { kind, count: 1, last: found.len() });
            return true;
        };
        if noted.count < self.noted_max {
            (noted.count, noted.last) = (noted.count + 1, found.len());
            return true;
        }
        if let Some(last) = found.get_mut(noted.last) {
            last.more += 1;
        }
        false
    }
}
