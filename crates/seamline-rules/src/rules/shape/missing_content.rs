//! `SHAPE007 missing-content`

use seamline_model::{Body, Edit, EmptyText, ErrorText, Parts, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::policy::Emptied;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages and results whose content is `null`, absent, or neither text nor a list.
    /// Beside calls, `null` is as it should be.
    ///
    /// # Why is this bad?
    /// Providers reject the request. It happens when a message is saved before it has content, or when a tool returns
    /// an object.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": null},
    ///     {"role": "user", "content": "Are you there?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gpt-4o",
    ///   "messages": [
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "user", "content": "Are you there?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a message without content goes, or gets an empty text where it must stay; any other value is kept as
    /// text.
    ///
    /// # References
    /// ANT-1, OAC-8
    SHAPE007 "missing-content" in Shape, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.null_content else {
        return;
    };
    for (index, message) in context.transcript.enumerate() {
        let missing = matches!(message.body, Body::Null | Body::Missing | Body::Unreadable);
        let holds_nothing = message.range().is_empty();
        if !missing || !holds_nothing || message.role == Role::Unknown {
            continue;
        }
        let values = Values { message: index.get(), ..Values::default() };
        let draft = report.message(context, index, "message has no content".to_owned()).predicts(error.render(&values));
        let empty_is_fine = matches!(context.constraints.empty_text, EmptyText::Accepted);
        let removed = message.body != Body::Unreadable
            && (context.policy.emptied == Emptied::Remove || !empty_is_fine)
            && index.get() > 0;
        if removed {
            let edits = vec![Edit::RemoveMessage { message: index }];
            draft.fix(Stage::Finish, Safety::Safe, "take the message out", edits);
        } else {
            let text = if empty_is_fine { "" } else { "[synthetic] (no content)" };
            let edits = vec![Edit::FillMessage { message: index, text }];
            draft.fix(Stage::Finish, Safety::Safe, "give it a text", edits);
        }
    }
    results(context, report, error);
}

fn results(context: &Context<'_, '_>, report: &mut Report, error: ErrorText) {
    let absent_is_fine = context.constraints.text_only_results.is_none();
    for state in &context.pairing.results {
        let Some(result) = context.transcript.result(state.result) else {
            continue;
        };
        let wrong = match result.parts {
            Parts::Missing => !absent_is_fine || !result.content.is_empty(),
            Parts::Unreadable => true,
            Parts::Text(_) | Parts::List { .. } => false,
        };
        if !wrong {
            continue;
        }
        let id = context.id(state.result);
        let edits = vec![Edit::FillResult { result: state.result, text: "" }];
        report
            .block(context, state.result, format!("result for `{id}` has no readable content"))
            .call_id(id)
            .predicts(error.render(&context.values(state.result, id)))
            .fix(Stage::Finish, Safety::Safe, "give it a text", edits);
    }
}
