//! `cargo xtask soak`: the tests of stores at full length, which CI runs a sample of.

use anyhow::Result;

use super::postgres::{Found, Server};
use crate::workspace::{self, Workspace};

/// How often a writer of SQLite is killed.
const KILLS: &str = "10000";

/// The stores, and how much each is run for.
const STORES: [&str; 2] = ["seamline-store-sqlite", "seamline-store-postgres"];

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let server = Server::start(workspace)?;
    if let Found::Missing(why) = &server {
        println!("without PostgreSQL: {why}");
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
            server.tell(&mut cargo);
        }
        workspace::run(&mut cargo)?;
    }
    Ok(())
}
