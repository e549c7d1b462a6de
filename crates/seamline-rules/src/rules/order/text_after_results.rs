//! `ORDER006 text-after-results`

use seamline_model::{
    Block, BlockIndex, BlockKind, DOCUMENT, Edit, Emptiness, ErrorText, MessageIndex, Safety, Severity, Stage, Values,
};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that hold tool results and other blocks.
    ///
    /// # Why is this bad?
    /// MiniMax's endpoint for the Anthropic dialect accepts tool results only in a message of their own. The cause is a
    /// client that puts the user's next text into the message with the results. Anthropic demands the same of the results
    /// of calls that a server tool made: any other block ends the turn in which the server tool waits for them. Claude on
    /// Bedrock rejects documents beside results; it was seen to accept those of the format `pdf`, so for them it is a note.
    /// A block of an unknown type may belong to the results, so it is not reported.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "MiniMax-M2",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"},
    ///         {"type": "text", "text": "And what is in it?"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "MiniMax-M2",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "tool_use", "id": "toolu_01", "name": "bash", "input": {"command": "ls"}}]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "main.rs"}
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "text", "text": "And what is in it?"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the other blocks move into a new message right after the results. A document that has no text beside it gets
    /// a synthetic one, and where roles must alternate, a synthetic assistant message comes between the two.
    ///
    /// # References
    /// ANT-37; case 12, measured in `opencode#32609`; recorded in `pydantic-ai#6081`
    ORDER006 "text-after-results" in Order, Error, Safe, each Message, reach Cycle
}

/// The format of documents that may be beside results.
const MAY_STAY: &str = "pdf";

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let transcript = context.transcript;
    if !transcript.has.pairs || !context.may_answer(index) || !transcript.has_results(index) {
        return;
    }
    if let Some(error) = context.results_alone(index) {
        report_beside(context, report, index, error);
    } else if let Some((document, format, error)) = context.document_apart(index) {
        report_document(context, report, (document, format), error);
    }
}

/// Reports a block beside results that must be alone. A block of an unknown type may belong to them.
fn report_beside(context: &Context<'_, '_>, report: &mut Report, index: MessageIndex, error: ErrorText) {
    let may_stay = |kind: &BlockKind| matches!(kind, BlockKind::Result(_) | BlockKind::Opaque);
    let mut blocks = context.transcript.blocks_of(index);
    let Some((block, _)) = blocks.find(|(_, block)| !may_stay(&block.kind)) else { return };
    report
        .block(context, block, "the message holds a block beside its tool results".to_owned())
        .predicts(error.render(&Values { message: index.get(), ..Values::default() }))
        .fix(
            Stage::Roles,
            Safety::Safe,
            "move it into a message after the results",
            vec![Edit::SplitResults { message: index }],
        );
}

/// Reports a document beside results. The provider was seen to accept a `pdf` there, and to reject all other formats.
fn report_document(
    context: &Context<'_, '_>,
    report: &mut Report,
    (document, format): (BlockIndex, &str),
    error: ErrorText,
) {
    let transcript = context.transcript;
    let index = transcript.block(document).message;
    let mut blocks = transcript.blocks_of(index);
    let first = blocks.find(|(block, _)| transcript.result(*block).is_some());
    let id = first.map_or("", |(block, _)| context.id(block));
    let asks = index.0.saturating_sub(1) as usize;
    let said = format!("the message holds a document beside its tool result for `{id}`");
    let draft = report.block(context, document, said).call_id(id);
    if format == MAY_STAY {
        draft.severity(Severity::Info);
        return;
    }
    let mut edits = vec![Edit::SplitResults { message: index }];
    let has_text = |block: &Block| matches!(block.kind, BlockKind::Text(Emptiness::Present));
    if !transcript.blocks_of(index).any(|(_, block)| has_text(block)) {
        // The provider rejects a document without a text beside it.
        edits.push(Edit::FillMessage { message: index, text: DOCUMENT });
    }
    draft.predicts(error.render(&Values { message: asks, id, ..Values::default() })).fix(
        Stage::Roles,
        Safety::Safe,
        "move the document into a message after the results",
        edits,
    );
}
