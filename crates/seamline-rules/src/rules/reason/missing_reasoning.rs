//! `REASON003 missing-reasoning`

use seamline_model::{
    BlockKind, Carrier, Echo, Edit, ErrorText, MessageIndex, Models, Role, Safety, Stage, Thinking, Values,
};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages with tool calls that lack the reasoning that the provider demands.
    ///
    /// # Why is this bad?
    /// DeepSeek and Moonshot reject the whole request while their models think. The cause is a client that drops the
    /// member `reasoning_content`, which other providers reject, or tool calls that another model made.
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
    /// Safe: a synthetic text replaces the reasoning. Use the real reasoning if you still have it.
    ///
    /// # References
    /// CMP-12, DSK-3, KIM-4; case 55
    REASON003 "missing-reasoning" in Reason, Error, Safe, each Message, reach Message
}

/// The member that an error asked for where the demands of the server are not known, such as behind a gateway.
const PROVED_FIELD: &str = "reasoning_content";

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let is_proved = context.policy.is_proved("REASON003");
    let (field, error) = match context.constraints.reasoning.echo {
        Echo::Required { field, models, error } if is_proved || is_thinking(context, models) => (field, error),
        Echo::Free if is_proved && context.constraints.carrier == Carrier::ToolMessages => {
            (PROVED_FIELD, ErrorText(""))
        }
        Echo::Required { .. } | Echo::Free | Echo::Refused { .. } => return,
    };
    let transcript = context.transcript;
    if transcript.message(index).role != Role::Assistant || !transcript.has_calls(index) {
        return;
    }
    let mut blocks = transcript.blocks_of(index);
    if blocks.any(|(_, block)| matches!(block.kind, BlockKind::Reasoning { .. })) {
        return;
    }
    let edit = Edit::AddReasoning { message: index, field, text: seamline_model::NO_REASONING };
    report
        .message(context, index, format!("tool calls without `{field}`, which the provider demands"))
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(Stage::Finish, Safety::Safe, "add a text that says it was not recorded", vec![edit]);
}

/// Whether the model thinks: the request says so, or the model does by default.
fn is_thinking(context: &Context<'_, '_>, models: Models) -> bool {
    match context.transcript.request.thinking {
        Thinking::On(_) => true,
        Thinking::Off => false,
        Thinking::Unsaid | Thinking::Adaptive => {
            let model = context.transcript.model.as_deref().unwrap_or("");
            models.claims(model)
        }
    }
}
