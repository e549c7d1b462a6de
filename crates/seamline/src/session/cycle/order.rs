//! Plans the reorder: moves messages appended during a tool cycle after its results.
//!
//! A cycle enters the view when it is committed, after everything that is there then. Messages that were appended since
//! its turn was begun belong after it. So the batch that ends the last open cycle also moves the cycles to where they were
//! begun, with a repair of kind [`Reorder`](RepairKind::Reorder).

use std::collections::{HashMap, HashSet};

use seamline_store::{
    Cut, CycleRecord, Entry, EntrySource, Insert, Meant, OpenCycle, Origin, Record, RepairKind, RepairRecord,
};

use crate::session::facts::Facts;

/// The most bytes of cycles that are moved: they are written once more, in one commit with the results. Larger cycles stay
/// after the messages, which every provider accepts as well.
const MOVED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A cycle that was committed while others were open.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Ended {
    /// The number of the record that began it.
    pub(in crate::session) begun: u64,
    /// The number of the record that put it into the view.
    pub(in crate::session) shown: u64,
}

/// A cycle that moves.
struct Move {
    /// The index of the message that it moves before.
    to: usize,
    /// The index of its first message.
    from: usize,
    messages: Vec<Insert>,
}

impl Facts<'_> {
    /// Plans the reorder, if the records of a commit end the last open cycle.
    pub(in crate::session) fn plan_reorder(&self, records: &[Record]) -> Option<Record> {
        let [open] = self.state.cycles.as_slice() else { return None };
        let (at, closing) = (0..).zip(records).find(|(_, record)| record.ended_cycle() == Some(&open.id))?;
        let earliest = self.work.ended.iter().map(|ended| ended.begun).fold(open.seq, u64::min);
        // Nothing changes before the last message that precedes the cycles; most often it is the last of all.
        let last_before = self.entries().iter().rposition(|entry| entry.seq < earliest);
        let start = last_before.unwrap_or(0);
        let mut tail = self.entries()[start..].to_vec();
        if tail.len() == usize::from(last_before.is_some()) {
            return None;
        }
        let mut ended = self.work.ended.clone();
        if let Record::Cycle(cycle) = closing {
            let shown = self.next + at;
            tail.extend(shown_by(shown, open, cycle));
            ended.push(Ended { begun: open.seq, shown });
        }
        let moves = moves(&tail, ended);
        if moves.is_empty() || self.splits_a_pair(&tail, &moves) {
            return None;
        }
        let bytes: usize = moves.iter().flat_map(|it| &it.messages).map(|it| it.message.as_bytes().len()).sum();
        if bytes > MOVED_BYTES_MAX {
            return None;
        }
        let (cuts, meant) = cuts(&tail, moves, start).into_iter().unzip();
        let (id, kind) = (self.next_id("repair").into(), RepairKind::Reorder);
        Some(Record::Repair(RepairRecord { id, kind, cuts, meant, renamed: Vec::new(), report: None }))
    }

    /// Whether a cycle would come between a call and its result that were appended as messages.
    fn splits_a_pair(&self, tail: &[Entry], moves: &[Move]) -> bool {
        let splits = self.wire.splits(&tail.iter().collect::<Vec<_>>()).unwrap_or_default();
        moves.iter().any(|it| splits.get(it.to).copied().unwrap_or(true))
    }
}

/// The messages that a cycle will show.
fn shown_by(seq: u64, open: &OpenCycle, cycle: &CycleRecord) -> Vec<Entry> {
    let turn = open.turn.iter().map(|message| Insert::new(message.clone(), Origin::Said, open.dialect.clone()));
    let all = (0..).zip(turn.chain(cycle.results.iter().cloned()));
    let source = EntrySource::Cycle;
    all.map(|(part, Insert { message, origin, dialect, synthetic_results })| Entry {
        seq,
        part,
        message,
        origin,
        source,
        dialect,
        synthetic_results,
    })
    .collect()
}

/// The cycles that follow a message which came after they were begun, in the order in which they were begun.
fn moves(tail: &[Entry], mut ended: Vec<Ended>) -> Vec<Move> {
    ended.sort_by_key(|it| it.begun);
    let shown: HashSet<u64> = ended.iter().map(|it| it.shown).collect();
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut others: Vec<(usize, u64)> = Vec::new();
    for (at, entry) in tail.iter().enumerate() {
        if shown.contains(&entry.seq) {
            places.entry(entry.seq).or_insert(at);
        } else {
            others.push((at, entry.seq));
        }
    }
    let found = ended.iter().filter_map(|it| {
        let from = *places.get(&it.shown)?;
        let next = others.partition_point(|(_, seq)| *seq < it.begun);
        let came_between = others.get(next).is_some_and(|(at, _)| *at < from);
        // Messages and cycles that were in the view when it was begun stay before it.
        let to = tail[..from].iter().rposition(|entry| entry.seq < it.begun).map_or(0, |before| before + 1);
        let messages = tail[from..].iter().take_while(|entry| entry.seq == it.shown);
        let messages = messages.map(Insert::from).collect();
        came_between.then_some(Move { to, from, messages })
    });
    found.collect()
}

/// Moves as cuts, from the first place to the last, each with the messages that it means. `start` messages precede
/// `tail`.
fn cuts(tail: &[Entry], moves: Vec<Move>, start: usize) -> Vec<(Cut, Meant)> {
    let id = |at: usize| tail.get(at).map(Entry::id);
    let cut = |at: usize, removed: usize, inserted: Vec<Insert>| {
        let entries = tail[at..at + removed].iter().map(Entry::id).collect();
        let meant = Meant { after: at.checked_sub(1).and_then(id), entries, before: id(at + removed) };
        (Cut { at: (start + at) as u64, removed: removed as u64, inserted }, meant)
    };
    let both = moves.into_iter().flat_map(|Move { to, from, messages }| {
        let count = messages.len();
        [cut(to, 0, messages), cut(from, count, Vec::new())]
    });
    let mut cuts: Vec<(Cut, Meant)> = both.collect();
    // Cycles that move to one place keep the order in which they were begun.
    cuts.sort_by_key(|(cut, _)| (cut.at, cut.removed));
    cuts
}
