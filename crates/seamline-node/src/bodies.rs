//! Checks, repairs and conversions of bodies.

use napi::Result;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use seamline::convert::ConvertOptions;
use seamline::json::GivenFailure;
use seamline::repair::AfterRejection;
use serde::Serialize;

use crate::failure::{failure, of_library, read};

/// The options of checks and repairs, read once for many calls.
#[napi]
pub struct Choices {
    pub(crate) options: seamline::Options,
}

#[napi]
impl Choices {
    /// Reads the options from a JSON object.
    #[napi(constructor, catch_unwind)]
    pub fn new(json: String) -> Result<Self> {
        Ok(Self { options: read(&json, seamline::Options::from_json)? })
    }
}

/// A new body and the report about it.
#[napi(object)]
pub struct NativeOutcome {
    /// The new body; absent where nothing changed.
    pub body: Option<Buffer>,
    /// The report as JSON.
    pub report: String,
}

/// Checks a body.
#[napi(catch_unwind)]
pub fn check(body: &[u8], choices: &Choices) -> Result<String> {
    let checked = seamline::check(body, &choices.options).map_err(|error| of_library(&error))?;
    json(&checked)
}

/// Repairs a body.
#[napi(catch_unwind)]
pub fn repair(body: &[u8], choices: &Choices) -> Result<NativeOutcome> {
    let repaired = seamline::repair(body, &choices.options).map_err(|error| of_library(&error))?;
    let report = json(&repaired.report())?;
    let body = repaired.is_changed().then(|| repaired.body.into_bytes().into_owned().into());
    Ok(NativeOutcome { body, report })
}

/// Repairs a body that its provider rejected, once more and harder; absent where a second try is of no use or the policy
/// does not repair after a rejection.
#[napi(catch_unwind)]
pub fn after_rejection(body: &[u8], choices: &Choices, rejection: String) -> Result<Option<NativeOutcome>> {
    let given = read(&rejection, GivenFailure::from_json)?;
    let headers = given.headers();
    let outcome = seamline::repair::after_rejection(body, &choices.options, &given.failure(&headers));
    let AfterRejection::Repaired(harder) = outcome else { return Ok(None) };
    let report = json(&harder.repaired.report())?;
    let body = harder.repaired.body.into_bytes().into_owned();
    Ok(Some(NativeOutcome { body: Some(body.into()), report }))
}

/// Converts a body.
#[napi(catch_unwind)]
pub fn convert(body: &[u8], options: String) -> Result<NativeOutcome> {
    let options = read(&options, ConvertOptions::from_json)?;
    let converted = seamline::convert(body, &options).map_err(|error| of_library(&error))?;
    let report = json(&converted.report())?;
    Ok(NativeOutcome { body: Some(converted.body.into()), report })
}

/// The JSON of a report.
pub(crate) fn json(report: &impl Serialize) -> Result<String> {
    serde_json::to_string(report).map_err(|error| failure("report", &error.to_string(), None))
}
