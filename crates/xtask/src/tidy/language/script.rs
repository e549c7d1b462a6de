//! The comments of a text, in the languages of the project.

use std::path::Path;

/// A line of a text.
#[derive(Debug)]
pub(super) struct Line<'t> {
    /// The whole line.
    pub(super) text: &'t str,
    /// The prose of a line that is a comment or belongs to a document.
    pub(super) said: Option<&'t str>,
    /// Whether the line is a comment.
    pub(super) is_comment: bool,
}

/// True for a script of Python, JavaScript or TypeScript.
pub(super) fn is_script(path: &str) -> bool {
    matches!(extension(path), "py" | "ts" | "js" | "cjs" | "mjs")
}

/// The lines of a text, each with its prose.
pub(super) fn lines<'t>(path: &str, text: &'t str) -> Vec<Line<'t>> {
    let kind = extension(path);
    let mut block = Block::default();
    let lines = text.lines().map(|line| {
        let code = line.trim_start();
        let comment = match kind {
            "rs" => slashes(code),
            "py" => code.strip_prefix('#').or_else(|| block.in_quotes(code)),
            "ts" | "js" | "cjs" | "mjs" => slashes(code).or_else(|| block.in_stars(code)),
            _ => None,
        };
        let said = comment.map(str::trim_start).or_else(|| (kind == "md").then_some(line));
        Line { text: line, said, is_comment: comment.is_some() }
    });
    lines.collect()
}

/// Whether the lines are inside a block of comment.
#[derive(Debug, Default)]
struct Block {
    is_open: bool,
}

impl Block {
    /// The prose of a line inside a documentation string of Python.
    fn in_quotes<'t>(&mut self, code: &'t str) -> Option<&'t str> {
        const QUOTES: &str = "\"\"\"";
        let was_open = self.is_open;
        let starts = code.starts_with(QUOTES);
        if code.matches(QUOTES).count() % 2 == 1 && (was_open || starts) {
            self.is_open = !was_open;
        }
        (was_open || starts).then(|| code.trim_start_matches('"'))
    }

    /// The prose of a line inside a block comment of JavaScript.
    fn in_stars<'t>(&mut self, code: &'t str) -> Option<&'t str> {
        let is_inside = self.is_open || code.starts_with("/*");
        self.is_open = is_inside && !code.contains("*/");
        is_inside.then(|| code.trim_start_matches(['/', '*']))
    }
}

fn slashes(code: &str) -> Option<&str> {
    code.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']))
}

fn extension(path: &str) -> &str {
    Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}
