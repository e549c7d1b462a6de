//! The texts that the model reads about calls without a result. Each says only what is known. None names the id of a
//! call: the id in the log may differ from the one in a request.
//!
//! The texts after an abort or a time limit are those of the policy ([`SyntheticText`](crate::policy)): `aborted` and
//! `timeout`.

use seamline_model::label;
use seamline_store::{CallState, OpenCall};

use crate::session::clock::written;

/// The prefixes of these texts.
const STARTS: [&str; 4] =
    ["[synthetic] [outcome unknown] ", "[synthetic] [not executed] ", "[synthetic] [no result] ", TRUNCATED];

/// The prefix of the text about a call that ran.
const TRUNCATED: &str = "[synthetic] [result truncated] ";

/// The text about a call without a result whose process is gone.
pub(in crate::session) fn after_crash(call: &OpenCall) -> String {
    match &call.state {
        CallState::Pending | CallState::Started { .. } if !call.effect.needs_intent() => outcome_harmless(&call.tool),
        CallState::Started { at, key } => outcome_unknown(&call.tool, *at, key),
        CallState::Pending | CallState::Finished { .. } => not_executed(&call.tool),
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

/// Whether a text is one of these about a call of this tool. Earlier versions also wrote the id of the call, in brackets:
/// one of `ids`.
pub(in crate::session) fn is_about(text: &str, tool: &str, ids: &[&str]) -> bool {
    // Earlier versions wrote names unchanged, and "call" for "tool call".
    let tools = [label(tool), tool.to_owned()];
    let about = tools.iter().flat_map(|tool| ["tool call", "call"].map(|call| format!("The {call} \"{tool}\" ")));
    let about: Vec<String> = about.collect();
    let is_one = |rest: &str| match rest.strip_prefix('(') {
        Some(id) => ids.iter().any(|known| id.strip_prefix(known).is_some_and(|rest| rest.starts_with(") "))),
        None => true,
    };
    let names_it = |rest: &str| about.iter().any(|about| rest.strip_prefix(about.as_str()).is_some_and(is_one));
    is_synthetic(text) && STARTS.iter().any(|start| text.strip_prefix(start).is_some_and(names_it))
}

/// The text about a call that was started and has an unknown outcome.
fn outcome_unknown(tool: &str, started: u64, key: &str) -> String {
    let tool = label(tool);
    let at = written(started);
    format!(
        "[synthetic] [outcome unknown] The tool call \"{tool}\" was started at {at}, but the run stopped before its result was recorded. It may have happened fully, partly, or not at all. Do not call it again blindly: first check the state with a read-only tool, or ask the user. Idempotency key: {key}."
    )
}

/// The text about a call that was never started.
fn not_executed(tool: &str) -> String {
    let tool = label(tool);
    format!(
        "[synthetic] [not executed] The tool call \"{tool}\" did not run: the run stopped before it was started. You may issue it again."
    )
}

/// The text about a call that was never started because the host stopped the cycle.
pub(in crate::session) fn not_begun(tool: &str) -> String {
    let tool = label(tool);
    format!(
        "[synthetic] [not executed] The tool call \"{tool}\" did not run: the run was stopped before it was started."
    )
}

/// The text of a tool that could not be run.
pub(in crate::session) fn executor_failed(why: &str) -> String {
    format!("[tool failed] {why}")
}

/// The text about a call whose result was too large, followed by the start of the result.
pub(in crate::session) fn result_truncated(tool: &str, start: &str, bytes: usize) -> String {
    let tool = label(tool);
    let kept = start.len();
    format!(
        "{TRUNCATED}The tool call \"{tool}\" ran, but its result of {bytes} bytes was too large to keep. Do not call it again for the rest without a narrower request. The first {kept} bytes of the result follow.\n{start}"
    )
}

/// The text about a call that only reads.
fn outcome_harmless(tool: &str) -> String {
    let tool = label(tool);
    format!(
        "[synthetic] [no result] The tool call \"{tool}\" has no result: the run stopped before one was recorded. It only reads, so you may issue it again."
    )
}

#[cfg(test)]
mod tests {
    use seamline_model::{Synthetic, is_of_session_about, not_run};

    use super::*;

    /// Whether a repair takes a text for synthetic as the result of the call `toolu_1` of the tool `pay`, and of no other.
    fn is_recognised(text: &str) -> bool {
        let is_of = |tool: &str| is_of_session_about(text, Some("toolu_1"), &|name| name == tool || name.is_empty());
        Synthetic::of(text) == Synthetic::Marked && is_of("pay") && (text.contains("\"\"") || !is_of("look"))
    }

    #[test]
    fn a_repair_recognises_the_texts_and_prefers_a_real_result() {
        let texts = [
            outcome_unknown("pay", 0, "k_1"),
            not_executed("pay"),
            not_run("pay", "it names no tool"),
            not_run("", "it names no tool"),
            not_begun("pay"),
            outcome_harmless("pay"),
        ];
        for text in texts {
            assert!(is_recognised(&text) && is_synthetic(&text), "{text}");
        }
        // The start of a real result is not replaced by another synthetic one.
        let truncated = result_truncated("pay", "paid", 7);
        assert!(!is_recognised(&truncated) && is_synthetic(&truncated), "{truncated}");
        // The failure of a tool is a real result.
        assert_eq!(Synthetic::of(&executor_failed("no such file")), Synthetic::No);
    }

    #[test]
    fn each_text_is_recognised_under_its_earlier_name_of_the_call() {
        for text in [
            outcome_unknown("pay", 0, "k_1"),
            not_executed("pay"),
            not_run("pay", "it names no tool"),
            not_begun("pay"),
            outcome_harmless("pay"),
            result_truncated("pay", "paid", 7),
        ] {
            let earlier = text.replace("The tool call", "The call");
            assert_ne!(earlier, text);
            for text in [&text, &earlier] {
                assert!(is_synthetic(text) && is_about(text, "pay", &[]) && !is_about(text, "look", &[]), "{text}");
            }
        }
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
            assert!(is_recognised(&text) && is_synthetic(&text), "{text}");
            assert!(is_about(&text, "pay", &["toolu_1"]), "{text}");
        }
    }
}
