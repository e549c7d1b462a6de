//! Pairs the calls and results of the last messages without a walk over the earlier ones.

use super::{Pairing, Walk};
use crate::{MessageIndex, Scope, Transcript};

/// Where a walk starts.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// The first message that the walk looks at.
    pub(super) message: MessageIndex,
    /// Whether a result of the walk may belong to a call before the first message.
    looked_back: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self { message: MessageIndex(0), looked_back: false }
    }
}

impl Start {
    /// The expected number of calls and results, for the capacity.
    pub(super) fn room(self, transcript: &Transcript<'_>) -> usize {
        if self.message.0 == 0 { transcript.has.calls as usize } else { 0 }
    }

    /// Notes that the running span does not determine which call a result answers.
    pub(super) fn look_back(&mut self) {
        self.looked_back = true;
    }
}

impl Pairing {
    /// Pairs the calls and results of the messages from `first` on. Returns nothing if one of these results is not
    /// answered in its own span: then only [`Pairing::of`] can say which call it answers.
    ///
    /// The pairs are those of [`Pairing::of`] if each call before `first` is answered before `first`, each result before
    /// `first` answers a call, and the message before `first` makes no calls.
    pub fn behind(transcript: &Transcript<'_>, scope: Scope, first: MessageIndex) -> Option<Self> {
        if !transcript.has.pairs {
            return Some(Self::default());
        }
        let mut walk = Walk::new(transcript, scope, Start { message: first, looked_back: false });
        walk.run();
        walk.claim_unknown();
        // Early and misaddressed results need facts from before `first`, so the later steps have nothing to do.
        (!walk.start.looked_back).then_some(walk.pairing)
    }
}
