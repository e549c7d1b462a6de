//! Nothing that a user, a model or a tool wrote leaves the proxy by another way than the request and its response.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use seamline_proxy::breaker::OnTrip;
use seamline_proxy::config::Mode;
use seamline_proxy::journal::{IncidentJournal, JournalSettings};
use seamline_proxy::keep::{KeepSettings, RejectedBodies};
use seamline_proxy::ledger::LedgerStoreSettings;
use seamline_proxy::telemetry::Telemetry;
use seamline_testkit::Dialect;
use seamline_testkit::provider::{After, Script};
use serde_json::{Map, Value};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::bodies::broken;
use super::stage::{Stage, path, stream_path};

/// The mark of everything that must not leave the proxy.
const SECRET: &str = "hunter2";

/// The mark of ids. Logs have ids, and nothing else has them.
const ID_SECRET: &str = "idsecret7";

/// The members whose values a dialect defines, and those that must stay for the body to be one of the dialect.
const DEFINED: &[&str] = &["type", "role", "model", "status", "finish_reason", "stop_reason", "phase"];

/// The members that pair calls and results.
const IDS: &[&str] = &["id", "tool_use_id", "tool_call_id", "call_id", "toolUseId"];

/// A log that is kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Takes all events of our crates, as the command line takes them with `--log trace`.
    fn start() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let ours = Targets::new().with_target("seamline", tracing_subscriber::filter::LevelFilter::TRACE);
        tracing_subscriber::registry().with(ours).with(lines).init();
        log
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// Puts secrets into every text, every id, every number of free content, and into new members of every object.
fn planted(value: &Value, member: &str) -> Value {
    match value {
        Value::String(text) if DEFINED.contains(&member) => Value::from(text.as_str()),
        Value::String(id) if IDS.contains(&member) => Value::from(format!("{id}{ID_SECRET}")),
        Value::String(text) => Value::from(format!("{SECRET} {text} {SECRET}")),
        Value::Array(values) => values.iter().map(|value| planted(value, member)).collect(),
        Value::Object(members) => {
            let mut planted: Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), planted_member(name, value))).collect();
            planted.insert(format!("{SECRET}_member"), Value::from(SECRET));
            Value::Object(planted)
        }
        other => other.clone(),
    }
}

fn planted_member(name: &str, value: &Value) -> Value {
    planted(value, name)
}

fn bodies(dialect: Dialect) -> Vec<String> {
    let bodies = broken(dialect, 40);
    let values = bodies.iter().filter_map(|body| serde_json::from_str::<Value>(body).ok());
    values.map(|value| planted(&value, "").to_string()).collect()
}

const HEADERS: [(&str, &str); 7] = [
    ("authorization", "Bearer hunter2"),
    ("x-api-key", "hunter2"),
    ("x-goog-api-key", "hunter2"),
    ("cookie", "session=hunter2"),
    ("x-claude-code-session-id", "hunter2"),
    ("user-agent", "hunter2/1.0"),
    ("x-hunter2", "1"),
];

/// Sends requests that fail in every way that a report is about.
fn send_all(stage: &Stage) {
    for dialect in Dialect::ALL {
        let mut client = stage.client();
        let path = |path: &str| format!("{path}{}key=hunter2", if path.contains('?') { '&' } else { '?' });
        for (at, body) in bodies(dialect).iter().enumerate() {
            match at % 4 {
                0 => stage.provider.next(Script::default().reject().text(SECRET)),
                1 => stage.provider.next(Script::default().text(SECRET)),
                2 => stage.provider.next(Script::default().status(500)),
                _ => stage.provider.next(Script::default().text(SECRET).cut(After::Frames(1))),
            }
            let to = if at % 4 == 3 { stream_path(dialect) } else { self::path(dialect) };
            client.post_with(&path(to), &HEADERS, body.as_bytes());
            if at % 4 == 3 {
                client = stage.client();
            }
        }
        stage.provider.take();
        client.post_with(&path("/nowhere/v1/messages"), &HEADERS, b"hunter2");
        client.post_with(&path(self::path(dialect)), &HEADERS, b"{\"hunter2\": hunter2");
    }
}

/// The files below a folder, with their bytes.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn nothing_written_in_a_conversation_is_logged_or_stored() {
    let log = Log::start();
    let folder = tempfile::tempdir().unwrap();
    let mut metrics = Vec::new();
    for mode in [Mode::Repair, Mode::Report, Mode::Block] {
        let folder = folder.path().join(format!("{mode:?}"));
        std::fs::create_dir(&folder).unwrap();
        let address = format!("sqlite:{}", folder.join("incidents.db").display());
        let journal = IncidentJournal::start(JournalSettings::new(address), |notice| panic!("{notice:?}")).unwrap();
        let rejected = RejectedBodies::start(KeepSettings::new(folder.join("rejected")), |error| panic!("{error}"));
        let telemetry = Telemetry::new().with_journal(journal).with_rejected(rejected.unwrap());
        let mut stage = Stage::with_telemetry(telemetry, |config| {
            config.mode = Some(mode);
            config.breaker = Some(OnTrip::Escalate);
            let address = format!("sqlite:{}", folder.join("ledger.db").display());
            config.ledger_store = Some(LedgerStoreSettings { address, bytes_max: 1 << 20 });
            config.limits.drain_time = std::time::Duration::from_millis(50);
        });
        send_all(&stage);
        metrics.push(stage.client().post("/-/metrics", b"").text());
        stage.stop();
        stage.reports.close();
        metrics.push(format!("{:?} {:?}", stage.reports.incidents(), stage.reports.summaries()));
        // The ledger writes what is left when the last handle is gone.
        drop(stage);
    }
    let mut kept = Vec::new();
    files(folder.path(), &mut kept);
    let rejected = kept.iter().filter(|(name, _)| name.ends_with(".redacted.json")).count();
    assert!(rejected >= 10 && kept.iter().any(|(name, _)| name.ends_with("incidents.db")), "{rejected}");
    assert!(metrics.iter().all(|text| text.contains("PAIR00")));
    for (name, bytes) in kept.into_iter().chain(metrics.into_iter().map(|text| (text.clone(), text.into_bytes()))) {
        for secret in [SECRET, ID_SECRET] {
            let at = memchr::memmem::find(&bytes, secret.as_bytes());
            let around = at.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at]).into_owned());
            assert_eq!(around, None, "{secret} in {name}");
        }
    }
    let log = log.text();
    assert!(log.contains("request incident") && log.contains("exchange"), "{log}");
    let leak = log.lines().find(|line| line.contains(SECRET));
    assert_eq!(leak, None);
}
