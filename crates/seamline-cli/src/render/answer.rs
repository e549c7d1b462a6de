//! What came of a streamed answer, for people and for programs.

use std::fmt::Write as _;

use seamline::{Answer, AnswerBlock, AnswerCall, AnswerError, Class, Ending, Severity, StreamFinding};
use serde::Serialize;
use serde_json::value::RawValue;

use super::style::{self, Paint};
use super::{json as format, markdown, table};
use crate::screen;

/// Columns of the labels beside which everything stands.
const LABEL_COLUMNS: usize = 13;
/// Lines of one text that are shown; `--format json` has all of it.
const TEXT_LINES_MAX: usize = 6;
/// Blocks that are shown.
const BLOCKS_MAX: usize = 40;
/// Findings that are shown.
const FINDINGS_MAX: usize = 20;
const INDENT: &str = "  ";

/// For people, in lines of this width.
pub(crate) fn text(label: &str, answer: &Answer, width: usize) -> String {
    let mut page = Page { out: heading(label, answer), width };
    page.blocks(answer);
    page.findings(&answer.findings);
    if let Some(error) = &answer.error {
        page.error(error);
    } else if let Some(step) = step(answer) {
        page.out.push('\n');
        page.row("what to do", style::GOOD, step);
    }
    page.out
}

/// How it ended, in one line, and what it is.
fn heading(label: &str, answer: &Answer) -> String {
    let (mark, paint) = match (answer.ending, answer.is_well()) {
        (Ending::Complete, true) => ("✓", style::GOOD),
        (Ending::Complete, false) => ("!", style::WARNING),
        _ => ("✗", style::ERROR),
    };
    let label = screen::printable(if label == "-" { "standard input" } else { label });
    let runnable = answer.calls.iter().filter(|call| call.executable).count();
    let calls = match (answer.calls.len(), runnable) {
        (0, _) => "no calls".to_owned(),
        (all, 0) => format!("{}, none to be run", screen::count(all, "call")),
        (1, 1) => "1 call to be run".to_owned(),
        (all, runnable) if all == runnable => format!("{} to be run", screen::count(all, "call")),
        (all, runnable) => format!("{}, {runnable} to be run", screen::count(all, "call")),
    };
    let stop = answer.stop_reason.as_deref().map(|word| format!(" · stop reason {}", screen::printable(word)));
    let about = format!("{} · {calls}{}", answer.dialect, stop.unwrap_or_default());
    format!(
        "{} {}: {}, {}\n{INDENT}{}\n",
        paint.paint(mark),
        style::STRONG.paint(&label),
        paint.paint(answer.ending.as_str()),
        said(answer.ending),
        style::FAINT.paint(&about)
    )
}

/// What an ending means.
fn said(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "the provider said all it wanted",
        Ending::Length => "the limit of the answer was reached",
        Ending::CutCall => "the limit of the answer was reached while a call was being written",
        Ending::Truncated => "the stream stopped before the provider said that it was done",
        Ending::Filtered => "it was filtered, or the model refused",
        Ending::Failed => "the provider failed, or what it sent could not be read",
        Ending::Stalled => "nothing came for too long",
        Ending::Aborted => "nobody wanted the rest",
    }
}

/// What to do about an ending that no error explains.
fn step(answer: &Answer) -> Option<&'static str> {
    match answer.ending {
        Ending::Complete | Ending::Failed => None,
        Ending::Length => Some("ask it to go on, or ask again with a higher limit"),
        Ending::CutCall => Some("ask again with a higher limit; do not run the call that was cut, nor answer it"),
        Ending::Truncated | Ending::Stalled if answer.blocks.is_empty() => Some("ask again"),
        Ending::Truncated | Ending::Stalled => {
            Some("ask again; if what there is goes into the history, run none of its calls and mark it as cut short")
        }
        Ending::Filtered => Some("ask otherwise; the same request is filtered again"),
        Ending::Aborted => Some("keep what was said, and leave out calls that are not whole"),
    }
}

