//! Erasing while other processes write.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures_executor::block_on;
use seamline_store::{Error, InboxItem, Raw, SessionId, Store};
use seamline_store_postgres::PostgresStore;

use crate::bench::{Direct, Writer, connect, database, options};

const SESSIONS: u64 = 20;

/// Pushes messages and quarantines bytes until the session is erased.
fn add(store: &PostgresStore, session: &SessionId) -> Error {
    for number in 0_u64.. {
        let item = InboxItem { id: number.to_string().into(), message: Raw::default(), dialect: None };
        let added = block_on(store.push(session, &item)).map(drop);
        let aside = block_on(store.quarantine(session, &number.to_be_bytes())).map(drop);
        if let Err(error) = added.and(aside) {
            return error;
        }
    }
    unreachable!()
}

fn write(mut writer: Writer) -> Error {
    loop {
        let commit = writer.seal();
        if let Err(error) = writer.send(&commit) {
            return error;
        }
    }
}

#[test]
fn concurrent_writes_leave_no_row_of_an_erased_session() {
    let Some(url) = database() else { return };
    let options = options("erased");
    let store = Arc::new(connect(&url, &options));
    let direct = Direct::connect(&url);
    for number in 0..SESSIONS {
        let writer = Writer::create(store.clone(), &format!("s{number}"), 1);
        let session = writer.session.clone();
        let adding = {
            let (store, session) = (store.clone(), session.clone());
            thread::spawn(move || add(&store, &session))
        };
        let writing = thread::spawn(move || write(writer));
        thread::sleep(Duration::from_millis(5 + number));
        let erased = block_on(store.erase(&session)).unwrap();
        for other in [adding, writing] {
            assert_eq!(other.join().unwrap(), Error::Erased(session.clone()));
        }
        let left = ["commits", "inbox", "quarantine"].map(|table| {
            direct.tell(&format!("BEGIN; SELECT set_config('seamline.tenant', '{}', true)", options.tenant));
            let rows = direct.ask(&format!("SELECT count(*) FROM seamline_{table} WHERE session = '{session}'"));
            direct.tell("COMMIT");
            rows.unwrap().concat()
        });
        assert_eq!(left, ["0", "0", "0"], "{session}, of which {} commits were erased", erased.commits);
    }
}
