//! `SHAPE003 consecutive-roles`

use seamline_model::{Carrier, Edit, MessageIndex, NOTHING_BETWEEN, Role, Safety, SameRole, Severity, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds two messages of one role in a row, where the provider wants roles to take turns.
    ///
    /// # Why is this bad?
    /// Older and compatible servers reject it. It happens when prompts are queued, when a message is put in or taken
    /// out, or when a turn is saved in pieces. The example is for `anthropic-compatible`; Anthropic itself joins such
    /// messages.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "Run the tests."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Only the fast ones."},
    ///     {"role": "assistant", "content": "All passed."},
    ///     {"role": "user", "content": "Thanks."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "Run the tests."},
    ///         {
    ///           "type": "text",
    ///           "text": "Only the fast ones."
    ///         }
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "All passed."},
    ///     {"role": "user", "content": "Thanks."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the second message is joined to the first, block by block. Messages with signed reasoning are never
    /// joined, because their signature would no longer fit; a synthetic message of the other role goes between them.
    /// Under `merge_same_role = true` messages that are lists of blocks are joined for other providers as well; those
    /// with signed reasoning stay apart there.
    ///
    /// # References
    /// ANT-11, ANT-12, BED-7; case 60
    SHAPE003 "consecutive-roles" in Shape, Error, Safe, each Whole
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let error = match context.constraints.same_role {
        SameRole::Rejected(error) => Some(error),
        SameRole::Accepted if context.policy.merge_same_role && has_blocks(context) => None,
        SameRole::Accepted => return,
    };
    let messages = &context.transcript.messages;
    for (index, pair) in messages.windows(2).enumerate() {
        let role = pair[0].role;
        if role != pair[1].role || !matches!(role, Role::User | Role::Assistant) {
            continue;
        }
        let (first, second) = (MessageIndex(index as u32), MessageIndex(index as u32 + 1));
        let kind = if role == Role::User { "user" } else { "assistant" };
        let values = Values { message: second.get(), kind, ..Values::default() };
        let signed = context.transcript.has_signed_reasoning(first) || context.transcript.has_signed_reasoning(second);
        if error.is_none() && (signed || stays_apart(context, first, second)) {
            continue;
        }
        let draft = report.message(context, second, format!("second message of the {kind} in a row"));
        let draft = match error {
            Some(error) => draft.predicts(error.render(&values)),
            None => draft.severity(Severity::Warning),
        };
        if signed {
            // What is signed stays as it was produced, so somebody must speak between.
            let other = if role == Role::User { Role::Assistant } else { Role::User };
            let edits = vec![Edit::InsertMessage { before: second, role: other, text: NOTHING_BETWEEN }];
            draft.fix(Stage::Roles, Safety::Safe, "put a message of the other role between", edits);
        } else {
            let edits = vec![Edit::JoinPrevious { message: second }];
            draft.fix(Stage::Roles, Safety::Safe, "join it to the message before", edits);
        }
    }
}

/// Whether the provider wants results in a message of their own, and one of the two holds some.
fn stays_apart(context: &Context<'_, '_>, first: MessageIndex, second: MessageIndex) -> bool {
    let has_results = |index| context.transcript.has_results(index);
    context.constraints.results_alone.is_some() && (has_results(first) || has_results(second))
}

/// Whether messages are lists of blocks, so that two of them can be joined block by block.
fn has_blocks(context: &Context<'_, '_>) -> bool {
    match context.constraints.carrier {
        Carrier::UserBlocks => true,
        Carrier::ToolMessages | Carrier::Items => false,
    }
}
