//! The repair of sessions that are not one file each.

use seamline::Options;

use super::told::SessionFix;
use super::{Done, Fix, Fixed};
use crate::failure::Failure;
use crate::files::undo::Force;
use crate::input::Source;
use crate::render::Places;
use crate::render::file::FileOutcome;
use crate::render::repair::Destination;
use crate::stored::{RepairedStored, Store, StoredSession};

impl Fix {
    /// The sessions of a database.
    pub(super) fn store_of(&self, source: &Source) -> Result<Option<Store>, Failure> {
        let store = source.path().map_or(Ok(None), Store::at)?;
        match (&store, &self.session) {
            (None, Some(_)) => Err(Store::has_one_session()),
            (Some(_), _) if self.stdout || self.output.is_some() => {
                let option = if self.stdout { "--stdout" } else { "--output" };
                Err(Failure::new(format!("`{option}` writes one file, and these are sessions in several records"))
                    .with_hint(format!("leave `{option}` out to repair them in place, which can be undone")))
            }
            _ => Ok(store),
        }
    }

    /// Repairs the sessions of a store, and writes all of them at once.
    pub(super) fn repair_store(&self, store: &Store, options: &Options) -> Vec<Done> {
        match self.run_store(store, options) {
            Ok(all) => all,
            Err(failure) => vec![Done { label: store.label(), outcome: Err(failure) }],
        }
    }

    fn run_store(&self, store: &Store, options: &Options) -> Result<Vec<Done>, Failure> {
        let sessions = store.chosen(self.session.as_deref())?;
        let mut all = Vec::new();
        for session in sessions {
            if let Some(repaired) = store.repair(&session, options)? {
                all.push((session, repaired));
            }
        }
        if all.is_empty() {
            return Err(Failure::new("there is no session in it"));
        }
        if !self.diff {
            let changed = all.iter().map(|(_, repaired)| repaired).filter(|one| one.repaired.is_changed());
            let changed: Vec<_> = changed.collect();
            if !changed.is_empty() {
                store.write(&changed, if self.force { Force::Yes } else { Force::No })?;
            }
        }
        let done = |(session, repaired): &(StoredSession, RepairedStored)| Done {
            label: store.label_of(session),
            outcome: self.fixed(store, session, repaired, options),
        };
        Ok(all.iter().map(done).collect())
    }

    fn fixed(
        &self,
        store: &Store,
        session: &StoredSession,
        done: &RepairedStored,
        options: &Options,
    ) -> Result<Fixed, Failure> {
        let (path, label) = (&store.label(), &store.label_of(session));
        let repaired = &done.repaired;
        let destination = if self.diff { Destination::Nowhere } else { Destination::InPlace(store.path()) };
        let outcome = FileOutcome::of_records(done, store.resume(&repaired.about));
        let places = Places::Records(&done.records);
        self.tell_session(&SessionFix { label, path, outcome: &outcome, places }, &destination, options)
    }
}
