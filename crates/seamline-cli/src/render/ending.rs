//! The endings of a response: their meaning and the next step.

use std::borrow::Cow;

use seamline::classify::Failure;
use seamline::stream::{Ending, Response};

/// The meaning of an ending.
pub(crate) fn said(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "the provider finished the response",
        Ending::Length => "the limit of the response was reached",
        Ending::CutCall => "the limit of the response was reached inside a tool call",
        Ending::Steered => "the client steered the model, which continues in another response",
        Ending::Truncated => "the stream ended before the provider finished the response",
        Ending::Filtered => "a filter stopped the response, or the model refused",
        Ending::Failed => "the provider failed, or its response could not be read",
        Ending::Stalled => "no data arrived for too long",
        Ending::Aborted => "the client stopped the response",
    }
}

/// The next step after an ending that no error explains.
pub(crate) fn step(response: &Response) -> Option<Cow<'static, str>> {
    let word = response.stop_reason.as_deref();
    let step = match response.ending {
        Ending::Complete if word == Some("pause_turn") => "send the response back unchanged, and the model continues",
        Ending::Complete | Ending::Failed => return None,
        Ending::Length if word == Some(CONTEXT_FULL) => SHORTEN,
        Ending::CutCall if word == Some(CONTEXT_FULL) => return Some(Cow::Owned(format!("{SHORTEN}; {WITHOUT_CALL}"))),
        Ending::Length => "keep it, and raise the limit or let the model continue; the same request ends the same way",
        Ending::CutCall => WITHOUT_CALL,
        Ending::Steered => "keep it, and read the response that follows it",
        Ending::Truncated | Ending::Stalled => "drop it and send the request again",
        Ending::Filtered => match is_filtered_again(response) {
            Some(true) => "change the request; the same request is filtered again",
            Some(false) => "send the request again or change it; only the response was filtered, so a retry may pass",
            None => "change the request",
        },
        Ending::Aborted => "drop it",
    };
    Some(Cow::Borrowed(step))
}

/// The stop reason of a response that filled the context window.
const CONTEXT_FULL: &str = "model_context_window_exceeded";
const SHORTEN: &str = "shorten the conversation and send it again; it fills the context window of the model";
/// The next step after a tool call that the limit cut.
const WITHOUT_CALL: &str = "keep it without the tool call that was cut, as `messages` of `--format json` has it, run the \
                            tool calls that may run, and tell the model that the last one was cut off";

/// Whether a filter also stops the same request when it is sent again, if that is known.
fn is_filtered_again(response: &Response) -> Option<bool> {
    let dialect = Some(response.dialect);
    let failure = Failure { status: Some(200), dialect, text: &response.message, ..Failure::default() };
    seamline::guards::filter(&failure).map(|filtered| filtered.is_retry_useless)
}
