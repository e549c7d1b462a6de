//! `IDENT001 illegal-call-id`

use seamline_model::{Safety, Stage, Values};

use super::rename::{id_path, rename};
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls whose id holds characters that the provider does not take.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens after a switch from a provider whose ids look different,
    /// such as `functions.bash:0` or `call_1|fc_1`.
    ///
    /// # Fix safety
    /// Safe: call and result get another id, the same for the same old one.
    ///
    /// # References
    /// ANT-20; case 37
    IDENT001 "illegal-call-id" in Ident, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        if demand.alphabet.holds(id) {
            continue;
        }
        let path = id_path(context, state.call);
        let values = Values {
            kind: &path,
            ..context.values(state.call, id)
        };
        let made = ids::made(demand, id);
        report
            .block(
                context,
                state.call,
                format!("id `{id}` holds characters that the provider does not take"),
            )
            .call_id(id)
            .predicts(demand.alphabet_error.render(&values))
            .fix(
                Stage::Finish,
                Safety::Safe,
                format!("call it `{made}`"),
                rename(context, state.call, &made),
            );
    }
}
