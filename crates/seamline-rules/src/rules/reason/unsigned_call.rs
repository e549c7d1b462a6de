//! `REASON007 unsigned-call`

use seamline_model::{BlockIndex, Edit, MessageIndex, Role, Safety, SignatureDemand, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls of the running turn that lost the signature the provider put on them.
    ///
    /// # Why is this bad?
    /// Some models sign the first call of each message and reject the request when the signature does not come back, as long
    /// as the turn goes on. It happens when a history is stored or converted by a program that drops the field, or when it
    /// comes from another model.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gemini-3-pro-preview",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [
    ///         {"functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "main.rs"}}}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [
    ///         {"functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "fn main() {}"}}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "gemini-3-pro-preview",
    ///   "contents": [
    ///     {"role": "user", "parts": [{"text": "What is in main.rs?"}]},
    ///     {
    ///       "role": "model",
    ///       "parts": [
    ///         {"functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "main.rs"}}, "thoughtSignature": "skip_thought_signature_validator"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "parts": [
    ///         {"functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "fn main() {}"}}}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the call gets the mark that the provider documents for signatures nobody has. Calls of turns that are over are
    /// not looked at, and neither is a request that does not name its model.
    ///
    /// # References
    /// GEM-9, seen in `dify-official-plugins#2088`
    REASON007 "unsigned-call" in Reason, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let (Some(demand), Some(model)) = (context.constraints.call_signature, context.transcript.model.as_deref()) else {
        return;
    };
    if !demand.models.claims(model) {
        return;
    }
    let over = last_of_others(context);
    let running = context.transcript.enumerate_from(over.map_or(MessageIndex(0), MessageIndex::next));
    for (index, _) in running.filter(|(index, _)| leads(context, *index)) {
        let mut calls = context.transcript.blocks_of(index).filter(|(_, block)| block.call().is_some());
        if let Some((first, _)) = calls.next().filter(|(_, block)| !block.is_signed()) {
            found(context, report, first, demand);
        }
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex, demand: SignatureDemand) {
    let name = context.transcript.call(call).and_then(|call| context.transcript.name(call.tool)).unwrap_or("");
    report
        .block(context, call, format!("call of `{name}` came without the signature the provider gave it"))
        .call_id(context.id(call))
        .predicts(demand.error.render(&context.values(call, name)))
        .fix(Stage::Finish, Safety::Safe, "mark that the signature is lost", vec![Edit::Sign { call }]);
}

/// The last message in which somebody else than the assistant says more than results: with
/// it the running turn started.
fn last_of_others(context: &Context<'_, '_>) -> Option<MessageIndex> {
    let mut indexes = (0..context.transcript.messages.len() as u32).rev().map(MessageIndex);
    indexes
        .find(|&index| context.transcript.message(index).role != Role::Assistant && !context.holds_only_results(index))
}

/// Whether a message is the first of its neighbours of the same role: those count as one.
fn leads(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let before = message.0.checked_sub(1).map(MessageIndex);
    before.is_none_or(|before| context.transcript.message(before).role != Role::Assistant)
}
