//! `seamline rules`, `policies`, `providers`, `explain`, and help.

use std::collections::BTreeSet;

use crate::bench::Bench;

#[test]
fn every_rule_is_listed_with_its_documentation() {
    let bench = Bench::new();
    let whole = bench.run(&["rules", "--format", "json"]).expect(0).json();
    assert_eq!(whole["version"], 1);
    let rules = whole["rules"].as_array().unwrap();
    let codes: Vec<_> = rules.iter().map(|rule| rule["code"].as_str().unwrap()).collect();
    assert_eq!(codes.len(), codes.iter().collect::<BTreeSet<_>>().len());
    assert!(codes.is_sorted() && codes.contains(&"PAIR001"));
    let text = bench.run(&["rules"]).expect(0).out;
    for rule in rules {
        let fields: BTreeSet<_> = rule.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = ["code", "documentation", "group", "name", "safety", "severity", "summary"];
        assert_eq!(fields, BTreeSet::from(expected));
        assert!(text.contains(rule["code"].as_str().unwrap()));
    }
}

#[test]
fn a_rule_is_explained_by_code_and_by_name() {
    let bench = Bench::new();
    let by_code = bench.run(&["explain", "PAIR001"]).expect(0);
    assert_eq!(by_code, bench.run(&["explain", "unanswered-call"]));
    assert_eq!(by_code, bench.run(&["explain", "pair001"]));
    assert!(by_code.out.starts_with("# PAIR001 `unanswered-call`\n"), "{}", by_code.out);
    assert!(by_code.out.contains("\n# Why is this bad?\n"), "Markdown if the output is not a terminal");
}

#[test]
fn the_finding_about_a_defect_of_seamline_is_explained() {
    let bench = Bench::new();
    let by_code = bench.run(&["explain", "bug001"]).expect(0);
    assert_eq!(by_code, bench.run(&["explain", "repair-did-not-settle"]));
    assert!(by_code.out.starts_with("# BUG001 `repair-did-not-settle`\n"), "{}", by_code.out);
}

#[test]
fn a_misspelled_name_gets_a_suggestion() {
    let bench = Bench::new();
    let ran = bench.run(&["explain", "unansweredcall"]).expect(2);
    assert_eq!(
        ran.err,
        "seamline: no rule is called `unansweredcall`\nhint: did you mean PAIR001 (unanswered-call)?\n"
    );
    let ran = bench.run(&["explain", "12345678"]).expect(2);
    assert!(ran.err.ends_with("hint: `seamline rules` lists them all\n"), "{}", ran.err);
}

#[test]
fn every_preset_is_listed_with_its_knobs() {
    let bench = Bench::new();
    let whole = bench.run(&["policies", "--format", "json"]).expect(0).json();
    let policies = whole["policies"].as_array().unwrap();
    assert_eq!(policies[0]["name"], "lossless");
    for policy in policies {
        let name = policy["name"].as_str().unwrap();
        let shown = bench.run(&["policies", name]).expect(0).out;
        for knob in policy["knobs"].as_array().unwrap() {
            let set = format!("{} = {}", knob["name"].as_str().unwrap(), knob["value"]);
            assert!(shown.contains(&set), "{shown}");
            let values = knob["values"].as_array().unwrap();
            let values: Vec<_> = values.iter().map(|value| &value["name"]).collect();
            assert!(values.is_empty() != values.contains(&&knob["value"]), "{knob}");
            let values = if values.is_empty() { vec![&knob["value"]] } else { values };
            for value in values {
                let text = format!("preset = \"{name}\"\n{} = {value}\n", knob["name"].as_str().unwrap());
                bench.write("policy.toml", text);
                bench.run_on(crate::bench::CLEAN, &["check", "--policy", "policy.toml"]).expect(0);
            }
        }
        for text in policy["synthetic_text"].as_array().unwrap() {
            assert!(shown.contains(text["name"].as_str().unwrap()), "{shown}");
        }
        assert!(!shown.contains("(X"), "{shown}");
        assert!(shown.contains(&format!("preset = \"{name}\"")), "{shown}");
    }
    bench.run(&["policies", "nothing"]).expect(2);
    let ran = bench.run(&["policies", "clawoss"]).expect(2);
    assert!(ran.err.contains("did you mean `clawos`?"), "{}", ran.err);
}

#[test]
fn the_example_of_the_policies_help_is_a_policy() {
    let bench = Bench::new();
    let shown = bench.run(&["policies", "minimal"]).expect(0).out;
    let start = shown.find("  preset = ").unwrap();
    let end = shown.find("\nand use it").unwrap();
    bench.write("policy.toml", &shown[start..end]);
    bench.run_on(crate::bench::CLEAN, &["check", "--policy", "policy.toml"]).expect(0);
}

#[test]
fn every_provider_is_listed() {
    let bench = Bench::new();
    let whole = bench.run(&["providers", "--format", "json"]).expect(0).json();
    let text = bench.run(&["providers"]).expect(0).out;
    for provider in whole["providers"].as_array().unwrap() {
        assert!(text.contains(provider["name"].as_str().unwrap()));
        assert!(provider["dialect"].is_string());
        assert!(provider["demands"].as_array().unwrap().len() > 5, "{provider}");
    }
}

#[test]
fn a_provider_is_shown_with_its_demands() {
    let bench = Bench::new();
    let shown = bench.run(&["providers", "mistral"]).expect(0).out;
    assert!(shown.contains("exactly 9 letters and digits"), "{shown}");
    assert!(shown.contains("error: Not the same number of function calls and responses"), "{shown}");
    let by_alias = bench.run(&["providers", "kimi", "--format", "json"]).expect(0).json();
    assert_eq!(by_alias["providers"][0]["name"], "moonshot");
    let body = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    bench.run_on(body, &["check", "--provider", "kimi"]).expect(0);
    bench.run(&["providers", "unknown"]).expect(2);
}

#[test]
fn a_command_that_does_not_exist_is_refused() {
    Bench::new().run(&["chek"]).expect(2);
}
