//! `LIMIT005 undeclared-choice`

use seamline_model::{Place, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds requests that force a call of a tool they do not declare.
    ///
    /// # Why is this bad?
    /// Groq rejects the request. The cause is a `tool_choice` that stays in the request after its tool is removed.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "llama-3.3-70b-versatile",
    ///   "tools": [
    ///     {"type": "function", "function": {"name": "bash"}}
    ///   ],
    ///   "tool_choice": {"type": "function", "function": {"name": "search"}},
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: declare the tool, or choose another one.
    ///
    /// # References
    /// GRQ-3, observed
    LIMIT005 "undeclared-choice" in Limit, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let request = &context.transcript.request;
    let (Some(error), Some(forced)) = (context.constraints.tools.unknown_choice, request.forced_tool.as_deref()) else {
        return;
    };
    let mut declared = request.tools.iter().flat_map(|declared| &declared.tools);
    // A declaration without a name may be a set that holds the tool.
    if !declared.any(|tool| tool.name.as_deref().is_none_or(|name| name == forced)) {
        report
            .place(Place::default(), format!("the request forces `{forced}`, which it does not declare"))
            .predicts(error.render(&Values { id: forced, ..Values::default() }));
    }
}
