//! `PAIR006 superseded-result`

use seamline_model::{Edit, Fate, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds synthetic results whose call got its real result later.
    ///
    /// # Why is this bad?
    /// The call has two results, and the one that counts first is made up. It happens when a repair closes a
    /// call while its tool is still running.
    ///
    /// # Fix safety
    /// Safe: the synthetic result goes, the real one takes its place.
    ///
    /// # References
    /// ANT-7; case 17
    PAIR006 "superseded-result" in Pairing, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for state in &context.pairing.results {
        let Fate::Superseded(call) = state.fate else {
            continue;
        };
        let id = context.id(state.result);
        let real = context
            .pairing
            .call(call)
            .and_then(|state| state.answer)
            .map(|answer| answer.result);
        report
            .block(
                context,
                state.result,
                format!("synthetic result for `{id}`, whose real result came later"),
            )
            .call_id(id)
            .predicts(
                context
                    .constraints
                    .duplicate_result
                    .render(&context.values(state.result, id)),
            )
            .related(real)
            .fix(
                Stage::Pairing,
                Safety::Safe,
                "let the real result take its place",
                vec![Edit::Remove {
                    block: state.result,
                }],
            );
    }
}
