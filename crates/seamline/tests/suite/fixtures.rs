//! The corpus: every case of a rule, every document of a dialect, and the documentation of rules.
//!
//! A case is a folder. The expected output is beside its input and is rewritten when
//! `SEAMLINE_BLESS` is set.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seamline::rules::{RULES, Rule, documentation};
use seamline::{Finding, Options, Policy, Safety, check, outline, repair};
use seamline_testkit::{Dialect, lossless, strict};
use serde_json::Value;

const HEADINGS: [&str; 6] =
    ["# What it does", "# Why is this bad?", "# Example", "# After repair", "# Fix safety", "# References"];

#[test]
fn every_case_of_a_rule_gives_its_expected_output() {
    let cases = cases().unwrap();
    let failures = cases.iter().filter_map(|case| {
        let outcome = case.run();
        outcome.err().map(|failure| format!("{}: {failure}", case.folder.display()))
    });
    report(cases.len(), failures);
}

#[test]
fn every_rule_has_an_example_and_a_near_miss() {
    let cases = cases().unwrap();
    let has = |rule: &Rule, name: &str| {
        cases.iter().any(|case| {
            (case.group.as_str(), case.rule.as_str(), case.name.as_str()) == (rule.group.as_str(), rule.name, name)
        })
    };
    let missing = RULES.iter().flat_map(|rule| {
        let names = ["example", "clean"].into_iter();
        names.filter(|name| !has(rule, name)).map(|name| format!("{} {}: no case `{name}`", rule.code, rule.name))
    });
    report(RULES.len(), missing);
}

#[test]
fn the_documentation_of_every_rule_shows_its_example() {
    let failures = RULES.iter().filter_map(|rule| shows_its_example(rule).err());
    report(RULES.len(), failures);
}

#[test]
fn every_document_of_a_dialect_reads_as_expected() {
    let folders = folders(&corpus().join("dialects"), 2).unwrap();
    let failures = folders.iter().filter_map(|folder| {
        let outcome = reads_as_written(folder);
        outcome.err().map(|failure| format!("{}: {failure}", folder.display()))
    });
    report(folders.len(), failures);
}

pub(crate) fn report(count: usize, failures: impl Iterator<Item = String>) {
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{} of {count} fail:\n{}", failures.len(), failures.join("\n\n"));
    assert!(count > 0, "there is nothing to test");
}

/// One case of a rule.
struct Case {
    folder: PathBuf,
    group: String,
    rule: String,
    name: String,
    options: Options,
}

impl Case {
    fn read(folder: PathBuf) -> Result<Self, String> {
        let text = read(&folder.join("case.toml"))?;
        // Everything up to a table is `key = "value"`; a table is a policy as in its file.
        let (head, table) = match text.split_once("[policy]\n") {
            Some((head, table)) => (head, Some(table.replace("[policy.", "["))),
            None => (text.as_str(), None),
        };
        let mut keys = keys(head)?;
        let mut take = |key: &str| keys.remove(key).ok_or(format!("no `{key}` in case.toml"));
        let policy = if let Some(table) = table {
            Policy::from_toml(&table).map_err(|error| error.to_string())?
        } else {
            let name = take("policy")?;
            Policy::preset(&name).ok_or(format!("no preset is called `{name}`"))?
        };
        let options = Options {
            dialect: Some(take("dialect")?),
            provider: Some(take("provider")?),
            policy,
            ..Options::default()
        };
        take("source")?;
        take("why")?;
        if let Some(key) = keys.into_keys().next() {
            return Err(format!("`{key}` is not a key of case.toml"));
        }
        let above = |levels| {
            let name = folder.ancestors().nth(levels).and_then(Path::file_name);
            name.unwrap_or_default().to_string_lossy().into_owned()
        };
        Ok(Self { group: above(2), rule: above(1), name: above(0), folder, options })
    }

    /// Checks and repairs the input and compares with the expected output.
    fn run(&self) -> Result<(), String> {
        let input = bytes(&self.folder.join("input.json"))?;
        let checked = check(&input, &self.options).map_err(|error| error.to_string())?;
        let repaired = repair(&input, &self.options).map_err(|error| error.to_string())?;
        if checked.findings != repaired.found {
            return Err("check and repair do not find the same".to_owned());
        }
        expect(&self.folder.join("findings.snap"), Some(described(&checked.findings).as_bytes()))?;
        let changed = repaired.is_changed().then_some(&*repaired.body);
        if checked.findings.is_empty() && changed.is_some() {
            return Err("L1: clean in, other bytes out".to_owned());
        }
        expect(&self.folder.join("repaired.json"), changed)?;
        let again = repair(&repaired.body, &self.options).map_err(|error| error.to_string())?;
        if again.is_changed() || again.found != repaired.remaining {
            return Err("L2: a second repair does not find what the first left".to_owned());
        }
        self.expect_of_name(&checked.findings, &repaired.remaining)?;
        if repaired.remaining.is_empty() {
            self.expect_accepted(&repaired.body)?;
        }
        if repaired.is_lossless() {
            expect_lossless(&input, &repaired.body)?;
        }
        Ok(())
    }

