//! The Python package: builds its wheel, installs it into an environment, and runs its tests there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::python::Environment;
use crate::workspace::{self, Workspace};

/// The environment of the tests: the tools, and the frameworks that install fast.
const TESTS: Environment =
    Environment { name: "python-tests", requirements: "crates/seamline-python/tests/requirements.txt" };

/// All frameworks, with the modules whose documentation must run there. LiteLLM needs an older `openai` than the
/// others, so it has an environment of its own.
const FRAMEWORKS: [(Environment, &str); 2] = [
    (
        Environment {
            name: "python-frameworks",
            requirements: "crates/seamline-python/tests/frameworks/requirements.txt",
        },
        "agents anthropic botocore.session deepagents google.genai groq langchain.agents langgraph.prebuilt \
         mistralai.client openai pydantic_ai",
    ),
    (
        Environment {
            name: "python-litellm",
            requirements: "crates/seamline-python/tests/frameworks/requirements-litellm.txt",
        },
        "boto3 google.adk.agents litellm strands",
    ),
];

const CRATE: &str = "crates/seamline-python";

/// The command that runs the tests of the package; `None` if the machine has no Python.
pub(super) fn tests(workspace: &Workspace) -> Result<Option<Command>> {
    let Some(python) = TESTS.python(workspace)? else { return Ok(None) };
    let package = stage(workspace)?;
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "-p", "no:cacheprovider"]).arg(workspace.root().join(CRATE).join("tests"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", package);
    command.env("SEAMLINE_FAKE_PROVIDER", workspace::build_provider(workspace)?);
    Ok(Some(command))
}

/// The Python with the tools that build the package; `None` if the machine has no Python.
pub(super) fn environment(workspace: &Workspace) -> Result<Option<PathBuf>> {
    TESTS.python(workspace)
}

/// Prints the table of frameworks and damages, without and with Seamline.
pub(super) fn print_frameworks(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let provider = workspace::build_provider(workspace)?;
    let table = workspace.root().join(CRATE).join("tests/frameworks/table.py");
    for (environment, needed) in FRAMEWORKS {
        let python = environment.python(workspace)?.context("python3 with venv is not installed")?;
        install(workspace, &python, "dev")?;
        let mut command = Command::new(&python);
        command.arg(&table).args(names).env("SEAMLINE_FAKE_PROVIDER", &provider);
        workspace::run(&mut command)?;
        if names.is_empty() {
            workspace::run(adapters(workspace, &python, &provider).env("SEAMLINE_NEEDED", needed))?;
        }
    }
    Ok(())
}

/// The command that tests the adapters of the frameworks that are installed, and the code of their documentation.
fn adapters(workspace: &Workspace, python: &Path, provider: &Path) -> Command {
    let tests = workspace.root().join(CRATE).join("tests");
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    command.args([tests.join("frameworks"), tests.join("test_docs.py")]);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SEAMLINE_FAKE_PROVIDER", provider);
    command
}

/// Puts the package together as an installed wheel has it, and returns the folder for the path of Python.
fn stage(workspace: &Workspace) -> Result<PathBuf> {
    workspace::build_libraries(workspace)?;
    let folder = workspace.root().join("target/python-package");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let package = folder.join("seamline");
    workspace::copy_folder(&workspace.root().join(CRATE).join("python/seamline"), &package)?;
    let library = format!("{}seamline_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let ending = if cfg!(windows) { "pyd" } else { "abi3.so" };
    std::fs::copy(workspace.root().join("target/debug").join(library), package.join(format!("_native.{ending}")))?;
    Ok(folder)
}

/// Builds the wheel with a profile of cargo and installs it.
pub(super) fn install(workspace: &Workspace, python: &Path, profile: &str) -> Result<()> {
    let wheels = workspace.root().join("target").join("python-wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).with_context(|| format!("cannot remove {}", wheels.display()))?;
    }
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--interpreter"]).arg(python);
    build.arg("--out").arg(&wheels).current_dir(workspace.root().join(CRATE));
    workspace::run(&mut build)?;
    let found = std::fs::read_dir(&wheels).with_context(|| format!("cannot read {}", wheels.display()))?;
    let wheel = found.filter_map(Result::ok).map(|entry| entry.path()).next().context("maturin wrote no wheel")?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"]);
    workspace::run(install.arg(wheel))
}
