//! `WIRE003 duplicate-key`

use seamline_model::{Edit, IrregularityKind, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds objects that have the same key twice.
    ///
    /// # Why is this bad?
    /// Readers do not agree which of the two counts; most take the last. What the other says is sent but never read.
    ///
    /// # Fix safety
    /// Unsafe: the member that readers ignore is taken out.
    ///
    /// # References
    /// case 15
    WIRE003 "duplicate-key" in Wire, Warning, Unsafe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for irregularity in &context.transcript.irregularities {
        let IrregularityKind::DuplicateKey { key, cut } = &irregularity.kind else {
            continue;
        };
        let place = Place {
            message: irregularity.message,
            block: irregularity.block,
            span: irregularity.span,
        };
        let edits = vec![Edit::Patch {
            span: *cut,
            text: String::new(),
        }];
        report
            .place(place, format!("key `{key}` stands twice in one object"))
            .fix(
                Stage::Bytes,
                Safety::Unsafe,
                "take the earlier one out",
                edits,
            );
    }
}
