//! Text that fits the terminal and cannot control it.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const WIDTH_MIN: usize = 40;
/// The widest line; longer lines are hard to read.
const WIDTH_MAX: usize = 140;
/// The width if the output is not a terminal.
const WIDTH_ELSEWHERE: usize = 80;

/// The columns of standard output.
pub(crate) fn width() -> usize {
    columns_of(terminal_size::terminal_size_of(std::io::stdout()))
}

/// The columns of notes on standard error.
pub(crate) fn width_aside() -> usize {
    columns_of(terminal_size::terminal_size_of(std::io::stderr()))
}

fn columns_of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(WIDTH_ELSEWHERE, |(columns, _)| usize::from(columns.0).clamp(WIDTH_MIN, WIDTH_MAX))
}

/// The columns of standard error, if it is a terminal.
pub(crate) fn error_width() -> Option<usize> {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map(|(columns, _)| usize::from(columns.0).clamp(WIDTH_MIN, WIDTH_MAX))
}

/// Makes control characters visible: the text of a conversation must not move the cursor, set colours or reverse the
/// line.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_obeyed) { Cow::Owned(text.chars().map(pictured).collect()) } else { Cow::Borrowed(text) }
}

/// As [`printable`], but keeps line breaks.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<_> = text.trim_end().lines().map(printable).collect();
    lines.join("\n")
}

/// Whether a terminal obeys a character instead of showing it.
pub(crate) fn is_obeyed(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn pictured(char: char) -> char {
    match char {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        char if is_obeyed(char) => '\u{fffd}',
        char => char,
    }
}

/// The columns of a text without styles.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The start of a text that fits into `max` columns, with `…` where it was cut.
pub(crate) fn cut(text: &str, columns_max: usize) -> Cow<'_, str> {
    if text.len() <= columns_max || columns(text) <= columns_max {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let fits = text.chars().take_while(|char| {
        used += char.width().unwrap_or(0);
        used <= columns_max
    });
    let mut start: String = fits.collect();
    start.truncate(start.trim_end().len());
    start.push('…');
    Cow::Owned(start)
}

/// Wraps a text into lines of at most `max` columns, at blanks if possible.
pub(crate) fn wrap(text: &str, columns_max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        for piece in pieces(word, columns_max) {
            let needed = columns(&piece);
            if used > 0 && used + 1 + needed > columns_max {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                if used > 0 {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(&piece);
                used += needed;
            }
        }
    }
    lines
}

/// Wraps a styled line, keeps its indentation, and indents the following lines by two more columns. It breaks no text
/// between backticks, so that commands can be copied.
pub(crate) fn sentence(line: &str, columns_max: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut out = " ".repeat(indent);
    let mut used = indent;
    let mut is_first = true;
    for piece in unbroken(&line[indent..]) {
        let needed = columns(&anstream::adapter::strip_str(piece).to_string());
        if !is_first && used + 1 + needed > columns_max {
            out = out + "\n" + &" ".repeat(indent + 2);
            used = indent + 2;
        } else if !is_first {
            out.push(' ');
            used += 1;
        }
        is_first = false;
        out.push_str(piece);
        used += needed;
    }
    out
}

/// The pieces of a line between single blanks, except blanks between backticks.
fn unbroken(line: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    line.split(move |char| {
        in_code ^= char == '`';
        char == ' ' && !in_code
    })
}

/// As [`wrap`], for text with a layout: it keeps lines, indentation and runs of blanks, and makes control characters
/// visible.
pub(crate) fn fold(text: &str, columns_max: usize) -> Vec<String> {
    let lines = text.lines().flat_map(|line| folded(&printable(&line.replace('\t', TAB)), columns_max));
    lines.collect()
}

/// The replacement of a tab.
const TAB: &str = "    ";

/// Breaks one line at blanks after its indentation, if possible. A single blank at a break is dropped; a run of blanks
/// begins the next line.
fn folded(line: &str, columns_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line.trim_end();
    loop {
        let end = fitting(rest, columns_max.max(2));
        if end == rest.len() {
            lines.push(rest.to_owned());
            return lines;
        }
        let (at, next) = break_in(rest, end);
        lines.push(rest[..at].to_owned());
        rest = &rest[next..];
    }
}

/// Where a line ends if this many of its bytes fit, and where the next one begins.
fn break_in(line: &str, end: usize) -> (usize, usize) {
    let indent = line.len() - line.trim_start().len();
    // The blank at the break may be the first character that does not fit.
    let blank = if line[end..].starts_with(' ') { Some(end) } else { line[..end].rfind(' ') };
    let Some(blank) = blank.filter(|&blank| blank > indent) else { return (end, end) };
    let at = line[..blank].trim_end().len();
    let is_single = at == blank && !line[blank + 1..].starts_with(' ');
    (at, if is_single { blank + 1 } else { at })
}

/// How many bytes of a line fit into this many columns.
fn fitting(line: &str, columns_max: usize) -> usize {
    let mut used = 0;
    let too_wide = |(_, char): &(usize, char)| {
        used += char.width().unwrap_or(0);
        used > columns_max
    };
    line.char_indices().find(too_wide).map_or(line.len(), |(at, _)| at)
}

/// Splits a word into pieces that fit.
fn pieces(word: &str, columns_max: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for char in word.chars() {
        let needed = char.width().unwrap_or(0);
        if used + needed > columns_max.max(2) {
            pieces.push(String::new());
            used = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(char);
            used += needed;
        }
    }
    pieces
}

/// `1 error`, `2 errors`, `1,204 messages`.
pub(crate) fn count(count: usize, singular: &str) -> String {
    let plural = match singular {
        _ if count == 1 => singular.to_owned(),
        "body" => "bodies".to_owned(),
        _ => format!("{singular}s"),
    };
    format!("{} {plural}", grouped(count))
}

/// A number of bytes for people: `512 B`, `12.3 kB`, `4.0 MB`.
pub(crate) fn bytes(count: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{}.{} {unit}", count / size, count % size * 10 / size),
        None => format!("{count} B"),
    }
}

