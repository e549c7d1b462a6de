//! The catalogue of errors of providers, codes of findings, and presets.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::json::GivenFailure;
use seamline::report::VerdictReport;
use serde_json::json;

use crate::bodies;
use crate::choices;

/// Classifies an error of a provider and returns the report.
#[pyfunction]
pub(crate) fn classify<'py>(py: Python<'py>, failure: &str) -> PyResult<Bound<'py, PyBytes>> {
    let given = choices::read(py, failure, GivenFailure::from_json)?;
    let report = py.detach(|| bodies::json(&VerdictReport::of(&seamline::classify(&given.failure(&given.headers())))));
    Ok(PyBytes::new(py, &report))
}

/// The documentation of a code or name; `None` where there is none.
#[pyfunction]
pub(crate) fn explain<'py>(py: Python<'py>, code: &str) -> Option<Bound<'py, PyBytes>> {
    let rule = seamline::rules::rule(code).map(|rule| {
        let documentation = seamline::rules::documentation(rule);
        (rule.code, rule.name, rule.severity, rule.group.as_str(), documentation)
    });
    let flaw = || {
        let kind = seamline::stream::flaw(code)?;
        Some((kind.code, kind.name, kind.severity, "stream", seamline::stream::flaw_documentation(kind)))
    };
    let defect = || {
        let kind = seamline::files::defect(code)?;
        let severity = seamline::files::defect_severity(kind);
        Some((kind.code, kind.name, severity, "files", seamline::files::defect_documentation(kind)))
    };
    let (code, name, severity, group, documentation) = rule.or_else(flaw).or_else(defect)?;
    let entry = json!({
        "code": code, "name": name, "severity": severity.as_str(), "group": group, "documentation": documentation,
    });
    Some(PyBytes::new(py, &bodies::json(&entry)))
}

/// The dialect, the model and the provider that a method and a URL tell; the dialect is `None` where the body is not a
/// conversation.
#[pyfunction]
pub(crate) fn endpoint(method: &str, url: &str) -> (Option<&'static str>, Option<String>, Option<&'static str>) {
    let endpoint = seamline::endpoint::Endpoint::of_url(method, url);
    (endpoint.dialect, endpoint.model, endpoint.provider)
}

/// The names of the presets of policies.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    seamline::policy::PRESETS.iter().map(|preset| preset.name).collect()
}
