//! `SHAPE008 unsupported-role`

use seamline_model::{Edit, Models, Role, RoleGap, Safety, Stage, Values};

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
    /// becomes `system`, or the old `function` becomes `tool`, they keep it, and the fix is safe. The example is
    /// repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// MIS-3, a recorded rejection by `o1-mini`
    SHAPE008 "unsupported-role" in Shape, Error, Unsafe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let model = context.transcript.model.as_deref().unwrap_or_default();
    for gap in context.constraints.role_gaps.iter().filter(|gap| gap.models.claims(model)) {
        found(context, report, gap, model);
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, gap: &RoleGap, model: &str) {
    let who = if gap.models == Models::ALL { "the provider".to_owned() } else { format!("`{model}`") };
    let safety = if gap.instead == Role::User { Safety::Unsafe } else { Safety::Safe };
    for (index, _) in context.messages().filter(|(_, message)| message.role == gap.role) {
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
