//! The cost of sessions: each operation compared with its target, a durable append with a bare one of SQLite, many
//! sessions with one, and the same conversation with other libraries.
//!
//! Nothing here passes or fails; `cargo xtask bench store` prints it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::unwrap_used, reason = "a failed setup ends the benchmark")]
#![expect(clippy::cast_precision_loss, reason = "ratios are printed with two digits")]

use std::future::pending;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use futures_util::future::join_all;
use seamline::Policy;
use seamline::session::{
    AgentStart, PersistRepairs, Running, Session, SessionOptions, SessionPolicy, ToolCall, ToolExecutor, ToolOutput,
    TurnEnd,
};
use seamline::store::{Operation, Store};

/// The numbers of messages of the sessions.
const SIZES: [usize; 2] = [1_000, 10_000];

/// The lengths of the sessions whose checkpoints are compared.
const LENGTHS: [usize; 4] = [10, 100, 1_000, 10_000];

/// The number of repetitions of each operation.
const TIMES: usize = 300;

/// The number of commits to compare appends.
const APPENDS: usize = 1_000;

/// The number of sessions that write at once.
const SESSIONS: usize = 64;

/// The number of turns that the other libraries store.
const TURNS: usize = 200;

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    operations(folder.path());
    checkpoint_by_length(folder.path());
    append_beside_sqlite(folder.path());
    many_beside_one(folder.path());
    beside_peers(folder.path());
}

fn open(folder: &Path, name: &str) -> Arc<dyn Store> {
    block_on(seamline::open_store(&format!("sqlite:{}", folder.join(name).display()))).unwrap()
}

/// A tool that takes no time.
struct Instantly;

impl ToolExecutor for Instantly {
    fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
        Box::pin(async { Ok(ToolOutput { output: "fn main() {}\n".repeat(40), is_error: false }) })
    }
}

/// Measures each operation against its target in milliseconds.
fn operations(folder: &Path) {
    println!("each operation, {TIMES} times, on SQLite (synchronous=FULL); milliseconds\n");
    println!("{:<24} {:>9} {:>9} {:>9} {:>9} {:>9}", "operation", "messages", "p50", "p99", "most", "target");
    for size in SIZES {
        let store = open(folder, &format!("operations-{size}.db"));
        let mut rows = block_on(measured(&store, size));
        rows.extend(block_on(measured_turns(&store, size)));
        for (name, target, times) in rows {
            let sorted = sorted(times);
            println!(
                "{name:<24} {size:>9} {:>9.3} {:>9.3} {:>9.3} {target:>9}",
                ms(quantile(&sorted, 0.50)),
                ms(quantile(&sorted, 0.99)),
                ms(quantile(&sorted, 1.00)),
            );
        }
        println!();
    }
}

async fn measured(store: &Arc<dyn Store>, size: usize) -> Vec<(&'static str, &'static str, Vec<Duration>)> {
    let mut session = filled(store, &format!("s{size}"), size).await;
    let (mut check, mut first_check) = (vec![], vec![]);
    let (mut create, mut commit, mut rollback) = (vec![], vec![], vec![]);
    let (mut repair, mut cycle, mut append) = (vec![], vec![], vec![]);
    for number in 0..TIMES {
        // Each check finds one message that is new since the previous check. It is removed again, so that the size
        // stays.
        let before = session.create_checkpoint(Operation::Manual).await.unwrap().id;
        session.append(&turn(&format!("toolu_new_{number}"))).await.unwrap();
        timed(&mut check, async || assert!(session.validate().unwrap().valid)).await;
        session.forget_reading();
        timed(&mut first_check, async || assert!(session.validate().unwrap().valid)).await;
        session.rollback(&before, "bench").await.unwrap();
        let mut made = None;
        timed(&mut create, async || made = Some(session.create_checkpoint(Operation::ApiCall).await.unwrap())).await;
        let made = made.unwrap().id;
        timed(&mut commit, async || session.commit_checkpoint(&made).await.unwrap()).await;
        let back = session.create_checkpoint(Operation::Manual).await.unwrap().id;
        timed(&mut append, async || session.append(ASK).await.unwrap()).await;
        timed(&mut rollback, async || assert!(session.rollback(&back, "bench").await.unwrap().success)).await;
        let broken = session.create_checkpoint(Operation::Manual).await.unwrap().id;
        session.append_all(&[&turn(&format!("toolu_lost_{number}")), ASK]).await.unwrap();
        timed(&mut repair, async || assert!(session.repair().await.unwrap().repaired)).await;
        session.rollback(&broken, "bench").await.unwrap();
        let answer = turn(&format!("toolu_{number}"));
        let whole = session.create_checkpoint(Operation::Manual).await.unwrap().id;
        timed(&mut cycle, async || {
            assert!(session.execute_tool_cycle(&[&answer], &Instantly, pending()).await.unwrap().success);
        })
        .await;
        session.rollback(&whole, "bench").await.unwrap();
        session.clear_checkpoints().await.unwrap();
    }
    vec![
        ("check, one message new", "5", check),
        ("check, all of it new", "5", first_check),
        ("checkpoint create", "10", create),
        ("checkpoint commit", "5", commit),
        ("rollback", "20", rollback),
        ("repair and persist", "50", repair),
        ("append", "-", append),
        ("whole cycle", "20", cycle),
    ]
}

