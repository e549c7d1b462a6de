//! The examples of every help page: they fit the screen, and run unchanged.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::bench::{BROKEN, Bench, CLEAN, Ran};
use crate::session_files::{STUCK, age};
use crate::sessions::HELLO;

const COLUMNS: &str = "80";

/// The commands of a help, by their names.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn help(bench: &Bench, command: &[&str]) -> String {
    let mut command = bench.command(&[command, &["--help"]].concat());
    Ran::of(command.env("COLUMNS", COLUMNS)).expect(0).out
}

/// The lines under `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// A folder with every file that the examples name.
fn stocked() -> Bench {
    let bench = Bench::new();
    for (name, text) in [
        ("request.json", BROKEN),
        ("broken.json", BROKEN),
        ("b.json", r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#),
        ("logs/one.json", BROKEN),
        ("message.json", r#"{"role":"assistant","content":"hi"}"#),
        ("note.json", HELLO),
        ("envelope.json", r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#),
        ("error.txt", "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
        ("trace.json", &format!("{{\"request\":{CLEAN}}}")),
        ("my-policy.toml", "preset = \"lossless\"\n"),
        ("response.sse", include_str!("../../../../examples/cut-stream.sse")),
        ("response.bin", include_str!("../../../../examples/cut-stream.sse")),
        ("session.jsonl", STUCK),
        ("broken.jsonl", STUCK),
        ("torn.json", &BROKEN[..BROKEN.len() - 20]),
    ] {
        bench.write(name, text);
    }
    age(&bench.path("session.jsonl"));
    crate::convert_sessions::database(&bench, "goose.db", &["20260102_1"]);
    bench.run(&["fix", "request.json", "logs"]).expect(0);
    bench.session(&["new", "s-1", "--provider", "anthropic"]).expect(0);
    bench.session(&["append", "s-1", "broken.json", "--body"]).expect(0);
    bench.session(&["repair", "s-1", "--all"]).expect(0);
    bench.session(&["export", "s-1", "--output", "s-1.jsonl"]).expect(0);
    bench.session(&["export", "s-1", "--output", "old.jsonl"]).expect(0);
    let moved = ["session", "import", "s-1.jsonl", "--store", "sqlite:backup.db"];
    bench.run(&moved).expect(0);
    bench.session(&["checkpoint", "s-1"]).expect(0);
    // No request goes over the network.
    let curl = bench.write("bin/curl", "#!/bin/sh\ncase \"$*\" in *-sN*) cat response.sse;; esac\n");
    // The agents do nothing.
    let idle = ["bin/claude", "bin/codex", "agent"].map(|name| bench.write(name, "#!/bin/sh\n"));
    for program in idle.iter().chain([&curl]) {
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    crate::incidents::record(&bench, 7, seamline_proxy::incident::IncidentOutcome::Repaired);
    bench
}

/// Runs a script in the folder of a bench, as a user would paste it.
fn run(bench: &Bench, script: &str) -> Ran {
    let folder = Path::new(env!("CARGO_BIN_EXE_seamline")).parent().unwrap();
    let found = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{found}", bench.path("bin").display(), folder.display());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).current_dir(&bench.folder).stdin(std::process::Stdio::null());
    shell.env("PATH", path).env("XDG_STATE_HOME", bench.path("state")).env_remove("SEAMLINE_STORE");
    shell.env("HOME", bench.path("home")).env_remove("CLAUDE_CONFIG_DIR");
    Ran::of(&mut shell)
}

/// The lines of one shell command.
fn whole_lines(lines: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        match all.last_mut() {
            Some(last) if goes_on => *last = format!("{last}\n{line}"),
            _ => all.push(line.clone()),
        }
        goes_on = line.ends_with(['\\', '|']) || line.ends_with("&&") || line.ends_with("||");
    }
    all
}

#[test]
fn every_help_page_has_examples_that_run_unchanged() {
    let bench = Bench::new();
    let top = commands(&help(&bench, &[]));
    let of_session = commands(&help(&bench, &["session"]));
    assert!(top.len() > 8 && of_session.len() > 20, "{top:?} {of_session:?}");
    let mut all: Vec<Vec<&str>> = vec![vec![]];
    all.extend(top.iter().map(|name| vec![name.as_str()]));
    all.extend(of_session.iter().map(|name| vec!["session", name.as_str()]));
    for command in all {
        let lines = examples(&help(&bench, &command));
        assert!(!lines.is_empty(), "{command:?} has no examples");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
        let bench = stocked();
        // Findings do not stop the run.
        let checked = |line: String| {
            let is_watch = line.contains("seamline watch") && !line.contains("--once");
            let is_proxy =
                line.contains("seamline proxy") && !line.contains(" -- ") && !line.contains("--print-schema");
            if line.contains("--follow") || is_watch || is_proxy {
                let (command, _) = line.split_once(" #").unwrap_or((&line, ""));
                return format!("{command} & sleep 1; kill $! || exit 9");
            }
            format!("{line}\n[ $? -le 1 ] || exit 9")
        };
        let script: Vec<String> = whole_lines(&lines).into_iter().map(checked).collect();
        let ran = run(&bench, &script.join("\n"));
        assert_eq!(ran.code, Some(0), "{command:?}: {}\n{}", script.join("\n"), ran.err);
    }
}
