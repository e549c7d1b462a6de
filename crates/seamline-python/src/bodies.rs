//! Checks, repairs and conversions of bodies.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::convert::ConvertOptions;
use seamline::json::GivenFailure;
use seamline::repair::AfterRejection;
use serde::Serialize;

use crate::choices::{self, Choices};
use crate::error::{Exception, of_library};
use crate::given::Given;
use crate::rebuilt::{loaded, rebuilt};
use crate::serializer::to_json;

/// Checks a body and returns the report.
#[pyfunction]
pub(crate) fn check<'py>(given: &Bound<'py, PyAny>, choices: &Choices) -> PyResult<Bound<'py, PyBytes>> {
    let py = given.py();
    let given = Given::of(given)?;
    let body = given.bytes();
    let report = py.detach(|| seamline::check(body, &choices.options).map(|checked| json(&checked)));
    Ok(PyBytes::new(py, &report.map_err(|error| of_library(py, &error))?))
}

/// Repairs a body. Returns the new body, `None` where the given one needs no repair, and the report.
#[pyfunction]
pub(crate) fn repair<'py>(
    given: &Bound<'py, PyAny>,
    choices: &Choices,
) -> PyResult<(Option<Bound<'py, PyAny>>, Bound<'py, PyBytes>)> {
    let py = given.py();
    let given = Given::of(given)?;
    let body = given.bytes();
    let repaired = py.detach(|| {
        let repaired = seamline::repair(body, &choices.options)?;
        let report = json(&repaired.report());
        let origins = repaired.origins;
        Ok((repaired.body.is_changed().then(|| (repaired.body.into_bytes().into_owned(), origins)), report))
    });
    let (new, report) = repaired.map_err(|error| of_library(py, &error))?;
    let new = new.map(|(new, origins)| rebuilt(py, &given, &new, Some(&origins))).transpose()?;
    Ok((new, PyBytes::new(py, &report)))
}

/// Repairs a body that its provider rejected, once more and harder. Returns the new body and the report; `None` where a
/// second try is of no use or the policy does not repair after a rejection.
#[pyfunction]
pub(crate) fn after_rejection<'py>(
    given: &Bound<'py, PyAny>,
    choices: &Choices,
    failure: &str,
) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyBytes>)>> {
    let py = given.py();
    let failure = choices::read(py, failure, GivenFailure::from_json)?;
    let given = Given::of(given)?;
    let body = given.bytes();
    let harder = py.detach(|| {
        let headers = failure.headers();
        match seamline::repair::after_rejection(body, &choices.options, &failure.failure(&headers)) {
            AfterRejection::Repaired(harder) => {
                let report = json(&harder.repaired.report());
                Some((harder.repaired.body.into_bytes().into_owned(), harder.repaired.origins, report))
            }
            _ => None,
        }
    });
    let Some((new, origins, report)) = harder else { return Ok(None) };
    Ok(Some((rebuilt(py, &given, &new, Some(&origins))?, PyBytes::new(py, &report))))
}

/// Converts a body into another dialect. Returns the new body and the report.
#[pyfunction]
pub(crate) fn convert<'py>(
    given: &Bound<'py, PyAny>,
    options: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyBytes>)> {
    let py = given.py();
    let options = choices::read(py, options, ConvertOptions::from_json)?;
    let given = Given::of(given)?;
    let body = given.bytes();
    let converted = py.detach(|| {
        let converted = seamline::convert(body, &options)?;
        let report = json(&converted.report());
        Ok((converted.body, report))
    });
    let (new, report) = converted.map_err(|error| of_library(py, &error))?;
    let text = || {
        std::str::from_utf8(&new).map_err(|_| Exception::Body.with(py, "the new body is not UTF-8", Some("give bytes")))
    };
    let object = match given {
        Given::Bytes(_) | Given::Copied(_) => PyBytes::new(py, &new).into_any(),
        Given::Text(_) => text()?.into_pyobject(py)?.into_any(),
        Given::Request(..) | Given::Messages(..) => loaded(py, text()?)?,
    };
    Ok((object, PyBytes::new(py, &report)))
}

/// Writes an object as JSON, as every other function does before it reads it.
#[pyfunction]
pub(crate) fn dumps<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(object.py(), &to_json(object)?))
}

/// The JSON text of a report. Our reports have no values that JSON cannot hold.
pub(crate) fn json(report: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(report).unwrap_or_else(|_| b"null".to_vec())
}
