//! `WIRE005 call-list-as-text`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds lists of calls that are written as a string that holds JSON.
    ///
    /// # Why is this bad?
    /// The provider rejects the message, and clients that read it letter by letter lose every result that follows.
    /// It happens when a database column is replayed as it was stored.
    ///
    /// # Fix safety
    /// Safe: the list is taken out of the string.
    ///
    /// # References
    /// OAC-1; case 29
    WIRE005 "call-list-as-text" in Wire, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::CallListAsText { list } = &irregularity.kind else {
            continue;
        };
        let place = Place {
            message: irregularity.message,
            block: irregularity.block,
            span: irregularity.span,
        };
        let edits = vec![Edit::Patch {
            span: irregularity.span,
            text: list.clone(),
        }];
        report
            .place(place, "list of calls is written as a string".to_owned())
            .fix(
                Stage::Bytes,
                Safety::Safe,
                "take the list out of the string",
                edits,
            );
    }
}
