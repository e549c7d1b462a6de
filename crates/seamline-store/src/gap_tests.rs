//! Sessions that lost one commit.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use crate::record::{
    CallRecord, CheckpointRecord, Compact, Cut, CycleRecord, EntryId, Insert, MessageRecord, Origin, Record,
    RepairKind, RepairRecord, Reset, Rollback, Turn, Undo,
};
use crate::{
    Commit, CommitId, DamageKind, Effect, Entry, Hash, Head, Operation, Raw, Replayed, SessionId, State, StoredCommit,
    replay,
};

/// A writer of a session that keeps its commits.
struct Writer {
    session: SessionId,
    state: State,
    head: Head,
    commits: Vec<StoredCommit>,
    /// The records of each commit.
    written: Vec<Vec<Record>>,
    said: u32,
}

impl Writer {
    fn new() -> Self {
        let session = "s".parse().unwrap();
        let (state, head) = (State::default(), Head::START);
        Self { session, state, head, commits: Vec::new(), written: Vec::new(), said: 0 }
    }

    fn message(&mut self) -> Raw {
        self.said += 1;
        Raw::parse(format!("{{\"n\":{}}}", self.said)).unwrap()
    }

    fn insert(&mut self) -> Insert {
        Insert::new(self.message(), Origin::Said, None)
    }

    /// Writes records, if the state allows them.
    fn write(&mut self, mut records: Vec<Record>) {
        self.state.name(&mut records);
        if self.state.allows(&records[0]).is_err() {
            return;
        }
        let id = CommitId::from_bytes(u128::from(self.head.seq).to_be_bytes());
        let commit = Commit { session: &self.session, epoch: 1, head: self.head, id, at: 0, records: &records };
        let sealed = commit.seal().unwrap();
        for (seq, record) in (sealed.seq()..).zip(&records) {
            self.state.apply(seq, 0, record);
        }
        self.head = sealed.after();
        self.commits.push(StoredCommit { seq: sealed.seq(), bytes: sealed.bytes().to_vec(), is_indexed: true });
        self.written.push(records);
    }

    fn say(&mut self, count: usize) {
        let said = |message| Record::Message(MessageRecord::new(message, Origin::Said, None));
        let records = (0..count).map(|_| said(self.message())).collect();
        self.write(records);
    }

    fn checkpoint(&mut self) {
        let (messages, hash) = (self.state.view.len() as u64, self.state.view.hash());
        let (id, operation) = (format!("c{}", self.head.seq).into(), Operation::Manual);
        self.write(vec![Record::Checkpoint(CheckpointRecord { id, operation, messages, hash, snapshot: None })]);
    }

    fn roll_back(&mut self) {
        if let Some(checkpoint) = self.state.latest_open().map(|open| open.id.clone()) {
            self.write(vec![Record::Rollback(Rollback { checkpoint, since: None, reason: String::new() })]);
        }
    }

    fn repair(&mut self, cuts: Vec<Cut>) {
        let id = format!("r{}", self.head.seq).into();
        self.write(vec![Record::Repair(RepairRecord {
            kind: RepairKind::Fix,
            id,
            cuts,
            meant: vec![],
            renamed: vec![],
            report: None,
        })]);
    }

    fn compact(&mut self, from: u64, to: u64) {
        let summary = vec![self.message()];
        self.write(vec![Record::Compact(Compact { from, to, meant: None, summary, dialect: None })]);
    }

    fn turn(&mut self) {
        let cycle = format!("t{}", self.head.seq).into();
        let arguments = Hash::ZERO;
        let calls = vec![CallRecord { id: "x".into(), tool: "t".to_owned(), effect: Effect::Unsafe, arguments }];
        let message = self.message();
        self.write(vec![Record::Turn(Turn { cycle, checkpoint: None, message, more: vec![], calls, dialect: None })]);
    }

    fn end_turn(&mut self) {
        if let Some(cycle) = self.state.cycles.first().map(|cycle| cycle.id.clone()) {
            let results = vec![self.insert()];
            self.write(vec![Record::Cycle(CycleRecord { cycle, results })]);
        }
    }

    fn without(&self, lost: usize, flips: bool) -> Replayed {
        let mut commits = self.commits.clone();
        if flips {
            commits[lost].bytes[20] ^= 1;
        } else {
            commits.remove(lost);
        }
        replay(&self.session, self.head, &commits)
    }
}

fn shown(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.message.as_str()).collect()
}

/// One step of a script. The numbers choose its target.
fn step(writer: &mut Writer, kind: u8, one: u64, other: u64) {
    let messages = writer.state.view.len() as u64;
    let at = one % (messages + 1);
    let removed = other % 3;
    match kind {
        0..=3 => writer.say(1 + (other % 2) as usize),
        4 | 5 => writer.checkpoint(),
        6 | 7 => writer.roll_back(),
        8 => {
            let inserted = vec![writer.insert()];
            writer.repair(vec![Cut { at, removed, inserted }]);
        }
        9 => {
            let (first, second) = (writer.insert(), writer.insert());
            let cuts = vec![
                Cut { at: at / 2, removed: 0, inserted: vec![first] },
                Cut { at, removed: removed.min(messages - at), inserted: vec![second] },
            ];
            writer.repair(cuts);
        }
        10 => {
            if let Some(repair) = writer.state.last_repair().cloned() {
                writer.write(vec![Record::Undo(Undo { repair })]);
            }
        }
        11 => writer.compact(at / 2, at),
        12 => writer.turn(),
        13 | 14 => writer.end_turn(),
        _ => writer.write(vec![Record::Reset(Reset { kept: vec![at / 2], meant: vec![], archive: None })]),
    }
}

