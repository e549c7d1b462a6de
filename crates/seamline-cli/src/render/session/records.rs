//! The log of a session: every record, including those that were undone.

use seamline::store::{CheckpointId, InboxId, OpenedCommit, Record, SealKey, SessionId, StoredCommit};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{listing, word};
use crate::render::{style, table};
use crate::{screen, time};

/// One line per record.
pub(crate) fn text(commits: &[StoredCommit], key: Option<&SealKey>) -> String {
    let mut rows = Vec::new();
    for stored in commits {
        match OpenedCommit::open_with(&stored.bytes, key) {
            Ok(commit) => {
                let at = time::of_ms(commit.at);
                for (seq, record) in (commit.seq..).zip(&commit.records) {
                    let (kind, what) = brief(record);
                    rows.push([seq.to_string(), at.clone(), kind.to_owned(), screen::printable(&what).into_owned()]);
                }
            }
            Err(flaw) => rows.push([stored.seq.to_string(), String::new(), "damaged".to_owned(), flaw.to_string()]),
        }
    }
    table::render(&rows, [style::FAINT, style::FAINT, style::STRONG, style::PLAIN], screen::width())
}

/// Summarizes a record without the text of messages.
fn brief(record: &Record) -> (&'static str, String) {
    let size = |bytes: &[u8]| screen::bytes(bytes.len() as u64);
    match record {
        Record::Begin(begin) => ("begin", begin.provider.clone().unwrap_or_else(|| begin.dialect.to_string())),
        Record::Message(message) => {
            ("message", format!("{}, {}", word(&message.origin), size(message.message.as_bytes())))
        }
        Record::Turn(turn) => {
            let calls: Vec<_> = turn.calls.iter().map(|call| format!("{} {}", call.tool, call.id)).collect();
            ("turn", format!("{} calls {}", turn.cycle, calls.join(", ")))
        }
        Record::Intent(intent) => ("intent", format!("{} is about to run {}", intent.cycle, intent.call)),
        Record::Staged(staged) => {
            let failed = if staged.failed { "failed" } else { "finished" };
            (
                "staged",
                format!("{} of {} {failed}, {}", staged.call, staged.cycle, size(staged.text.as_str().as_bytes())),
            )
        }
        Record::Cycle(cycle) => (
            "cycle",
            format!("{} is complete, {}", cycle.cycle, screen::count(cycle.results.len(), "message of results")),
        ),
        Record::CycleEnd(end) => ("cycle_end", format!("{} was rolled back: {}", end.cycle, end.reason)),
        Record::Incident(incident) => ("incident", format!("{}: {}", word(&incident.kind), incident.detail)),
        Record::Policy(record) => ("policy", size(record.policy.as_bytes())),
        Record::Switch(switch) => {
            ("switch", format!("to {}", switch.provider.as_deref().unwrap_or(switch.dialect.as_str())))
        }
        Record::Renamed(renamed) => {
            let calls: Vec<_> = renamed.calls.iter().map(|call| format!("{} is {}", call.from, call.to)).collect();
            ("renamed", calls.join(", "))
        }
        Record::Inbox(taken) => {
            let ids: Vec<&str> = taken.ids.iter().map(InboxId::as_str).collect();
            ("inbox", format!("added {}", ids.join(", ")))
        }
        Record::Checkpoint(made) => (
            "checkpoint",
            format!(
                "{} for {} at {}",
                made.id,
                made.operation.as_str(),
                screen::count(made.messages as usize, "message")
            ),
        ),
        Record::CheckpointCommit(id) => ("checkpoint_commit", id.to_string()),
        Record::CheckpointsDropped(dropped) => {
            let ids: Vec<&str> = dropped.ids.iter().map(CheckpointId::as_str).collect();
            ("checkpoints_dropped", ids.join(", "))
        }
        Record::Rollback(rollback) => ("rollback", format!("to {}: {}", rollback.checkpoint, rollback.reason)),
        Record::Repair(repair) => ("repair", format!("{}, {}", repair.id, screen::count(repair.cuts.len(), "place"))),
        Record::Undo(undo) => ("undo", undo.repair.to_string()),
        Record::Accepted(accepted) => {
            ("accepted", format!("{} for requests to repair", screen::count(accepted.findings.len(), "finding")))
        }
        Record::Compensated(done) => {
            ("compensated", format!("{} of {}: {}", done.call, done.cycle, word(&done.outcome)))
        }
        Record::Compact(compact) => {
            let summary = screen::count(compact.summary.len(), "message");
            ("compact", format!("messages {} to {} replaced by {summary}", compact.from, compact.to))
        }
        Record::Reset(reset) => ("reset", format!("{} kept", screen::count(reset.kept.len(), "message"))),
        Record::Unknown(_) => ("unknown", "unknown to this version".to_owned()),
        Record::Unreadable(record) => (record.kind, "cannot be read".to_owned()),
    }
}

/// A stored record for programs.
#[derive(Serialize)]
struct StoredRecord<'c> {
    seq: u64,
    at: u64,
    commit: &'c str,
    record: &'c RawValue,
}

/// A commit that cannot be read.
#[derive(Serialize)]
struct Damaged {
    seq: u64,
    damage: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'c> {
    StoredRecord(StoredRecord<'c>),
    Damaged(Damaged),
}

#[derive(Deserialize)]
struct Inside<'c> {
    at: u64,
    id: &'c str,
    #[serde(borrow)]
    records: Vec<&'c RawValue>,
}

/// All records as one object.
pub(crate) fn json(session: &SessionId, commits: &[StoredCommit], key: Option<&SealKey>) -> String {
    let mut items = Vec::new();
    for stored in commits {
        let opened = OpenedCommit::open_with(&stored.bytes, key).map_err(|flaw| flaw.to_string());
        let inside =
            opened.and_then(|_| serde_json::from_slice::<Inside<'_>>(&stored.bytes).map_err(|error| error.to_string()));
        match inside {
            Ok(Inside { at, id, records }) => {
                let numbered = (stored.seq..).zip(records);
                items.extend(
                    numbered.map(|(seq, record)| Item::StoredRecord(StoredRecord { seq, at, commit: id, record })),
                );
            }
            Err(damage) => items.push(Item::Damaged(Damaged { seq: stored.seq, damage })),
        }
    }
    listing(session, "records", &items)
}
