//! The catalogue: errors of providers, codes of findings, presets, endpoints.

use napi::Result;
use napi_derive::napi;
use seamline::endpoint::Endpoint;
use seamline::json::GivenFailure;
use seamline::report::VerdictReport;
use serde_json::json;

use crate::bodies;
use crate::failure::read;

/// Classifies an error of a provider and returns the report.
#[napi(catch_unwind)]
pub fn classify(failure: String) -> Result<String> {
    let given = read(&failure, GivenFailure::from_json)?;
    bodies::json(&VerdictReport::of(&seamline::classify(&given.failure(&given.headers()))))
}

/// The documentation of a code or name, as JSON; absent where there is none.
#[napi(catch_unwind)]
pub fn explain(code: String) -> Option<String> {
    let rule = seamline::rules::rule(&code).map(|rule| {
        let documentation = seamline::rules::documentation(rule);
        (rule.code, rule.name, rule.severity, rule.group.as_str(), documentation)
    });
    let flaw = || {
        let kind = seamline::stream::flaw(&code)?;
        Some((kind.code, kind.name, kind.severity, "stream", seamline::stream::flaw_documentation(kind)))
    };
    let defect = || {
        let kind = seamline::files::defect(&code)?;
        let severity = seamline::files::defect_severity(kind);
        Some((kind.code, kind.name, severity, "files", seamline::files::defect_documentation(kind)))
    };
    let (code, name, severity, group, documentation) = rule.or_else(flaw).or_else(defect)?;
    let entry = json!({
        "code": code, "name": name, "severity": severity.as_str(), "group": group, "documentation": documentation,
    });
    Some(entry.to_string())
}

/// The names of the presets of policies.
#[napi]
pub fn presets() -> Vec<&'static str> {
    seamline::policy::PRESETS.iter().map(|preset| preset.name).collect()
}

/// The dialect, the model and the provider of a request, as JSON.
#[napi(catch_unwind)]
pub fn endpoint(method: String, url: String) -> String {
    let Endpoint { dialect, model, provider, .. } = Endpoint::of_url(&method, &url);
    json!({ "dialect": dialect, "model": model, "provider": provider }).to_string()
}
