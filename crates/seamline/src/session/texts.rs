//! What the model reads about calls without a result. Each says what is known, and no more.

use super::clock::written;

/// How texts start that stand for a result.
const STARTS: [&str; 3] = ["[synthetic] [outcome unknown] ", "[synthetic] [not executed] ", "[synthetic] [no result] "];

/// Whether a text is one of these.
pub(super) fn is_made_up(text: &str) -> bool {
    STARTS.iter().any(|start| text.starts_with(start))
}

/// Whether a text is one of these about this call.
pub(super) fn is_about(text: &str, tool: &str, call: &str) -> bool {
    let about = format!("The call \"{tool}\" ({call}) ");
    STARTS.iter().any(|start| text.strip_prefix(start).is_some_and(|rest| rest.starts_with(&about)))
}

/// A call that was begun, and of which nobody knows what became.
pub(super) fn outcome_unknown(tool: &str, call: &str, started: u64, key: &str) -> String {
    let at = written(started);
    format!(
        "[synthetic] [outcome unknown] The call \"{tool}\" ({call}) was started at {at}, but the run stopped before its result was recorded. It may have happened fully, partly, or not at all. Do not call it again blindly: first check the state with a read-only tool, or ask the user. Idempotency key: {key}."
    )
}

/// A call that was never begun.
pub(super) fn not_executed(tool: &str, call: &str) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: the run stopped before it was started. You may issue it again."
    )
}

/// A call that must not be run.
pub(super) fn not_run(tool: &str, call: &str, why: &str) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: {why}. You may issue it again, whole."
    )
}

/// A call that was never begun because somebody broke off.
pub(super) fn not_begun(tool: &str, call: &str) -> String {
    format!(
        "[synthetic] [not executed] The call \"{tool}\" ({call}) did not run: the run was stopped before it was started."
    )
}

/// A tool that could not be run.
pub(super) fn executor_failed(why: &str) -> String {
    format!("[tool failed] {why}")
}

/// A call that changes nothing, of which it was not written down whether it ran.
pub(super) fn outcome_harmless(tool: &str, call: &str) -> String {
    format!(
        "[synthetic] [no result] The call \"{tool}\" ({call}) has no result: the run stopped before one was recorded. It only reads, so you may issue it again."
    )
}

#[cfg(test)]
mod tests {
    use seamline_model::Synthetic;

    use super::*;

    #[test]
    fn a_repair_knows_that_they_are_made_up_and_takes_a_real_result_instead() {
        let texts = [
            outcome_unknown("pay", "toolu_1", 0, "k_1"),
            not_executed("pay", "toolu_1"),
            not_run("pay", "toolu_1", "it names no tool"),
            not_begun("pay", "toolu_1"),
            outcome_harmless("pay", "toolu_1"),
        ];
        for text in texts {
            assert!(Synthetic::of(&text) == Synthetic::Yes && is_made_up(&text), "{text}");
        }
        // What a tool that could not be run says was said.
        assert_eq!(Synthetic::of(&executor_failed("no such file")), Synthetic::No);
    }
}