    /// Checks the promises of the names `example` and `clean`.
    fn expect_of_name(&self, found: &[Finding], remaining: &[Finding]) -> Result<(), String> {
        let of_rule = |findings: &[Finding]| findings.iter().any(|one| one.name == self.rule);
        let has_fix = seamline::rules::rule(&self.rule).is_some_and(has_fix);
        match self.name.as_str() {
            "example" if !of_rule(found) => Err("an example without a finding".to_owned()),
            "example" if has_fix && of_rule(remaining) => Err("the example stays as it is".to_owned()),
            "clean" if of_rule(found) => Err("a near miss with a finding".to_owned()),
            _ => Ok(()),
        }
    }

    /// L3, judged by the strict check for the providers that define a dialect, and for DeepSeek's Responses.
    fn expect_accepted(&self, body: &[u8]) -> Result<(), String> {
        let named = self.options.provider.as_deref().and_then(seamline::providers::by_name);
        let pair = named.zip(self.options.dialect.as_deref());
        let provider = pair.map(|(provider, dialect)| provider.speaking(dialect, None).provider.name);
        let violations = match (provider, provider.and_then(Dialect::of_provider)) {
            (Some("deepseek-responses"), _) => strict::check_deepseek_responses(&enveloped(body)?),
            (_, Some(dialect)) => strict::check(dialect, &enveloped(body)?),
            _ => return Ok(()),
        };
        if violations.is_empty() { Ok(()) } else { Err(format!("L3: the provider would reject it: {violations:?}")) }
    }
}

/// The members of a flat TOML text that contains only strings.
pub(crate) fn keys(text: &str) -> Result<BTreeMap<String, String>, String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (key, value) = line.split_once(" = \"").ok_or("not `key = \"value\"`")?;
            let value = value.strip_suffix('"').ok_or("no closing quote")?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect::<Result<_, &str>>()
        .map_err(|error| format!("case.toml: {error}"))
}

/// Findings as people read them.
pub(super) fn described(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "no findings\n".to_owned();
    }
    let mut text = String::new();
    for finding in findings {
        let (severity, pointer) = (finding.severity.as_str(), &finding.pointer);
        let line = format!("{} {} {severity} {pointer}", finding.code, finding.name);
        let _ = writeln!(text, "{}", line.trim_end());
        let _ = writeln!(text, "  message: {}", finding.message);
        if let Some(predicts) = &finding.predicts {
            let _ = writeln!(text, "  predicts: {predicts}");
        }
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "  fix: {}, {}", fix.safety.as_str(), fix.title);
        }
    }
    text
}

/// L6: all content is still there.
fn expect_lossless(before: &[u8], after: &[u8]) -> Result<(), String> {
    // Half a surrogate pair cannot be compared: no other JSON reader accepts it.
    let Ok(before) = enveloped(before) else {
        return Ok(());
    };
    let mut said = Vec::new();
    for list in ["messages", "input", "contents"] {
        collect_said(&before[list], &mut said);
    }
    let missing = lossless::missing_payloads(&enveloped(after)?, &said);
    if missing.is_empty() { Ok(()) } else { Err(format!("L6: lost {missing:?}")) }
}

/// Keys without content; the input of a call is compared separately.
const UNSAID: &[&str] = &[
    "role",
    "type",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "toolCallId",
    "name",
    "input",
    "arguments",
    "tool_calls",
    "tool_use",
    "finish_reason",
    "encrypted_content",
    "status",
    "toolUseId",
    "toolUse",
    "functionCall",
    "function_call",
];

