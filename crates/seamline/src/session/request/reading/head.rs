//! The part of a body before its messages.

use std::borrow::Cow;

use seamline_dialects::Dialect;
use seamline_model::{Envelope, Irregularity, RequestFacts, Transcript};

/// The part of a body after its last message.
pub(super) const CLOSING: &[u8] = b"]}";

/// The start of a body, up to its first message.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The bytes of the head.
    pub(super) bytes: Vec<u8>,
    /// The parsed content of the head.
    pub(super) around: Around,
}

impl Head {
    /// Parses a head. Returns `None` when it cannot be the head of a body.
    pub(super) fn read(dialect: &Dialect, head: &str) -> Option<Self> {
        let body = [head.as_bytes(), CLOSING].concat();
        let transcript = dialect.decode(&body).ok()?;
        let list = head.len().checked_sub(1)?..head.len() + 1;
        if transcript.list.range() != list || !transcript.messages.is_empty() || transcript.is_bare_list() {
            return None;
        }
        let irregularities = transcript.irregularities.clone();
        let around = Around { irregularities, ..Around::of(&transcript) };
        Some(Self { bytes: head.as_bytes().to_vec(), around })
    }

    /// The head of a body that has only messages, from its transcript.
    pub(super) fn plain(head: String, transcript: &Transcript<'_>) -> Self {
        Self { bytes: head.into_bytes(), around: Around::of(transcript) }
    }
}

/// The content of a body outside its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Around {
    model: Option<String>,
    request: RequestFacts,
    envelope: Envelope,
    /// The irregularities that the reader tolerated.
    irregularities: Vec<Irregularity>,
}

impl Around {
    /// The content outside the messages of a transcript, which had no irregularities there.
    fn of(transcript: &Transcript<'_>) -> Self {
        Self {
            model: transcript.model.as_deref().map(str::to_owned),
            request: transcript.request.clone(),
            envelope: transcript.envelope,
            irregularities: Vec::new(),
        }
    }

    /// The same without places, so that equal content compares equal.
    pub(super) fn without_places(&self) -> Self {
        Self { request: self.request.without_places(), irregularities: Vec::new(), ..self.clone() }
    }

    /// Adds this content to a transcript of messages.
    pub(super) fn put_around(&self, transcript: &mut Transcript<'_>) {
        transcript.model = self.model.clone().map(Cow::Owned);
        transcript.request = self.request.clone();
        transcript.envelope = self.envelope;
        // The head comes before all messages.
        transcript.irregularities.splice(0..0, self.irregularities.iter().cloned());
    }

    /// Removes it again, except for the model, the request and the envelope, which the next head replaces.
    pub(super) fn take_from(&self, transcript: &mut Transcript<'_>) {
        transcript.irregularities.drain(..self.irregularities.len());
    }
}
