//! The events that the library logs; none contains the text of a conversation.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex};

use seamline::convert::ConvertOptions;
use seamline::stream::{ResponseStream, StreamOptions};
use seamline::{Options, Policy};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// One event: its level and its fields.
type Logged = (Level, BTreeMap<&'static str, String>);

/// Keeps every event, and every field of spans under the level of its span.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Logged>>>);

struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Collector {
    fn keep(&self, metadata: &Metadata<'_>, fields: Fields) {
        self.0.lock().unwrap().push((*metadata.level(), fields.0));
    }

    /// Returns the events that are logged while `act` runs.
    fn during(act: impl FnOnce()) -> Vec<Logged> {
        let collector = Self::default();
        tracing::subscriber::with_default(collector.clone(), act);
        let logged = collector.0.lock().unwrap();
        logged.clone()
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(BTreeMap::new());
        span.record(&mut fields);
        self.keep(span.metadata(), fields);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(BTreeMap::new());
        event.record(&mut fields);
        self.keep(event.metadata(), fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The events of a repair under the preset of the document that asks for them, above `trace`.
fn repair_events(body: &str) -> Vec<Logged> {
    let policy = Policy::preset("libr-agent").unwrap();
    let options = Options { policy, ..Options::default() };
    let logged = Collector::during(|| {
        seamline::repair(body.as_bytes(), &options).unwrap();
    });
    let is_event = |(level, fields): &Logged| *level < Level::TRACE && fields.contains_key("message");
    logged.into_iter().filter(is_event).collect()
}

/// The event of a level whose message is `message`.
fn event(logged: &[Logged], level: Level, says: &str) -> Vec<BTreeMap<&'static str, String>> {
    let is_it = |(of, fields): &&Logged| *of == level && fields.get("message").is_some_and(|message| message == says);
    logged.iter().filter(is_it).map(|(_, fields)| fields.clone()).collect()
}

fn fields<const N: usize>(expected: [(&'static str, &str); N]) -> BTreeMap<&'static str, String> {
    expected.into_iter().map(|(name, value)| (name, value.to_owned())).collect()
}

const PARTLY_ANSWERED: &str = r#"{"model":"gpt-4.1","messages":[
    {"role":"user","content":"go"},
    {"role":"assistant","content":"I will call","tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}},
        {"id":"call_2","type":"function","function":{"name":"b","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"one"},
    {"role":"tool","tool_call_id":"call_9","content":"orphan"},
    {"role":"user","content":"well?"}]}"#;

#[test]
fn an_orphaned_result_is_logged_for_debugging() {
    let logged = event(&repair_events(PARTLY_ANSWERED), Level::DEBUG, "orphaned tool result");
    let expected = [("message_index", "3"), ("tool_call_id", "call_9"), ("action", "remove")];
    assert_eq!(logged, [with_message("orphaned tool result", expected)]);
}

#[test]
fn removed_calls_are_a_warning() {
    let logged = event(&repair_events(PARTLY_ANSWERED), Level::WARN, "removed tool calls");
    let expected =
        [("message_index", "1"), ("removed_tool_ids", r#"["call_2"]"#), ("completed_count", "1"), ("total_count", "2")];
    assert_eq!(logged, [with_message("removed tool calls", expected)]);
    let none = PARTLY_ANSWERED.replace("\"call_1\",\"content\"", "\"call_8\",\"content\"");
    let logged = event(&repair_events(&none), Level::WARN, "removed tool calls");
    let counts: Vec<_> = logged.iter().map(|event| (&*event["removed_tool_ids"], &*event["completed_count"])).collect();
    assert_eq!(counts, [(r#"["call_1", "call_2"]"#, "0")]);
}

#[test]
fn a_result_removed_from_the_beginning_is_a_warning() {
    let says = "removed a tool result from the beginning of the conversation";
    let body = r#"{"model":"gpt-4.1","messages":[
        {"role":"tool","tool_call_id":"call_1","content":"orphan"},{"role":"user","content":"Hello"}]}"#;
    assert_eq!(event(&repair_events(body), Level::WARN, says), [with_message(says, [("message_index", "0")])]);
    assert_eq!(event(&repair_events(PARTLY_ANSWERED), Level::WARN, says), []);
}

#[test]
fn a_repair_ends_with_a_summary() {
    let logged = event(&repair_events(PARTLY_ANSWERED), Level::INFO, "repaired");
    let [summary] = logged.as_slice() else { panic!("{logged:?}") };
    let counts = ["original_messages", "processed_messages", "valid_tool_calls", "completed_tool_calls"];
    assert_eq!(counts.map(|name| summary[name].as_str()), ["5", "4", "2", "1"]);
    let clean = r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Hello"}]}"#;
    let logged = repair_events(clean);
    assert_eq!(logged.iter().map(|(level, _)| *level).collect::<Vec<_>>(), [Level::INFO]);
    assert_eq!(counts.map(|name| logged[0].1[name].as_str()), ["1", "1", "0", "0"]);
}

fn with_message<const N: usize>(message: &str, expected: [(&'static str, &str); N]) -> BTreeMap<&'static str, String> {
    let mut fields = fields(expected);
    fields.insert("message", message.to_owned());
    fields
}

#[test]
fn no_event_has_the_text_of_a_conversation() {
    let chat = PARTLY_ANSWERED
        .replace("\"go\"", "\"SECRET go\"")
        .replace("I will call", "SECRET words")
        .replace("\"{}\"", "\"{\\\"key\\\":\\\"SECRET\\\"}\"")
        .replace("\"name\":\"a\"", "\"name\":\"SECRET_tool\"")
        .replace("\"one\"", "\"SECRET output\"")
        .replace("orphan", "SECRET orphan")
        .replace("call_9", "SECRET is what this id says");
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"SECRET\"}}]}\n\ndata: [DONE]\n\n";
    let logged = Collector::during(|| {
        for preset in seamline::policy::PRESETS {
            let options = Options { policy: Policy::preset(preset.name).unwrap(), ..Options::default() };
            seamline::check(chat.as_bytes(), &options).unwrap();
            seamline::repair(chat.as_bytes(), &options).unwrap();
        }
        for provider in ["anthropic", "gemini", "openai-responses", "bedrock", "openai"] {
            let options = ConvertOptions { to: provider.to_owned(), ..ConvertOptions::default() };
            seamline::convert(chat.as_bytes(), &options).unwrap();
        }
        let mut answer = ResponseStream::new(&StreamOptions::default()).unwrap();
        answer.feed(stream.as_bytes());
        answer.finish().unwrap();
        let opened = futures_executor::block_on(seamline::open_store("mysql://user:SECRET@host/SECRET"));
        assert!(opened.is_err());
    });
    let messages: Vec<&str> = logged.iter().filter_map(|(_, fields)| Some(fields.get("message")?.as_str())).collect();
    for message in ["checked", "repaired", "repair action", "converted", "assembled", "opening a store"] {
        assert!(messages.contains(&message), "{message} is not among {messages:?}");
    }
    let telling: Vec<_> = logged.iter().filter(|(_, fields)| fields.values().any(|it| it.contains("SECRET"))).collect();
    assert!(telling.is_empty(), "{telling:#?}");
}

/// One module logs, so that one reader can see that no event has the text of a conversation.
#[test]
fn events_are_made_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut logging = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).unwrap().lines().any(|line| {
                let code = line.trim_start();
                !code.starts_with("//") && code.contains("tracing::")
            }) {
                logging.push(path.strip_prefix(&root).unwrap().to_owned());
            }
        }
    }
    assert_eq!(logging, [Path::new("log.rs")]);
}

#[test]
fn a_session_logs_cycles_repairs_and_incidents_without_content() {
    use seamline::session::{ResetOptions, Session, SessionOptions};
    let logged = Collector::during(|| {
        futures_executor::block_on(async {
            let store = seamline::open_store("memory:").await.unwrap();
            let mut session = Session::create(store, "s-1".parse().unwrap(), SessionOptions::default()).await.unwrap();
            session.append(r#"{"role":"user","content":"SECRET question"}"#).await.unwrap();
            let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{"to":"SECRET"}}]}"#;
            for ends in [true, false] {
                let (cycle, _) = session.begin_cycle(&[turn], &|_| seamline::store::Effect::ReadOnly).await.unwrap();
                if ends {
                    let output = seamline::session::ToolOutput { output: "SECRET output".to_owned(), is_error: false };
                    session.finish_call(&cycle, &"toolu_1".into(), &output).await.unwrap();
                    session.commit_cycle(&cycle).await.unwrap();
                } else {
                    session.roll_back_cycle(&cycle, "SECRET reason").await.unwrap();
                }
            }
            session
                .append(
                    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"SECRET"}]}"#,
                )
                .await
                .unwrap();
            session.repair().await.unwrap();
            session.reset(ResetOptions::default()).await.unwrap();
        });
    });
    let names = logged.iter().filter_map(|(_, fields)| fields.get("message").map(String::as_str));
    let names: Vec<&str> = names.collect();
    for name in
        ["tool cycle committed", "tool cycle rolled back", "stored messages repaired", "incident", "session reset"]
    {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let about = logged.iter().filter(|(_, fields)| fields.contains_key("session"));
    assert!(about.clone().count() >= 5);
    for (_, fields) in about {
        assert!(fields.values().all(|value| !value.contains("SECRET") && !value.contains("toolu_")), "{fields:?}");
    }
}
