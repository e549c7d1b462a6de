//! `seamline incidents`

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use seamline_proxy::incident::{IncidentOutcome, ProxyIncident};
use seamline_proxy::journal::{IncidentJournal, JournalSettings};
use serde_json::Value;

use crate::bench::Bench;

/// Writes an incident as a proxy does, and gives its id.
pub(crate) fn record(bench: &Bench, at: u64, outcome: IncidentOutcome) -> String {
    let store = format!("sqlite:{}", bench.path("state/seamline/incidents.db").display());
    let journal = IncidentJournal::start(JournalSettings::new(store), |notice| panic!("{notice:?}")).unwrap();
    let findings = [("PAIR001".to_owned(), 2), ("PAIR002".to_owned(), 1)].into();
    let upstream = "anthropic".to_owned();
    let id = journal.record(ProxyIncident { at, outcome, upstream, findings, ..ProxyIncident::default() }).unwrap();
    journal.close(Duration::from_mins(1));
    id
}

#[test]
fn a_machine_without_a_proxy_has_no_incidents() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["incidents"]).expect(0).out, "no incidents\n");
    assert_eq!(
        bench.run(&["incidents", "list", "--format", "json"]).expect(0).out,
        "{\"version\":1,\"incidents\":[]}\n"
    );
    let named = bench.run(&["incidents", "--store", "sqlite:none.db"]).expect(2);
    assert!(named.err.contains("cannot read the `sqlite` store of incidents"), "{named:?}");
    bench.run(&["incidents", "show", "last"]).expect(2);
    assert!(!bench.path("state/seamline/incidents.db").exists() && !bench.path("none.db").exists());
}

#[test]
fn incidents_are_listed_by_time_and_shown_by_id() {
    let bench = Bench::new();
    let second = record(&bench, 1_794_639_731_000, IncidentOutcome::Rejected);
    let first = record(&bench, 1_794_639_611_000, IncidentOutcome::Repaired);
    let list = bench.run(&["incidents"]).expect(0).out;
    let expected = format!(
        "2026-11-14T07:00:11Z  {first}  repaired  anthropic: PAIR001 ×2, PAIR002\n\
         2026-11-14T07:02:11Z  {second}  rejected  anthropic: PAIR001 ×2, PAIR002\n"
    );
    assert_eq!(list, expected);
    let since = bench.run(&["incidents", "--since", "2026-11-14T07:01:00Z", "--format", "json"]).expect(0).json();
    assert_eq!(
        (since["incidents"].as_array().unwrap().len(), &since["incidents"][0]["exchange"]["id"]),
        (1, &Value::from(second.as_str()))
    );
    assert_eq!(bench.run(&["incidents", "--limit", "1"]).expect(0).out.lines().count(), 1);
    let shown = bench.run(&["incidents", "show", &second, "--format", "json"]).expect(0).json();
    assert_eq!((shown["severity"].as_str(), shown["exchange"]["outcome"].as_str()), (Some("error"), Some("rejected")));
    let unknown = bench.run(&["incidents", "show", "nothing-1"]).expect(2);
    assert!(unknown.err.contains("there is no incident `nothing-1`") && unknown.err.contains("hint:"), "{unknown:?}");
}

#[cfg(unix)]
#[test]
fn new_incidents_are_shown_as_they_come() {
    let bench = Bench::new();
    let mut command = bench.command(&["incidents", "--follow", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The store is created while the command waits for it.
    let mut waiting = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waiting).unwrap();
    assert!(waiting.starts_with("waiting for incidents"), "{waiting}");
    for at in [7, 8] {
        let id = record(&bench, at, IncidentOutcome::Stalled);
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((line["exchange"]["id"].as_str(), line["at"].as_u64()), (Some(id.as_str()), Some(at)));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_incidents_of_sessions_are_shown_on_request() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--provider", "anthropic", "--store", "sqlite:s.db"]).expect(0);
    bench.write("broken.json", crate::bench::BROKEN);
    bench.session(&["append", "s-1", "broken.json", "--body", "--store", "sqlite:s.db"]).expect(0);
    bench.session(&["repair", "s-1", "--all", "--store", "sqlite:s.db"]).expect(0);
    assert_eq!(bench.run(&["incidents", "--store", "sqlite:s.db"]).expect(0).out, "no incidents\n");
    let all = bench.run(&["incidents", "--store", "sqlite:s.db", "--sessions"]).expect(0).out;
    assert!(all.contains("s-1") && all.contains("repair"), "{all}");
}
