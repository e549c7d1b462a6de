//! An assembled response, for people and for programs.

use std::fmt::Write as _;

use seamline::Severity;
use seamline::classify::Class;
use seamline::report::ResponseOutcome;
use seamline::stream::{Ending, Piece, Response, ResponseBlock, ResponseCall, ResponseError, StreamFinding};
use serde::Serialize;

use super::style::{self, Paint};
use super::{ending, json as format, markdown, table, verdict};
use crate::{output, screen};

/// The width of the column of labels.
const LABEL_COLUMNS: usize = 13;
/// How many lines of one text are shown; `--format json` prints all.
const TEXT_LINES_MAX: usize = 6;
/// How many blocks are shown.
const BLOCKS_MAX: usize = 40;
/// How many findings are shown.
const FINDINGS_MAX: usize = 20;
const INDENT: &str = "  ";

/// The response for people, in lines of this width.
pub(crate) fn text(label: &str, response: &Response, width: usize) -> String {
    let mut page = Page { out: heading(label, response, width), width };
    page.blocks(response);
    page.findings(&response.findings);
    if let Some(error) = &response.error {
        page.error(error);
    } else if let Some(step) = ending::step(response) {
        page.out.push('\n');
        page.row("what to do", style::GOOD, &step);
    }
    page.out
}

/// The ending of the response, its dialect and its size, in one line if that fits.
fn heading(label: &str, response: &Response, width: usize) -> String {
    let (mark, paint) = match (response.ending, response.is_well()) {
        (Ending::Complete, true) => ("✓", style::GOOD),
        (Ending::Complete, false) => ("!", style::WARNING),
        _ => ("✗", style::ERROR),
    };
    let label = output::named(label);
    let runnable = response.calls.iter().filter(|call| call.executable).count();
    let calls = match (response.calls.len(), runnable) {
        (0, _) => "no calls".to_owned(),
        (all, 0) => format!("{}, none may run", screen::count(all, "call")),
        (1, 1) => "1 call that may run".to_owned(),
        (all, runnable) if all == runnable => format!("{} that may run", screen::count(all, "call")),
        (all, runnable) => format!("{}, {runnable} may run", screen::count(all, "call")),
    };
    let stop = response.stop_reason.as_deref().map(|word| format!(" · stop reason {}", screen::printable(word)));
    let about = format!("{} · {calls}{}", response.dialect, stop.unwrap_or_default());
    let (word, said) = (response.ending.as_str(), ending::said(response.ending));
    let mut out = format!("{} {}: {},", paint.paint(mark), style::STRONG.paint(&label), paint.paint(word));
    let columns = screen::columns(&format!("{mark} {label}: {word}, {said}"));
    let room = width.saturating_sub(INDENT.len());
    if columns <= width {
        let _ = writeln!(out, " {said}");
    } else {
        out.push('\n');
        for line in screen::wrap(said, room) {
            let _ = writeln!(out, "{INDENT}{line}");
        }
    }
    for line in screen::wrap(&about, room) {
        let _ = writeln!(out, "{INDENT}{}", style::FAINT.paint(&line));
    }
    out
}

