//! `SHAPE009 no-messages`

use seamline_model::Place;

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds requests without messages.
    ///
    /// # Why is this bad?
    /// Every provider rejects the request. The cause is a history that was trimmed too far, or a repair whose policy
    /// dropped every message.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "system": "Be brief.",
    ///   "messages": []
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// None: there is no content that could be sent.
    ///
    /// # References
    /// OAC-7
    SHAPE009 "no-messages" in Shape, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let envelope = context.transcript.envelope;
    if context.transcript.messages.is_empty() && !envelope.unlisted && !envelope.chained {
        report
            .place(Place::default(), "the conversation has no messages".to_owned())
            .predicts(context.constraints.no_messages.0.to_owned());
    }
}
