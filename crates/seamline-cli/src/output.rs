//! Standard output and standard error: the only place that writes to them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::style;
use crate::screen;

/// Standard output. After its reader closed it, further output is dropped.
pub(crate) struct Output {
    text: anstream::AutoStream<std::io::Stdout>,
    state: State,
}

enum State {
    Open,
    Gone,
    Failed(Failure),
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { text: anstream::AutoStream::auto(std::io::stdout()), state: State::Open }
    }

    /// Writes text; its styles reach terminals only.
    pub(crate) fn text(&mut self, text: &str) {
        if matches!(self.state, State::Open) {
            let written = self.text.write_all(text.as_bytes());
            self.note(written);
        }
    }

    /// Writes bytes unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Open) {
            let mut stdout = std::io::stdout().lock();
            let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
            self.note(written);
        }
    }

    /// Passes everything on to the reader, who may be waiting.
    pub(crate) fn flush(&mut self) {
        if matches!(self.state, State::Open) {
            let written = self.text.flush();
            self.note(written);
        }
    }

    /// Whether the reader closed standard output.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.state, State::Gone)
    }

    /// Flushes the output and returns the exit status.
    pub(crate) fn finish(mut self, exit: Exit) -> Exit {
        let written = self.text.flush();
        self.note(written);
        match &self.state {
            State::Open | State::Gone => exit,
            State::Failed(failure) => {
                complain_about("standard output", failure);
                Exit::Failed
            }
        }
    }

    fn note(&mut self, written: std::io::Result<()>) {
        match (written, &self.state) {
            (Err(error), State::Open) if error.kind() == ErrorKind::BrokenPipe => {
                self.state = State::Gone;
            }
            (Err(error), State::Open) => self.state = State::Failed(Failure::io("write", &error)),
            _ => {}
        }
    }
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Prints a failure on standard error.
pub(crate) fn complain(failure: &Failure) {
    say(&complaint(&failure.message, failure));
}

/// Prints a failure about an input on standard error.
pub(crate) fn complain_about(label: &str, failure: &Failure) {
    let message = format!("{}: {}", named(label), failure.message);
    say(&complaint(&message, failure));
}

/// The name of an input in messages.
pub(crate) fn named(label: &str) -> Cow<'_, str> {
    screen::printable(if label == "-" { "standard input" } else { label })
}

fn complaint(message: &str, failure: &Failure) -> String {
    let mut text = labelled("seamline", style::ERROR, message);
    if let Some(hint) = &failure.hint {
        text += &labelled("hint", style::HINT, hint);
    }
    text
}

/// Puts a label before a text, and wraps it to the width of the terminal.
fn labelled(label: &str, paint: style::Paint, text: &str) -> String {
    let mut out = String::new();
    for line in screen::printable_lines(text).lines() {
        let line = if out.is_empty() { format!("{label}: {line}") } else { line.to_owned() };
        let lines = match screen::error_width() {
            // Lines with a layout keep it.
            Some(width) if !line.starts_with(' ') => {
                screen::sentence(&line, width).lines().map(str::to_owned).collect()
            }
            _ => vec![line],
        };
        for line in lines {
            let _ = match line.strip_prefix(label) {
                Some(rest) if out.is_empty() => writeln!(out, "{}{rest}", paint.paint(label)),
                _ => writeln!(out, "{line}"),
            };
        }
    }
    out
}

/// Asks the user at the terminal for consent; `None` without a terminal.
pub(crate) fn ask(question: &str) -> Option<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let lines = screen::wrap(&format!("{} [y/N]", screen::printable(question)), screen::width_aside());
    say(&format!("{} ", lines.join("\n")));
    let mut line = String::new();
    // A closed terminal means no consent.
    let _ = std::io::stdin().read_line(&mut line);
    Some(matches!(line.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// Writes text to standard error and ignores a failure, which could not be reported.
pub(crate) fn say(text: &str) {
    let mut stderr = anstream::AutoStream::auto(std::io::stderr());
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// Says what to know about a body, if there is something to know.
pub(crate) fn say_note(label: &str, note: Option<&str>) {
    if let Some(note) = note {
        say(&format!("seamline: {}: {note}\n", screen::printable(label)));
    }
}
