//! Markdown for a terminal: headings, code and emphasis.

use std::fmt::Write as _;

use super::style;
use crate::screen;

/// The indentation of paragraphs below their heading.
const INDENT: &str = "  ";

/// Renders the Markdown of rule pages for people.
pub(crate) fn render(markdown: &str, width: usize) -> String {
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            flush(&mut out, &mut paragraph, width);
            in_code = !in_code;
        } else if in_code {
            let _ = writeln!(out, "{INDENT}{INDENT}{}", style::CODE.paint(&screen::printable(line)));
        } else if let Some(heading) = heading(line) {
            flush(&mut out, &mut paragraph, width);
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
            let _ = writeln!(out, "{}", style::STRONG.paint(heading));
        } else if line.trim().is_empty() {
            flush(&mut out, &mut paragraph, width);
            if !out.ends_with("\n\n") && !out.is_empty() {
                out.push('\n');
            }
        } else {
            if is_item(line) {
                flush(&mut out, &mut paragraph, width);
            }
            paragraph += line.trim();
            paragraph.push(' ');
        }
    }
    flush(&mut out, &mut paragraph, width);
    out.trim_end().to_owned() + "\n"
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ")
}

fn flush(out: &mut String, paragraph: &mut String, width: usize) {
    if paragraph.trim().is_empty() {
        return;
    }
    let mut in_code = false;
    for line in screen::wrap(paragraph, width.saturating_sub(INDENT.len())) {
        let _ = writeln!(out, "{INDENT}{}", inline(&line, &mut in_code));
    }
    paragraph.clear();
}

/// Renders text between backticks as code; a piece may continue on the next line.
pub(super) fn inline(line: &str, in_code: &mut bool) -> String {
    let mut out = String::new();
    for (index, piece) in line.split('`').enumerate() {
        if index > 0 {
            *in_code = !*in_code;
        }
        let paint = if *in_code { style::CODE } else { style::PLAIN };
        out += &paint.paint(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_paragraphs_and_code_are_rendered_differently() {
        let shown = render("# One\nsome `code`\nhere\n\n```json\n{}\n```\n# Two\nx\n", 80);
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), "One\n  some code here\n\n    {}\n\nTwo\n  x\n");
    }
}
