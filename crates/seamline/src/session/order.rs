//! What was said while calls ran stands behind what they did.
//!
//! A cycle is seen once it is whole, behind everything that is there then. Where somebody said something since its turn
//! was begun, the turn and its results belong before that. So whatever closes the last open cycle moves the cycles there,
//! in the same commit: a repair that makes nothing up.

use std::collections::{HashMap, HashSet};

use seamline_store::{Cut, CycleRecord, Entry, Insert, Meant, OpenCycle, Origin, Record, Repair};

use super::Session;
use super::cuts::splits;

/// How many bytes cycles may have together that are moved: they are written once more, in one commit with the results.
/// What has more stays behind what was said meanwhile, where every provider takes it as well.
const MOVED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A cycle that was made whole while others were open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// The record that began it.
    begun: u64,
    /// The record that shows it.
    shown: u64,
}

/// A cycle that is to stand elsewhere.
struct Move {
    /// Before which message.
    to: usize,
    /// From which one on it stands.
    from: usize,
    messages: Vec<Insert>,
}

impl Session {
    /// Notes a record that is about to be taken in: a cycle that it ends may have to be moved when the others have ended.
    pub(super) fn note_end(&mut self, shown: u64, record: &Record) {
        if let Record::Cycle(ended) = record {
            let begun = self.state.cycle(&ended.cycle).map(|open| open.seq);
            self.ended.extend(begun.map(|begun| Ended { begun, shown }));
        }
    }

    /// What puts cycles where they were begun, if records to be written close the last one that is open. They are all of
    /// a commit, the first of them numbered `first`.
    pub(super) fn in_order(&self, first: u64, records: &[Record]) -> Option<Record> {
        let [open] = self.state.cycles.as_slice() else { return None };
        let (at, closing) = (0..).zip(records).find(|(_, record)| closes(record, &open.id))?;
        let earliest = self.ended.iter().map(|ended| ended.begun).fold(open.seq, u64::min);
        // Nothing before the last message from before them changes; most often that is the last of all.
        let start = self.entries().iter().rposition(|entry| entry.seq < earliest)?;
        let mut tail = self.entries()[start..].to_vec();
        if tail.len() == 1 {
            return None;
        }
        let mut ended = self.ended.clone();
        if let Record::Cycle(cycle) = closing {
            let shown = first + at;
            tail.extend(shown_by(shown, open, cycle));
            ended.push(Ended { begun: open.seq, shown });
        }
        let moves = moves(&tail, ended);
        if !moves.is_empty() && self.parts_a_pair(&tail, &moves) {
            return None;
        }
        let bytes: usize = moves.iter().flat_map(|it| &it.messages).map(|it| it.message.as_bytes().len()).sum();
        if moves.is_empty() || bytes > MOVED_BYTES_MAX {
            return None;
        }
        let (cuts, meant) = cuts(&tail, moves, start).into_iter().unzip();
        Some(Record::Repair(Repair { id: format!("repair_{first}"), cuts, meant, report: None }))
    }
}

impl Session {
    /// Whether a cycle would come between a call and its result that were said by themselves.
    fn parts_a_pair(&self, tail: &[Entry], moves: &[Move]) -> bool {
        let body = self.wire.body("{}", tail.iter().map(|entry| &entry.message));
        let splits = body.ok().and_then(|body| splits(&body, &self.wire.options).ok()).unwrap_or_default();
        moves.iter().any(|it| splits.get(it.to).copied().unwrap_or(true))
    }
}

/// Whether a repair only put cycles where they were begun. Any other one says what it did.
pub(super) fn is_move(repair: &Repair) -> bool {
    repair.report.is_none()
}

fn closes(record: &Record, cycle: &str) -> bool {
    match record {
        Record::Cycle(ended) => ended.cycle == cycle,
        Record::CycleEnd(ended) => ended.cycle == cycle,
        _ => false,
    }
}

/// The messages that a cycle will show.
fn shown_by(seq: u64, open: &OpenCycle, cycle: &CycleRecord) -> Vec<Entry> {
    let turn = open.turn.iter().map(|message| (message, Origin::Said));
    let results = cycle.results.iter().map(|insert| (&insert.message, insert.origin));
    let all = (0..).zip(turn.chain(results));
    all.map(|(part, (message, origin))| Entry { seq, part, message: message.clone(), origin }).collect()
}

/// The cycles before which something stands that came after they were begun, in the order in which they were begun. The
/// first message was there before all of them.
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
        // What was to be seen when it was begun, be it a message or a cycle that was whole, stands before it.
        let before = tail[..from].iter().rposition(|entry| entry.seq < it.begun)?;
        let messages = tail[from..].iter().take_while(|entry| entry.seq == it.shown);
        let messages = messages.map(|it| Insert { message: it.message.clone(), origin: it.origin }).collect();
        came_between.then_some(Move { to: before + 1, from, messages })
    });
    found.collect()
}

/// Moves as cuts, from the first place to the last, each with the messages that it means. So many messages stand before
/// those that are given.
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
    // What comes to a place is put there in the order in which it was begun.
    cuts.sort_by_key(|(cut, _)| (cut.at, cut.removed));
    cuts
}
