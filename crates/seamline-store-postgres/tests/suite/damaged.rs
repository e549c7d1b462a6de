//! Rows that were altered outside the store.

use std::sync::Arc;

use futures_executor::block_on;
use seamline_store::{DamageKind, Error, InboxItem, Raw, Store};

use crate::bench::{Direct, Writer, connect, database, options, unique};

/// Whether replay reports the damage that the test did.
type IsRight = fn(&DamageKind) -> bool;

#[test]
fn altered_rows_are_found_by_replay() {
    let Some(url) = database() else { return };
    let options = options("altered");
    let store = Arc::new(connect(&url, &options));
    let direct = Direct::connect(&url);
    let own = "session = 'SESSION'";
    let at = |seq: u64| format!("{own} AND seq = {seq}");
    let flip = |place: &str| format!("set_byte(body, {place}, get_byte(body, {place}) # 1)");
    let set = |what: &str, which: &str| format!("UPDATE seamline_commits SET {what} WHERE {which}");
    let cases: [(String, u64, IsRight); 8] = [
        (set(&format!("body = {}", flip("60")), &at(3)), 3, |kind| matches!(kind, DamageKind::Altered)),
        (set(&format!("body = {}", flip("octet_length(body) - 9")), &at(3)), 3, |kind| {
            matches!(kind, DamageKind::Altered)
        }),
        (set("body = substr(body, 1, 40)", &at(5)), 5, |kind| matches!(kind, DamageKind::Altered)),
        (set("body = ''", &at(1)), 1, |kind| matches!(kind, DamageKind::Altered)),
        (set(&format!("body = (SELECT body FROM seamline_commits WHERE {})", at(2)), &at(4)), 4, |kind| {
            matches!(kind, DamageKind::Misplaced { own: 2 })
        }),
        (set("body = (SELECT body FROM seamline_commits WHERE session = 'other' AND seq = 2)", &at(2)), 2, |kind| {
            matches!(kind, DamageKind::Foreign { .. })
        }),
        (format!("DELETE FROM seamline_commits WHERE {}", at(2)), 2, |kind| {
            matches!(kind, DamageKind::Missing { to: 2 })
        }),
        (format!("UPDATE seamline_sessions SET head_seq = 4 WHERE {own}"), 4, |kind| matches!(kind, DamageKind::Head)),
    ];
    Writer::create(store.clone(), "other", 9).append(3);
    for (number, (harm, seq, is_right)) in cases.iter().enumerate() {
        let mut writer = Writer::create(store.clone(), &format!("s{number}"), 1);
        writer.append(5);
        assert_eq!(writer.replayed().damages, Vec::new());
        direct.tell_as(&options.tenant, &harm.replace("SESSION", writer.session.as_str()));
        let damages = writer.replayed().damages;
        assert!(damages.first().is_some_and(|first| first.seq == *seq && is_right(&first.kind)), "{harm}: {damages:?}");
    }
}

#[test]
fn every_altered_byte_of_a_commit_is_found() {
    let Some(url) = database() else { return };
    let options = options("bytes");
    let store = Arc::new(connect(&url, &options));
    let direct = Direct::connect(&url);
    let mut writer = Writer::create(store, "s", 1);
    writer.append(1);
    let len = block_on(writer.store.read(&writer.session, 0, 1)).unwrap()[0].bytes.len();
    let flip = |at: usize| {
        let body = format!("set_byte(body, {at}, get_byte(body, {at}) # 4)");
        direct.tell_as(&options.tenant, &format!("UPDATE seamline_commits SET body = {body}"));
    };
    for at in 0..len {
        flip(at);
        assert_eq!(writer.replayed().damages.len(), 1, "byte {at} of {len}");
        flip(at);
    }
    assert_eq!(writer.replayed().damages, Vec::new());
}

#[test]
fn the_next_writer_corrects_a_head_before_the_last_commit() {
    let Some(url) = database() else { return };
    let options = options("behind");
    let store = Arc::new(connect(&url, &options));
    let direct = Direct::connect(&url);
    for number in 0..2 {
        let mut writer = Writer::create(store.clone(), &format!("s{number}"), 1);
        writer.append(5);
        let end = writer.lease.head;
        let hash = "(SELECT hash FROM seamline_commits WHERE session = 'SESSION' AND seq = 2)";
        let harm =
            ["head_seq = 0, head_hash = decode(repeat('00', 32), 'hex')", &format!("head_seq = 2, head_hash = {hash}")];
        let harm = format!("UPDATE seamline_sessions SET {} WHERE session = 'SESSION'", harm[number]);
        direct.tell_as(&options.tenant, &harm.replace("SESSION", writer.session.as_str()));
        assert!(!writer.replayed().damages.is_empty(), "readers see the damage");
        writer.take_over();
        assert_eq!((writer.lease.head.seq, writer.lease.head.hash), (end.seq, end.hash));
        writer.append(1);
        let replayed = writer.replayed();
        assert_eq!((replayed.commits, replayed.damages), (6, Vec::new()));
    }
}

#[test]
fn an_impossible_head_is_damage() {
    let Some(url) = database() else { return };
    let options = options("head");
    let store = Arc::new(connect(&url, &options));
    let direct = Direct::connect(&url);
    for (number, harm) in
        ["head_hash = '\\x00'", "head_seq = -1", "epoch = -7", "holder = 'not json'"].iter().enumerate()
    {
        let writer = Writer::create(store.clone(), &format!("s{number}"), 1);
        direct.tell_as(&options.tenant, &format!("UPDATE seamline_sessions SET {harm} WHERE session = 's{number}'"));
        let found = block_on(store.read_head(&writer.session));
        assert!(matches!(found, Err(Error::Damaged(_))), "{harm}: {found:?}");
    }
}

#[test]
fn a_dropped_table_is_damage() {
    let Some(url) = database() else { return };
    let schema = unique("gone").replace('-', "_");
    let direct = Direct::connect(&url);
    direct.tell(&format!("CREATE SCHEMA {schema}"));
    let store = Arc::new(connect(&format!("{url}&options=-csearch_path%3D{schema}"), &options("gone")));
    let mut writer = Writer::create(store, "s", 1);
    direct.tell(&format!("DROP TABLE {schema}.seamline_commits"));
    let commit = writer.seal();
    let sent = writer.send(&commit);
    assert!(matches!(sent, Err(Error::Damaged(_))), "{sent:?}");
}

#[test]
fn a_damaged_message_of_the_inbox_is_reported_and_the_others_are_taken() {
    let Some(url) = database() else { return };
    let options = options("inbox");
    let writer = Writer::create(Arc::new(connect(&url, &options)), "s", 1);
    let (store, session) = (&writer.store, &writer.session);
    let items = ["1", "2", "3"].map(|id| InboxItem { id: id.into(), message: Raw::parse(id).unwrap(), dialect: None });
    for item in &items {
        block_on(store.push(session, item)).unwrap();
    }
    assert_eq!(block_on(store.check_inbox(session)), Ok(Vec::new()));
    let direct = Direct::connect(&url);
    direct.tell_as(&options.tenant, "UPDATE seamline_inbox SET message = '7' WHERE id = '2'");
    assert_eq!(block_on(store.read_inbox(session)).unwrap(), [items[0].clone(), items[2].clone()]);
    let damage = block_on(store.check_inbox(session)).unwrap();
    assert_eq!(damage.iter().map(|damage| damage.bytes.as_slice()).collect::<Vec<_>>(), [b"7"]);
}
