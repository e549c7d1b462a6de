//! The input and the output of planners.
//!
//! A planner is a pure function: it reads [`Facts`] and gives a [`Batch`] of records, or a refusal. It does no I/O and
//! reads no clock; the time is one of the facts.

use std::borrow::Cow;

use seamline_store::{
    AcceptedFinding, CycleId, Entry, Incident, IncidentKind, IncidentSeverity, MessageRecord, OpenCycle, Origin, Raw,
    Record, Rejected, SessionId, State,
};

use super::compact::Compaction;
use super::cycle::order::Ended;
use super::readdress::Addresses;
use super::wire::Wire;
use super::{LostCall, RepairContext, SessionError, SessionPolicy};

/// Everything that a planner may read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'s> {
    /// The name of the session.
    pub(super) id: &'s SessionId,
    /// The fold over all acknowledged records.
    pub(super) state: &'s State,
    /// The dialect and the policy of the session.
    pub(super) wire: &'s Wire,
    /// The work that lives in this process only.
    pub(super) work: &'s Work,
    /// The number of the next record.
    pub(super) next: u64,
    /// The time, in milliseconds since 1970.
    pub(super) now: u64,
}

impl<'s> Facts<'s> {
    /// The `[session]` section of the policy.
    pub(super) fn config(&self) -> Cow<'s, SessionPolicy> {
        self.wire.config()
    }

    /// The messages of the view.
    pub(super) fn entries(&self) -> &'s [Entry] {
        self.state.view.entries()
    }

    /// The bytes of the messages of the view.
    pub(super) fn messages(&self) -> impl Iterator<Item = &'s Raw> + Clone + use<'s> {
        self.entries().iter().map(|entry| &entry.message)
    }

    /// The record of a message that the user, the model or a tool wrote, in the current dialect.
    pub(super) fn said(&self, message: Raw) -> Record {
        said(self.wire, message)
    }

    /// An id that only the next commit can give out, such as `ckpt_12`.
    pub(super) fn next_id(&self, what: &str) -> String {
        format!("{what}_{}", self.next)
    }

    /// An incident that happens now.
    pub(super) fn incident(
        &self,
        kind: IncidentKind,
        severity: IncidentSeverity,
        detail: impl Into<String>,
    ) -> Incident {
        Incident::new(self.now, kind, severity, detail)
    }

    /// The record of an incident about this many messages, calls or records.
    pub(super) fn counted(
        &self,
        kind: IncidentKind,
        severity: IncidentSeverity,
        detail: impl Into<String>,
        count: usize,
    ) -> Record {
        Record::Incident(Incident { count: count as u64, ..self.incident(kind, severity, detail) })
    }

    /// The open cycle of this id.
    pub(super) fn open_cycle(&self, id: &CycleId) -> Result<&'s OpenCycle, SessionError> {
        self.state.cycle(id).ok_or_else(|| Rejected::NoCycle(id.clone()).into())
    }

    /// Refuses to change the view while tools run.
    pub(super) fn require_no_open_cycle(&self) -> Result<(), SessionError> {
        if self.state.cycles.is_empty() { Ok(()) } else { Err(Rejected::InFlight.into()) }
    }
}

/// Records that are written together, and what they mean for the work in this process.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// The calls whose results are lost once the records are durable.
    pub(super) lost: Vec<LostCall>,
    /// The fate of a compaction that is going on.
    pub(super) compaction: CompactionFate,
    /// The wire of the session once the records are durable, where they switch it.
    pub(super) switched: Option<Box<Wire>>,
}

/// The effect of a batch on an open compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CompactionFate {
    /// It goes on.
    #[default]
    GoesOn,
    /// It is over once the records are durable.
    Ends,
}

impl Batch {
    pub(super) fn of(records: Vec<Record>) -> Self {
        Self { records, ..Self::default() }
    }

    /// The same batch, after which these calls are lost.
    pub(super) fn losing(self, lost: Vec<LostCall>) -> Self {
        Self { lost, ..self }
    }

    /// The same batch, which ends a compaction if `fate` says so.
    pub(super) fn with_compaction(self, compaction: CompactionFate) -> Self {
        Self { compaction, ..self }
    }
}

impl From<Record> for Batch {
    fn from(record: Record) -> Self {
        Self::of(vec![record])
    }
}

/// The work that lives in this process only. A crash loses it, and nothing durable depends on it.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The compaction that is going on.
    pub(super) compaction: Option<Compaction>,
    /// A compaction that an error interrupted. It blocks nothing, and the host may still finish it.
    pub(super) interrupted: Option<Compaction>,
    /// The cycles that were committed while others were open.
    pub(super) ended: Vec<Ended>,
    /// The losses and repairs since the session was opened.
    pub(super) context: RepairContext,
    /// The number of inbox messages that were checked for damage and are still there.
    pub(super) inbox_checked: u64,
    /// The findings that the caller accepted last. The record of it may still wait for the store.
    pub(super) accepted: Vec<AcceptedFinding>,
    /// Whether a refused conversation was reset and no response came since.
    pub(super) has_restarted: bool,
    /// The calls of the view and their ids in requests, as the last result that named one needed them.
    pub(super) addresses: Addresses,
}

/// The record of a message that the user, the model or a tool wrote, in the dialect of a wire.
pub(super) fn said(wire: &Wire, message: Raw) -> Record {
    Record::Message(MessageRecord::new(message, Origin::Said, wire.mark()))
}

impl Work {
    /// Notes a record that is about to be applied: a committed cycle may have to be moved once the others have ended.
    pub(super) fn note(&mut self, state: &State, seq: u64, record: &Record) {
        let begun = record.committed_cycle().and_then(|cycle| state.cycle(cycle)).map(|open| open.seq);
        self.ended.extend(begun.map(|begun| Ended { begun, shown: seq }));
    }
}
