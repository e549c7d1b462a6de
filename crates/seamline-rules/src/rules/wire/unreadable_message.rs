//! `WIRE008 unreadable-message`

use seamline_model::{Edit, Irregularity, IrregularityKind, Safety, Severity, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that are not an object, have no role, or have an unknown role. An unknown role and an item of an
    /// unknown kind are only a note: the provider may have added them. A message with the role of a tool is an error in
    /// dialects without that role. If it names a call, [`foreign-block`](WIRE015.md) makes it a result.
    ///
    /// # Why is this bad?
    /// The provider rejects a request with a value that is not a message. The cause is a damaged file, or a file of
    /// another program.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "wizard", "content": "Hi!"},
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "user", "content": "[begin 50d34bf6beb109fa: a message with an unknown role, kept as text]\nrole: wizard\nHi!\n[end 50d34bf6beb109fa]"},
    ///     {"role": "user", "content": "What can you do?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the message becomes a user message, under a line that says what it was, because its author is unknown.
    /// A message with an unknown role is changed only with `--unsafe` or `safety = "any"`, by which the example is
    /// repaired: no preset does it. With the role of a tool it is safe.
    ///
    /// # References
    /// ANT-1, ANT-2, OAC-1, OAR-1, BED-1
    WIRE008 "unreadable-message" in Wire, Error, Unsafe, each Irregularity, reach Message
}

fn check(_context: &Context<'_, '_>, irregularity: &Irregularity, report: &mut Report) {
    let IrregularityKind::UnreadableMessage { found } = &irregularity.kind else {
        return;
    };
    let Some(message) = irregularity.message else {
        return;
    };
    let heading = match *found {
        Irregularity::UNKNOWN_KIND => "an item of an unknown kind, kept as text".to_owned(),
        found if found.contains("role") => format!("a message with {found}, kept as text"),
        found => format!("an entry that is {found}, kept as text"),
    };
    let (severity, safety) = match *found {
        // The provider may have added the role or the item, so that no preset may change it.
        _ if irregularity.is_unknown_message() => (Severity::Info, Safety::Unknown),
        // Who wrote it is known, and the marks around it say so.
        found if found.starts_with("the role of a tool") => (Severity::Error, Safety::Safe),
        _ => (Severity::Error, Safety::Unsafe),
    };
    report.irregularity(irregularity, format!("the message cannot be read: {found}")).severity(severity).fix(
        Stage::Form,
        safety,
        "keep it as text in a user message",
        vec![Edit::TakeIn { message, heading }],
    );
}
