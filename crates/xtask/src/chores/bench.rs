//! `cargo xtask bench <name>`: runs one benchmark.

use anyhow::{Result, bail};

use super::bench_packages;
use super::clients::gateways;
use super::python::Environment;
use crate::workspace::{self, Workspace};

/// Name, crate and target of each benchmark.
const BENCHES: [(&str, &str, &str); 5] = [
    ("core", "seamline", "core"),
    ("streams", "seamline", "streams"),
    ("store", "seamline", "store"),
    ("files", "seamline-cli", "files"),
    ("proxy", "seamline-cli", "proxy"),
];

/// Libraries of other projects that the store benchmark compares with.
const PEERS: Environment = Environment { name: "store-peers", requirements: "crates/seamline/benches/store_peers.txt" };

/// The argument with which the benchmark of the proxy runs for long.
pub(super) const SOAK: &str = "--soak";

/// The benchmark of the packages. It is a chore of its own, because cargo does not know the packages.
const PACKAGES: &str = "packages";

/// Runs the benchmark with this name.
pub(crate) fn run(workspace: &Workspace, name: &str, args: &[&str]) -> Result<()> {
    if name == PACKAGES {
        return bench_packages::run(workspace, args);
    }
    let command = command(name, args)?;
    let mut cargo = workspace.cargo(&command);
    if name == "store"
        && let Some(python) = PEERS.python(workspace)?
    {
        cargo.env("SEAMLINE_STORE_PEERS", python);
    }
    if name == "proxy" && !args.contains(&SOAK) {
        cargo.envs(gateways());
    }
    workspace::run(&mut cargo)
}

fn command<'a>(name: &str, args: &[&'a str]) -> Result<Vec<&'a str>> {
    let Some((_, package, target)) = BENCHES.iter().find(|(known, _, _)| *known == name) else {
        let known: Vec<&str> = BENCHES.iter().map(|(known, _, _)| *known).chain([PACKAGES]).collect();
        bail!("unknown benchmark `{name}`\nhint: use one of {}", known.join(", "));
    };
    // The shipped profile is measured.
    let mut command = vec!["bench", "--profile", "dist", "-p", package, "--bench", target, "--"];
    command.extend(args);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_becomes_a_cargo_command() {
        assert_eq!(
            command("core", &["--quick"]).unwrap(),
            ["bench", "--profile", "dist", "-p", "seamline", "--bench", "core", "--", "--quick"]
        );
    }

    #[test]
    fn an_unknown_name_is_refused_with_a_list() {
        let error = command("speed", &[]).unwrap_err().to_string();
        assert_eq!(error, "unknown benchmark `speed`\nhint: use one of core, streams, store, files, proxy, packages");
    }
}
