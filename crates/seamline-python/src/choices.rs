//! The options of calls, read once.

use pyo3::prelude::*;
use seamline::json::OptionsError;
use serde_json::Value;

use crate::error::{Exception, of_options};

/// The options of checks and repairs.
#[pyclass(frozen, module = "seamline._native")]
pub(crate) struct Choices {
    pub(crate) options: seamline::Options,
}

#[pymethods]
impl Choices {
    /// Reads the options from a JSON object.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        read(py, json, seamline::Options::from_json).map(|options| Self { options })
    }
}

/// Options of any kind from their JSON text.
pub(crate) fn read<T>(
    py: Python<'_>,
    json: &str,
    from_json: impl FnOnce(&Value) -> Result<T, OptionsError>,
) -> PyResult<T> {
    let value: Value = serde_json::from_str(json)
        .map_err(|error| Exception::Option.with(py, &format!("cannot read the options: {error}"), None))?;
    from_json(&value).map_err(|error| of_options(py, &error))
}
