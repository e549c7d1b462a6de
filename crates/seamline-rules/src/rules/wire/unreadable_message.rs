//! `WIRE008 unreadable-message`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that are not an object, have no role, or have a role nobody knows.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a file was damaged or written by another program.
    ///
    /// # Fix safety
    /// Unsafe: the message is taken out, since nobody can tell whose it is.
    ///
    /// # References
    /// ANT-1, OAC-1
    WIRE008 "unreadable-message" in Wire, Error, Unsafe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::UnreadableMessage { found } = &irregularity.kind else {
            continue;
        };
        let place = Place {
            message: irregularity.message,
            block: irregularity.block,
            span: irregularity.span,
        };
        let Some(message) = irregularity.message else {
            continue;
        };
        report
            .place(place, format!("message cannot be read: {found}"))
            .fix(
                Stage::Form,
                Safety::Unsafe,
                "take it out",
                vec![Edit::RemoveMessage { message }],
            );
    }
}