/// Labelled rows, wrapped beside their label.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// What people can read; the rest is in the message all the same.
    fn blocks(&mut self, answer: &Answer) {
        let legible: Vec<_> = answer.blocks.iter().filter(|block| block.kind != "other").collect();
        if !legible.is_empty() {
            self.out.push('\n');
        }
        for block in legible.iter().take(BLOCKS_MAX) {
            match block.call_index.and_then(|index| answer.calls.get(index)) {
                Some(call) => self.call(call),
                None => self.said(block),
            }
        }
        if legible.len() > BLOCKS_MAX {
            let more = screen::count(legible.len() - BLOCKS_MAX, "block");
            self.row("", style::PLAIN, &format!("… and {more} more; `--format json` has them all"));
        }
    }

    fn said(&mut self, block: &AnswerBlock) {
        let mut lines = Vec::new();
        for line in block.text.trim_end().lines() {
            // Blank lines say nothing here.
            if lines.len() > TEXT_LINES_MAX {
                break;
            }
            if !line.trim().is_empty() {
                lines.extend(screen::wrap(&screen::printable(line), self.room()));
            }
        }
        if lines.len() > TEXT_LINES_MAX {
            lines.truncate(TEXT_LINES_MAX);
            let count = screen::grouped(block.text.chars().count());
            lines.push(format!("… ({count} characters in all)"));
        }
        if lines.is_empty() {
            lines.push("(nothing)".to_owned());
        }
        let paint = if block.kind == "text" { style::PLAIN } else { style::FAINT };
        let lines: Vec<_> = lines.iter().map(|line| paint.paint(line)).collect();
        self.lines(block.kind, style::kind(block.kind), &lines);
    }

    fn call(&mut self, call: &AnswerCall) {
        let id = if call.id.is_empty() { "(no id)" } else { &call.id };
        let mut lines = vec![format!(
            "{}  {}",
            style::STRONG.paint(&screen::printable(&call.name)),
            style::FAINT.paint(&screen::printable(id))
        )];
        let mut input = screen::wrap(&screen::printable(&call.arguments), self.room());
        if input.len() > TEXT_LINES_MAX {
            input.truncate(TEXT_LINES_MAX);
            input.push(format!("… ({} bytes in all)", screen::grouped(call.arguments.len())));
        }
        lines.extend(input.iter().map(|line| style::CODE.paint(line)));
        match call.why_not {
            None => lines.push(style::GOOD.paint("may be run")),
            Some(why) => {
                let why = format!("not to be run: {why}");
                lines.extend(screen::wrap(&why, self.room()).iter().map(|line| style::ERROR.paint(line)));
            }
        }
        self.lines("call", style::CALL, &lines);
    }

    fn findings(&mut self, findings: &[StreamFinding]) {
        if findings.is_empty() {
            return;
        }
        let row = |finding: &StreamFinding| {
            let about = finding.call_id.as_deref().map(|id| format!("{}: ", screen::printable(id)));
            let message = about.unwrap_or_default() + finding.message;
            [finding.code.to_owned(), finding.name.to_owned(), message]
        };
        let rows: Vec<_> = findings.iter().take(FINDINGS_MAX).map(row).collect();
        let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Info);
        let paints = [style::severity(worst), style::STRONG, style::PLAIN];
        let _ = writeln!(self.out, "\n{INDENT}{}", style::STRONG.paint("wrong with the stream"));
        for line in table::render(&rows, paints, self.width.saturating_sub(2 * INDENT.len())).lines() {
            let _ = writeln!(self.out, "{INDENT}{INDENT}{}", line.trim_end());
        }
        if findings.len() > FINDINGS_MAX {
            let more = screen::grouped(findings.len() - FINDINGS_MAX);
            let _ = writeln!(self.out, "{INDENT}{INDENT}… and {more} more; `--format json` lists every one");
        }
        if let Some(first) = findings.first() {
            let more = format!("more with `seamline explain {}`", first.code);
            let _ = writeln!(self.out, "{INDENT}{INDENT}{}", style::FAINT.paint(&more));
        }
    }

    fn error(&mut self, error: &AnswerError) {
        let verdict = &error.verdict;
        self.out.push('\n');
        let class = format!("{} · {}", verdict.class.as_str(), verdict.name);
        self.lines("error", class_paint(verdict.class), &[class_paint(verdict.class).paint(&class)]);
        let lines = screen::wrap(&screen::printable(&error.text), self.room());
        let quoted: Vec<_> = lines.iter().map(|line| style::FAINT.paint(line)).collect();
        self.lines("", style::PLAIN, &quoted);
        self.row("means", style::STRONG, verdict.meaning);
        self.row("what to do", style::GOOD, verdict.advice);
    }

    /// Our own words, with code between backticks.
    fn row(&mut self, label: &str, paint: Paint, text: &str) {
        let mut in_code = false;
        let lines = screen::wrap(text, self.room());
        let lines: Vec<_> = lines.iter().map(|line| markdown::inline(line, &mut in_code)).collect();
        self.lines(label, paint, &lines);
    }

    /// Lines that fit, behind a label.
    fn lines(&mut self, label: &str, paint: Paint, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(screen::columns(label)));
            let _ = writeln!(self.out, "{INDENT}{}{gap}{line}", paint.paint(label));
        }
    }

    fn room(&self) -> usize {
        self.width.saturating_sub(LABEL_COLUMNS + INDENT.len())
    }
}

fn class_paint(class: Class) -> Paint {
    match class {
        Class::Corruption | Class::Fatal => style::ERROR,
        Class::Filter | Class::Overflow => style::WARNING,
        Class::Transient => style::INFO,
    }
}

/// For programs.
pub(crate) fn json(label: &str, answer: &Answer) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        version: u32,
        path: &'a str,
        dialect: &'a str,
        ending: &'a str,
        cut: Option<&'a str>,
        stop_reason: Option<&'a str>,
        message: Option<&'a RawValue>,
        calls: &'a [AnswerCall],
        findings: &'a [StreamFinding],
        error: Option<Error<'a>>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        class: &'a str,
        name: &'a str,
        text: &'a str,
        advice: &'a str,
        retry_after_ms: Option<u64>,
    }
    let error = answer.error.as_ref().map(|error| Error {
        class: error.verdict.class.as_str(),
        name: error.verdict.name,
        text: &error.text,
        advice: error.verdict.advice,
        retry_after_ms: error.verdict.retry_after.map(|wait| wait.as_millis() as u64),
    });
    let document = Document {
        version: 1,
        path: label,
        dialect: answer.dialect,
        ending: answer.ending.as_str(),
        cut: answer.ending.cut(),
        stop_reason: answer.stop_reason.as_deref(),
        message: serde_json::from_str(&answer.message).ok(),
        calls: &answer.calls,
        findings: &answer.findings,
        error,
    };
    format::text(&document) + "\n"
}
