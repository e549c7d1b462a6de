//! `MEDIA001 media-in-result`

use seamline_model::{Edit, Parts, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results that hold something else than text where the provider takes text only.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a tool returns a picture, or after a switch from a
    /// provider that takes pictures in results.
    ///
    /// # Fix safety
    /// Safe: what is not text moves into a user message right after the results.
    ///
    /// # References
    /// OAC-1; case 27
    MEDIA001 "media-in-result" in Media, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.text_only_results else {
        return;
    };
    for state in &context.pairing.results {
        let Some(result) = context.transcript.result(state.result) else {
            continue;
        };
        if !matches!(result.parts, Parts::List { media: true, .. }) {
            continue;
        }
        let id = context.id(state.result);
        report
            .block(
                context,
                state.result,
                format!("result for `{id}` holds something else than text"),
            )
            .call_id(id)
            .predicts(error.render(&context.values(state.result, id)))
            .fix(
                Stage::Finish,
                Safety::Safe,
                "move it into a user message after the results",
                vec![Edit::HoistMedia {
                    result: state.result,
                    text: "[synthetic] (the output follows below)",
                }],
            );
    }
}
