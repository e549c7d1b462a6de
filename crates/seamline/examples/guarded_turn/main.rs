//! A complete guarded turn. Everything that can go wrong between a model and its tools goes wrong here, and the turn
//! still ends properly.
//!
//! Run it with `cargo run -p seamline --example guarded_turn`; `cargo test` runs it too. The provider is a script that
//! rejects every conversation that the real provider rejects. Time is a counter of the example, so the example does not
//! wait.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

mod agent;
mod provider;

use std::error::Error;

use seamline::guards::FilteredPart;
use serde_json::json;

use crate::agent::{Agent, End};
use crate::provider::{Reply, Scripted, said, tool_use};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    a_turn_in_which_everything_goes_wrong()?;
    a_turn_whose_streams_end_too_early()?;
    a_turn_in_which_the_model_loops()
}

/// Overload, a stall, wrong arguments, a conversation that a plug-in breaks, a refusal.
fn a_turn_in_which_everything_goes_wrong() -> Result<()> {
    println!("== a turn in which everything goes wrong");
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let provider = Scripted::new(vec![
        Reply::failed(529, &[("retry-after", "3")], overloaded),
        Reply::stalled("Let me look"),
        // The command is missing, and the model reads that.
        Reply::stream(&[tool_use("toolu_1", "shell", &json!({}))], "tool_use"),
        Reply::stream(
            &[said("Of course."), tool_use("toolu_2", "shell", &json!({"command": "echo main.rs"}))],
            "tool_use",
        ),
        Reply::refusal("Sure, the", "cyber"),
        Reply::stream(&[said("There is one file: main.rs.")], "end_turn"),
    ]);
    let mut agent = Agent::new(provider)?;
    // An earlier run ended in the middle of a call, which has no result.
    agent.remember(json!({"role": "user", "content": "what is in src?"}));
    agent.remember(
        json!({"role": "assistant", "content": [tool_use("toolu_0", "shell", &json!({"command": "ls src"}))]}),
    );
    agent.remember(json!({"role": "user", "content": "are you still there?"}));
    // A plug-in puts a reminder between a call and its result, once.
    agent.meddle_before_request(5);

    let end = agent.turn()?;

    assert_eq!(end, End::Said("There is one file: main.rs.".to_owned()));
    let provider = &agent.provider;
    assert!(provider.is_over(), "the script was played to its end");
    // The damage in the agent's own history was repaired before the first request.
    assert_eq!(provider.rejected(), 1, "only the request that the plug-in broke was refused");
    // Overloaded and stalled: the same bytes again. Broken: other bytes.
    let requests = provider.requests();
    assert!(requests[0] == requests[1] && requests[1] == requests[2]);
    assert_ne!(requests[4], requests[5]);
    assert_eq!(agent.filtered, [(FilteredPart::Refusal, Some("cyber".to_owned()))]);
    // The history has nothing of the refused response, and every call has its result.
    let history = agent.history().to_string();
    assert!(!history.contains("Sure, the") && history.contains("main.rs"));
    assert!(history.contains("\"command\\\" is a required property"), "{history}");
    println!("   the turn took {} s of its own time", agent.now.as_secs());
    Ok(())
}

/// A broken connection, a provider that fails in the middle, a length limit inside a call and then inside a text. Calls
/// that must not run do not run, and no complete content is lost.
fn a_turn_whose_streams_end_too_early() -> Result<()> {
    println!("== a turn whose streams end too early");
    let call = |id: &str, line: &str| tool_use(id, "shell", &json!({"command": line}));
    let provider = Scripted::new(vec![
        // The call is complete; the response is not.
        Reply::cut(&[said("First"), call("toolu_1", "echo from a broken stream")]),
        Reply::failing(&[call("toolu_2", "echo from a failed stream")], "overloaded_error", "Overloaded"),
        Reply::limited(&[call("toolu_3", "echo one")], "toolu_4", "shell", r#"{"command":"echo tw"#),
        Reply::stream(&[said("There are one and")], "max_tokens"),
    ]);
    let mut agent = Agent::new(provider)?;
    agent.remember(json!({"role": "user", "content": "count"}));

    let end = agent.turn()?;

    assert_eq!(end, End::CutShort("There are one and".to_owned()));
    let provider = &agent.provider;
    assert!(provider.is_over() && provider.rejected() == 0);
    // Broken and failed: the same bytes again, after one second and after two.
    let requests = provider.requests();
    assert!(requests[0] == requests[1] && requests[1] == requests[2] && requests.len() == 4);
    assert!(agent.now.as_secs() >= 3, "{:?}", agent.now);
    let history = agent.history();
    assert!(
        !history.to_string().contains("stream"),
        "no broken response was kept, and none of its calls ran: {history}"
    );
    // The complete call of the two was kept and run; the model reads about the other.
    let results = &history[2]["content"];
    assert_eq!((&results[0]["tool_use_id"], &results[0]["is_error"]), (&json!("toolu_3"), &json!(false)));
    assert_eq!(results[0]["content"].as_str().map(str::trim_end), Some("one"));
    assert!(!history.to_string().contains("toolu_4"), "{history}");
    assert!(results[1]["text"].as_str().is_some_and(|text| text.contains("was cut off")), "{results}");
    assert_eq!(Scripted::judge(&agent.body()?), None);
    Ok(())
}

/// The model repeats the same wrong call, and is stopped after three.
fn a_turn_in_which_the_model_loops() -> Result<()> {
    println!("== a turn in which the model loops");
    let ids = ["toolu_1", "toolu_2", "toolu_3", "toolu_4"];
    let wrong = |id: &str| Reply::stream(&[tool_use(id, "shell", &json!({}))], "tool_use");
    let mut agent = Agent::new(Scripted::new(ids.map(wrong).into()))?;
    agent.remember(json!({"role": "user", "content": "what is in src?"}));

    let end = agent.turn()?;

    let End::Looped(stop) = end else { return Err(format!("{end:?}").into()) };
    assert_eq!(stop.signature(), "repeated_tool_failure_loop:shell");
    assert_eq!(agent.provider.requests().len(), 3);
    // The turn is over, but every call has a result: the history can be sent at any time.
    assert_eq!(Scripted::judge(&agent.body()?), None);
    let history = agent.history().to_string();
    assert!(history.contains("Do NOT call this tool again without providing all required fields."), "{history}");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_turns_end_properly() {
        super::main().unwrap();
    }
}
