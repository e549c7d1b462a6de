//! `SHAPE008 unsupported-role`

use seamline_model::{Edit, Models, Role, RoleGap, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with a role that the model does not support.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. The cause is a conversation that moves to an older model, or to a provider
    /// without that role.
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
    /// Unsafe: the message gets the closest role, which gives its text less authority. Where `developer` becomes
    /// `system`, or the old `function` becomes `tool`, the meaning is the same and the fix is safe. The example is
    /// repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// MIS-3, OAC-22, a recorded rejection by `o1-mini`
    SHAPE008 "unsupported-role" in Shape, Error, Unsafe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let model = context.transcript.model.as_deref().unwrap_or_default();
    for gap in context.constraints.role_gaps.iter().filter(|gap| gap.models.claims(model)) {
        report_gap(context, report, gap, model);
    }
}

fn report_gap(context: &Context<'_, '_>, report: &mut Report, gap: &RoleGap, model: &str) {
    let who = if gap.models == Models::ALL { "the provider".to_owned() } else { format!("`{model}`") };
    let safety = if gap.instead == Role::User { Safety::Unsafe } else { Safety::Safe };
    for (index, _) in context.messages().filter(|(_, message)| message.role == gap.role) {
        report
            .message(context, index, format!("{who} does not support the role of this message"))
            .predicts(gap.error.render(&Values { message: index.get(), ..Values::default() }))
            .fix(
                Stage::Form,
                safety,
                "change it to the closest role",
                vec![Edit::SetRole { message: index, role: gap.instead }],
            );
    }
}
