//! `WIRE002 byte-order-mark`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds a byte order mark before the body.
    ///
    /// # Why is this bad?
    /// JSON may not start with one, and providers answer that the body cannot be parsed. Some editors add it.
    ///
    /// # Fix safety
    /// Safe: the mark goes.
    ///
    /// # References
    /// ANT-19, OAC-21
    WIRE002 "byte-order-mark" in Wire, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::ByteOrderMark = &irregularity.kind else {
            continue;
        };
        let place = Place {
            message: irregularity.message,
            block: irregularity.block,
            span: irregularity.span,
        };
        let edits = vec![Edit::Patch {
            span: irregularity.span,
            text: String::new(),
        }];
        report
            .place(place, "byte order mark before the body".to_owned())
            .predicts(context.constraints.not_json.0.to_owned())
            .fix(Stage::Bytes, Safety::Safe, "take it out", edits);
    }
}