/// Labelled rows, wrapped beside their label.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// The readable blocks; `--format json` prints the others, too.
    fn blocks(&mut self, response: &Response) {
        let legible: Vec<_> = response.blocks.iter().filter(|block| block.kind != Piece::Opaque).collect();
        if !legible.is_empty() {
            self.out.push('\n');
        }
        for block in legible.iter().take(BLOCKS_MAX) {
            match block.call_index.and_then(|index| response.calls.get(index)) {
                Some(call) => self.call(call),
                None => self.write_block(block),
            }
        }
        if legible.len() > BLOCKS_MAX {
            let more = screen::count(legible.len() - BLOCKS_MAX, "block");
            self.row("", style::PLAIN, &format!("… and {more} more; `--format json` has them all"));
        }
    }

    fn write_block(&mut self, block: &ResponseBlock) {
        let mut lines = self.shown(&block.text);
        if lines.is_empty() {
            lines.push("(nothing)".to_owned());
        }
        let paint = if block.kind == Piece::Text { style::PLAIN } else { style::FAINT };
        let lines: Vec<_> = lines.iter().map(|line| paint.paint(line)).collect();
        self.lines(block.kind.as_str(), style::kind(block.kind.as_str()), &lines);
    }

    /// The first lines of the model's text, in their layout.
    fn shown(&self, text: &str) -> Vec<String> {
        // Blank lines are skipped.
        let written = text.lines().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<_> =
            written.flat_map(|line| screen::fold(line, self.room())).take(TEXT_LINES_MAX + 1).collect();
        if lines.len() > TEXT_LINES_MAX {
            lines.truncate(TEXT_LINES_MAX);
            let count = screen::grouped(text.chars().count());
            let more = format!("… ({count} characters; `--format json` shows all of it)");
            lines.extend(screen::wrap(&more, self.room()));
        }
        lines
    }

    fn call(&mut self, call: &ResponseCall) {
        let id = if call.id.is_empty() { "(no id)" } else { &call.id };
        let mut lines = vec![format!(
            "{}  {}",
            style::STRONG.paint(&screen::printable(&call.name)),
            style::FAINT.paint(&screen::printable(id))
        )];
        lines.extend(self.shown(&call.arguments).iter().map(|line| style::CODE.paint(line)));
        match call.why_not {
            None => lines.push(style::GOOD.paint("may run")),
            Some(why) => {
                let why = format!("must not run: {why}");
                lines.extend(screen::wrap(&why, self.room()).iter().map(|line| style::ERROR.paint(line)));
            }
        }
        self.lines("call", style::CALL, &lines);
    }

    fn findings(&mut self, findings: &[StreamFinding]) {
        if findings.is_empty() {
            return;
        }
        let all = counted(findings);
        let row = |(finding, count): &(&StreamFinding, usize)| {
            let about = finding.call_id.as_deref().map(|id| format!("{}: ", screen::printable(id)));
            let message = about.unwrap_or_default() + finding.message + &seen(finding, *count);
            [finding.code.to_owned(), finding.name.to_owned(), message]
        };
        let rows: Vec<_> = all.iter().take(FINDINGS_MAX).map(row).collect();
        let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Info);
        let paints = [style::severity(worst), style::STRONG, style::PLAIN];
        let _ = writeln!(self.out, "\n{INDENT}{}", style::STRONG.paint("defects of the stream"));
        for line in table::render(&rows, paints, self.width.saturating_sub(2 * INDENT.len())).lines() {
            let _ = writeln!(self.out, "{INDENT}{INDENT}{}", line.trim_end());
        }
        if all.len() > FINDINGS_MAX {
            let more = screen::grouped(all.len() - FINDINGS_MAX);
            let _ = writeln!(self.out, "{INDENT}{INDENT}… and {more} more; `--format json` lists every one");
        }
        if let Some(first) = findings.first() {
            let more = format!("see `seamline explain {}`", first.code);
            let _ = writeln!(self.out, "{INDENT}{INDENT}{}", style::FAINT.paint(&more));
        }
    }

    fn error(&mut self, error: &ResponseError) {
        let verdict = &error.verdict;
        self.out.push('\n');
        let class = format!("{} · {}", verdict.class.as_str(), verdict.name);
        self.lines("error", class_paint(verdict.class), &[class_paint(verdict.class).paint(&class)]);
        let lines = screen::wrap(&screen::printable(&error.text), self.room());
        let quoted: Vec<_> = lines.iter().map(|line| style::FAINT.paint(line)).collect();
        self.lines("", style::PLAIN, &quoted);
        self.row("means", style::STRONG, verdict.meaning);
        let wait = verdict::wait(verdict);
        if !wait.is_empty() {
            self.row("wait", style::STRONG, &wait);
        }
        self.row("what to do", style::GOOD, verdict.advice);
        if verdict.class == Class::Corruption {
            self.row("", style::PLAIN, "see `seamline check request.json`, then `seamline fix --diff request.json`");
        }
    }

    /// A text of Seamline, with code between backticks.
    fn row(&mut self, label: &str, paint: Paint, text: &str) {
        let mut in_code = false;
        let lines = screen::wrap(text, self.room());
        let lines: Vec<_> = lines.iter().map(|line| markdown::inline(line, &mut in_code)).collect();
        self.lines(label, paint, &lines);
    }

    /// Lines of the given width, behind a label.
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

/// The number of occurrences of a finding, and its first frame.
fn seen(finding: &StreamFinding, count: usize) -> String {
    let times = screen::grouped(count);
    match (finding.frame, count) {
        (Some(frame), 1) => format!(", in frame {frame}"),
        (Some(frame), _) => format!(", {times} times, first in frame {frame}"),
        (None, 1) => String::new(),
        (None, _) => format!(", {times} times"),
    }
}

/// Each finding once, with its number of occurrences.
fn counted(findings: &[StreamFinding]) -> Vec<(&StreamFinding, usize)> {
    let mut all: Vec<(&StreamFinding, usize)> = Vec::new();
    for finding in findings {
        let reads_alike = |other: &StreamFinding| (other.code, &other.call_id) == (finding.code, &finding.call_id);
        match all.iter_mut().find(|(other, _)| reads_alike(other)) {
            Some((_, count)) => *count += 1,
            None => all.push((finding, 1)),
        }
    }
    all
}

fn class_paint(class: Class) -> Paint {
    match class {
        Class::Corruption | Class::Fatal => style::ERROR,
        Class::Filter | Class::Overflow => style::WARNING,
        Class::Transient => style::INFO,
    }
}

/// The response for programs.
pub(crate) fn json(label: &str, response: &Response) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        version: u32,
        path: &'a str,
        #[serde(flatten)]
        outcome: ResponseOutcome<'a>,
    }
    format::text(&Document { version: 1, path: label, outcome: response.report().outcome }) + "\n"
}
