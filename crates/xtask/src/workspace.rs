//! The workspace's folder, and the commands that run in it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::{Context, Result, bail};

/// The folder of the root manifest.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the workspace that this program was started from.
    pub(crate) fn find() -> Result<Self> {
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = xtask.ancestors().nth(2).context("xtask is not in crates/xtask")?;
        if !root.join("Cargo.toml").is_file() {
            bail!("{} has no Cargo.toml\nhint: run `cargo xtask`", root.display());
        }
        Ok(Self { root: root.to_owned() })
    }

    /// The workspace in another folder.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder of the root manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `cargo` with `args`, at the root.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args).current_dir(&self.root);
        // `cargo run` sets these variables for xtask. They are wrong for the commands that xtask starts, and build
        // scripts that watch them would run again without need.
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// True if `cargo <plugin>` is installed.
    pub(crate) fn has_plugin(&self, plugin: &str) -> bool {
        self.cargo(&[plugin, "--version"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// Builds the libraries of all crates.
pub(crate) fn build_libraries(workspace: &Workspace) -> Result<()> {
    // Python itself loads the extension, so it must not be linked.
    run(as_tested(workspace, &["--lib"]).env("PYO3_BUILD_EXTENSION_MODULE", "1"))
}

/// Builds the command at [`built_command`].
pub(crate) fn build_command(workspace: &Workspace) -> Result<()> {
    run(&mut as_tested(workspace, &["--quiet", "--bin", "seamline"]))
}

/// The path of the command, once it is built.
pub(crate) fn built_command(workspace: &Workspace) -> PathBuf {
    workspace.root().join("target/debug").join(format!("seamline{}", std::env::consts::EXE_SUFFIX))
}

/// Builds the fake provider, which judges what clients send, and returns its path.
pub(crate) fn build_provider(workspace: &Workspace) -> Result<PathBuf> {
    run(&mut as_tested(workspace, &["--quiet", "--example", "fake_provider"]))?;
    let name = format!("fake_provider{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace.root().join("target/debug/examples").join(name))
}

/// Builds targets with the features of the test run: the workspace is built as a whole, and one of its tests, too. Else
/// cargo selects other features and compiles most crates again.
fn as_tested(workspace: &Workspace, targets: &[&str]) -> Command {
    workspace.cargo(&[&["build", "--workspace", "--test", "suite"], targets].concat())
}

/// Copies a file, or a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    if from.is_file() {
        return std::fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {}", from.display()));
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        copy_folder(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The command as a user would type it.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text =
        program.file_stem().map_or_else(|| program.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    for arg in command.get_args() {
        let _ = write!(text, " {}", arg.to_string_lossy());
    }
    text
}

/// Runs the command on this terminal.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", command_line(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", command_line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

/// Runs the command quietly and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", command_line(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({})\n{}", command_line(command), output.status, stderr.trim_end());
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` wrote bytes that are not UTF-8", command_line(command)))
}

/// Runs the command, prints each line, and passes it without colours to `seen`.
pub(crate) fn run_watched(command: &mut Command, mut seen: impl FnMut(&str)) -> Result<()> {
    println!("$ {}", command_line(command));
    if std::io::stdout().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", command_line(command)))?;
    let (sender, lines) = channel();
    let readers = [
        child.stdout.take().map(|pipe| forward(pipe, sender.clone())),
        child.stderr.take().map(|pipe| forward(pipe, sender)),
    ];
    // One thread prints, so that lines of the two pipes do not mix.
    for line in lines {
        println!("{line}");
        seen(&without_colours(&line));
    }
    for reader in readers.into_iter().flatten() {
        let _ = reader.join();
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

fn forward(pipe: impl Read + Send + 'static, lines: Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n') {
            let Ok(line) = line else { return };
            let line = String::from_utf8_lossy(&line);
            if lines.send(line.trim_end_matches('\r').to_owned()).is_err() {
                return;
            }
        }
    })
}

/// The line without its `ESC [ … m` sequences.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_removed_from_a_line() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [ 0.1s] \u{1b}[1m3\u{1b}[0m tests run";
        assert_eq!(without_colours(line), "     Summary [ 0.1s] 3 tests run");
        assert_eq!(without_colours("plain"), "plain");
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = Command::new("cargo");
        command.args(["fmt", "--all"]);
        assert_eq!(command_line(&command), "cargo fmt --all");
    }
}
