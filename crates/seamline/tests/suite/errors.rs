//! The errors that findings predict and the errors that `classify` knows agree.

use std::path::{Path, PathBuf};

use seamline::check::Checked;
use seamline::classify::{Certainty, Class, Failure, causes};
use seamline::{Finding, Options, check, classify};

#[test]
fn a_predicted_error_is_recognised_as_the_rule_that_predicts_it() {
    let mut count = 0;
    let mut failures = Vec::new();
    for body in bodies().unwrap() {
        for provider in seamline::providers::ALL {
            let options = Options { provider: Some(provider.name.to_owned()), ..Options::default() };
            let Ok(checked) = check(&body, &options) else { continue };
            for finding in &checked.findings {
                if let Some(text) = &finding.predicts {
                    count += 1;
                    failures.extend(recognises(text, finding, &checked).err());
                }
            }
        }
    }
    failures.sort();
    failures.dedup();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    println!("{count} predicted errors recognised");
    assert!(count > 0, "there is nothing to test");
}

/// Explains how a predicted error is misclassified.
fn recognises(text: &str, finding: &Finding, checked: &Checked) -> Result<(), String> {
    let verdict = classify(&Failure {
        provider: Some(checked.provider),
        dialect: Some(checked.dialect),
        text,
        ..Failure::default()
    });
    // An error about the tools of a request is fatal: no repair of the conversation fixes it.
    let is_right = matches!(verdict.class, Class::Corruption | Class::Fatal)
        && verdict.certainty == Certainty::Known
        && verdict.rules.contains(&finding.code)
        && verdict.said == text.split_whitespace().collect::<Vec<_>>().join(" ")
        && causes(&verdict, checked)
            .iter()
            .any(|cause| cause.code == finding.code || cause.predicts == finding.predicts);
    let known = verdict.known.map(|known| (known.source, known.kind.name));
    if is_right { Ok(()) } else { Err(format!("{} {known:?} {:?}: {text}", finding.code, verdict.rules)) }
}

#[test]
fn every_rule_of_an_error_is_in_the_catalogue() {
    for (family, known) in seamline_guard::all() {
        for code in known.kind.rules {
            assert!(seamline::rules::rule(code).is_some(), "{family} {}: {code}", known.source);
        }
    }
}

#[test]
fn the_errors_of_every_provider_are_known() {
    // A new dialect may begin without a family of errors; every provider of the others has one.
    for provider in seamline::providers::ALL.iter().filter(|provider| seamline_guard::is_dialect(provider.dialect)) {
        assert!(seamline_guard::is_provider(provider.name), "{}", provider.name);
    }
    for dialect in seamline::providers::dialect_names() {
        let text = "Extra inputs are not permitted";
        let verdict = classify(&Failure { dialect: Some(dialect), text, ..Failure::default() });
        assert_eq!(verdict.class, Class::Corruption);
    }
    let with_errors = seamline::providers::dialect_names().into_iter().filter(|name| seamline_guard::is_dialect(name));
    assert!(with_errors.count() >= 5, "the five first dialects have families of errors");
}

#[test]
fn the_errors_of_a_provider_without_a_family_are_classified_by_the_texts_of_all() {
    let cases = [
        (400, "Extra inputs are not permitted", Class::Corruption),
        (400, "This model's maximum context length is 8192 tokens", Class::Overflow),
        (429, "slow down", Class::Transient),
        (401, "who are you", Class::Fatal),
    ];
    for (status, text, class) in cases {
        let (provider, dialect, status) = (Some("acme-chat"), Some("acme_chat"), Some(status));
        let verdict = classify(&Failure { provider, dialect, status, text, ..Failure::default() });
        assert_eq!(verdict.class, class, "{text}");
    }
}

#[test]
fn causes_are_the_findings_at_the_named_place() {
    let body = br#"{"messages":[
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","content":"src"}]},
        {"role":"assistant","content":"I see."},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"src"}]}]}"#;
    let checked = check(body, &Options::default()).unwrap();
    let pointers = |text: &str| {
        let verdict = classify(&Failure { text, ..Failure::default() });
        causes(&verdict, &checked).iter().map(|finding| finding.pointer.clone()).collect::<Vec<_>>()
    };
    let orphan = "unexpected `tool_use_id` found in `tool_result` blocks";
    assert_eq!(pointers(&format!("messages.2.content.0: {orphan}: toolu_1.")), ["/messages/2/content/0"]);
    assert_eq!(pointers(&format!("{orphan}: toolu_0.")), ["/messages/0/content/0"]);
    assert_eq!(pointers(orphan), ["/messages/0/content/0", "/messages/2/content/0"]);
    assert_eq!(pointers("messages: text content blocks must be non-empty"), Vec::<String>::new());
}

#[test]
fn the_symptoms_page_names_the_class_and_the_rules_of_every_error() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/symptoms.md")).unwrap();
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| ``")).collect();
    assert!(lines.len() > 80, "the page has {} rows", lines.len());
    for line in lines {
        let row = Symptom::read(line).unwrap_or_else(|| panic!("a row has four cells: {line}"));
        let verdict = classify(&Failure { text: row.text, ..Failure::default() });
        assert_eq!(verdict.certainty, Certainty::Known, "{}", row.text);
        assert_eq!(verdict.class.as_str(), row.class, "{}", row.text);
        assert_eq!(verdict.rules.first(), row.rules.first(), "the first rule of {}", row.text);
        for code in row.rules {
            assert!(verdict.rules.contains(&code), "{code}: {}", row.text);
        }
        if let Some(text) = row.explained.filter(|text| *text != "…") {
            let verdict = classify(&Failure { text, ..Failure::default() });
            assert_eq!((verdict.certainty, verdict.class.as_str()), (Certainty::Known, row.class), "{text}");
        }
    }
}

/// One row of the symptoms page.
struct Symptom<'p> {
    /// The text of the error.
    text: &'p str,
    /// The class that the page gives it.
    class: &'p str,
    /// The rules that the page links to.
    rules: Vec<&'p str>,
    /// The text that the row's command explains.
    explained: Option<&'p str>,
}

impl<'p> Symptom<'p> {
    /// Reads a row whose first cell is an error text between double backticks.
    fn read(line: &'p str) -> Option<Self> {
        let (text, rest) = line.strip_prefix("| ``")?.split_once("`` | ")?;
        let [_cause, meaning, command] = rest.strip_suffix(" |")?.split(" | ").collect::<Vec<_>>()[..] else {
            return None;
        };
        let (class, links) = meaning.strip_prefix('`')?.split_once('`')?;
        let rules = links.split('[').skip(1).filter_map(|link| Some(link.split_once(']')?.0)).collect();
        let explained = command.split_once("explain --error '").and_then(|(_, rest)| Some(rest.split_once('\'')?.0));
        Some(Self { text: text.trim(), class, rules, explained })
    }
}

/// The input of every case of a rule.
fn bodies() -> std::io::Result<Vec<Vec<u8>>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules")];
    let mut bodies = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder)?;
        let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("input.json") {
                bodies.push(std::fs::read(path)?);
            }
        }
    }
    Ok(bodies)
}
