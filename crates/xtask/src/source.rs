//! Rust text, read line by line without a parser.

use std::path::Path;

/// The lines, numbered from 1, that are not in a `#[cfg(test)] mod tests`.
pub(crate) fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = Vec::with_capacity(lines.len());
    let mut index = 0;
    while index < lines.len() {
        if let Some(end) = tests_end(&lines[index..]) {
            index += end;
        } else {
            kept.push((index + 1, lines[index]));
            index += 1;
        }
    }
    kept
}

/// The number of lines of the test module that starts at the first line, if one does.
fn tests_end(lines: &[&str]) -> Option<usize> {
    if *lines.first()? != "#[cfg(test)]" {
        return None;
    }
    let head = lines.iter().position(|line| line.starts_with("mod tests"))?;
    let between = &lines[1..head];
    let only_attributes = between.iter().all(|line| line.starts_with(['#', ' ', ')', ']']) || line.is_empty());
    if !only_attributes {
        return None;
    }
    if lines[head].ends_with(';') {
        return Some(head + 1);
    }
    let close = lines[head..].iter().position(|line| *line == "}")?;
    Some(head + close + 1)
}

/// The lines of code, numbered from 1, without tests, comments and blank lines; strings stay.
pub(crate) fn code(text: &str) -> Vec<(usize, &str)> {
    without_comments(without_tests(text).into_iter())
}

/// The lines of code, tests included, numbered from 1, without comments and blank lines.
pub(crate) fn code_with_tests(text: &str) -> Vec<(usize, &str)> {
    without_comments(text.lines().enumerate().map(|(index, line)| (index + 1, line)))
}

fn without_comments<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<(usize, &'t str)> {
    lines.map(|(number, line)| (number, before_comment(line))).filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// The text with the content of its strings and comments left out; its lines keep their numbers.
pub(crate) fn without_texts(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = text_length(rest, kept.chars().next_back()).unwrap_or_default();
        if length == 0 {
            kept.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let (left_out, after) = rest.split_at(length);
            kept.extend(left_out.chars().filter(|c| *c == '\n'));
            rest = after;
        }
    }
    kept
}

/// The length of the comment, the string or the character at the beginning of some code.
fn text_length(code: &str, before: Option<char>) -> Option<usize> {
    if code.starts_with("//") {
        return Some(code.find('\n').unwrap_or(code.len()));
    }
    let is_new = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(raw) = code.strip_prefix("br").or_else(|| code.strip_prefix('r')).filter(|_| is_new) {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            let start = code.len() - raw.len() + marks + 1;
            return Some(start + code[start..].find(&end)? + end.len());
        }
    }
    let quote = code.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let mut escaped = false;
    for (at, c) in code.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            // A lifetime has no second quote.
            _ if quote == '\'' && at > 1 && !code[1..].starts_with('\\') => return None,
            _ => {}
        }
    }
    None
}

/// True for the path of a Rust file.
pub(crate) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// True for a file that holds nothing but tests, benchmarks or examples.
pub(crate) fn is_test_file(path: &str) -> bool {
    let is_folder = |name: &str| ["tests", "benches", "examples"].contains(&name) || name.ends_with("_tests");
    let mut names: Vec<&str> = path.split('/').collect();
    let file = names.pop().unwrap_or_default();
    file.ends_with("tests.rs") || names.into_iter().any(is_folder)
}

/// True if the text has the name, and not as a part of a longer one.
pub(crate) fn contains_name(text: &str, name: &str) -> bool {
    let continues = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let ends_open = name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = text[at + name.len()..].chars().next();
        let is_part = continues(text[..at].chars().next_back()) || (ends_open && continues(after));
        !is_part
    })
}

