use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use futures_executor::block_on;

use super::queue::{SESSION_INCIDENTS_MAX, WAITING_MAX};
use super::*;
use crate::incident::IncidentOutcome;

const PATIENCE: Duration = Duration::from_mins(1);

fn incident(at: u64) -> ProxyIncident {
    ProxyIncident {
        at,
        outcome: IncidentOutcome::Repaired,
        upstream: "anthropic".to_owned(),
        findings: BTreeMap::from([("PAIR001".to_owned(), 1)]),
        ..ProxyIncident::default()
    }
}

fn address(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn start(settings: JournalSettings) -> (IncidentJournal, Receiver<JournalNotice>) {
    let (sender, notices) = channel();
    let notify = move |notice| sender.send(notice).unwrap();
    (IncidentJournal::start(settings, notify).unwrap(), notices)
}

fn reader(address: &str) -> IncidentReader {
    let store = block_on(seamline::store::open_store_to_read(address)).unwrap();
    IncidentReader::new(store, Sessions::OfProxies)
}

fn times(incidents: &[NotedIncident]) -> Vec<u64> {
    incidents.iter().map(|noted| noted.incident.at).collect()
}

#[test]
fn recorded_incidents_are_read_by_id_in_order_and_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(&folder.path().join("incidents.db"));
    let (journal, notices) = start(JournalSettings::new(&address));
    let ids: Vec<String> = (1..=3).map(|at| journal.record(incident(at)).unwrap()).collect();
    journal.close(PATIENCE);
    let mut reader = reader(&address);
    assert_eq!(times(&block_on(reader.read_new()).unwrap()), [1, 2, 3]);
    assert!(block_on(reader.read_new()).unwrap().is_empty());

    // A second proxy writes to the same store.
    let (second, _notices) = start(JournalSettings::new(&address));
    let id = second.record(incident(9)).unwrap();
    second.close(PATIENCE);
    assert_eq!(times(&block_on(reader.read_new()).unwrap()), [9]);
    for (id, at) in ids.iter().zip(1..).chain([(&id, 9)]) {
        let found = block_on(reader.find(id)).unwrap().unwrap();
        assert_eq!(found.exchange, Some(ProxyIncident { id: id.clone(), ..incident(at) }));
    }
    for unknown in ["", "x", "mhz3k1q8x7k2-1", &format!("{id}9"), "../x-1"] {
        assert_eq!(block_on(reader.find(unknown)).unwrap(), None, "{unknown}");
    }
    assert!(notices.try_recv().is_err() && journal.is_available() && journal.dropped() == 0);
}

#[test]
fn many_incidents_go_to_several_sessions_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(&folder.path().join("incidents.db"));
    let (journal, _notices) = start(JournalSettings::new(&address));
    let count = 2 * SESSION_INCIDENTS_MAX + 7;
    for at in 0..count {
        journal.record(incident(at)).unwrap();
    }
    journal.close(PATIENCE);
    let found = block_on(reader(&address).read_new()).unwrap();
    let mut sessions: Vec<_> = found.iter().map(|noted| noted.session.clone()).collect();
    sessions.dedup();
    assert_eq!((found.len() as u64, sessions.len(), journal.dropped()), (count, 3, 0));
}

#[test]
fn a_broken_store_is_reported_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("incidents.db");
    std::fs::write(&path, "this is not a database, and long enough to be looked at as one").unwrap();
    let (journal, notices) = start(JournalSettings::new(address(&path)));
    let Ok(JournalNotice::Unavailable(why)) = notices.recv_timeout(PATIENCE) else { panic!("no notice") };
    assert!(!why.is_empty());
    // The id of an incident that may never be stored is not shown.
    assert_eq!(journal.record(incident(1)), None);
    assert!(!journal.is_available());
    journal.close(PATIENCE);
    assert_eq!(journal.dropped(), 1);
    assert_eq!(journal.record(incident(2)), None);
}

#[test]
fn incidents_wait_until_the_store_works_and_the_oldest_ones_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("later");
    std::fs::write(&in_the_way, "a file where a folder should be").unwrap();
    let path = in_the_way.join("incidents.db");
    let (journal, notices) = start(JournalSettings::new(address(&path)));
    assert!(matches!(notices.recv_timeout(PATIENCE), Ok(JournalNotice::Unavailable(_))));
    let surplus = 3_u64;
    for at in 0..WAITING_MAX as u64 + surplus {
        journal.record(incident(at));
    }
    let dropped = journal.dropped();
    std::fs::remove_file(&in_the_way).unwrap();
    assert_eq!(notices.recv_timeout(PATIENCE), Ok(JournalNotice::Available));
    journal.close(PATIENCE);
    let found = block_on(reader(&address(&path)).read_new()).unwrap();
    // The writer holds a batch while it waits, so fewer may be dropped than do not fit.
    assert!(dropped <= surplus, "{dropped}");
    assert_eq!(found.len() as u64, WAITING_MAX as u64 + surplus - dropped);
    assert_eq!(journal.dropped(), dropped);
}

#[test]
fn old_and_surplus_incidents_are_removed_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(&folder.path().join("incidents.db"));
    let write = |settings: JournalSettings, at| {
        let (journal, _notices) = start(settings);
        journal.record(incident(at)).unwrap();
        journal.close(PATIENCE);
    };
    for at in 1..=3 {
        write(JournalSettings::new(&address), at);
    }
    // Room for the incidents of one session: the other two go, and then there is a new one.
    write(JournalSettings { count_max: 1, ..JournalSettings::new(&address) }, 4);
    assert_eq!(times(&block_on(reader(&address).read_new()).unwrap()), [3, 4]);
    let at_once = JournalSettings { keep_time: Duration::ZERO, ..JournalSettings::new(&address) };
    write(at_once, 5);
    assert_eq!(times(&block_on(reader(&address).read_new()).unwrap()), [5]);
}

#[test]
fn two_proxies_write_to_one_store_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(&folder.path().join("incidents.db"));
    let journals = [start(JournalSettings::new(&address)), start(JournalSettings::new(&address))];
    for at in 0..100 {
        for (journal, _) in &journals {
            journal.record(incident(at));
        }
    }
    for (journal, _) in &journals {
        journal.close(PATIENCE);
        assert_eq!(journal.dropped(), 0);
    }
    assert_eq!(block_on(reader(&address).read_new()).unwrap().len(), 200);
}
