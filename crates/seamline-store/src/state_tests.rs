//! The fold, over records in any order.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::cycle::Effect;
use crate::hash::Hash;
use crate::raw::Raw;
use crate::record::{CallOutcome, CallRecord, Cut, CycleEnd, DroppedCheckpoints, MessageRecord, RepairKind, Undo};
use crate::{IncidentKind, IncidentSeverity, Operation};

/// A few names, so that records often refer to each other.
fn name<T: From<&'static str> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(T::from)
}

fn message() -> impl Strategy<Value = Raw> {
    (0..9_u8).prop_map(|number| Raw::parse(format!("{{\"n\":{number}}}")).unwrap())
}

fn insert() -> impl Strategy<Value = Insert> {
    message().prop_map(|message| Insert::new(message, Origin::Synthetic, None))
}

fn cut() -> impl Strategy<Value = Cut> {
    (0..12_u64, 0..4_u64, prop::collection::vec(insert(), 0..3)).prop_map(|(at, removed, inserted)| Cut {
        at,
        removed,
        inserted,
    })
}

fn id() -> impl Strategy<Value = EntryId> {
    (1..40_u64, 0..2_u32).prop_map(|(seq, part)| EntryId(seq, part))
}

fn meant() -> impl Strategy<Value = Meant> {
    let beside = || prop::option::of(id());
    (beside(), prop::collection::vec(id(), 0..4), beside()).prop_map(|(after, entries, before)| Meant {
        after,
        entries,
        before,
    })
}

fn incident() -> Incident {
    Incident::new(1, IncidentKind::Repair, IncidentSeverity::Info, "")
}

fn record() -> impl Strategy<Value = Record> {
    let call = || CallRecord { id: "x".into(), tool: "t".to_owned(), effect: Effect::Unsafe, arguments: Hash::ZERO };
    let turn = move |(cycle, message): (CycleId, Raw)| Turn {
        cycle,
        checkpoint: None,
        message,
        more: vec![],
        calls: vec![call(), call()],
        dialect: None,
    };
    prop_oneof![
        6 => message().prop_map(|message| Record::Message(MessageRecord::new(message, Origin::Said, None))),
        3 => (name(), message()).prop_map(move |made| Record::Turn(turn(made))),
        2 => name().prop_map(|cycle| Record::Intent(Intent { cycle, call: "x".into(), key: "k".to_owned() })),
        2 => (name(), message()).prop_map(|(cycle, output)| {
            let (outcome, text) = (CallOutcome::Returned, output.as_str().into());
            Record::Staged(Staged { cycle, call: "x".into(), outcome, text, failed: false })
        }),
        2 => (name(), prop::collection::vec(insert(), 0..3))
            .prop_map(|(cycle, results)| Record::Cycle(CycleRecord { cycle, results })),
        1 => name().prop_map(|cycle| Record::CycleEnd(CycleEnd { cycle, reason: String::new(), undoing: Vec::new() })),
        1 => name().prop_map(Record::CheckpointCommit),
        1 => name().prop_map(|id| Record::CheckpointsDropped(DroppedCheckpoints { ids: vec![id] })),
        3 => (name(), prop::option::weighted(0.3, 1..60_u64))
            .prop_map(|(checkpoint, since)| Record::Rollback(Rollback { checkpoint, since, reason: String::new() })),
        3 => (name(), prop::collection::vec((cut(), meant()), 0..3), prop::bool::weighted(0.3)).prop_map(|(id, cuts, named)| {
            let (cuts, meant): (Vec<Cut>, Vec<Meant>) = cuts.into_iter().unzip();
            Record::Repair(RepairRecord { kind: RepairKind::Fix, id, cuts, meant: if named { meant } else { Vec::new() }, renamed: vec![], report: None })
        }),
        2 => name().prop_map(|repair| Record::Undo(Undo { repair })),
        2 => (0..9_u64, 0..9_u64, prop::option::weighted(0.3, meant()), message()).prop_map(
            |(from, to, meant, summary)| Record::Compact(Compact { from, to, meant, summary: vec![summary], dialect: None })
        ),
        1 => prop::collection::vec((0..9_u64, id()), 0..3).prop_map(|kept| {
            let (kept, meant) = kept.into_iter().unzip();
            Record::Reset(Reset { kept, meant, archive: None })
        }),
        1 => name().prop_map(|dialect| Record::Switch(Switch { dialect, provider: None })),
        1 => Just(Record::Incident(incident())),
        1 => Just(Record::Unknown(Raw::default())),
    ]
}

