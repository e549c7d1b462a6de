//! `SHAPE007 missing-content`

use seamline_model::{
    BlockIndex, BlockKind, ContentForm, Edit, EmptyText, ErrorText, MessageIndex, NO_CONTENT, OutputForm, Parts,
    ResultBlock, Role, Safety, Stage, Values,
};

use super::emptied;
use crate::context::Context;
use crate::policy::Emptied;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages and tool results whose content is `null`, absent, or neither text nor a list. Beside tool calls,
    /// `null` is correct.
    ///
    /// # Why is this bad?
    /// Providers reject the request. The cause is a message that was saved before it had content, or a tool that
    /// returns an object.
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
    /// Safe: a message without content is removed, or gets a text if it must stay; any other value is kept, in the form
    /// that the provider accepts. Text in members that the provider does not read becomes the text of the message.
    ///
    /// # References
    /// ANT-1, OAC-8, BED-1, BED-10, GEM-1
    SHAPE007 "missing-content" in Shape, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Some(error) = context.constraints.null_content else {
        return;
    };
    let message = context.transcript.message(index);
    if message.body == ContentForm::Text
        && message.role != Role::Unknown
        && let Some(error) = context.constraints.string_content
    {
        report_string(context, index, report, error);
    }
    let wrong = match message.body {
        ContentForm::Null | ContentForm::Missing => {
            let mut blocks = context.transcript.blocks_of(index);
            blocks.all(|(_, block)| matches!(block.kind, BlockKind::Reasoning { .. }))
        }
        ContentForm::Unreadable => true,
        ContentForm::Text | ContentForm::Blocks | ContentForm::Setting => false,
    };
    // In a message with a result, the result is repaired instead. An unknown member may hold the
    // content.
    let may_say = message.body == ContentForm::Missing;
    let wrong = wrong && !(may_say && emptied::has_unknown_member(context, index));
    if wrong && message.role != Role::Unknown && message.role != Role::Tool {
        report_message(context, index, report, error);
    }
    for (block, content) in context.transcript.blocks_of(index) {
        if let BlockKind::Result(result) = &content.kind {
            report_result(context, report, (block, result), error);
        }
    }
}

/// Reports content that is a string where the provider accepts only lists.
fn report_string(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report, error: ErrorText) {
    let values = Values { message: index.get(), ..Values::default() };
    report
        .message(context, index, "content is a string, not a list of blocks".to_owned())
        .predicts(error.render(&values))
        .fix(Stage::Form, Safety::Safe, "write it as a list", vec![Edit::SetContent { message: index }]);
}

fn report_message(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report, error: ErrorText) {
    if context.transcript.message(index).body == ContentForm::Unreadable {
        report.message(context, index, "content is neither text nor a list".to_owned()).fix(
            Stage::Finish,
            Safety::Safe,
            "keep it as text",
            vec![Edit::FillMessage { message: index, text: "" }],
        );
        return;
    }
    let values = Values { message: index.get(), ..Values::default() };
    let draft = report.message(context, index, "message has no content".to_owned()).predicts(error.render(&values));
    let empty_is_fine =
        matches!(context.constraints.empty_text, EmptyText::Accepted) && context.constraints.empty_message.is_none();
    let empty = context.transcript.message(index).range().is_empty();
    if let Some((edits, title)) = emptied::keep_members(context, index).filter(|_| empty) {
        draft.fix(Stage::Finish, Safety::Safe, title, edits);
        return;
    }
    if empty && emptied::may_remove(context, index) && context.policy.emptied == Emptied::Remove {
        let edits = vec![Edit::RemoveMessage { message: index }];
        draft.fix(Stage::Finish, Safety::Safe, "remove the message", edits);
    } else {
        let placeholder = !empty_is_fine || context.policy.emptied == Emptied::Placeholder;
        let text = if placeholder { NO_CONTENT } else { "" };
        let edits = vec![Edit::FillMessage { message: index, text }];
        draft.fix(Stage::Finish, Safety::Safe, "add a text", edits);
    }
}

fn report_result(
    context: &Context<'_, '_>,
    report: &mut Report,
    (block, result): (BlockIndex, &ResultBlock),
    error: ErrorText,
) {
    let (demanded, lists_only, error) = match context.constraints.output {
        OutputForm::TextOrList { demanded } => (demanded, false, context.constraints.missing_output.unwrap_or(error)),
        OutputForm::List(error) => (true, true, error),
        OutputForm::Object(error) => (false, false, error),
    };
    let item = context.transcript.item(context.transcript.block(block).message);
    let listed = item.is_some_and(|item| item.of.listed_result);
    let shown = item.is_some_and(|item| item.of.shown_result);
    let wrong = match result.parts {
        Parts::Missing => demanded || !result.content.is_empty(),
        Parts::Unreadable => true,
        Parts::Text => lists_only || listed,
        Parts::List(_) => false,
    };
    if !wrong {
        return;
    }
    let id = context.id(block);
    let (what, title) = match (context.constraints.output, result.parts) {
        (_, Parts::Missing) if listed => ("no content", "add an empty list"),
        (_, Parts::Missing) if shown => ("no content", "add an image that says so"),
        (_, _) if shown => ("content that is not an image", "render it as an image"),
        (_, Parts::Missing) => ("no content", "add a text"),
        (OutputForm::TextOrList { .. }, Parts::Text) => ("a string instead of a list", "put it into a list"),
        (OutputForm::TextOrList { .. }, _) if listed => ("content that is not a list", "put it into a list"),
        (OutputForm::TextOrList { .. }, _) => ("content that is neither text nor a list", "keep it as text"),
        (OutputForm::List(_), _) => ("content that is not a list of readable parts", "keep it as a part"),
        (OutputForm::Object(_), _) => ("content that is not an object", "put it into an object"),
    };
    let draft = report.block(context, block, format!("tool result for `{id}` has {what}")).call_id(id);
    // For unreadable content, the provider's error is known only where the dialect fixes the form.
    let is_known =
        result.parts == Parts::Missing || !matches!(context.constraints.output, OutputForm::TextOrList { .. });
    let draft = if is_known { draft.predicts(error.render(&context.values(block, id))) } else { draft };
    draft.fix(Stage::Finish, Safety::Safe, title, vec![Edit::FillResult { result: block, text: "" }]);
}
