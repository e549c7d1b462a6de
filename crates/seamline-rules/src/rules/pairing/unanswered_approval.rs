//! `PAIR014 unanswered-approval`

use std::collections::HashSet;

use seamline_model::{FactKind, MessageIndex, Role};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds requests for an approval without a response, and responses without their request.
    ///
    /// # Why is this bad?
    /// The provider waits for the decision before it calls the tool of an MCP server. The cause is a user who continues without
    /// a decision, or a client that removes one of the two items. The provider's error text is not known.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-5.6-sol",
    ///   "input": [
    ///     {"role": "user", "content": "Close the old tickets."},
    ///     {
    ///       "type": "mcp_approval_request",
    ///       "id": "mcpr_1",
    ///       "server_label": "tracker",
    ///       "name": "close_tickets",
    ///       "arguments": "{}"
    ///     },
    ///     {"role": "user", "content": "What is the weather?"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: only the user can approve or deny the call.
    ///
    /// # References
    /// OAR-29; from the types of the SDK
    PAIR014 "unanswered-approval" in Pairing, Warning, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let facts = &context.transcript.facts;
    if facts.is_empty() {
        return;
    }
    let of_kind = |kind| facts.iter().filter(move |fact| fact.kind == kind);
    let ids = |kind| -> HashSet<&str> { of_kind(kind).map(|fact| &*fact.id).collect() };
    let answered = ids(FactKind::ApprovalResponse);
    let last_said = last_said(context);
    for request in of_kind(FactKind::ApprovalRequest).filter(|request| !answered.contains(&*request.id)) {
        // While nothing follows it, the user may still decide.
        if last_said.is_some_and(|last| request.message < last) {
            let message = format!("no response answers the request `{}` for an approval", request.id);
            report.block(context, request.block, message);
        }
    }
    let asked = ids(FactKind::ApprovalRequest);
    // The provider may store the request.
    for response in of_kind(FactKind::ApprovalResponse).filter(|response| !asked.contains(&*response.id)) {
        if !context.transcript.envelope.chained && !context.may_be_stored(response.message) {
            let message = format!("the request `{}` for this approval is not in the conversation", response.id);
            report.block(context, response.block, message);
        }
    }
}

/// The last message in which the user or the model says something else.
fn last_said(context: &Context<'_, '_>) -> Option<MessageIndex> {
    let transcript = context.transcript;
    let is_speech = |kind| matches!(kind, FactKind::Beside | FactKind::OddValue);
    let facts = transcript.facts.iter().filter(|fact| !is_speech(fact.kind));
    let facts: HashSet<MessageIndex> = facts.map(|fact| fact.message).collect();
    let says = |role| matches!(role, Role::User | Role::Assistant);
    let said = transcript.enumerate().filter(|(index, message)| says(message.role) && !facts.contains(index));
    said.map(|(index, _)| index).last()
}
