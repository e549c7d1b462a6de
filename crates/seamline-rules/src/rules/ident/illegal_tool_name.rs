//! `IDENT005 illegal-tool-name`

use seamline_model::{Edit, Safety, Stage};

use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls of tools whose name is missing, too long or holds characters that the provider does not
    /// take.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a model leaks its own control tokens into the name,
    /// or when tools of a connected server are called by their full path.
    ///
    /// # Fix safety
    /// Safe: the name gets characters the provider takes and a hash, so that two names never become one.
    ///
    /// # References
    /// ANT-21, OAC-9; case 42
    IDENT005 "illegal-tool-name" in Ident, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let demand = &context.constraints.tool_name;
    for state in &context.pairing.calls {
        let name = context
            .transcript
            .call(state.call)
            .and_then(|call| call.name.as_deref())
            .unwrap_or("");
        if ids::is_legal_name(demand, name) {
            continue;
        }
        let message = match name {
            "" => "call names no tool".to_owned(),
            name if name.len() > demand.length_max => {
                format!("tool name is longer than {}", demand.length_max)
            }
            name => format!("tool name `{name}` holds characters that the provider does not take"),
        };
        let id = context.id(state.call);
        let made = ids::made_name(demand, name);
        report
            .block(context, state.call, message)
            .call_id(id)
            .predicts(demand.error.render(&context.values(state.call, id)))
            .fix(
                Stage::Form,
                Safety::Safe,
                format!("call the tool `{made}`"),
                vec![Edit::SetToolName {
                    call: state.call,
                    name: made.clone(),
                }],
            );
    }
}
