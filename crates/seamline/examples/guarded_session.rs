//! Breaker, stall watchdog and session, joined: a durable agent that neither hangs nor loops.
//!
//! - The **session** keeps the conversation: a checkpoint before each request, a durable cycle for each turn with calls.
//! - The **stall watchdog** gives up a stream that makes no progress. The session then rolls back to the checkpoint, and no
//!   part of the response becomes a message.
//! - The **breaker** refuses calls with wrong arguments, and stops a turn in which the model repeats itself. Each refused
//!   call still gets its result, so the conversation stays valid.
//!
//! Run it with `cargo run -p seamline --example guarded_session`; `cargo test` runs it too. The provider is a script, and
//! time is a number, so that the example does not wait.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use seamline::classify::Failure;
use seamline::guards::{
    Breaker, BreakerLimits, CallInRound, CheckedCall, Outcome, StallGuard, StallLimits, StallNotice, ToolSchemas,
};
use seamline::session::{
    AgentEnd, AgentStart, ExecutorFailure, Session, SessionOptions, ToolCall, ToolOutput, TurnEnd,
};
use seamline::store::{Effect, MemoryStore};
use seamline::stream::{Ending, ResponseStream, StreamOptions};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENVELOPE: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":1024}"#;
const SCHEMA: &str = r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}"#;

/// A response that begins and then makes no progress.
const STALLED: &[(u64, &str)] = &[
    (
        1,
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    ),
    (100_000, "event: ping\ndata: {\"type\":\"ping\"}\n\n"),
];

/// A response that makes a call without the argument that the tool needs.
const WRONG_CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"ID","name":"read","input":{}}]}"#;

fn main() -> Result<()> {
    futures_executor::block_on(async {
        let store = Arc::new(MemoryStore::new());
        let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
        session.append(r#"{"role":"user","content":"what is in main.rs?"}"#).await?;

        give_up_a_stalled_stream(&mut session).await?;
        assert_eq!(session.messages().count(), 1, "no part of the response is a message");

        let stopped = stop_a_model_that_repeats_itself(&mut session).await?;
        assert!(stopped, "the breaker stops the turn");
        // Every call has its result, so the next request is valid.
        assert!(session.validate()?.valid && session.request(ENVELOPE)?.sendable);
        session.close().await?;
        Ok(())
    })
}

/// Listens to a stream under the watchdog, and tells the session how it ended.
async fn give_up_a_stalled_stream(session: &mut Session) -> Result<()> {
    let AgentStart::Proceed { .. } = session.before_agent_start(ENVELOPE).await? else {
        return Err("the request is blocked".into());
    };
    let mut stream =
        ResponseStream::new(&StreamOptions { provider: Some("anthropic".to_owned()), ..Default::default() })?;
    let mut now = Duration::ZERO;
    let mut guard = StallGuard::new(StallLimits::default(), now);
    'listening: for (seconds, piece) in STALLED {
        let arrives = now + Duration::from_secs(*seconds);
        // A host with a real clock waits for the piece until the deadline of the watchdog.
        while let Some(deadline) = guard.poll_deadline().filter(|deadline| *deadline <= arrives) {
            match guard.poll_notice(deadline) {
                Some(StallNotice::Warn { idle, .. }) => println!("no progress for {} s", idle.as_secs()),
                Some(StallNotice::Stalled { idle, .. }) => {
                    println!("no progress for {} s: the stream is abandoned", idle.as_secs());
                    stream.stall();
                    break 'listening;
                }
                None => break,
            }
        }
        now = arrives;
        if stream.feed(piece.as_bytes()) { guard.handle_progress(now) } else { guard.handle_life(now) }
    }
    let response = stream.finish()?;
    assert_eq!(response.ending, Ending::Stalled);
    let failure = Failure { text: "the stream timed out", ..Failure::default() };
    let AgentEnd::Recovered(done) = session.agent_end(TurnEnd::Failed(failure)).await? else {
        return Err("a stalled stream is not a response".into());
    };
    println!("{}", done.message);
    Ok(())
}

/// Runs turns of a model that makes the same wrong call again and again. Says whether the breaker stopped it.
async fn stop_a_model_that_repeats_itself(session: &mut Session) -> Result<bool> {
    let mut tools = ToolSchemas::new();
    tools.add("read", Some(SCHEMA))?;
    let mut breaker = Breaker::new(BreakerLimits::default());
    for number in 1..=20 {
        let AgentStart::Proceed { .. } = session.before_agent_start(ENVELOPE).await? else {
            return Err("the request is blocked".into());
        };
        let turn = WRONG_CALL.replace("ID", &format!("toolu_{number}"));
        let (cycle, calls) = session.begin_cycle(&[&turn], &|_call| Effect::ReadOnly).await?;
        let round: Vec<CallInRound<'_>> = calls.iter().map(in_round).collect();
        let (checked, stop) = breaker.handle_round(&round, &tools);
        let mut texts = Vec::new();
        for (call, checked) in calls.iter().zip(checked) {
            session.before_tool_call(&cycle, &call.id).await?;
            match checked {
                CheckedCall::Run | CheckedCall::PartlyChecked => {
                    let output = ToolOutput { output: "fn main() {}".to_owned(), is_error: false };
                    session.after_tool_call(&cycle, &call.id, &output).await?;
                    texts.push((true, output.output));
                }
                // The model reads why the call was refused.
                CheckedCall::Refuse { text, .. } => {
                    session.after_tool_failure(&cycle, &call.id, &ExecutorFailure(text.clone())).await?;
                    texts.push((false, text));
                }
            }
        }
        let outcomes: Vec<Outcome<'_>> = calls
            .iter()
            .zip(&texts)
            .map(|(call, (ok, text))| Outcome { name: &call.name, arguments: &call.input, ok: *ok, text })
            .collect();
        if let Some(stop) = stop.or(breaker.handle_outcomes(&outcomes)) {
            println!("stopped after {number} turns: {} ({})", stop.signature(), stop.failure_class());
            return Ok(true);
        }
    }
    Ok(false)
}

fn in_round(call: &ToolCall) -> CallInRound<'_> {
    CallInRound { name: &call.name, arguments: &call.input, free: false, truncated: false }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
