//! The settled checks of messages, one for each combination of options and envelope.

use std::num::NonZeroUsize;

use seamline_rules::Settled;

use super::around::Around;
use crate::Options;
use crate::check::Checked;

/// The most checks to keep: two checks and two requests precede every send.
const LOOKS_MAX: usize = 4;

/// The most findings of a report that is kept.
const FINDINGS_MAX: usize = 64;

/// The number of last messages that are checked each time, so that a conversation can lose or change a few messages without a
/// check of all of them. Tests settle as many messages as they can.
const OPEN_MESSAGES: NonZeroUsize = match NonZeroUsize::new(if cfg!(test) { 1 } else { 32 }) {
    Some(open) => open,
    None => NonZeroUsize::MIN,
};

/// A check with certain options and envelope, and its settled messages.
#[derive(Debug)]
pub(crate) struct Look {
    options: Options,
    /// The content of the body outside its messages, without places.
    around: Around,
    /// The messages that need not be checked again.
    pub(crate) settled: Settled,
    /// The report of the last check, if it is short and the messages are unchanged.
    report: Option<Checked>,
}

impl Look {
    /// The report of the last check, if the messages are unchanged.
    pub(crate) fn report(&self) -> Option<&Checked> {
        self.report.as_ref()
    }

    /// Keeps a report, if it is short.
    pub(crate) fn keep_report(&mut self, checked: &Checked) {
        self.report = (checked.findings.len() <= FINDINGS_MAX).then(|| checked.clone());
    }
}

/// The last checks, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Looks(pub(crate) Vec<Look>);

impl Looks {
    /// Takes out the settled state of a check.
    pub(crate) fn take(&mut self, options: &Options, around: &Around) -> Look {
        let around = around.without_places();
        match self.0.iter().position(|look| look.options == *options && look.around == around) {
            Some(at) => self.0.remove(at),
            None => Look { options: options.clone(), around, settled: Settled::new(OPEN_MESSAGES), report: None },
        }
    }

    /// Puts the settled state back.
    pub(crate) fn put(&mut self, look: Look) {
        self.0.insert(0, look);
        self.0.truncate(LOOKS_MAX);
    }

    /// The number of bytes of memory that the checks take, about.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.iter().map(|look| size_of::<Look>() + look.settled.held_bytes()).sum()
    }

    /// Forgets what depends on messages after the first ones.
    pub(crate) fn keep_start(&mut self, messages: usize) {
        for look in &mut self.0 {
            look.report = None;
            if look.settled.needs() > messages {
                look.settled.clear();
            }
        }
    }

    /// Forgets places in the body.
    pub(crate) fn forget_places(&mut self) {
        for look in self.0.iter_mut().filter(|look| look.settled.has_findings()) {
            look.settled.clear();
        }
    }
}
