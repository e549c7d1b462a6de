//! `IDENT002 long-call-id`

use seamline_model::{Safety, Stage, Values};

use super::rename::{id_path, rename};
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls whose id is longer than the provider takes.
    ///
    /// # Why is this bad?
    /// The provider rejects the request, with an error that some clients mistake for an overflow of the
    /// context. Even a provider's own ids can be too long for it.
    ///
    /// # Fix safety
    /// Safe: call and result get a shorter id, the same for the same old one, made so that two long ids
    /// never become one.
    ///
    /// # References
    /// OAC-5, OAC-6; case 38
    IDENT002 "long-call-id" in Ident, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    if demand.length_max == usize::MAX {
        return;
    }
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        // Characters are never more than bytes.
        if id.len() <= demand.length_max
            || id.chars().count() <= demand.length_max
            || !demand.alphabet.holds(id)
        {
            continue;
        }
        let length = id.chars().count();
        let path = id_path(context, state.call);
        let values = Values {
            kind: &path,
            length,
            ..context.values(state.call, id)
        };
        let made = ids::made(demand, id);
        report
            .block(
                context,
                state.call,
                format!(
                    "id of {length} characters is longer than {}",
                    demand.length_max
                ),
            )
            .call_id(id)
            .predicts(demand.length_error.render(&values))
            .fix(
                Stage::Finish,
                Safety::Safe,
                format!("call it `{made}`"),
                rename(context, state.call, &made),
            );
    }
}