/// A checkpoint of the current view, as a writer makes it.
fn checkpoint(state: &State, id: CheckpointId) -> Record {
    let (messages, hash) = (state.view.len() as u64, state.view.hash());
    Record::Checkpoint(CheckpointRecord { id, operation: Operation::Manual, messages, hash, snapshot: None })
}

proptest! {
    #[test]
    fn any_records_in_any_order_make_a_state(records in prop::collection::vec((record(), prop::option::weighted(0.2, name::<CheckpointId>())), 0..60)) {
        let mut state = State::default();
        let mut made: Vec<(CheckpointId, Vec<Entry>)> = Vec::new();
        for (seq, (record, checkpointed)) in (1..).zip(records) {
            if let Some(id) = checkpointed {
                let record = checkpoint(&state, id.clone());
                if state.allows(&record).is_ok() {
                    made.retain(|(known, _)| *known != id);
                    made.push((id, state.view.entries().to_vec()));
                }
                state.apply(seq * 2, 0, &record);
            }
            let goes = state.allows(&record).is_ok();
            let skipped = state.skipped;
            state.apply(seq * 2 + 1, 0, &record);
            prop_assert_eq!(state.skipped, skipped + u64::from(!goes), "the state applies records that fit and counts the others");
            prop_assert_eq!(state.view.hash(), state.view.rehash(state.view.len()), "hashes follow every change");
            if let Record::Rollback(rollback) = &record
                && goes
            {
                let was = made.iter().find(|(id, _)| *id == rollback.checkpoint).map(|(_, was)| was.as_slice());
                prop_assert_eq!(Some(state.view.entries()), was, "a rollback restores the earlier view");
            }
            for live in state.checkpoints.iter().filter(|found| is_live(found.state)) {
                let back = Rollback { checkpoint: live.id.clone(), since: Some(live.seq), reason: String::new() };
                prop_assert!(state.allows(&Record::Rollback(back)).is_ok(), "a live checkpoint is a rollback target");
            }
        }
    }

    #[test]
    fn any_records_after_a_gap_make_a_state(records in prop::collection::vec((record(), prop::option::weighted(0.2, name::<CheckpointId>())), 0..60), gap in 0..30_u64) {
        let mut state = State::default();
        for (seq, (record, checkpointed)) in (1..).zip(records) {
            if seq == gap {
                state.expect_gaps();
            }
            if let Some(id) = checkpointed {
                state.apply(seq * 2, 0, &checkpoint(&state, id));
            }
            state.apply(seq * 2 + 1, 0, &record);
            prop_assert_eq!(state.view.hash(), state.view.rehash(state.view.len()));
            let ids: HashSet<EntryId> = state.view.entries().iter().map(Entry::id).collect();
            prop_assert_eq!(ids.len(), state.view.len(), "no message is there twice");
        }
    }

    #[test]
    fn an_undone_repair_leaves_no_trace(messages in prop::collection::vec(message(), 1..12), cuts in prop::collection::vec(cut(), 1..4)) {
        let mut state = State::default();
        for (seq, message) in (1..).zip(messages) {
            state.apply(seq, 0, &Record::Message(MessageRecord::new(message, Origin::Said, None)));
        }
        let before = state.view.clone();
        let repair = Record::Repair(RepairRecord { kind: RepairKind::Fix, id: "r".into(), cuts, meant: vec![], renamed: vec![], report: None });
        let fits = state.allows(&repair).is_ok();
        state.apply(100, 0, &repair);
        let undo = Record::Undo(Undo { repair: "r".into() });
        prop_assert_eq!(state.allows(&undo).is_ok(), fits);
        state.apply(101, 0, &undo);
        prop_assert_eq!(state.view, before);
    }
}

