//! `REASON003 missing-reasoning`

use seamline_model::{BlockKind, Echo, Edit, MessageIndex, Models, Role, Safety, Stage, Thinking, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with calls that lack the reasoning which the provider wants back.
    ///
    /// # Why is this bad?
    /// DeepSeek and Moonshot reject the whole request while their models think. It happens when a client drops the
    /// member `reasoning_content`, which others refuse, or when the calls were made by another model.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "kimi-k2-thinking",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "functions.bash:0",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "functions.bash:0", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "kimi-k2-thinking",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "functions.bash:0",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ],
    ///       "reasoning_content": "[synthetic] (reasoning was not recorded)"
    ///     },
    ///     {"role": "tool", "tool_call_id": "functions.bash:0", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: a text that is marked as synthetic takes the place of the reasoning. The real one is better, if it was
    /// kept somewhere.
    ///
    /// # References
    /// CMP-12, DSK-3, KIM-4; case 55
    REASON003 "missing-reasoning" in Reason, Error, Safe, each Message, reach Message
}

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Echo::Required { field, models, error } = context.constraints.reasoning.echo else {
        return;
    };
    let transcript = context.transcript;
    if transcript.message(index).role != Role::Assistant || !thinks(context, models) || !transcript.has_calls(index) {
        return;
    }
    let mut blocks = transcript.blocks_of(index);
    if blocks.any(|(_, block)| matches!(block.kind, BlockKind::Reasoning { .. })) {
        return;
    }
    let edit = Edit::AddReasoning { message: index, field, text: seamline_model::NO_REASONING };
    report
        .message(context, index, format!("calls without `{field}`, which the provider wants back"))
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(Stage::Finish, Safety::Safe, "say that it was not recorded", vec![edit]);
}

/// Whether the model of the request thinks: it says so, or its models do unless told not to.
fn thinks(context: &Context<'_, '_>, models: Models) -> bool {
    match context.transcript.request.thinking {
        Thinking::On(_) => true,
        Thinking::Off => false,
        Thinking::Unsaid | Thinking::Adaptive => {
            let model = context.transcript.model.as_deref().unwrap_or("");
            models.claims(model)
        }
    }
}
