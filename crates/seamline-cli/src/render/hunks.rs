//! Changes with what surrounds them.

use std::ops::Range;

use super::align::Stretch;

/// Messages shown before and after a change.
const AROUND: usize = 1;

/// A change with the messages around it, as ranges of both bodies.
pub(crate) struct Hunk {
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

/// The changes, those that touch taken together.
pub(crate) fn hunks(stretches: &[Stretch]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut room = 0;
    for (index, stretch) in stretches.iter().enumerate() {
        let Stretch::Changed { before, after } = stretch else {
            room = stretch.count();
            continue;
        };
        let behind = stretches.get(index + 1).map_or(0, Stretch::count).min(AROUND);
        match hunks.last_mut() {
            // What is shown after the last change and before this one touches.
            Some(last) if last.before.end + AROUND + 1 >= before.start => {
                last.before.end = before.end + behind;
                last.after.end = after.end + behind;
            }
            _ => {
                let ahead = room.min(AROUND);
                hunks.push(Hunk {
                    before: before.start - ahead..before.end + behind,
                    after: after.start - ahead..after.end + behind,
                });
            }
        }
    }
    hunks
}

impl Stretch {
    fn count(&self) -> usize {
        match self {
            Self::Same { count, .. } => *count,
            Self::Changed { .. } => 0,
        }
    }
}