fn before_comment(line: &str) -> &str {
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'/' if !in_string && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// The identifiers and numbers of a line.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The prefix and number of a rule's code: two or more capitals and exactly three digits.
pub(crate) fn split_code(word: &str) -> Option<(&str, u32)> {
    let (prefix, digits) = word.split_at_checked(word.len().checked_sub(3)?)?;
    let is_code = prefix.len() >= 2
        && prefix.bytes().all(|b| b.is_ascii_uppercase())
        && digits.bytes().all(|b| b.is_ascii_digit());
    Some((prefix, digits.parse().ok().filter(|_| is_code)?))
}

/// The code that a line declares, as in `PAIR001 "unanswered-call" in Pairing, …`.
pub(crate) fn declared_code(line: &str) -> Option<(&str, u32)> {
    let (code, rest) = line.trim_start().split_once(' ')?;
    let is_declaration = rest.starts_with('"') && rest.contains("\" in ");
    split_code(code).filter(|_| is_declaration)
}

/// The type named after a module: `OpenaiChat` for `openai_chat`.
pub(crate) fn type_name(module: &str) -> String {
    module
        .split('_')
        .filter_map(|word| {
            let (first, rest) = word.split_at_checked(1)?;
            Some(first.to_ascii_uppercase() + rest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_module_is_left_out_and_later_code_counts() {
        let text = "fn a() {}\n#[cfg(test)]\n#[expect(\n    x,\n)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        assert_eq!(without_tests(text), [(1, "fn a() {}"), (9, "fn c() {}")]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_two_lines() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(without_tests(text), [(1, "fn a() {}")]);
    }

    #[test]
    fn a_function_for_tests_is_not_a_test_module() {
        let text = "#[cfg(test)]\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(without_tests(text), [(1, "#[cfg(test)]"), (2, "fn a() {}"), (3, "")]);
    }

    #[test]
    fn comments_are_removed_and_slashes_in_strings_stay() {
        let text = "/// doc\nlet a = \"http://x \\\" //\"; // why\n";
        assert_eq!(code(text), [(2, "let a = \"http://x \\\" //\"; ")]);
    }

    #[test]
    fn texts_are_left_out_and_lines_stay() {
        let text =
            "let a = \"x \\\" y\n z\"; // b\nlet c: &'d str = r#\"e \"f\" \"#;\nlet g = ['\"', '\\'', 'é', for_h];\n";
        assert_eq!(without_texts(text), "let a = \n; \nlet c: &'d str = ;\nlet g = [, , , for_h];\n");
    }

    #[test]
    fn tests_benches_and_examples_are_test_files() {
        for path in [
            "crates/a/tests/b.rs",
            "crates/a/src/b_tests/c.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/src/b_tests.rs",
            "crates/a/benches/b.rs",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        assert!(!is_test_file("crates/a/src/test.rs"));
    }

    #[test]
    fn a_name_is_not_found_inside_a_longer_one() {
        assert!(contains_name("use a::Compact;", "a::Compact"));
        assert!(contains_name("use a::b;", "a::"));
        assert!(!contains_name("use aa::Compacted;", "a::Compact"));
        assert!(!contains_name("Record::Compaction(_)", "Record::Compact"));
    }

    #[test]
    fn a_code_is_capitals_and_three_digits() {
        assert_eq!(split_code("PAIR001"), Some(("PAIR", 1)));
        for word in ["PAIR01", "PAIR0001", "pair001", "A001", "001", "é01"] {
            assert_eq!(split_code(word), None, "{word}");
        }
    }

    #[test]
    fn a_mention_of_a_code_is_not_a_declaration() {
        let line = "    ORDER012 \"text-before-results\" in Order, Error, Safe";
        assert_eq!(declared_code(line), Some(("ORDER", 12)));
        assert_eq!(declared_code("    SHA256 \"sum\""), None);
        assert_eq!(declared_code("assert_eq!(code, \"PAIR001\")"), None);
    }

    #[test]
    fn a_type_is_named_after_its_module() {
        assert_eq!(type_name("openai_chat"), "OpenaiChat");
        assert_eq!(type_name("pairing"), "Pairing");
    }

    #[test]
    fn words_are_identifiers() {
        let found: Vec<&str> = words("match self.dialect { \"PAIR001\" }").collect();
        assert_eq!(found, ["match", "self", "dialect", "PAIR001"]);
    }
}
