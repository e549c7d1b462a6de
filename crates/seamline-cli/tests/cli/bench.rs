//! A folder for each test, and the command that runs in it.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A call without a result.
pub(crate) const BROKEN: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"what is in main.rs?"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"main.rs"}}]},{"role":"user","content":"never mind"}]}"#;

/// The same with its result.
pub(crate) const CLEAN: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"what is in main.rs?"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"main.rs"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fn main() {}"}]}]}"#;

/// Two errors: a result whose call is missing, and a call without a result.
pub(crate) const TWICE: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","content":"src"}]},{"role":"assistant","content":"I see."},{"role":"user","content":"go on"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},{"role":"user","content":"never mind"}]}"#;

/// A policy that fixes a call without a result only by an unsafe fix.
pub(crate) const CAUTIOUS: &str = "safety = \"safe\"\nunanswered_call = \"remove_call\"\n";

pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
}

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("seamline-cli-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder: folder.canonicalize().unwrap() }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// The names in a folder, sorted.
    pub(crate) fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seamline"));
        command
            .args(args)
            .current_dir(&self.folder)
            .env_remove("HOME")
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("SEAMLINE_LOG")
            .env_remove("SEAMLINE_STORE")
            .env("XDG_STATE_HOME", self.path("state"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    pub(crate) fn run_on(&self, stdin: impl AsRef<[u8]>, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that refuses its arguments does not read the input.
        match child.stdin.take().unwrap().write_all(stdin.as_ref()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        child.wait_with_output().unwrap().into()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The output on one line, for sentences that are wrapped.
    pub(crate) fn on_one_line(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Fails unless it ended with `code`, and shows the output.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
