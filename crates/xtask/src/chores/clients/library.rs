//! Libraries that talk to providers: how each is installed, and the histories that its script sends.

use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::Result;

use super::{home, npm, pip};
use crate::workspace::Workspace;

/// A library and the script that uses it.
pub(super) struct Library {
    pub(super) name: &'static str,
    packages: Packages,
    /// A file in `crates/xtask/clients`. It takes a URL and the name of a case.
    script: &'static str,
    /// The cases with a history that the provider accepts.
    pub(super) clean: &'static [&'static str],
    /// The cases with a history that the provider rejects.
    pub(super) damaged: &'static [&'static str],
}

/// Packages of a registry, with a space between them.
enum Packages {
    Npm(&'static str),
    Python(&'static str),
}

pub(super) const ALL: [Library; 10] = [
    Library {
        name: "openai-py",
        packages: Packages::Python("openai==3.51.0"),
        script: "openai_sdk.py",
        clean: &["turn", "responses"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "openai-js",
        packages: Packages::Npm("openai@7.55.0"),
        script: "openai_sdk.mjs",
        clean: &["turn"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "anthropic-py",
        packages: Packages::Python("anthropic==2.10.0"),
        script: "anthropic_sdk.py",
        clean: &["turn"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "anthropic-js",
        packages: Packages::Npm("@anthropic-ai/sdk@1.10.0"),
        script: "anthropic_sdk.mjs",
        clean: &["turn"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "langchain",
        packages: Packages::Python("langchain==1.4.7 langchain-openai==1.7.3"),
        script: "langchain_agent.py",
        clean: &["turn"],
        damaged: &["crash", "orphan"],
    },
    Library {
        name: "ai-sdk",
        packages: Packages::Npm("ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7"),
        script: "ai_sdk.mjs",
        clean: &["turn"],
        damaged: &["orphan"],
    },
    Library {
        name: "openai-agents",
        packages: Packages::Npm("@openai/agents@0.20.0 openai@7.55.0 zod@4.6.7"),
        script: "openai_agents.mjs",
        clean: &["turn"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "google-genai",
        packages: Packages::Python("google-genai==3.3.0"),
        script: "genai_sdk.py",
        clean: &["turn"],
        // The package writes no id into the results of functions that it calls by itself.
        damaged: &["automatic", "missing", "duplicate"],
    },
    Library {
        name: "boto3",
        packages: Packages::Python("boto3==1.44.3"),
        script: "boto3_converse.py",
        clean: &["turn"],
        damaged: &["missing", "orphan"],
    },
    Library {
        name: "strands",
        packages: Packages::Python("strands-agents[openai]==1.62.0"),
        script: "strands_agent.py",
        clean: &["turn"],
        damaged: &["orphan"],
    },
];

/// A library that is installed, with its script beside it.
pub(super) struct Installed {
    program: PathBuf,
    script: PathBuf,
}

impl Library {
    /// Installs the packages and copies the script.
    pub(super) fn install(&self, workspace: &Workspace) -> Result<Installed> {
        let program = match self.packages {
            Packages::Python(packages) => pip::install(self.name, packages)?,
            Packages::Npm(packages) => {
                let programs = npm::install(self.name, packages)?;
                programs.last().map(|folder| folder.join("node")).unwrap_or_default()
            }
        };
        // Node.js looks for packages beside the script.
        let script = npm::folder().join(self.name).join(self.script);
        std::fs::copy(workspace.root().join("crates/xtask/clients").join(self.script), &script)?;
        Ok(Installed { program, script })
    }
}

impl Installed {
    /// Runs a case of the script.
    pub(super) fn run(&self, url: &str, case: &str) -> Result<ExitStatus> {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", home::TURN_SECONDS]).arg(&self.program).arg(&self.script).args([url, case]);
        // Proxies of this machine and keys of its user do not matter.
        command.env_clear().env("PATH", npm::path(&[])?).env("AWS_EC2_METADATA_DISABLED", "true").stdin(Stdio::null());
        let log = std::fs::File::create(self.output())?;
        Ok(command.stdout(log.try_clone()?).stderr(log).status()?)
    }

    /// The end of what the script printed.
    pub(super) fn last_line(&self) -> String {
        home::last_line(&self.output())
    }

    fn output(&self) -> PathBuf {
        self.script.with_extension("txt")
    }
}
