//! The content of a body outside its messages.

use std::borrow::Cow;

use seamline_model::{Envelope, Irregularity, RequestFacts, Transcript};

/// The content of a body outside its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    model: Option<String>,
    request: RequestFacts,
    envelope: Envelope,
    /// The irregularities that the reader tolerated.
    pub(crate) irregularities: Vec<Irregularity>,
    /// Whether the body is the list of messages itself.
    is_bare: bool,
}

impl Around {
    /// The content outside the messages of a transcript, without irregularities.
    pub(crate) fn of(transcript: &Transcript<'_>) -> Self {
        Self {
            model: transcript.model.as_deref().map(str::to_owned),
            request: transcript.request.clone(),
            envelope: transcript.envelope,
            irregularities: Vec::new(),
            is_bare: transcript.is_bare_list(),
        }
    }

    /// The same without places, so that equal content compares equal.
    pub(crate) fn without_places(&self) -> Self {
        Self { request: self.request.without_places(), irregularities: Vec::new(), ..self.clone() }
    }

    /// Adds this content to a transcript of messages.
    pub(crate) fn put_around(&self, transcript: &mut Transcript<'_>) {
        transcript.model = self.model.clone().map(Cow::Owned);
        transcript.request = self.request.clone();
        transcript.envelope = self.envelope;
        // The head comes before all messages.
        transcript.irregularities.splice(0..0, self.irregularities.iter().cloned());
    }

    /// Removes it again, except for the model, the request and the envelope, which the next head replaces.
    pub(crate) fn take_from(&self, transcript: &mut Transcript<'_>) {
        transcript.irregularities.drain(..self.irregularities.len());
    }
}
