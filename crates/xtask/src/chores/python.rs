//! Python environments. Each is created once per list of requirements.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::workspace::{self, Workspace};

/// One Python environment.
pub(super) struct Environment {
    /// The name of its folder under `target`.
    pub(super) name: &'static str,
    /// The path of its list of requirements.
    pub(super) requirements: &'static str,
}

impl Environment {
    /// Creates the environment if needed and returns its Python; `None` if the machine has no Python.
    pub(super) fn python(&self, workspace: &Workspace) -> Result<Option<PathBuf>> {
        let list = workspace.root().join(self.requirements);
        let wanted = std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
        let home = workspace.root().join("target").join(self.name);
        let python = home.join("bin").join("python");
        let made = home.join("made-from.txt");
        if std::fs::read_to_string(&made).is_ok_and(|found| found == wanted) {
            return Ok(Some(python));
        }
        if !can_create_environments() {
            return Ok(None);
        }
        workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(&list);
        workspace::run(&mut install)?;
        std::fs::write(&made, wanted).with_context(|| format!("cannot write {}", made.display()))?;
        Ok(Some(python))
    }
}

fn can_create_environments() -> bool {
    Command::new("python3")
        .args(["-c", "import venv, ensurepip"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
