//! The report of `seamline doctor`, for programs.

use seamline::{Finding, Severity};
use serde::Serialize;

use super::super::json;
use super::{Broken, Checkup, Fixed, Session};
use crate::failure::Failure;

/// One program.
#[derive(Serialize)]
struct ProgramReport<'a> {
    program: &'a str,
    sessions: usize,
    healthy: usize,
    broken: usize,
    fixable: usize,
    fixed: usize,
    with_warnings: usize,
    unread: usize,
    kinds: &'a std::collections::BTreeMap<&'static str, usize>,
}

/// One session.
#[derive(Serialize)]
struct SessionReport<'a> {
    path: String,
    program: &'a str,
    session: Option<&'a str>,
    title: Option<&'a str>,
    folder: Option<&'a str>,
    model: Option<&'a str>,
    updated: Option<&'a str>,
    is_subagent: bool,
    healthy: bool,
    /// Whether it may wait for the tool that it called last.
    may_be_running: bool,
    findings: &'a [Finding],
    last_request: Option<&'a str>,
    open_calls: &'a [String],
    repair: Option<RepairReport<'a>>,
    fixed: Option<FixedReport<'a>>,
    resume: Option<&'a str>,
}

/// The changes that a repair would make.
#[derive(Serialize)]
struct RepairReport<'a> {
    steps: Vec<&'a str>,
    lost_bytes: usize,
    dropped: usize,
    refusal: Option<&'static str>,
    errors_left: usize,
}

/// The result of a repair that was written.
#[derive(Serialize)]
struct FixedReport<'a> {
    written: bool,
    in_use: Option<&'a str>,
    error: Option<&'a Failure>,
    quarantine: Option<String>,
}

/// The report as one object.
pub(crate) fn json(checkup: &Checkup, searched: &[String], failures: &[(String, Failure)]) -> String {
    #[derive(Serialize)]
    struct Unreadable<'a> {
        path: &'a str,
        error: &'a Failure,
    }
    #[derive(Serialize)]
    struct FileLayout<'a> {
        version: u32,
        searched: &'a [String],
        programs: Vec<ProgramReport<'a>>,
        sessions: Vec<SessionReport<'a>>,
        failed: Vec<Unreadable<'a>>,
    }
    let programs = checkup.programs.iter().map(|(program, numbers)| ProgramReport {
        program,
        sessions: numbers.sessions,
        healthy: numbers.healthy,
        broken: numbers.broken,
        fixable: numbers.fixable,
        fixed: numbers.fixed,
        with_warnings: numbers.warned,
        unread: numbers.unread,
        kinds: &numbers.kinds,
    });
    let document = FileLayout {
        version: 1,
        searched,
        programs: programs.collect(),
        sessions: checkup.shown.iter().map(session).collect(),
        failed: failures.iter().map(|(path, error)| Unreadable { path, error }).collect(),
    };
    json::text(&document) + "\n"
}

fn session(session: &Session) -> SessionReport<'_> {
    let broken = session.broken.as_ref();
    let about = &session.about;
    SessionReport {
        path: session.path.display().to_string(),
        program: session.program.name,
        session: about.id.as_deref(),
        title: about.title.as_deref(),
        folder: about.folder.as_deref(),
        model: about.model.as_deref(),
        updated: about.updated.as_deref(),
        is_subagent: about.is_subagent,
        healthy: session.findings.iter().all(|finding| finding.severity < Severity::Error),
        may_be_running: session.waiting.is_some(),
        findings: &session.findings,
        last_request: broken.and_then(|broken| broken.request.as_deref()),
        open_calls: broken.map_or(&[], |broken| &broken.open_calls),
        repair: broken.and_then(repair),
        fixed: broken.and_then(|broken| broken.fixed.as_ref()).map(fixed),
        resume: session.continuation(),
    }
}

fn repair(broken: &Broken) -> Option<RepairReport<'_>> {
    broken.plan.as_ref().map(|plan| RepairReport {
        steps: plan.steps.iter().map(|(step, _)| step.as_str()).collect(),
        lost_bytes: plan.lost_bytes,
        dropped: plan.dropped,
        refusal: plan.refusal,
        errors_left: plan.left,
    })
}

fn fixed(fixed: &Fixed) -> FixedReport<'_> {
    let mut report = FixedReport { written: false, in_use: None, error: None, quarantine: None };
    match fixed {
        Fixed::Written { quarantine } => {
            report.written = true;
            report.quarantine = quarantine.as_ref().map(|path| path.display().to_string());
        }
        Fixed::InUse(reason) => report.in_use = Some(reason),
        Fixed::Failed(failure) => report.error = Some(failure),
    }
    report
}
