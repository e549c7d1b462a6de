//! Plans the records of a fork: the messages of another session with their origins.

use seamline_store::{CycleId, CycleRecord, Entry, EntrySource, Insert, Origin, Record, State, Turn};

use crate::session::SessionError;
use crate::session::recorded::renamed_record;
use crate::session::wire::{Wire, holds_only_results};

/// Plans copies of messages. Messages of a cycle become a cycle again, so that the fork knows which results are synthetic,
/// whatever their text is.
pub(super) fn plan_copies(wire: &Wire, state: &State) -> Result<Vec<Record>, SessionError> {
    let entries = state.view.entries();
    let mut records = Vec::with_capacity(entries.len() + 2);
    records.extend(state.switch.clone().map(Record::Switch));
    // A late result may still come under an earlier id.
    records.extend(renamed_record(state.renamed.clone()));
    for together in entries.chunk_by(|one, next| one.seq == next.seq) {
        match together[0].source {
            EntrySource::Cycle => copy_cycle(together, &mut records),
            EntrySource::LateResult => {
                for entry in together {
                    if entry.origin == Origin::Said && is_result(wire, entry)? {
                        copy_cycle(std::slice::from_ref(entry), &mut records);
                    } else {
                        records.push(copy(entry));
                    }
                }
            }
            EntrySource::Message | EntrySource::Fix | EntrySource::Compaction => {
                records.extend(together.iter().map(copy));
            }
        }
    }
    Ok(records)
}

fn copy(entry: &Entry) -> Record {
    Record::Message(Insert::from(entry).into())
}

/// Copies messages of one cycle as a committed cycle. A turn is never synthetic, so synthetic messages before the first
/// other one are copied as they are.
fn copy_cycle(entries: &[Entry], records: &mut Vec<Record>) {
    let said = entries.iter().position(|entry| entry.origin == Origin::Said).unwrap_or(entries.len());
    let (before, cycle) = entries.split_at(said);
    records.extend(before.iter().map(copy));
    let Some((first, results)) = cycle.split_first() else { return };
    let id = CycleId::from(format!("copied_{}", records.len()));
    let results = results.iter().map(Insert::from);
    let (message, more, calls, dialect) = (first.message.clone(), Vec::new(), Vec::new(), first.dialect.clone());
    records.push(Record::Turn(Turn { cycle: id.clone(), checkpoint: None, message, more, calls, dialect }));
    records.push(Record::Cycle(CycleRecord { cycle: id, results: results.collect() }));
}

/// Whether a message has results and nothing else.
fn is_result(wire: &Wire, entry: &Entry) -> Result<bool, SessionError> {
    Ok(wire.outline_each(&[entry])?.iter().all(holds_only_results))
}