/// The content of people, models and tools: every string except those that a repair made up.
fn collect_said(value: &Value, said: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let real = !text.trim().is_empty() && !seamline_model::is_synthetic(text);
            said.extend(real.then(|| text.clone()));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_said(item, said)),
        Value::Object(members) => {
            // With the mark of a failure, the words of another program for a missing result are made up.
            let is_failed = members.get("is_error") == Some(&Value::Bool(true));
            let is_made_up = |member: &Value| is_failed && member.as_str().is_some_and(seamline_model::is_of_others);
            let spoken = members.iter().filter(|(key, _)| !UNSAID.contains(&key.as_str()));
            spoken.filter(|(_, member)| !is_made_up(member)).for_each(|(_, member)| collect_said(member, said));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A body as a value; a bare list of messages gets its envelope.
fn enveloped(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    match serde_json::from_slice(body) {
        Ok(list @ Value::Array(_)) => Ok(serde_json::json!({ "messages": list })),
        Ok(body) => Ok(body),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a rule has the fixed headings, and the bodies of its example under two of them.
fn shows_its_example(rule: &Rule) -> Result<(), String> {
    let docs = documentation(rule);
    let wrong = |what: String| Err(format!("{} {}: {what}", rule.code, rule.name));
    let mut fenced = false;
    let headings: Vec<_> = docs
        .lines()
        .filter(|line| {
            fenced ^= line.starts_with("```");
            !fenced && line.starts_with('#')
        })
        .collect();
    if headings != HEADINGS {
        return wrong(format!("its headings are {headings:?}"));
    }
    let folder = corpus().join("rules").join(rule.group.as_str()).join(rule.name).join("example");
    for (heading, file) in [("# Example", "input.json"), ("# After repair", "repaired.json")] {
        let block = shown(&docs, heading);
        if !has_fix(rule) && file == "repaired.json" {
            match block {
                Some(_) => return wrong(format!("`{heading}` shows a body, but the rule has no fix")),
                None => continue,
            }
        }
        let expected = read(&folder.join(file))?;
        // No page can show a byte order mark.
        let expected = expected.trim_start_matches('\u{feff}').trim_end();
        match block {
            Some(block) if block == expected => {}
            Some(_) => return wrong(format!("`{heading}` is not {file} of its example")),
            None => return wrong(format!("`{heading}` has no json block")),
        }
    }
    Ok(())
}

/// Whether a rule has a fix under any policy.
fn has_fix(rule: &Rule) -> bool {
    rule.safety != Safety::DisplayOnly
}

/// The first block of JSON under a heading.
fn shown<'d>(docs: &'d str, heading: &str) -> Option<&'d str> {
    let (_, section) = docs.split_once(&format!("{heading}\n"))?;
    let section = section.split("\n# ").next()?;
    let (_, block) = section.split_once("```json\n")?;
    block.split_once("\n```").map(|(block, _)| block)
}

/// Compares the reading of a dialect with the expected output.
fn reads_as_written(folder: &Path) -> Result<(), String> {
    let input = bytes(&folder.join("input.json"))?;
    let dialect = folder.parent().and_then(Path::file_name).unwrap_or_default();
    let options = Options { dialect: Some(dialect.to_string_lossy().into_owned()), ..Options::default() };
    let detected = check(&input, &Options::default()).map_err(|error| error.to_string())?;
    let checked = check(&input, &options).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let _ =
        writeln!(text, "detected as {}; messages: {}, calls: {}", detected.dialect, checked.messages, checked.calls);
    for message in outline(&input, &options, 0..usize::MAX).map_err(|error| error.to_string())? {
        let _ = writeln!(text, "{} {}", message.index, message.role.as_str());
        for block in message.blocks {
            let id = block.id.map(|id| format!(" id `{id}`"));
            let name = block.name.map(|name| format!(" name `{name}`"));
            let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
            let line = format!("  {} {}{id}{name}: {}", block.kind.as_str(), block.pointer, block.preview);
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    for finding in checked.findings {
        let (code, name, pointer) = (finding.code, finding.name, finding.pointer);
        let _ = writeln!(text, "{}", format!("found {code} {name} {pointer}").trim_end());
    }
    expect(&folder.join("transcript.snap"), Some(text.as_bytes()))
}

/// Compares a file with the output, or writes it; `None` means that there is no such file.
pub(crate) fn expect(path: &Path, actual: Option<&[u8]>) -> Result<(), String> {
    let error = |error: std::io::Error| format!("{}: {error}", path.display());
    if std::env::var_os("SEAMLINE_BLESS").is_some() {
        return match actual {
            Some(actual) => std::fs::write(path, actual).map_err(error),
            None if path.exists() => std::fs::remove_file(path).map_err(error),
            None => Ok(()),
        };
    }
    let expected = path.exists().then(|| std::fs::read(path)).transpose();
    let expected = expected.map_err(error)?;
    if expected.as_deref() == actual {
        return Ok(());
    }
    let shown = |side: Option<&[u8]>| match side {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "nothing".to_owned(),
    };
    Err(format!(
        "{} differs\n--- expected\n{}\n--- came out\n{}",
        path.file_name().unwrap_or_default().to_string_lossy(),
        shown(expected.as_deref()),
        shown(actual)
    ))
}

fn cases() -> Result<Vec<Case>, String> {
    let read = |folder: PathBuf| {
        let shown = folder.display().to_string();
        Case::read(folder).map_err(|error| format!("{shown}: {error}"))
    };
    folders(&corpus().join("rules"), 3)?.into_iter().map(read).collect()
}

/// The folders that are `depth` levels below `root`, in order.
pub(crate) fn folders(root: &Path, depth: usize) -> Result<Vec<PathBuf>, String> {
    let mut level = vec![root.to_owned()];
    for _ in 0..depth {
        let mut next = Vec::new();
        for folder in &level {
            let entries = std::fs::read_dir(folder);
            let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
            next.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        next.sort();
        level = next;
    }
    Ok(level)
}

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
