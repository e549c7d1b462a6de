//! The output of `fix` while it repairs bodies.

use std::path::PathBuf;

use super::{Done, Fix, Fixed, about};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::replace;
use crate::input::{Input, Inputs};
use crate::output::{self, Output};
use crate::render::repair::{self, Total};
use crate::render::series::Series;

/// Prints the outcome of each body and counts them.
pub(super) struct Account<'f> {
    fix: &'f Fix,
    output: Output,
    /// Standard output holds the body, so everything else goes to standard error.
    speaks_aside: bool,
    /// There is only one body.
    is_alone: bool,
    series: Series,
    reports: Series,
    report: String,
    total: Total,
    /// A body has members that the provider has rejected, or the error is about another body.
    is_rejected: bool,
    /// The files of the bodies. The report quotes them, so it is as private as they are.
    sources: Vec<PathBuf>,
}

impl<'f> Account<'f> {
    pub(super) fn open(fix: &'f Fix, inputs: &Inputs) -> Self {
        let reports = Series::new(Format::Json);
        let mut account = Self {
            fix,
            output: Output::new(),
            speaks_aside: !fix.diff && fix.output.is_none() && (fix.stdout || inputs.has_stdin()),
            is_alone: inputs.list.len() == 1,
            series: Series::new(fix.format),
            report: reports.opening(),
            reports,
            total: Total::default(),
            is_rejected: false,
            sources: inputs.list.iter().filter_map(Input::real_path).collect(),
        };
        let opening = account.series.opening();
        account.tell(&opening);
        account
    }

    /// Adds the outcomes of one input.
    pub(super) fn add(&mut self, all: Vec<Done>) {
        self.is_alone &= all.len() == 1;
        for done in all {
            match done.outcome {
                Ok(fixed) => self.add_fixed(fixed),
                Err(failure) => self.add_failed(&done.label, &failure),
            }
        }
    }

    pub(super) fn close(mut self) -> Result<Exit, Failure> {
        let closing = self.series.closing();
        self.tell(&closing);
        if self.fix.format == Format::Text && !self.is_alone {
            let summary = repair::summary(&self.total, self.fix.diff);
            self.tell(&summary);
        }
        if let Some(path) = &self.fix.report {
            let report = self.report + &self.reports.closing();
            let sources = self.sources.iter().map(PathBuf::as_path);
            replace::write(path, &[report.as_bytes()], sources).map_err(|failure| about(path, failure))?;
        }
        // A body that was not read counts as not written.
        let is_lost = self.output.is_gone() && self.speaks_aside;
        let exit = match exit(&self.total) {
            _ if is_lost => Exit::Failed,
            Exit::Clean if self.is_rejected => Exit::Findings,
            exit => exit,
        };
        Ok(self.output.finish(exit))
    }

    fn add_fixed(&mut self, fixed: Fixed) {
        self.report += &self.reports.next(fixed.report.unwrap_or_default());
        self.total.add(fixed.changed, fixed.remaining);
        self.is_rejected |= fixed.is_rejected;
        self.total.sessions += usize::from(fixed.is_session);
        if let Some(body) = &fixed.body {
            self.output.bytes(body);
        }
        // A list of many bodies omits those without changes and findings.
        let is_worth_telling = fixed.changed || fixed.has_findings || self.fix.format != Format::Text;
        if is_worth_telling || (self.is_alone && !self.speaks_aside) {
            let text = self.series.next(fixed.text);
            self.tell(&text);
        }
    }

    fn add_failed(&mut self, label: &str, failure: &Failure) {
        output::complain_about(label, failure);
        self.report += &self.reports.next_failed(label, failure.clone());
        self.total.failed += 1;
        let text = self.series.next_failed(label, failure.clone());
        self.tell(&text);
    }

    /// Prints text to standard output, or to standard error if standard output holds the body.
    fn tell(&mut self, text: &str) {
        if self.speaks_aside {
            output::say(text);
        } else {
            self.output.text(text);
        }
    }
}

fn exit(total: &Total) -> Exit {
    if total.failed > 0 {
        Exit::Failed
    } else if total.still_wrong > 0 {
        Exit::Findings
    } else {
        Exit::Clean
    }
}
