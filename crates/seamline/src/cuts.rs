//! Finds where a conversation can be cut without separating a call from its result.

use seamline_model::{BlockIndex, Pairing, Scope, Transcript};

use crate::subject::Subject;
use crate::{Error, Options};

/// Whether a cut after an open call at the end separates the call from its result, which may still arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenCalls {
    /// The cut separates them, because the caller removes the messages before it permanently.
    Wait,
    /// The cut does not separate them; otherwise each message after the call would change the earlier pieces.
    Stay,
}

/// Returns for each message, and for the end, whether a cut before it would separate a call from its result. A call that
/// never got a result is not separated.
pub(crate) fn splits(body: &[u8], options: &Options, open: OpenCalls) -> Result<Vec<bool>, Error> {
    let dialect = Subject::dialect(body, options)?;
    let transcript = dialect.decode(body)?;
    let provider = Subject::of(dialect, &transcript, options)?.provider;
    let pairing = Pairing::of(&transcript, Scope::ALL.under(&provider.constraints));
    Ok(splits_of(&transcript, &pairing, open))
}

/// As [`splits`], for a transcript whose calls and results are paired.
pub(crate) fn splits_of(transcript: &Transcript<'_>, pairing: &Pairing, open: OpenCalls) -> Vec<bool> {
    let messages = transcript.messages.len();
    let message_of = |block: BlockIndex| transcript.messages.partition_point(|found| found.range().end <= block.get());
    // Behind the last message without calls and results, those calls may still be answered.
    let mut takes_part = vec![false; messages];
    let mut mark = |block: BlockIndex| takes_part[message_of(block)] = true;
    pairing.calls.iter().for_each(|state| mark(state.call));
    pairing.results.iter().for_each(|state| mark(state.result));
    let going_on = takes_part.iter().rposition(|part| !part).map_or(0, |last| last + 1);
    // How many pairs reach over each cut: one more behind where they begin, one less behind where they end.
    let mut reach = vec![0_i64; messages + 2];
    for state in &pairing.calls {
        let call = message_of(state.call);
        let (from, to) = match state.matched {
            Some(matched) => {
                let result = message_of(matched.result);
                (call.min(result), call.max(result))
            }
            None if open == OpenCalls::Wait && call >= going_on => (call, messages),
            None => continue,
        };
        reach[from + 1] += 1;
        reach[to + 1] -= 1;
    }
    let over = reach.iter().scan(0, |over, step| {
        *over += step;
        Some(*over > 0)
    });
    over.take(messages + 1).collect()
}
