//! `PAIR013 unlinked-program`

use std::collections::HashSet;

use seamline_model::{BlockKind, Carrier, Fact, FactKind, PairedCall};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls of programs, and outputs of programs, whose program is not in the conversation, and results that do not name
    /// the program that reads them.
    ///
    /// # Why is this bad?
    /// The provider continues a program with the results of its calls. Without the program, or without its name on a result, it
    /// cannot. The cause is a client that removes items it does not know, or writes results without the member `caller`. The
    /// provider's error text is not known.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "gpt-6-astra",
    ///   "store": false,
    ///   "input": [
    ///     {"role": "user", "content": "Add up the stock of both shops."},
    ///     {
    ///       "type": "function_call",
    ///       "call_id": "call_stock",
    ///       "name": "stock",
    ///       "arguments": "{\"shop\": 1}",
    ///       "caller": {"type": "program", "caller_id": "call_gone"}
    ///     },
    ///     {
    ///       "type": "function_call_output",
    ///       "call_id": "call_stock",
    ///       "output": "12",
    ///       "caller": {"type": "program", "caller_id": "call_gone"}
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// Nothing changes.
    ///
    /// # Fix safety
    /// Display only: only the client can restore the items.
    ///
    /// # References
    /// OAR-28; from the types of the SDK
    PAIR013 "unlinked-program" in Pairing, Warning, DisplayOnly, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let transcript = context.transcript;
    if transcript.facts.is_empty() {
        return;
    }
    let has_callers = transcript.facts.iter().any(|fact| fact.kind == FactKind::Caller);
    if has_callers && context.settled.is_some() {
        return context.ask_whole();
    }
    // The provider may store the program.
    if !transcript.envelope.chained {
        let makers = makers(context);
        for fact in transcript.facts.iter().filter(|fact| !makers.contains(&*fact.id)) {
            if !context.may_be_stored(fact.message) {
                report_missing(context, report, fact);
            }
        }
    }
    if context.constraints.carrier == Carrier::Items {
        for state in &context.pairing.calls {
            check_result(context, report, state);
        }
    }
}

/// The ids of programs, and of server tools that make calls.
fn makers<'c>(context: &Context<'c, '_>) -> HashSet<&'c str> {
    let transcript = context.transcript;
    let programs = transcript.facts.iter().filter(|fact| fact.kind == FactKind::Program).map(|fact| &*fact.id);
    let servers = transcript.blocks.iter().filter(|_| transcript.has.server_pairs);
    let servers = servers.filter_map(|block| match &block.kind {
        BlockKind::ServerCall(server) => server.call.id.as_deref(),
        _ => None,
    });
    programs.chain(servers).collect()
}

fn report_missing(context: &Context<'_, '_>, report: &mut Report, fact: &Fact) {
    let is_call = || context.transcript.call(fact.block).is_some();
    let message = match fact.kind {
        FactKind::ProgramOutput => format!("output of program `{}`, which is not in the conversation", fact.id),
        // A result is reported with its call.
        FactKind::Caller if is_call() => format!("`{}` made this tool call and is not in the conversation", fact.id),
        _ => return,
    };
    report.block(context, fact.block, message).call_id(context.id(fact.block));
}

/// Reports a result that does not name the program that made its call.
fn check_result(context: &Context<'_, '_>, report: &mut Report, state: &PairedCall) {
    let caller = |block| context.transcript.facts_of(block, FactKind::Caller).next();
    let (Some(program), Some(matched)) = (caller(state.call), state.matched) else { return };
    if caller(matched.result) != Some(program) {
        let id = context.id(state.call);
        let message = format!("tool result for `{id}` does not name the program `{program}` that made the call");
        report.block(context, matched.result, message).call_id(id).related([state.call]);
    }
}