#[test]
fn the_state_keeps_only_what_repairs_removed() {
    let mut state = State::default();
    let said = |number: u64| Raw::parse(format!("{{\"n\":{number}}}")).unwrap();
    for number in 1..=20_000 {
        state.apply(number, 0, &Record::Message(MessageRecord::new(said(number), Origin::Said, None)));
    }
    let before = state.view.clone();
    state.apply(30_000, 0, &checkpoint(&state, "c".into()));
    for number in 0..4_000 {
        let inserted = vec![Insert::new(said(number), Origin::Synthetic, None)];
        let cuts = vec![Cut { at: number * 5, removed: 1, inserted }];
        let mut records = [Record::Repair(RepairRecord {
            renamed: Vec::new(),
            kind: RepairKind::Fix,
            id: format!("r{number}").into(),
            cuts,
            meant: vec![],
            report: None,
        })];
        state.name(&mut records);
        state.apply(40_000 + number, 0, &records[0]);
    }
    assert_eq!((state.skipped, state.view.entries()[15].seq), (0, 40_003));
    let rollback = Rollback { checkpoint: "c".into(), since: Some(30_000), reason: String::new() };
    state.apply(50_000, 0, &Record::Rollback(rollback));
    assert_eq!(state.view, before);
    assert_eq!(state.view.hash(), before.hash());
}

#[test]
fn a_rollback_without_changes_leaves_repairs_undoable() {
    let mut state = State::default();
    let said = |text: &str| Record::Message(MessageRecord::new(Raw::parse(text).unwrap(), Origin::Said, None));
    state.apply(1, 0, &said("1"));
    state.apply(2, 0, &said("2"));
    let before = state.view.clone();
    let cuts = vec![Cut { at: 0, removed: 1, inserted: vec![] }];
    state.apply(
        3,
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
    state.apply(4, 0, &checkpoint(&state, "c".into()));
    state.apply(5, 0, &said("3"));
    let rollback = Rollback { checkpoint: "c".into(), since: Some(4), reason: String::new() };
    state.apply(6, 0, &Record::Rollback(rollback));
    assert_eq!((state.view.len(), state.last_repair()), (1, Some(&"r".into())));
    state.apply(7, 0, &Record::Undo(Undo { repair: "r".into() }));
    assert_eq!(state.view, before);
}

#[test]
fn a_rollback_restores_the_repairs_that_could_be_undone_then() {
    let said = |text: &str| Record::Message(MessageRecord::new(Raw::parse(text).unwrap(), Origin::Said, None));
    let repair = |id: &str| {
        let cuts = vec![Cut { at: 0, removed: 1, inserted: vec![] }];
        Record::Repair(RepairRecord {
            kind: RepairKind::Fix,
            id: id.into(),
            cuts,
            meant: vec![],
            renamed: vec![],
            report: None,
        })
    };
    let undo = |id: &str| Record::Undo(Undo { repair: id.into() });
    let compact = Record::Compact(Compact { from: 0, to: 1, meant: None, summary: vec![], dialect: None });
    let afterwards: [&[Record]; 4] =
        [&[repair("later")], &[undo("2"), undo("1")], &[undo("2"), repair("later"), undo("later")], &[compact]];
    for records in afterwards {
        let mut state = State::default();
        for (seq, text) in (1..).zip(["1", "2", "3", "4"]) {
            state.apply(seq, 0, &said(text));
        }
        let before = state.view.clone();
        state.apply(5, 0, &repair("1"));
        state.apply(6, 0, &repair("2"));
        state.apply(7, 0, &checkpoint(&state, "c".into()));
        let then = state.view.clone();
        for (seq, record) in (8..).zip(records) {
            state.apply(seq, 0, record);
        }
        let rollback = Rollback { checkpoint: "c".into(), since: Some(7), reason: String::new() };
        state.apply(20, 0, &Record::Rollback(rollback));
        assert_eq!((&state.view, state.last_repair()), (&then, Some(&"2".into())), "{records:?}");
        state.apply(21, 0, &undo("2"));
        state.apply(22, 0, &undo("1"));
        assert_eq!((&state.view, state.last_repair(), state.skipped), (&before, None, 0), "{records:?}");
    }
}

#[test]
fn every_prefix_is_hashed_once_after_a_change() {
    let mut state = State::default();
    for (seq, text) in (1..).zip(["1", "2", "3", "4"]) {
        let message = Raw::parse(text).unwrap();
        state.apply(seq, 0, &Record::Message(MessageRecord::new(message, Origin::Said, None)));
    }
    let cuts = vec![Cut { at: 1, removed: 1, inserted: vec![] }];
    state.apply(
        5,
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
    let one_by_one: Vec<Hash> = (1..=3).map(|count| state.view.hash_of(count)).collect();
    assert_eq!(state.view.hashes(), one_by_one);
}
