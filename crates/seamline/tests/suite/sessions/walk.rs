//! One session that walks from provider to provider, with open calls at every switch.

use seamline::Policy;
use seamline::policy::{DuplicateCallId, PRESETS};
use seamline::session::{AgentStart, OpenOptions, Request, Session, SessionOptions, ToolCallRef, ToolOutput};
use seamline::store::Effect;
use seamline_testkit::Dialect;
use seamline_testkit::events::{Event, events};
use serde_json::Value;

use super::stores::{Place, memory, on_every_store};
use super::switching::errors;
use super::written;

/// The stops of the walk: the provider, its dialect, and an envelope that declares no tools where none are demanded.
const STOPS: [(&str, &str, &str); 5] = [
    ("openai", "openai_chat", r#"{"model":"gpt-4o"}"#),
    ("anthropic", "anthropic_messages", r#"{"model":"claude-sonnet-4-5","max_tokens":64,"tools":TOOLS}"#),
    ("gemini", "gemini_generate", "{}"),
    ("mistral", "openai_chat", r#"{"model":"mistral-large-latest"}"#),
    ("openai", "openai_chat", r#"{"model":"gpt-4o"}"#),
];

/// The ids that the calls of a stop have: ids of a client, ids of the provider, and ids that repeat at every stop, unless the
/// policy makes these an error.
fn ids(provider: &str, stop: usize, policy: &Policy) -> [String; 4] {
    let own = match provider {
        "anthropic" => format!("toolu_01{stop}Abc.def"),
        "mistral" => format!("Abcdefg{stop}1"),
        _ => format!("call_{stop}abc"),
    };
    let repeated = match policy.repair.duplicate_call_id {
        DuplicateCallId::Error => format!("call_0{stop}"),
        _ => "call_0".to_owned(),
    };
    [format!("hist_tool_{stop}a-{stop}b"), own, repeated, format!("hist_tool_x{stop}.y/z")]
}

fn tool(stop: usize, number: usize) -> String {
    format!("pay_{stop}_{number}")
}

fn output(stop: usize, number: usize) -> ToolOutput {
    ToolOutput { output: format!("OUT {}", tool(stop, number)), is_error: false }
}

/// A turn in one dialect that calls the tools of a stop.
fn turn(dialect: &str, stop: usize, ids: &[String]) -> Vec<String> {
    let calls = ids.iter().enumerate().map(|(number, id)| (tool(stop, number), id.as_str()));
    written::calls_of(dialect, &calls.collect::<Vec<_>>())
}

/// The envelope with a declaration of every tool.
fn envelope(stop: usize) -> String {
    let names = (0..STOPS.len()).flat_map(|stop| (0..6).map(move |number| tool(stop, number)));
    let tools: Vec<String> =
        names.map(|name| format!(r#"{{"name":"{name}","input_schema":{{"type":"object"}}}}"#)).collect();
    STOPS[stop].2.replace("TOOLS", &format!("[{}]", tools.join(",")))
}

/// Lists what is wrong with a request: the strict check, our own check, ids of the client, ids that Mistral rejects, and results
/// that answer another call than their own.
fn wrong(request: &Request, stop: usize) -> Vec<String> {
    let (provider, dialect, _) = STOPS[stop];
    let dialect = Dialect::by_name(dialect).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let mut wrong: Vec<String> =
        seamline_testkit::strict::check(dialect, &body).iter().map(|found| format!("{found:?}")).collect();
    wrong.extend(errors(request, provider));
    if body.to_string().contains("hist_tool_") {
        wrong.push("an id of the client".to_owned());
    }
    let mut open: Vec<(String, String)> = Vec::new();
    for event in events(dialect, &body) {
        match event {
            Event::Call { id, name, .. } => {
                let is_of_mistral = id.len() == 9 && id.chars().all(|char| char.is_ascii_alphanumeric());
                if provider == "mistral" && !is_of_mistral {
                    wrong.push(format!("Mistral rejects {id}"));
                }
                open.push((id, name));
            }
            Event::Result { id, output, .. } => match open.iter().position(|(call, _)| *call == id) {
                Some(at) => {
                    let (_, name) = open.remove(at);
                    let is_own = output.contains(&format!("OUT {name}")) || !output.contains("OUT ");
                    if !is_own {
                        wrong.push(format!("{name} has the result {output}"));
                    }
                }
                None => wrong.push(format!("no call {id}")),
            },
            Event::Other => {}
        }
    }
    wrong.extend(open.iter().map(|(id, name)| format!("no result of {name} ({id})")));
    wrong
}

/// How the calls of a stop go on.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// The results come after the switch.
    Finish,
    /// The host aborts after the switch, and one result comes late.
    Abort,
    /// The process dies at the switch.
    Crash,
    /// The calls are plain messages, of which one has a result.
    Append,
}

async fn reopened(place: &Place, session: Session) -> Session {
    let options = OpenOptions { take_over: true, ..OpenOptions::default() };
    Session::open(place.store.clone(), session.id().clone(), options).await.unwrap()
}

/// Walks through all stops and gives what was wrong with the requests.
async fn walk(place: &Place, policy: Policy, then: Then) -> Vec<String> {
    let (home, dialect, _) = STOPS[0];
    let options = SessionOptions {
        dialect: Some(dialect.to_owned()),
        provider: Some(home.to_owned()),
        policy: policy.clone(),
        ..SessionOptions::default()
    };
    let mut session = Session::create(place.store.clone(), place.name().parse().unwrap(), options).await.unwrap();
    let mut found = Vec::new();
    for (stop, (provider, dialect, _)) in STOPS.into_iter().enumerate() {
        let note = |when: &'static str, wrong: Vec<String>| {
            wrong.into_iter().map(move |it| format!("{stop} {provider}, {when}: {it}"))
        };
        let envelope = envelope(stop);
        session.append(&written::user(dialect, &format!("stop {stop}"))).await.unwrap();
        let mut start = session.before_agent_start(&envelope).await.unwrap();
        if let AgentStart::Blocked { repair_offered: true, .. } = start {
            session.repair().await.unwrap();
            start = session.before_agent_start(&envelope).await.unwrap();
        }
        match start {
            AgentStart::Proceed { request, .. } => found.extend(note("at the start", wrong(&request, stop))),
            AgentStart::Blocked { validation, .. } => found.extend(note("blocked", validation.errors)),
        }
        let ids = ids(provider, stop, &policy);
        let turn = turn(dialect, stop, &ids);
        let turn: Vec<&str> = turn.iter().map(String::as_str).collect();
        let next = STOPS[(stop + 1) % STOPS.len()].0;
        if matches!(then, Then::Append) {
            session.append_all(&turn).await.unwrap();
            let text = output(stop, 1).output;
            session.append(&written::result(dialect, &tool(stop, 1), &ids[1], &text)).await.unwrap();
            session.switch_provider(next).await.unwrap();
            continue;
        }
        let (cycle, calls) = session.begin_cycle(&turn, &|_| Effect::Unsafe).await.unwrap();
        for call in &calls {
            session.before_tool_call(&cycle, &call.id).await.unwrap();
        }
        session.finish_call(&cycle, &calls[0].id, &output(stop, 0)).await.unwrap();
        session.switch_provider(next).await.unwrap();
        match then {
            Then::Finish => {
                for (number, call) in calls.iter().enumerate().skip(1) {
                    session.finish_call(&cycle, &call.id, &output(stop, number)).await.unwrap();
                }
                session.commit_cycle(&cycle).await.unwrap();
            }
            Then::Abort => {
                session.abort().await.unwrap();
                let name = tool(stop, 1);
                let late = ToolCallRef { id: ids[1].as_str().into(), name: &name };
                session.add_late_result(&late, &output(stop, 1)).await.unwrap();
            }
            Then::Crash => session = reopened(place, session).await,
            Then::Append => {}
        }
    }
    found.extend(wrong_at_home(&mut session, then).await);
    found
}

/// Sends the last request, and lists what is wrong with it.
async fn wrong_at_home(session: &mut Session, then: Then) -> Vec<String> {
    session.append(&written::user(STOPS[0].1, "home")).await.unwrap();
    let request = session.request(&envelope(0)).unwrap();
    let mut found = wrong(&request, STOPS.len() - 1);
    let body = String::from_utf8(request.body).unwrap();
    if matches!(then, Then::Finish) {
        for stop in 0..STOPS.len() {
            let missing = (0..4).map(|number| output(stop, number).output).filter(|text| !body.contains(text));
            found.extend(missing.map(|text| format!("{text} is lost")));
        }
    }
    found
}

#[test]
fn s2_22_every_request_of_a_walk_with_open_calls_is_valid() {
    on_every_store(async |place| {
        for then in [Then::Finish, Then::Abort, Then::Crash, Then::Append] {
            let found = walk(&place, Policy::default(), then).await;
            assert_eq!(found, [""; 0], "{then:?}");
        }
    });
}

#[test]
fn s2_22_every_preset_walks_with_open_calls() {
    futures_executor::block_on(async {
        for preset in PRESETS.iter().filter(|preset| preset.name != "strict") {
            for then in [Then::Finish, Then::Abort, Then::Crash, Then::Append] {
                let found = walk(&memory(), Policy::preset(preset.name).unwrap(), then).await;
                let found: Vec<_> = found.into_iter().filter(|it| !it.ends_with("is lost")).collect();
                assert_eq!(found, [""; 0], "{} {then:?}", preset.name);
            }
        }
    });
}