/// Reads a number of bytes as people write it: `512`, `12kB`, `4.5 MB`, `2G`.
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let number = text.trim_end_matches(|char: char| char.is_ascii_alphabetic() || char == ' ');
    let size: u64 = match text.get(number.len()..)?.trim() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let tenths: u64 = if part.len() == 1 { part.parse().ok()? } else { return None };
    whole.parse::<u64>().ok()?.checked_mul(size)?.checked_add(tenths * size / 10)
}

/// A number with a comma between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_shown() {
        for (text, count) in [("512", 512), ("0", 0), ("12kB", 12_000), ("4.5 MB", 4_500_000), ("2G", 2_000_000_000)] {
            assert_eq!(parse_bytes(text), Some(count), "{text}");
        }
        for wrong in ["", "MB", "-1", "1.25MB", "1,5MB", "5 apples", "99999999999GB"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(printable("a\u{1b}[31m\u{7}\u{202e}b"), "a␛[31m␇\u{fffd}b");
        assert_eq!(printable("日本語 é"), "日本語 é");
    }

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer text", 8), "longer…");
        assert_eq!(cut("日本語日本語", 6), "日本…");
    }

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_sentence_is_wrapped_with_its_styles_and_never_inside_a_command() {
        assert_eq!(sentence("one two", 80), "one two");
        assert_eq!(sentence("  one two three", 9), "  one two\n    three");
        assert_eq!(sentence("see `a b c d`; done", 8), "see\n  `a b c d`;\n  done");
        assert_eq!(sentence("\u{1b}[32mone\u{1b}[0m two", 7), "\u{1b}[32mone\u{1b}[0m two");
    }

    #[test]
    fn text_with_a_layout_keeps_its_blanks_and_its_lines() {
        assert_eq!(fold("fn a() {\n    b(1,  2)\n\n}", 20), ["fn a() {", "    b(1,  2)", "", "}"]);
        assert_eq!(fold("one  two   three", 8), ["one  two", "   three"]);
        assert_eq!(fold("one two", 3), ["one", "two"]);
        assert_eq!(fold("a     b", 3), ["a", "   ", "  b"]);
        assert_eq!(fold("    abcdefgh", 6), ["    ab", "cdefgh"]);
        assert_eq!(fold("\ta\u{1b}", 20), ["    a␛"]);
        assert!(fold("", 4).is_empty());
    }

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(count(1, "error"), "1 error");
        assert_eq!(count(1_204_000, "body"), "1,204,000 bodies");
        assert_eq!([bytes(0), bytes(999), bytes(12_345), bytes(4_000_000)], ["0 B", "999 B", "12.3 kB", "4.0 MB"]);
    }
}
