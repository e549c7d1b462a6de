//! `REASON007 unsigned-call`

use seamline_model::{Block, BlockIndex, Edit, MessageIndex, Role, Safety, SignatureDemand, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool calls of the current turn that lost the provider's signature.
    ///
    /// # Why is this bad?
    /// Some models sign the first tool call of each message and reject the request if the signature is missing, as long
    /// as the turn lasts. The cause is a program that drops the field when it stores or converts the history, or a
    /// history from another model.
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
    /// Safe: the tool call gets its own signature back where the caller has kept it (the proxy remembers them by the id
    /// of the call), else the provider's documented replacement for a lost signature. Earlier turns are not
    /// checked, nor are requests that do not name their model. The provider accepts earlier turns without signatures, so the
    /// same call is left alone once a message of the user follows its turn. A signature that the provider has rejected in
    /// an error (`seamline fix --after-error`) is replaced, and after an error about a missing one every model needs it.
    ///
    /// # References
    /// GEM-9, seen in `dify-official-plugins#2088`
    REASON007 "unsigned-call" in Reason, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(demand) = context.constraints.call_signature else { return };
    let calls = context.transcript.enumerate_blocks().filter(|(_, block)| block.call().is_some());
    for (call, _) in calls.filter(|(_, block)| context.is_rejected(block) && !is_replaced(context, block, demand)) {
        let edit = Edit::Sign { call, signature: demand.stand_in.to_owned() };
        report
            .block(context, call, "the provider has rejected the signature of this tool call".to_owned())
            .call_id(context.id(call))
            .fix(Stage::Finish, Safety::Safe, "replace it by the provider's replacement for a lost one", vec![edit]);
    }
    let is_claimed = context.transcript.model.as_deref().is_some_and(|model| demand.models.claims(model));
    if !is_claimed && !context.policy.is_proved("REASON007") {
        return;
    }
    let over = turn_start(context);
    let running = context.transcript.enumerate_from(over.map_or(MessageIndex(0), MessageIndex::next));
    for (index, _) in running.filter(|(index, _)| is_first_of_role(context, *index)) {
        let mut calls = context.transcript.blocks_of(index).filter(|(_, block)| block.call().is_some());
        if let Some((first, _)) = calls.next().filter(|(_, block)| !block.is_signed()) {
            report_call(context, report, first, demand);
        }
    }
}

/// Whether the signature of a call is the provider's replacement for a lost one.
fn is_replaced(context: &Context<'_, '_>, call: &Block, demand: SignatureDemand) -> bool {
    context.transcript.text(call.span).contains(demand.stand_in)
}

fn report_call(context: &Context<'_, '_>, report: &mut Report, call: BlockIndex, demand: SignatureDemand) {
    let name = context.transcript.call(call).and_then(|call| context.transcript.name(call.tool)).unwrap_or("");
    let (signature, title) = match context.transcript.signatures.get(context.id(call)) {
        Some(own) => (own, "give the call its signature back"),
        None => (demand.stand_in, "add the provider's replacement for a lost signature"),
    };
    let signature = signature.to_owned();
    report
        .block(context, call, format!("tool call of `{name}` lacks the provider's signature"))
        .call_id(context.id(call))
        .predicts(demand.error.render(&context.values(call, name)))
        .fix(Stage::Finish, Safety::Safe, title, vec![Edit::Sign { call, signature }]);
}

/// The last message of another role than assistant that holds more than results: the current turn starts there.
fn turn_start(context: &Context<'_, '_>) -> Option<MessageIndex> {
    let mut indexes = (0..context.transcript.messages.len() as u32).rev().map(MessageIndex);
    indexes
        .find(|&index| context.transcript.message(index).role != Role::Assistant && !context.holds_only_results(index))
}

/// Whether a message is the first of adjacent assistant messages, which count as one.
fn is_first_of_role(context: &Context<'_, '_>, message: MessageIndex) -> bool {
    let before = message.0.checked_sub(1).map(MessageIndex);
    before.is_none_or(|before| context.transcript.message(before).role != Role::Assistant)
}
