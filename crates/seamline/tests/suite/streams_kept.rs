//! The messages that a history keeps of a streamed response: whatever the stream was, the session can be sent
//! afterwards.

use futures_executor::block_on;
use seamline::session::{Session, SessionOptions, ToolOutput, TurnEnd};
use seamline::store::Effect;
use seamline::stream::Response;
use seamline::{Options, Severity};
use seamline_testkit::Dialect;

use crate::fixtures::report;
use crate::streams::fixtures;
use crate::streams_recorded::{recorded, root};

/// Calls with their own result forms, which the executor of the call writes.
const FORMS_OF_THEIR_OWN: [&str; 2] = [r#""type":"shell_call""#, r#""type":"apply_patch_call""#];

#[test]
fn kept_messages_of_every_response_can_be_sent_back() {
    let streams = fixtures().unwrap();
    let failures = streams.iter().filter_map(|stream| {
        let told = stream.whole().and_then(|response| {
            keeps_all_that_may_be_run(&response)?;
            block_on(goes_into_a_session(&response, Route::Messages))?;
            block_on(goes_into_a_session(&response, Route::Response))
        });
        told.err().map(|failure| format!("{}: {failure}", stream.name))
    });
    report(streams.len(), failures);
}

#[test]
fn kept_messages_of_every_recorded_response_can_be_sent_back() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    let failures = streams.iter().filter_map(|stream| {
        let told = stream.whole().and_then(|response| block_on(goes_into_a_session(&response, Route::Response)));
        told.err().map(|failure| format!("{}: {failure}", stream.name))
    });
    report(streams.len(), failures);
}

#[test]
fn the_history_of_every_response_has_inputs_that_its_dialect_accepts() {
    let streams = fixtures().unwrap();
    let mut refused = 0;
    let failures: Vec<String> = streams
        .iter()
        .filter_map(|stream| {
            let response = stream.whole().ok()?;
            refused += response.refused().len();
            let (question, _) = request_of(response.dialect);
            let list = Dialect::by_name(response.dialect)?.list_key();
            let history = response.history();
            let body = format!("{{\"{list}\":[{question},{}]}}", history.join(","));
            let options = Options { dialect: Some(response.dialect.to_owned()), ..Options::default() };
            let found = seamline::check(body.as_bytes(), &options).ok()?.findings;
            let wrong = found.iter().find(|finding| finding.code == "WIRE006")?;
            Some(format!("{}: {} in {body}", stream.name, wrong.message))
        })
        .collect();
    assert!(refused > 3, "only {refused} calls must not run");
    report(streams.len(), failures.into_iter());
}

/// Calls that must not run are not kept, and nothing else is lost.
fn keeps_all_that_may_be_run(response: &Response) -> Result<(), String> {
    let kept = response.messages().concat();
    match response.calls.iter().find(|call| call.executable && !kept.contains(&call.name)) {
        Some(call) => Err(format!("`{}` is not kept: {kept}", call.name)),
        None => Ok(()),
    }
}

/// How a host gives a response to a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    Messages,
    Response,
}

async fn goes_into_a_session(response: &Response, route: Route) -> Result<(), String> {
    if FORMS_OF_THEIR_OWN.iter().any(|form| response.messages().concat().contains(form)) {
        return Ok(());
    }
    let (question, envelope) = request_of(response.dialect);
    let mut session = session_of(response.dialect).await.map_err(|error| error.to_string())?;
    session.append(question).await.map_err(|error| error.to_string())?;
    take(&mut session, response, route).await?;
    session.append(question).await.map_err(|error| error.to_string())?;
    let request = session.request(envelope).map_err(|error| error.to_string())?;
    let options = Options { dialect: Some(response.dialect.to_owned()), ..Options::default() };
    let report = seamline::check(&request.body, &options).map_err(|error| error.to_string())?;
    let errors: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    if errors.is_empty() && request.sendable {
        return Ok(());
    }
    Err(format!("{errors:?}\n{}", String::from_utf8_lossy(&request.body)))
}

async fn take(session: &mut Session, response: &Response, route: Route) -> Result<(), String> {
    let (messages, runnable) = (response.messages(), response.calls.iter().filter(|call| call.executable).count());
    if runnable == 0 {
        let end = if route == Route::Messages { TurnEnd::Messages(&messages) } else { TurnEnd::Response(response) };
        session.agent_end(end).await.map_err(|error| error.to_string())?;
        return Ok(());
    }
    let begun = match route {
        Route::Messages => session.begin_cycle(&messages, &|_| Effect::Unsafe).await,
        Route::Response => session.begin_response(response, &|_| Effect::Unsafe).await,
    };
    let (cycle, calls) = begun.map_err(|error| format!("{error}: {messages:?}"))?;
    if calls.len() != runnable {
        return Err(format!("{} calls of {runnable}: {messages:?}", calls.len()));
    }
    for call in calls {
        session.before_tool_call(&cycle, &call.id).await.map_err(|error| error.to_string())?;
        session
            .finish_call(&cycle, &call.id, &ToolOutput { output: "done".to_owned(), is_error: false })
            .await
            .map_err(|error| error.to_string())?;
    }
    session.commit_cycle(&cycle).await.map_err(|error| error.to_string())?;
    Ok(())
}

async fn session_of(dialect: &str) -> Result<Session, Box<dyn std::error::Error>> {
    let store = seamline::open_store("memory:").await?;
    let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
    Ok(Session::create(store, "kept".parse()?, options).await?)
}

/// A message of the user, and the body around the messages.
fn request_of(dialect: &str) -> (&'static str, &'static str) {
    Dialect::by_name(dialect).map_or(("", ""), |dialect| (dialect.user_message(), dialect.envelope()))
}
