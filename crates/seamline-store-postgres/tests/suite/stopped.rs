//! A stopped server.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use seamline_store::{Appended, Error, Store};
use seamline_store_postgres::{PostgresOptions, PostgresStore};

use crate::bench::{Direct, Writer, connect, database, options, setting, unique};

const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that the test can stop.
struct Spare {
    process: Child,
}

impl Spare {
    fn start(program: &str) -> Self {
        let mut command = Command::new("sh");
        command.arg(program).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { process: command.spawn().unwrap() }
    }

    /// Stops the server like a crash, without a clean shutdown.
    fn crash(mut self) {
        self.end("-QUIT");
    }

    fn end(&mut self, signal: &str) {
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
            let _ = self.process.wait();
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.end("-INT");
    }
}

fn connect_once_up(url: &str, options: &PostgresOptions) -> PostgresStore {
    let start = Instant::now();
    loop {
        match block_on(PostgresStore::connect(url, options.clone())) {
            Ok(store) => return store,
            Err(error) => assert!(start.elapsed() < START_TIMEOUT, "{error}"),
        }
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_crashed_server_is_unavailable_until_it_restarts() {
    let Some(url) = setting("SEAMLINE_TEST_POSTGRES_SPARE") else { return };
    let Some(program) = setting("SEAMLINE_TEST_POSTGRES_SPARE_START") else { return };
    let options = PostgresOptions { settle_timeout: Duration::from_secs(3), ..options("stopped") };
    let spare = Spare::start(&program);
    let mut writer = Writer::create(Arc::new(connect_once_up(&url, &options)), "s", 1);
    writer.append(20);
    spare.crash();

    let bound = options.connect_timeout + options.settle_timeout;
    let commit = writer.seal();
    for _ in 0..3 {
        let start = Instant::now();
        let head = block_on(writer.store.read_head(&writer.session));
        assert!(matches!(head, Err(Error::Unavailable(_))), "{head:?}");
        let sent = writer.send(&commit);
        assert!(matches!(sent, Err(Error::Unavailable(_))), "{sent:?}");
        assert!(start.elapsed() < bound * 2, "{:?}", start.elapsed());
    }

    let _back = Spare::start(&program);
    let start = Instant::now();
    while let Err(error) = writer.send(&commit) {
        assert!(matches!(error, Error::Unavailable(_)), "{error}");
        assert!(start.elapsed() < START_TIMEOUT, "{error}");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(writer.send(&commit), Ok(Appended::Already));
    let replayed = writer.replayed();
    assert_eq!((replayed.commits, replayed.damages), (21, Vec::new()));
}

#[test]
fn a_server_that_never_responds_times_out() {
    let Some(_) = database() else { return };
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("postgres://seamline@{}/seamline?sslmode=disable", silent.local_addr().unwrap());
    let options = PostgresOptions { connect_timeout: Duration::from_millis(300), ..options("silent") };
    let start = Instant::now();
    let refused = block_on(PostgresStore::connect(&url, options.clone())).unwrap_err();
    assert!(matches!(refused, Error::Unavailable(_)), "{refused}");
    assert!(start.elapsed() < options.connect_timeout * 10, "{:?}", start.elapsed());
}

#[test]
fn acknowledged_commits_are_on_the_disk_whatever_the_role_sets() {
    let Some(url) = database() else { return };
    let direct = Direct::connect(&url);
    for (set, expected) in [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
        let schema = unique("waits").replace('-', "_");
        direct.tell(&format!("CREATE SCHEMA {schema}"));
        let settings = format!("-csearch_path%3D{schema}%20-csynchronous_commit%3D{set}");
        let options = options("waits");
        let store = Arc::new(connect(&format!("{url}&options={settings}"), &options));
        // Each commit holds the setting that it was written under.
        let heard = "ADD COLUMN heard text DEFAULT current_setting('synchronous_commit')";
        direct.tell(&format!("ALTER TABLE {schema}.seamline_commits {heard}"));
        let mut writer = Writer::create(store, "s", 1);
        writer.append(2);
        direct.tell(&format!("SELECT set_config('seamline.tenant', '{}', false)", options.tenant));
        let heard = direct.ask(&format!("SELECT DISTINCT heard FROM {schema}.seamline_commits")).unwrap();
        assert_eq!(heard, [expected], "{set}");
    }
}