/// Whether a commit only adds messages or makes checkpoints.
fn only_brings(records: &[Record]) -> bool {
    records.iter().all(|record| matches!(record, Record::Message(_) | Record::Checkpoint(_)))
}

proptest! {
    #[test]
    fn a_lost_commit_loses_only_its_own_messages(
        script in prop::collection::vec((0..16_u8, 0..1000_u64, 0..1000_u64), 1..40),
        lost in any::<prop::sample::Index>(),
        flips in any::<bool>(),
    ) {
        let mut writer = Writer::new();
        writer.say(2);
        for (kind, one, other) in script {
            step(&mut writer, kind, one, other);
        }
        let whole = replay(&writer.session, writer.head, &writer.commits);
        prop_assert!(whole.damages.is_empty() && whole.state.skipped == 0);
        prop_assert_eq!(&whole.state, &writer.state);

        let lost = lost.index(writer.commits.len());
        let first = writer.commits[lost].seq;
        let brought = first..first + writer.written[lost].len() as u64;
        let damaged = writer.without(lost, flips);
        prop_assert!(!damaged.damages.is_empty());
        let entries = damaged.state.view.entries();
        let ids: HashSet<EntryId> = entries.iter().map(Entry::id).collect();
        prop_assert_eq!(ids.len(), entries.len(), "no message is there twice");
        let unfit = damaged.damages.iter().any(|damage| matches!(damage.kind, DamageKind::Unfit { .. }));
        prop_assert_eq!(unfit, damaged.state.skipped > 0, "every skipped record is reported");
        if only_brings(&writer.written[lost]) {
            let left: Vec<Entry> =
                whole.state.view.entries().iter().filter(|entry| !brought.contains(&entry.seq)).cloned().collect();
            let order: HashMap<EntryId, usize> = (0..).zip(&left).map(|(at, entry)| (entry.id(), at)).collect();
            prop_assert_eq!(entries.len(), left.len());
            prop_assert!(entries.iter().all(|entry| order.contains_key(&entry.id())));
            if !unfit {
                prop_assert_eq!(entries, &left, "all other messages are as before");
            }
        }
    }
}

#[test]
fn a_repair_finds_its_messages_after_an_earlier_one_is_lost() {
    let mut writer = Writer::new();
    (0..7).for_each(|_| writer.say(1));
    writer.repair(vec![Cut { at: 4, removed: 1, inserted: vec![] }]);
    let damaged = writer.without(1, true);
    assert_eq!(
        shown(damaged.state.view.entries()),
        [r#"{"n":1}"#, r#"{"n":3}"#, r#"{"n":4}"#, r#"{"n":6}"#, r#"{"n":7}"#]
    );
    assert_eq!(damaged.damages.len(), 1);
}

#[test]
fn a_summary_replaces_only_the_messages_it_was_made_of() {
    let mut writer = Writer::new();
    (0..5).for_each(|_| writer.say(1));
    writer.compact(0, 3);
    let damaged = writer.without(1, true);
    assert_eq!(shown(damaged.state.view.entries()), [r#"{"n":6}"#, r#"{"n":4}"#, r#"{"n":5}"#]);
}

#[test]
fn rolled_back_messages_stay_removed() {
    let mut writer = Writer::new();
    (0..3).for_each(|_| writer.say(1));
    writer.checkpoint();
    writer.say(1);
    writer.roll_back();
    writer.say(1);
    // A message before the checkpoint, or the checkpoint itself.
    for (lost, left) in [(1, vec![1, 3, 5]), (3, vec![1, 2, 3, 5])] {
        let damaged = writer.without(lost, true);
        let left: Vec<String> = left.iter().map(|number| format!("{{\"n\":{number}}}")).collect();
        assert_eq!(shown(damaged.state.view.entries()), left);
    }
}

#[test]
fn records_without_ids_are_skipped_after_a_loss() {
    let mut state = State::default();
    let said = |text: &str| Record::Message(MessageRecord::new(Raw::parse(text).unwrap(), Origin::Said, None));
    state.apply(1, 0, &said("1"));
    state.apply(2, 0, &said("2"));
    state.expect_gaps();
    let cuts = vec![Cut { at: 0, removed: 1, inserted: vec![] }];
    state.apply(
        4,
        0,
        &Record::Repair(RepairRecord {
            kind: RepairKind::Fix,
            id: "r".into(),
            cuts,
            meant: vec![],
            renamed: vec![],
            report: None,
        }),
    );
    state.apply(5, 0, &Record::Compact(Compact { from: 0, to: 1, meant: None, summary: vec![], dialect: None }));
    state.apply(6, 0, &Record::Rollback(Rollback { checkpoint: "c".into(), since: None, reason: String::new() }));
    assert_eq!((shown(state.view.entries()), state.skipped), (vec!["1", "2"], 3));
}
