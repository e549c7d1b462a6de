//! `WIRE010 unreadable-call-list`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds lists of calls that are not a list and do not hold one.
    ///
    /// # Why is this bad?
    /// The provider rejects the message. It happens when a client writes a word such as `none` where it has
    /// no calls.
    ///
    /// # Fix safety
    /// Unsafe: the field goes, with whatever stood in it.
    ///
    /// # References
    /// OAC-1; case 29
    WIRE010 "unreadable-call-list" in Wire, Error, Unsafe, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::UnreadableCallList { found } = &irregularity.kind else {
            continue;
        };
        let Some(message) = irregularity.message else {
            continue;
        };
        let place = Place { message: Some(message), block: None, span: irregularity.span };
        report.place(place, format!("list of calls is {found}")).fix(
            Stage::Form,
            Safety::Unsafe,
            "take the field out",
            vec![Edit::RemoveCallList { message }],
        );
    }
}
