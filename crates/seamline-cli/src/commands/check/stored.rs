//! The check of sessions that are not one file each.

use seamline::Options;

use super::{Check, Done, Report};
use crate::args::Format;
use crate::failure::Failure;
use crate::output;
use crate::render::text::{self, Tally};
use crate::render::{Counts, Examined, Places, file, json};
use crate::stored::{CheckedStored, Store, StoredSession};

impl Check {
    /// Checks the sessions of a store.
    pub(super) fn examine_store(&self, store: &Store, options: &Options) -> Vec<Done> {
        let label = store.label();
        let sessions = match store.chosen(self.session.as_deref()) {
            Ok(sessions) if sessions.is_empty() => Err(Failure::new("there is no session in it")),
            sessions => sessions,
        };
        let sessions = match sessions {
            Ok(sessions) => sessions,
            Err(failure) => return vec![Done { label, outcome: Err(failure) }],
        };
        let one = |session: &StoredSession| {
            let outcome = match store.check(session, options).transpose()? {
                Ok(checked) => Ok(self.report(store, session, &checked, options)),
                Err(failure) => Err(failure),
            };
            Some(Done { label: store.label_of(session), outcome })
        };
        sessions.iter().filter_map(one).collect()
    }

    fn report(&self, store: &Store, session: &StoredSession, found: &CheckedStored, options: &Options) -> Report {
        let (path, label) = (&store.label(), &store.label_of(session));
        let checked = &found.checked;
        output::say_note(label, checked.note.as_deref());
        let mut tally = Tally::of(checked, &options.policy);
        if self.format == Format::Text
            && tally.fixable > 0
            && let Ok(Some(done)) = store.repair(session, options)
        {
            match done.repaired.refusal {
                Some(_) => tally.forbid_writing(),
                None => tally.leaves = tally.promises_all() && Counts::of(&done.repaired.remaining).is_wrong(),
            }
        }
        let conversation = Options { dialect: Some(checked.dialect.to_owned()), kept: true, ..options.clone() };
        let examined = Examined {
            label,
            body: checked.body.as_bytes(),
            options: &conversation,
            findings: &checked.findings,
            places: Places::Records(&found.records),
        };
        let mut text = self.render(&examined, || json::checked_file(path, checked));
        if self.format == Format::Text && !text.is_empty() {
            text = file::introduction(path, checked) + &text;
        }
        Report { text, tally, clean: checked.findings.is_empty().then(|| text::clean(label, checked)) }
    }
}
