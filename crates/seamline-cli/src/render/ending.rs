//! What the endings of an answer mean, and what to do about them.

use std::borrow::Cow;

use seamline::classify::Failure;
use seamline::stream::{Ending, Response};

/// What an ending means.
pub(crate) fn said(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "the provider said all it wanted",
        Ending::Length => "the limit of the answer was reached",
        Ending::CutCall => "the limit of the answer was reached while a call was being written",
        Ending::Truncated => "the stream stopped before the provider said that it was done",
        Ending::Filtered => "it was filtered, or the model refused",
        Ending::Failed => "the provider failed, or what it sent could not be read",
        Ending::Stalled => "nothing came for too long",
        Ending::Aborted => "nobody wanted the rest",
    }
}

/// What to do about an ending that no error explains.
pub(crate) fn step(answer: &Response) -> Option<Cow<'static, str>> {
    let word = answer.stop_reason.as_deref();
    let step = match answer.ending {
        Ending::Complete if word == Some("pause_turn") => "send the answer back as it is, and the model goes on",
        Ending::Complete | Ending::Failed => return None,
        Ending::Length if word == Some(CONTEXT_FULL) => SHORTEN,
        Ending::CutCall if word == Some(CONTEXT_FULL) => return Some(Cow::Owned(format!("{SHORTEN}; {WITHOUT_CALL}"))),
        Ending::Length => "keep it, and raise the limit or let the model go on; the same request ends the same way",
        Ending::CutCall => WITHOUT_CALL,
        Ending::Truncated | Ending::Stalled => "drop it and ask again",
        Ending::Filtered => match is_filtered_again(answer) {
            Some(true) => "ask otherwise; the same request is filtered again",
            Some(false) => "ask again, or ask otherwise; only what came was filtered, and another try may pass",
            None => "ask otherwise",
        },
        Ending::Aborted => "drop it",
    };
    Some(Cow::Borrowed(step))
}

/// The word for an answer that ended because the model can read no more.
const CONTEXT_FULL: &str = "model_context_window_exceeded";
const SHORTEN: &str = "shorten the conversation and ask again; it fills what the model can read";
/// What becomes of an answer that its limit cut in a call.
const WITHOUT_CALL: &str = "keep it without the call that was cut, as `messages` of `--format json` has it, run the calls \
                            that may be run, and tell the model that the last one was cut off";

/// Whether the same request is filtered as well when it is sent again, where that is known.
fn is_filtered_again(answer: &Response) -> Option<bool> {
    let dialect = Some(answer.dialect);
    let failure = Failure { status: Some(200), dialect, text: &answer.message, ..Failure::default() };
    seamline::guards::filter(&failure).map(|filtered| filtered.again_is_useless)
}
