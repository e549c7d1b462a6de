//! `cargo xtask soak`: runs the long tests at full length; CI runs a sample of them.

use anyhow::{Result, bail};

use super::bench;
use super::postgres::{Found, Server};
use crate::workspace::{self, Workspace};

/// The number of times that a test kills a SQLite writer.
const KILLS: &str = "10000";

/// The number of requests through the proxy.
const PROXY_REQUESTS: &str = "1000000";

/// The number of damaged conversations that are repaired, 20,000 for each dialect on average.
const CONVERSATIONS: usize = 20_000 * DIALECTS;

/// The number of dialects.
const DIALECTS: usize = 6;

/// The tests of damaged conversations.
const DAMAGED: &str = "a_broken_conversation_is_put_right_without_loss";

/// The tests of the library that `SEAMLINE_SOAK` makes longer, each with its binary.
const LONGER: [(&str, &str); 2] =
    [("suite", "no_preset_calls_clean_what_a_provider_rejects"), ("memory", "hostile_bodies_take_bounded_memory")];

/// The crates whose tests run.
const STORES: [&str; 2] = ["seamline-store-sqlite", "seamline-store-postgres"];

/// Sends requests through `seamline proxy` and holds thousands of streams; prints connections, threads and memory.
pub(crate) fn run_proxy(workspace: &Workspace, args: &[&str]) -> Result<()> {
    let count = match args {
        [] => PROXY_REQUESTS,
        [count] => count,
        _ => bail!("usage: cargo xtask soak proxy [REQUESTS]"),
    };
    bench::run(workspace, "proxy", &[bench::SOAK, count])
}

/// Compiles the skeleton of a new dialect, then runs the tests of damaged conversations, presets, memory and every store.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut skeleton = workspace.cargo(&["test", "-p", "xtask", "new_dialect"]);
    workspace::run(skeleton.env("SEAMLINE_SOAK", "1"))?;
    println!("=== {CONVERSATIONS} damaged conversations");
    let mut cargo = workspace.cargo(&["test", "--release", "-p", "seamline", "--test", "suite", DAMAGED]);
    cargo.env("PROPTEST_CASES", CONVERSATIONS.to_string());
    workspace::run(&mut cargo)?;
    for (binary, test) in LONGER {
        println!("\n=== {test}");
        let mut cargo =
            workspace.cargo(&["test", "--release", "-p", "seamline", "--test", binary, test, "--", "--nocapture"]);
        workspace::run(cargo.env("SEAMLINE_SOAK", "1"))?;
    }
    let server = Server::start(workspace)?;
    if let Found::Missing(why) = &server {
        println!("PostgreSQL tests are skipped: {why}");
    }
    for store in STORES {
        println!("\n=== {store}");
        let mut cargo = workspace.cargo(&[
            "test",
            "--release",
            "-p",
            store,
            "--test",
            "suite",
            "--",
            "--nocapture",
            "--test-threads=1",
        ]);
        cargo.env("SEAMLINE_SOAK", "1").env("SEAMLINE_SOAK_KILLS", KILLS);
        if let Found::Running(server) = &server {
            server.set_variables(&mut cargo);
        }
        workspace::run(&mut cargo)?;
    }
    Ok(())
}
