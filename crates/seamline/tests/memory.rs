//! The memory that hostile bodies can claim.
//!
//! Each body is checked, repaired and converted in a process of its own whose address space is limited. The process
//! that cannot get memory is aborted, so the test fails for a body that takes more than it may.

#[path = "memory/shapes.rs"]
mod shapes;

use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seamline::convert::ConvertOptions;
use seamline::{Options, check, convert, repair};

/// The number of times its own size that a body may take, and the bytes that any body may take.
const CHECK_TIMES: usize = 12;
const CONVERT_TIMES: usize = 10;
const BYTES: usize = 64 << 20;

/// The bytes of the bodies, and of those that `cargo xtask soak` uses.
const SIZE: usize = 2 << 20;

/// The variables that tell a child what to do: an operation, the number of a shape, and the size of the body.
const JOB: &str = "SEAMLINE_MEMORY_JOB";

/// The operations.
const OPERATIONS: [&str; 3] = ["check", "repair", "convert"];

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Limits the address space of this process to `bytes` more than it has.
fn limit(bytes: usize) {
    let most = (status("VmSize") + bytes) as u64;
    let limits = getrlimit(Resource::As);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: limits.maximum }).unwrap();
}

fn run(operation: &str, dialect: &str, body: &[u8]) -> String {
    let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
    match operation {
        "check" => format!("{:?}", check(body, &options).map(|checked| checked.findings.len())),
        "repair" => format!("{:?}", repair(body, &options).map(|repaired| (repaired.passes, repaired.actions.len()))),
        _ => {
            let to = if dialect == "anthropic_messages" { "openai_chat" } else { "anthropic_messages" };
            let options =
                ConvertOptions { from: Some(dialect.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
            format!("{:?}", convert(body, &options).map(|converted| converted.lost.len()))
        }
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn child() {
    let Ok(job) = std::env::var(JOB) else { return };
    let mut words = job.split(' ');
    let mut word = || words.next().unwrap();
    let (operation, shape, size) = (word(), word().parse::<usize>().unwrap(), word().parse::<usize>().unwrap());
    let shape = shapes::all().swap_remove(shape);
    let body = shape.body(size);
    let times = if operation == "convert" { CONVERT_TIMES } else { CHECK_TIMES };
    let before = status("VmHWM");
    if std::env::var_os("SEAMLINE_MEMORY_FREE").is_none() {
        limit(times * body.len() + BYTES);
    }
    let start = std::time::Instant::now();
    let outcome = run(operation, shape.dialect, body.as_bytes());
    let took = status("VmHWM") - before;
    println!("TOOK {} MB ({}x) {} ms {outcome:.300}", took >> 20, took / body.len(), start.elapsed().as_millis());
}

/// Runs an operation on a shape in a process of its own; what it said, if it succeeded.
fn judge(operation: &str, shape: usize, size: usize) -> Result<String, String> {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(JOB, format!("{operation} {shape} {size}"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    let took = said.lines().find_map(|line| line.split_once("TOOK ")).map(|(_, took)| took.to_owned());
    match took.filter(|_| child.status.success()) {
        Some(took) => Ok(took),
        None => Err(String::from_utf8_lossy(&child.stderr).lines().last().unwrap_or_default().to_owned()),
    }
}

#[test]
fn hostile_bodies_take_bounded_memory() {
    let shapes = shapes::all();
    assert!(shapes.len() >= 200, "{} shapes", shapes.len());
    let size = std::env::var("SEAMLINE_MEMORY_SIZE").map_or(SIZE, |size| size.parse().unwrap());
    let mut failed = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        for operation in OPERATIONS {
            match judge(operation, index, size) {
                Ok(took) => println!("{index} {operation} {}: {took}", shape.name()),
                Err(error) => failed.push(format!("{index} {operation} {}: {error}", shape.name())),
            }
        }
    }
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), shapes.len() * 3, failed.join("\n"));
}
