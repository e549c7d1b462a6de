//! What the endings of an answer mean, and what to do about them.

use std::borrow::Cow;

use seamline::{Answer, Ending, Failure};

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
pub(crate) fn step(answer: &Answer) -> Option<Cow<'static, str>> {
    let word = answer.stop_reason.as_deref();
    let step = match answer.ending {
        Ending::Complete if word == Some("pause_turn") => "send the answer back as it is, and the model goes on",
        Ending::Complete | Ending::Failed => return None,
        Ending::Length | Ending::CutCall if word == Some("model_context_window_exceeded") => {
            return Some(with_cut_call(
                answer,
                "shorten the conversation and ask again; it fills what the model can read",
            ));
        }
        Ending::Length => "ask it to go on, or ask again with a higher limit",
        Ending::CutCall => return Some(with_cut_call(answer, "ask again with a higher limit")),
        Ending::Truncated | Ending::Stalled if answer.blocks.is_empty() => "ask again",
        Ending::Truncated | Ending::Stalled => {
            "ask again; if what there is goes into the history, run none of its calls and mark it as cut short"
        }
        Ending::Filtered => match is_filtered_again(answer) {
            Some(true) => "ask otherwise; the same request is filtered again",
            Some(false) => "ask again, or ask otherwise; only what came was filtered, and another try may pass",
            None => "ask otherwise",
        },
        Ending::Aborted => "keep what was said, and leave out calls that are not whole",
    };
    Some(Cow::Borrowed(step))
}

/// What to do, and what becomes of a call that was cut.
fn with_cut_call(answer: &Answer, step: &str) -> Cow<'static, str> {
    if answer.ending != Ending::CutCall {
        return Cow::Owned(step.to_owned());
    }
    Cow::Owned(format!(
        "{step}; do not run the call that was cut, and drop it from the message before the message is kept"
    ))
}

/// Whether the same request is filtered as well when it is sent again, where that is known.
fn is_filtered_again(answer: &Answer) -> Option<bool> {
    let dialect = Some(answer.dialect);
    let failure = Failure { status: Some(200), dialect, text: &answer.message, ..Failure::default() };
    seamline::guards::filter(&failure).map(|filtered| filtered.again_is_useless)
}