/// Measures a turn that adds a question and a response, as an agent does: only they are new since the last request. Then
/// the same for a session that has no reading yet.
async fn measured_turns(store: &Arc<dyn Store>, size: usize) -> Vec<(&'static str, &'static str, Vec<Duration>)> {
    let mut session = filled(store, &format!("t{size}"), size).await;
    let (mut ask, mut end, mut whole_turn, mut first_ask) = (vec![], vec![], vec![], vec![]);
    assert!(matches!(session.before_agent_start(ENVELOPE).await.unwrap(), AgentStart::Proceed { .. }));
    for _ in 0..TIMES {
        let before = session.create_checkpoint(Operation::Manual).await.unwrap().id;
        session.append(ASK).await.unwrap();
        let start = Instant::now();
        timed(&mut ask, async || proceed(&mut session).await).await;
        timed(&mut end, async || drop(session.agent_end(TurnEnd::Messages(&[ANSWER])).await.unwrap())).await;
        whole_turn.push(start.elapsed());
        session.rollback(&before, "bench").await.unwrap();
        session.clear_checkpoints().await.unwrap();
    }
    for _ in 0..TIMES {
        session.forget_reading();
        timed(&mut first_ask, async || proceed(&mut session).await).await;
        session.clear_checkpoints().await.unwrap();
    }
    vec![
        ("before a request", "2", ask),
        ("before the first one", "-", first_ask),
        ("response and its commit", "20", end),
        ("whole turn, no calls", "20", whole_turn),
    ]
}

async fn proceed(session: &mut Session) {
    let start = session.before_agent_start(ENVELOPE).await.unwrap();
    assert!(matches!(start, AgentStart::Proceed { .. }));
}

/// Measures a checkpoint and its commit in sessions of different lengths, in turn, so that all use the same disk.
fn checkpoint_by_length(folder: &Path) {
    let store = open(folder, "checkpoints.db");
    let mut sessions: Vec<(usize, Session, Vec<Duration>)> = LENGTHS
        .into_iter()
        .map(|length| (length, block_on(filled(&store, &format!("c{length}"), length)), Vec::new()))
        .collect();
    for _ in 0..TIMES {
        for (_, session, times) in &mut sessions {
            block_on(timed(times, async || {
                let made = session.create_checkpoint(Operation::ApiCall).await.unwrap();
                session.commit_checkpoint(&made.id).await.unwrap();
            }));
        }
    }
    println!("a checkpoint and its commit, {TIMES} times by turns; milliseconds\n");
    println!("{:<20} {:>9} {:>9}", "messages", "p50", "p99");
    for (length, _, times) in sessions {
        let sorted = sorted(times);
        println!("{length:<20} {:>9.3} {:>9.3}", ms(quantile(&sorted, 0.50)), ms(quantile(&sorted, 0.99)));
    }
    println!();
}

async fn timed(times: &mut Vec<Duration>, work: impl AsyncFnOnce()) {
    let start = Instant::now();
    work().await;
    times.push(start.elapsed());
}

/// A session with so many messages.
async fn filled(store: &Arc<dyn Store>, name: &str, size: usize) -> Session {
    let config = SessionPolicy { persist_repairs: PersistRepairs::All, ..SessionPolicy::default() };
    let options =
        SessionOptions { policy: Policy { session: config, ..Policy::default() }, ..SessionOptions::default() };
    let mut session = Session::create(store.clone(), name.parse().unwrap(), options).await.unwrap();
    let mut messages = vec![ASK.to_owned()];
    while messages.len() < size {
        let id = format!("toolu_{name}_{}", messages.len());
        messages.extend([turn(&id), result(&id)]);
    }
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    session.append_all(&messages).await.unwrap();
    session
}

const ASK: &str = r#"{"role":"user","content":"please go on with the next file and tell me what you find"}"#;

const ANSWER: &str = r#"{"role":"assistant","content":"the value is only used there, so nothing else has to change"}"#;

const ENVELOPE: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":1024}"#;

fn turn(id: &str) -> String {
    let text = "I will look at the caller next, since the value is only used there. ".repeat(5);
    format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}},{{"type":"tool_use","id":"{id}","name":"read","input":{{"path":"src/main.rs"}}}}]}}"#
    )
}

