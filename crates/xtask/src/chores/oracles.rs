//! The Python that holds judges which are not ours.

use std::path::PathBuf;

use anyhow::Result;

use super::python::Environment;
use crate::workspace::Workspace;

/// The variable that tells the tests where it is.
pub(super) const VARIABLE: &str = "SEAMLINE_ORACLES";

const JUDGES: Environment =
    Environment { name: "oracles", requirements: "crates/seamline/tests/oracles/requirements.txt" };

/// The Python with the judges. Nothing when there is no Python to make it with.
pub(super) fn python(workspace: &Workspace) -> Result<Option<PathBuf>> {
    JUDGES.python(workspace)
}
