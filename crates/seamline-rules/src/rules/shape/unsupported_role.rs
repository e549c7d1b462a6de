//! `SHAPE008 unsupported-role`

use seamline_model::{Edit, Models, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with a role that the model of the request does not know.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when a conversation moves to an older model, or to a provider
    /// that never had the role.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "o1-mini",
    ///   "messages": [
    ///     {"role": "developer", "content": "Answer in French."},
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "o1-mini",
    ///   "messages": [
    ///     {"role": "user", "content": "Answer in French."},
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the message gets the role that comes closest, which gives its words another weight. Where `developer`
    /// becomes `system` they keep it, and the fix is safe. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// MIS-3, a recorded rejection by `o1-mini`
    SHAPE008 "unsupported-role" in Shape, Error, Unsafe, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(gap) = context.constraints.role_gap else {
        return;
    };
    let model = context.transcript.model.as_deref().unwrap_or_default();
    if !gap.models.claims(model) {
        return;
    }
    let who = if gap.models == Models::ALL { "the provider".to_owned() } else { format!("`{model}`") };
    let safety = if gap.instead == Role::System { Safety::Safe } else { Safety::Unsafe };
    for (index, message) in context.transcript.enumerate() {
        if message.role != gap.role {
            continue;
        }
        report
            .message(context, index, format!("{who} does not know this role"))
            .predicts(gap.error.render(&Values { message: index.get(), ..Values::default() }))
            .fix(
                Stage::Form,
                safety,
                "give it the role that comes closest",
                vec![Edit::SetRole { message: index, role: gap.instead }],
            );
    }
}