fn result(id: &str) -> String {
    let text = "let value = map.get(&key).copied().unwrap_or_default();\\n".repeat(20);
    format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#)
}

/// Appends the same bytes by a session and by a bare insert that is as durable; in turn, so that both use the same
/// disk.
fn append_beside_sqlite(folder: &Path) {
    let store = open(folder, "append.db");
    let bare = rusqlite::Connection::open(folder.join("bare.db")).unwrap();
    bare.pragma_update(None, "journal_mode", "WAL").unwrap();
    bare.pragma_update(None, "synchronous", "FULL").unwrap();
    bare.execute("CREATE TABLE commits (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL)", ()).unwrap();
    let options = SessionOptions::default();
    let mut session = block_on(Session::create(store.clone(), "append".parse().unwrap(), options)).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..APPENDS {
        let message = result(&format!("toolu_{number}"));
        block_on(timed(&mut ours, async || session.append(&message).await.unwrap()));
        let head = block_on(store.read_head(session.id())).unwrap();
        let kept = block_on(store.read(session.id(), head.seq - 1, 1)).unwrap();
        block_on(timed(&mut theirs, async || {
            bare.execute("INSERT INTO commits VALUES (?1, ?2)", (head.seq.cast_signed(), &kept[0].bytes)).unwrap();
        }));
    }
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    println!("a durable append beside a bare INSERT of the same bytes, {APPENDS} by turns; milliseconds\n");
    println!("{:<20} {:>9} {:>9} {:>9}", "", "p50", "p99", "mean");
    for (name, times) in [("seamline", &ours), ("bare SQLite", &theirs)] {
        println!(
            "{name:<20} {:>9.3} {:>9.3} {:>9.3}",
            ms(quantile(times, 0.5)),
            ms(quantile(times, 0.99)),
            ms(mean(times))
        );
    }
    let ratio = |of: fn(&[Duration]) -> Duration| of(&ours).as_secs_f64() / of(&theirs).as_secs_f64();
    println!(
        "{:<20} {:>9.2} {:>9} {:>9.2}   (target: at most 1.3)\n",
        "ratio",
        ratio(|times| quantile(times, 0.5)),
        "",
        ratio(mean)
    );
}

/// Commits per second of many sessions together, and of one alone.
fn many_beside_one(folder: &Path) {
    let store = open(folder, "many.db");
    let message = result("toolu_1");
    let rate = |count: usize| {
        let made = |number| {
            let id = format!("many-{count}-{number}").parse().unwrap();
            block_on(Session::create(store.clone(), id, SessionOptions::default())).unwrap()
        };
        let sessions: Vec<Session> = (0..count).map(made).collect();
        let each = APPENDS * 4 / count.max(8);
        let start = Instant::now();
        block_on(join_all(sessions.into_iter().map(|mut session| {
            let message = &message;
            async move {
                for _ in 0..each {
                    session.append(message).await.unwrap();
                }
            }
        })));
        (each * count) as f64 / start.elapsed().as_secs_f64()
    };
    let (one, many) = (rate(1), rate(SESSIONS));
    println!(
        "commits a second: one session {one:.0}, {SESSIONS} at once {many:.0}, {:.1} times as many (target: at least 8)\n",
        many / one
    );
}

/// Stores the same conversation with other libraries, in the Python that `SEAMLINE_STORE_PEERS` names.
fn beside_peers(folder: &Path) {
    let Ok(python) = std::env::var("SEAMLINE_STORE_PEERS") else {
        println!("the same conversation by others: skipped, SEAMLINE_STORE_PEERS names no Python");
        return;
    };
    let store = open(folder, "peers.db");
    let mut session = block_on(Session::create(store, "peers".parse().unwrap(), SessionOptions::default())).unwrap();
    let start = Instant::now();
    for number in 0..TURNS {
        let answer = turn(&format!("toolu_{number}"));
        block_on(async {
            session.append(ASK).await.unwrap();
            session.execute_tool_cycle(&[&answer], &Instantly, pending()).await.unwrap();
        });
    }
    let ours = start.elapsed();
    println!("{TURNS} turns of a message, a call and its result; milliseconds a turn\n");
    let size = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |found| found.len());
    let bytes = size("peers.db") + size("peers.db-wal");
    let a_turn = ms(ours) / TURNS as f64;
    println!("{:<34} {a_turn:>9.3}  {:>7.2} MB", "seamline (each step durable)", bytes as f64 / 1e6);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/store_peers.py");
    let output = Command::new(python).arg(script).arg(folder).arg(TURNS.to_string()).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len() - 1;
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    let at = (last as f64 * share).round() as usize;
    sorted[at]
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / times.len() as u32
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
