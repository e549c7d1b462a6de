//! `IDENT006 internal-call-id`

use seamline_model::{Safety, Stage};

use super::rename::rename;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

/// How ids start that a client uses inside its own history.
const INTERNAL: &str = "hist_tool_";

declare_rule! {
    /// # What it does
    /// Finds ids that a client uses inside its own history and that no provider ever gave.
    ///
    /// # Why is this bad?
    /// Providers take most of them, but a conversation whose ids change between requests loses its prompt
    /// cache, and the next switch of provider meets ids that nobody recognises.
    ///
    /// # Fix safety
    /// Safe: call and result get the id the provider would have seen.
    ///
    /// # References
    /// S2-04 to S2-08; case 37
    IDENT006 "internal-call-id" in Ident, Warning, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.call_id;
    for state in &context.pairing.calls {
        let id = context.id(state.call);
        let Some(rest) = id.strip_prefix(INTERNAL) else {
            continue;
        };
        if !ids::is_legal(demand, id) {
            continue;
        }
        let plain = format!("{}{rest}", demand.prefix);
        let made = if ids::is_legal(demand, &plain) && !rest.is_empty() {
            plain
        } else {
            ids::made(demand, id)
        };
        report
            .block(context, state.call, format!("id `{id}` is a client's own"))
            .call_id(id)
            .fix(
                Stage::Finish,
                Safety::Safe,
                format!("call it `{made}`"),
                rename(context, state.call, &made),
            );
    }
}
