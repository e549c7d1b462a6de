//! The examination of sessions that are not one file each.

use seamline::files::CheckedFile;

use super::examine::{Examination, GoingOn, plan};
use super::search::Candidate;
use crate::failure::Failure;
use crate::files::undo::Force;
use crate::render::Counts;
use crate::render::doctor::{Broken, Examined, Fixed, Session};
use crate::render::record::Record;
use crate::stored::{RepairedStored, Store, StoredSession};

/// The outcome of one write for all sessions of a store.
enum Written {
    Yes,
    InUse(String),
    Failed(Failure),
}

impl Examination<'_> {
    /// Examines the sessions of a store, and writes the repairs of all of them at once if that was asked.
    pub(super) fn examine_store(&self, candidate: &Candidate, store: &Store) -> Result<Vec<Examined>, Failure> {
        let is_recent = |session: &StoredSession| {
            candidate.is_named || self.since.is_none_or(|since| session.modified.is_none_or(|time| time >= since))
        };
        let mut sessions = Vec::new();
        let mut repairs = Vec::new();
        for stored in store.chosen(candidate.session.as_deref())?.into_iter().filter(is_recent) {
            let Some(found) = store.check(&stored, self.options)? else { continue };
            let modified = stored.modified.or(candidate.modified);
            let waiting = self.waiting(&found.checked, modified);
            let is_whole = found.checked.is_healthy() || waiting.is_some();
            let repaired = if is_whole { None } else { store.repair(&stored, self.options)? };
            let broken = repaired.as_ref().map(broken);
            let is_planned = |one: &RepairedStored| one.repaired.is_changed() && one.repaired.refusal.is_none();
            if let Some(repaired) = repaired.filter(is_planned) {
                repairs.push((sessions.len(), repaired));
            }
            sessions.push(Session { modified, broken, waiting, ..session(store, found.checked, found.records) });
        }
        if self.fix && !repairs.is_empty() {
            let written = self.write_store(store, &repairs.iter().map(|(_, one)| one).collect::<Vec<_>>());
            for (index, _) in &repairs {
                if let Some(broken) = &mut sessions[*index].broken {
                    broken.fixed = Some(written.of_one());
                }
            }
        }
        Ok(sessions.into_iter().map(|session| Examined::Session(Box::new(session))).collect())
    }

    fn write_store(&self, store: &Store, repairs: &[&RepairedStored]) -> Written {
        if let (Force::No, Some(in_use)) = (self.force, store.in_use(repairs)) {
            return Written::InUse(in_use.reason());
        }
        match store.write(repairs, self.force) {
            Ok(()) => Written::Yes,
            Err(failure) => Written::Failed(failure),
        }
    }
}

impl Written {
    /// The outcome for one of the sessions.
    fn of_one(&self) -> Fixed {
        match self {
            Self::Yes => Fixed::Written { quarantine: None },
            Self::InUse(reason) => Fixed::InUse(reason.clone()),
            Self::Failed(failure) => Fixed::Failed(failure.clone()),
        }
    }
}

fn session(store: &Store, checked: CheckedFile, records: Vec<Record>) -> Session {
    Session {
        path: store.path().to_owned(),
        program: checked.program,
        resume: store.resume(&checked.about),
        about: checked.about,
        records,
        modified: None,
        counts: Counts::of(&checked.findings),
        findings: checked.findings,
        broken: None,
        waiting: None,
    }
}

/// The damage and the planned repair.
fn broken(done: &RepairedStored) -> Broken {
    let repaired = &done.repaired;
    let going_on = GoingOn::of(&repaired.before, repaired.dialect, &repaired.found);
    Broken { request: going_on.request, open_calls: going_on.calls, plan: Some(plan(repaired)), fixed: None }
}
