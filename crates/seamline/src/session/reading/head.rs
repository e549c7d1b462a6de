//! What stands before the messages of a body.

use std::borrow::Cow;

use seamline_dialects::Dialect;
use seamline_model::{Envelope, Irregularity, Request, Transcript};

/// What stands behind the last message of a body.
pub(super) const CLOSING: &[u8] = b"]}";

/// The start of a body, up to its first message.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// What they say.
    pub(super) around: Around,
}

impl Head {
    /// Reads a head. Returns nothing when it cannot be the head of a body.
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

    /// The head of a body with nothing but messages, which was read.
    pub(super) fn plain(head: String, transcript: &Transcript<'_>) -> Self {
        Self { bytes: head.into_bytes(), around: Around::of(transcript) }
    }
}

/// What a body says beside its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Around {
    model: Option<String>,
    request: Request,
    envelope: Envelope,
    /// What could be read only by being tolerant.
    irregularities: Vec<Irregularity>,
}

impl Around {
    /// What the body of a transcript says, which was read without tolerance around its messages.
    fn of(transcript: &Transcript<'_>) -> Self {
        Self {
            model: transcript.model.as_deref().map(str::to_owned),
            request: transcript.request.clone(),
            envelope: transcript.envelope,
            irregularities: Vec::new(),
        }
    }

    /// The same without the places where it is said: two that say the same are equal.
    pub(super) fn without_places(&self) -> Self {
        Self { request: self.request.without_places(), irregularities: Vec::new(), ..self.clone() }
    }

    /// Lets a transcript of messages say this beside them.
    pub(super) fn put_around(&self, transcript: &mut Transcript<'_>) {
        transcript.model = self.model.clone().map(Cow::Owned);
        transcript.request = self.request.clone();
        transcript.envelope = self.envelope;
        // The head comes before all messages.
        transcript.irregularities.splice(0..0, self.irregularities.iter().cloned());
    }

    /// Takes it away again, but for the model, the request and the envelope, which the next one replaces.
    pub(super) fn take_from(&self, transcript: &mut Transcript<'_>) {
        transcript.irregularities.drain(..self.irregularities.len());
    }
}
