//! Histories with fewer messages: trimmed ones, and those of untrusted clients.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::sanitize::{SanitizeOptions, TrustedCalls};
use seamline::trim::TrimOptions;
use serde_json::json;

use crate::bodies;
use crate::choices::Choices;
use crate::error::of_library;
use crate::given::Given;
use crate::rebuilt::rebuilt;

/// A new body, `None` where the given one stays, and the report.
type Outcome<'py> = PyResult<(Option<Bound<'py, PyAny>>, Bound<'py, PyBytes>)>;

/// Removes the oldest messages until the history is within the limits.
#[pyfunction]
pub(crate) fn trim<'py>(
    given: &Bound<'py, PyAny>,
    choices: &Choices,
    max_messages: Option<usize>,
    max_tokens: Option<usize>,
    sizes: Vec<usize>,
) -> Outcome<'py> {
    let limit = TrimOptions { max_messages, max_tokens, sizes };
    shortened(given, |body| {
        let trimmed = seamline::trim(body, &limit, &choices.options)?;
        let report = json!({
            "dialect": trimmed.dialect, "messages": trimmed.messages, "tokens": trimmed.tokens,
            "removed": trimmed.removed, "fits": trimmed.fits,
        });
        Ok((trimmed.body.is_changed().then(|| trimmed.body.into_bytes().into_owned()), bodies::json(&report)))
    })
}

/// Removes instructions and forged results of an untrusted client. `known` are the ids of trusted calls.
#[pyfunction]
pub(crate) fn sanitize<'py>(
    given: &Bound<'py, PyAny>,
    choices: &Choices,
    keep_instructions: bool,
    known: Option<Vec<String>>,
    trusts_answered: bool,
) -> Outcome<'py> {
    let calls = match known {
        Some(ids) => TrustedCalls::Known(ids),
        None if trusts_answered => TrustedCalls::Answered,
        None => TrustedCalls::None,
    };
    let trust = SanitizeOptions { keep_instructions, calls };
    shortened(given, |body| {
        let sanitized = seamline::sanitize(body, &trust, &choices.options)?;
        let report = json!({"dialect": sanitized.dialect, "removed": sanitized.removed});
        Ok((sanitized.body.is_changed().then(|| sanitized.body.into_bytes().into_owned()), bodies::json(&report)))
    })
}

fn shortened<'py>(
    given: &Bound<'py, PyAny>,
    work: impl FnOnce(&[u8]) -> Result<(Option<Vec<u8>>, Vec<u8>), seamline::Error> + Send,
) -> Outcome<'py> {
    let py = given.py();
    let given = Given::of(given)?;
    let body = given.bytes();
    let (new, report) = py.detach(|| work(body)).map_err(|error| of_library(py, &error))?;
    let new = new.map(|new| rebuilt(py, &given, &new, None)).transpose()?;
    Ok((new, PyBytes::new(py, &report)))
}
