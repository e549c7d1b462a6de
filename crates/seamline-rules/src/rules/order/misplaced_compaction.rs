//! `ORDER007 misplaced-compaction`

use seamline_model::{BlockIndex, Fact, FactKind, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds signed summaries of earlier messages that are not the first block of the conversation, or occur twice.
    ///
    /// # Why is this bad?
    /// Anthropic rejects the request. The summary replaces the messages before it, so nothing may come before it. The cause is a
    /// client that keeps the old messages, or appends a second summary.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-opus-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Where were we?"},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"type": "compaction", "content": "The user builds a parser.", "signature": "RXFRQkNnSVlBaElN"},
    ///         {"type": "text", "text": "At the lexer."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Continue."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: only the client knows which messages the summary replaces.
    ///
    /// # References
    /// ANT-40; from the types of the SDK
    ORDER007 "misplaced-compaction" in Order, Error, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(demand) = context.constraints.compaction else { return };
    let mut summaries = context.transcript.facts.iter().filter(|fact| fact.kind == FactKind::Compaction);
    let Some(first) = summaries.next() else { return };
    if first.block != BlockIndex(0) {
        let message = "the summary of earlier messages is not the first block of the conversation";
        report.block(context, first.block, message.to_owned()).predicts(demand.misplaced.render(&values(first)));
    }
    for further in summaries {
        let message = "the conversation has two summaries of earlier messages".to_owned();
        let draft = report.block(context, further.block, message).related([first.block]);
        draft.predicts(demand.ambiguous.render(&values(further)));
    }
}

fn values(fact: &Fact) -> Values<'static> {
    Values { message: fact.message.get(), ..Values::default() }
}
