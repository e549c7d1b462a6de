//! SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::fmt::Write as _;

use seamline::{Finding, Severity};
use serde_json::{Value, json};

use super::lines::Lines;
use super::{Examined, Places, json::text};
use crate::commands::rules::DEFECT_GROUP;
use crate::failure::Failure;

/// The text before the results.
pub(crate) fn opening() -> String {
    let defects = seamline::files::DEFECTS.iter().copied().map(defect);
    let rules: Vec<Value> = seamline::rules::RULES.iter().copied().map(rule).chain(defects).collect();
    let driver = json!({
        "name": "seamline",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
    });
    format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\
         \"runs\":[{{\"tool\":{{\"driver\":{}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[",
        text(&driver)
    )
}

/// The findings of one body, separated by commas.
pub(crate) fn document(examined: &Examined<'_>) -> String {
    let lines = Lines::new(examined.body);
    let results: Vec<_> = examined.findings.iter().map(|finding| text(&result(examined, &lines, finding))).collect();
    results.join(",")
}

/// The text after the results, with the bodies that could not be read.
pub(crate) fn closing(failures: &[(String, Failure)]) -> String {
    let notifications: Vec<Value> = failures
        .iter()
        .map(|(label, failure)| {
            let hint = failure.hint.as_ref();
            let hint = hint.map(|hint| format!("; hint: {hint}"));
            let message = format!("{}{}", failure.message, hint.unwrap_or_default());
            json!({
                "level": "error",
                "message": { "text": message },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(label) } } }],
            })
        })
        .collect();
    let invocation = json!({
        "executionSuccessful": failures.is_empty(),
        "toolExecutionNotifications": notifications,
    });
    format!("],\"invocations\":[{}]}}]}}\n", text(&invocation))
}

fn rule(rule: &seamline::rules::Rule) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.summary() },
        "help": { "text": format!("`seamline explain {}` says more.", rule.code), "markdown": seamline::rules::documentation(rule) },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "group": rule.group.as_str(), "safety": rule.safety.as_str() },
    })
}

/// A defect of session files as a rule.
fn defect(kind: &seamline::files::DefectKind) -> Value {
    json!({
        "id": kind.code,
        "name": kind.name,
        "shortDescription": { "text": seamline::files::defect_summary(kind) },
        "help": { "text": format!("`seamline explain {}` says more.", kind.code), "markdown": seamline::files::defect_documentation(kind) },
        "defaultConfiguration": { "level": level(seamline::files::defect_severity(kind)) },
        "properties": { "group": DEFECT_GROUP, "safety": seamline::Safety::Safe.as_str() },
    })
}

/// The position of the rule or defect with a code in the list of all of them. `BUG001` reports a defect of Seamline and
/// has no rule.
fn rule_index(code: &str) -> Option<usize> {
    let rules = seamline::rules::RULES.iter().map(|rule| rule.code);
    rules.chain(seamline::files::DEFECTS.iter().map(|kind| kind.code)).position(|known| known == code)
}

/// The place of a finding in its body, or in the session file whose conversation the body is.
fn region(examined: &Examined<'_>, lines: &Lines<'_>, finding: &Finding) -> Value {
    match examined.places {
        Places::File => return json!({ "startLine": finding.line.unwrap_or(1) }),
        // A row has no line, and a record in a file of its own begins with its first line.
        Places::Records(_) => return json!({ "startLine": 1 }),
        Places::Body | Places::Joined => {}
    }
    let (start, end) = (lines.position(finding.span.start), lines.position(finding.span.end));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": finding.span.start,
        "byteLength": finding.span.len(),
    })
}

fn result(examined: &Examined<'_>, lines: &Lines<'_>, finding: &Finding) -> Value {
    let mut message = finding.message.clone();
    if let Some(predicts) = &finding.predicts {
        let _ = write!(message, "; the provider would return: {predicts}");
    }
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(examined.file_of(finding)) },
                "region": region(examined, lines, finding),
            },
            "logicalLocations": [{ "fullyQualifiedName": finding.pointer }],
        }],
        "properties": {
            "callId": finding.call_id,
            "fix": finding.fix,
        },
    });
    if let Some(index) = rule_index(finding.code) {
        result["ruleIndex"] = json!(index);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a URI reference.
fn uri(label: &str) -> String {
    let mut out = String::new();
    for byte in label.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
