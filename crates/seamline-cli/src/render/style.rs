//! Colours by their meaning.

use anstyle::{AnsiColor, Style};

/// A colour with a meaning.
#[derive(Clone, Copy)]
pub(crate) struct Paint(Style);

pub(crate) const ERROR: Paint = Paint(AnsiColor::Red.on_default().bold());
pub(crate) const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());
pub(crate) const INFO: Paint = Paint(AnsiColor::Blue.on_default().bold());
pub(crate) const HINT: Paint = Paint(AnsiColor::Cyan.on_default().bold());
pub(crate) const GOOD: Paint = Paint(AnsiColor::Green.on_default().bold());
pub(crate) const ADDED: Paint = Paint(AnsiColor::Green.on_default());
pub(crate) const REMOVED: Paint = Paint(AnsiColor::Red.on_default());
pub(crate) const CHANGED: Paint = Paint(AnsiColor::Yellow.on_default());
pub(crate) const STRONG: Paint = Paint(Style::new().bold());
pub(crate) const FAINT: Paint = Paint(Style::new().dimmed());
pub(crate) const LINE: Paint = Paint(AnsiColor::Blue.on_default());
pub(crate) const CALL: Paint = Paint(AnsiColor::Magenta.on_default());
pub(crate) const RESULT: Paint = Paint(AnsiColor::Cyan.on_default());
pub(crate) const CODE: Paint = Paint(AnsiColor::Cyan.on_default());
pub(crate) const PLAIN: Paint = Paint(Style::new());

impl Paint {
    pub(crate) fn paint(self, text: &str) -> String {
        if text.is_empty() || self.0 == Style::new() {
            return text.to_owned();
        }
        format!("{}{text}{}", self.0.render(), self.0.render_reset())
    }
}

/// The colour of a severity.
pub(crate) fn severity(severity: seamline::Severity) -> Paint {
    match severity {
        seamline::Severity::Error => ERROR,
        seamline::Severity::Warning => WARNING,
        seamline::Severity::Info => INFO,
    }
}

/// The colour of a safety.
pub(crate) fn safety(safety: seamline::Safety) -> Paint {
    match safety {
        seamline::Safety::Safe => GOOD,
        seamline::Safety::Unsafe | seamline::Safety::Unknown => WARNING,
        seamline::Safety::DisplayOnly => FAINT,
    }
}

/// The colour of a kind of block.
pub(crate) fn kind(kind: &str) -> Paint {
    match kind {
        "call" | "server call" => CALL,
        "result" | "server result" => RESULT,
        "text" => PLAIN,
        _ => FAINT,
    }
}

/// The colours of help and usage errors.
pub(crate) const HELP: clap::builder::Styles = clap::builder::Styles::styled()
    .header(Style::new().bold().underline())
    .usage(Style::new().bold().underline())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());
