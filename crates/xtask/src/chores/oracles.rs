//! The Python environment with validators of other projects.

use std::path::PathBuf;

use anyhow::Result;

use super::python::Environment;
use crate::workspace::Workspace;

/// The variable that gives the tests the path of this Python.
pub(super) const VARIABLE: &str = "SEAMLINE_ORACLES";

const VALIDATORS: Environment =
    Environment { name: "oracles", requirements: "crates/seamline/tests/oracles/requirements.txt" };

/// The Python with the validators; `None` if the machine has no Python to create it.
pub(super) fn python(workspace: &Workspace) -> Result<Option<PathBuf>> {
    VALIDATORS.python(workspace)
}
