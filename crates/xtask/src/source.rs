//! Rust text, seen without compiling it.

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

/// How many lines the test module takes that starts with the first line, if one does.
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

/// The lines of code, numbered from 1: tests and comments taken out, strings kept.
pub(crate) fn code(text: &str) -> Vec<(usize, &str)> {
    without_tests(text)
        .into_iter()
        .map(|(number, line)| (number, before_comment(line)))
        .filter(|(_, line)| !line.trim().is_empty())
        .collect()
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
    fn the_test_module_is_left_out_and_what_follows_counts() {
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
    fn comments_go_and_slashes_in_strings_stay() {
        let text = "/// doc\nlet a = \"http://x \\\" //\"; // why\n";
        assert_eq!(code(text), [(2, "let a = \"http://x \\\" //\"; ")]);
    }

    #[test]
    fn a_code_is_capitals_and_three_digits() {
        assert_eq!(split_code("PAIR001"), Some(("PAIR", 1)));
        for word in ["PAIR01", "PAIR0001", "pair001", "A001", "001", "é01"] {
            assert_eq!(split_code(word), None, "{word}");
        }
    }

    #[test]
    fn a_declaration_is_told_from_a_mention() {
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
