//! The database in which Codex notes how far it has read a rollout.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::bench::Bench;
use crate::session_files::age;

const ROLLOUT: &str = include_str!("../../../../fixtures/files/sessions/codex/missing-result-numbered/input.jsonl");
const FOLDER: &str = "home/.codex";
const ID: &str = "0199a213-81c0-7800-8aa1-bbab2a035a53";
const OTHER: &str = "0199a213-81c0-7800-8aa1-000000000000";
const TABLES: &str = "
CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT);
CREATE TABLE thread_turns (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL,
  status TEXT NOT NULL, PRIMARY KEY (thread_id, turn_id));
CREATE TABLE thread_items (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, item_id TEXT NOT NULL,
  rollout_ordinal INTEGER NOT NULL, item_json TEXT NOT NULL, PRIMARY KEY (thread_id, turn_id, item_id));
CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER NOT NULL,
  next_rollout_ordinal INTEGER NOT NULL);
";

/// Writes a rollout with a lost result.
fn rollout(bench: &Bench) -> PathBuf {
    let place = format!("{FOLDER}/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{ID}.jsonl");
    let path = bench.path(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, ROLLOUT).unwrap();
    age(&path);
    path
}

/// Makes the database with rows of the rollout, of which Codex has read this many bytes, and of another one.
fn history(bench: &Bench, read_bytes: usize) -> PathBuf {
    let read_bytes = i64::try_from(read_bytes).unwrap();
    let path = bench.path(format!("{FOLDER}/thread_history_1.sqlite"));
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(TABLES).unwrap();
    for id in [ID, OTHER] {
        connection.execute("INSERT INTO thread_turns VALUES (?1, 't1', 1, 'completed')", [id]).unwrap();
        connection.execute("INSERT INTO thread_items VALUES (?1, 't1', 'i1', 2, '{}')", [id]).unwrap();
        let sql = "INSERT INTO thread_history_projection_state VALUES (?1, ?2, 3)";
        connection.execute(sql, (id, read_bytes)).unwrap();
    }
    path
}

/// The number of rows of a rollout.
fn rows(path: &Path, id: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table} WHERE thread_id = ?1");
        connection.query_row(&sql, [id], |row| row.get::<_, i64>(0)).unwrap()
    };
    count("thread_turns") + count("thread_items") + count("thread_history_projection_state")
}

#[test]
fn a_repair_resets_the_rows_and_an_undo_restores_them() {
    let bench = Bench::new();
    let rollout = rollout(&bench);
    let database = history(&bench, ROLLOUT.len());
    let name = rollout.to_str().unwrap();
    bench.run(&["fix", name]).expect(0);
    assert_ne!(std::fs::read_to_string(&rollout).unwrap(), ROLLOUT);
    assert_eq!((rows(&database, ID), rows(&database, OTHER)), (0, 3));
    bench.run(&["undo", name]).expect(0);
    assert_eq!(std::fs::read_to_string(&rollout).unwrap(), ROLLOUT);
    assert_eq!((rows(&database, ID), rows(&database, OTHER)), (3, 3));
}

#[test]
fn rows_about_lines_that_stay_are_kept() {
    let bench = Bench::new();
    let rollout = rollout(&bench);
    let database = history(&bench, ROLLOUT.find('\n').unwrap() + 1);
    bench.run(&["fix", rollout.to_str().unwrap()]).expect(0);
    assert_eq!(rows(&database, ID), 3);
}

#[test]
fn a_database_that_cannot_be_reset_refuses_the_repair() {
    let bench = Bench::new();
    let rollout = rollout(&bench);
    let database = history(&bench, ROLLOUT.len());
    let connection = Connection::open(&database).unwrap();
    let refused = |hint: &str| {
        let ran = bench.run(&["fix", rollout.to_str().unwrap()]).expect(2);
        let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("thread_history_1.sqlite") && told.contains(hint), "{told}");
        assert_eq!(std::fs::read_to_string(&rollout).unwrap(), ROLLOUT);
        assert_eq!(rows(&database, ID), 3);
    };
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    refused("close Codex, then try again");
    connection.execute_batch("ROLLBACK; CREATE TABLE thread_marks (thread_id TEXT, mark TEXT)").unwrap();
    refused("to another folder; Codex makes it again from the rollouts");
}
