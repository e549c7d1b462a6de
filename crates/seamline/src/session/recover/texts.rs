//! The texts that the model reads about calls without a result. Each says only what is known.
//!
//! The texts after an abort or a time limit are those of the policy ([`SyntheticText`](crate::policy)): `aborted` and
//! `timeout`.

use seamline_store::{CallId, CallState, OpenCall};

use crate::session::clock::written;

/// The prefixes of these texts.
const STARTS: [&str; 4] =
    ["[synthetic] [outcome unknown] ", "[synthetic] [not executed] ", "[synthetic] [no result] ", TRUNCATED];

/// The prefix of the text about a call that ran.
const TRUNCATED: &str = "[synthetic] [result truncated] ";

/// The text about a call without a result whose process is gone.
pub(in crate::session) fn after_crash(call: &OpenCall) -> String {
    match &call.state {
        CallState::Pending | CallState::Started { .. } if !call.effect.needs_intent() => {
            outcome_harmless(&call.tool, &call.id)
        }
        CallState::Started { at, key } => outcome_unknown(&call.tool, &call.id, *at, key),
        CallState::Pending | CallState::Finished { .. } => not_executed(&call.tool, &call.id),
    }
}

/// Whether a text is one of these.
pub(in crate::session) fn is_synthetic(text: &str) -> bool {
    seamline_model::is_of_session(text) || is_truncated(text)
}

/// Whether a text is the start of a real result.
pub(in crate::session) fn is_truncated(text: &str) -> bool {
    seamline_model::is_truncated_result(text)
}

/// Whether a text is one of these about this call.
pub(in crate::session) fn is_about(text: &str, tool: &str, call: &str) -> bool {
    let about = format!("The call \"{tool}\" ({call}) ");
    is_synthetic(text)
        && STARTS.iter().any(|start| text.strip_prefix(start).is_some_and(|rest| rest.starts_with(&about)))
}

/// The text about a call that was started and has an unknown outcome.
fn outcome_unknown(tool: &str, call: &CallId, started: u64, key: &str) -> String {
    let at = written(started);
    format!(
        "[synthetic] [outcome unknown] The call \"{tool}\" ({call}) was started at {at}, but the run stopped before its result was recorded. It may have happened fully, partly, or not at all. Do not call it again blindly: first check the state with a read-only tool, or ask the user. Idempotency key: {key}."
    )
}

/// The text about a call that was never started.
fn not_executed(tool: &str, call: &CallId) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: the run stopped before it was started. You may issue it again."
    )
}

/// The text about a call that must not run.
pub(in crate::session) fn not_run(tool: &str, call: &CallId, why: &str) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: {why}. You may call the tool again with complete arguments."
    )
}

/// The text about a call that was never started because the host stopped the cycle.
pub(in crate::session) fn not_begun(tool: &str, call: &CallId) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: the run was stopped before it was started."
    )
}

/// The text of a tool that could not be run.
pub(in crate::session) fn executor_failed(why: &str) -> String {
    format!("[tool failed] {why}")
}

/// The text about a call whose result was too large, followed by the start of the result.
pub(in crate::session) fn result_truncated(tool: &str, call: &CallId, start: &str, bytes: usize) -> String {
    let kept = start.len();
    format!(
        "{TRUNCATED}The call \"{tool}\" ({call}) ran, but its result of {bytes} bytes was too large to keep. Do not call it again for the rest without a narrower request. The first {kept} bytes of the result follow.\n{start}"
    )
}

/// The text about a call that only reads.
fn outcome_harmless(tool: &str, call: &CallId) -> String {
    format!(
        "[synthetic] [no result] The call \"{tool}\" ({call}) has no result: the run stopped before one was recorded. It only reads, so you may issue it again."
    )
}

#[cfg(test)]
mod tests {
    use seamline_model::Synthetic;

    use super::*;

    #[test]
    fn a_repair_recognises_the_texts_and_prefers_a_real_result() {
        let call = &CallId::from("toolu_1");
        let texts = [
            outcome_unknown("pay", call, 0, "k_1"),
            not_executed("pay", call),
            not_run("pay", call, "it names no tool"),
            not_begun("pay", call),
            outcome_harmless("pay", call),
        ];
        for text in texts {
            assert!(Synthetic::of(&text) == Synthetic::Yes && is_synthetic(&text), "{text}");
        }
        // The start of a real result is not replaced by another synthetic one.
        let truncated = result_truncated("pay", call, "paid", 7);
        assert!(Synthetic::of(&truncated) != Synthetic::Yes && is_synthetic(&truncated), "{truncated}");
        // The failure of a tool is a real result.
        assert_eq!(Synthetic::of(&executor_failed("no such file")), Synthetic::No);
    }

    #[test]
    fn texts_of_earlier_versions_are_recognised() {
        for why in [
            concat!("its input is", " no JSON that every reader takes for the same"),
            concat!("it did not arrive whole, or its input is", " no JSON object"),
        ] {
            let text = format!(
                "[synthetic] [not executed] The call \"pay\" (toolu_1) did not run: {why}. You may issue it again, whole."
            );
            assert!(Synthetic::of(&text) == Synthetic::Yes && is_synthetic(&text), "{text}");
            assert!(is_about(&text, "pay", "toolu_1"), "{text}");
        }
    }
}
