//! The formats for programs.

use serde_json::{Value, json};

use crate::bench::{BROKEN, Bench, CLEAN};

/// Whether the keys follow each other in this order, from where the first one is.
pub(crate) fn in_order(text: &str, keys: &[&str]) -> bool {
    let start = text.find(&format!("{{\"{}\":", keys[0])).unwrap();
    let places: Vec<_> = keys.iter().map(|key| text[start..].find(&format!("\"{key}\":")).unwrap()).collect();
    places.is_sorted()
}

#[test]
fn json_has_the_documented_shape() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    let ran = bench.run(&["check", "--format", "json", "broken.json"]).expect(1);
    let mut whole = ran.json();
    let document = ["path", "dialect", "provider", "messages", "calls", "findings"];
    let finding = ["code", "name", "severity", "message", "pointer", "message_index", "block_index", "call_id"];
    assert!(in_order(&ran.out, &["version", "documents"]), "{}", ran.out);
    assert!(in_order(&ran.out, &document), "{}", ran.out);
    assert!(in_order(&ran.out, &[&finding[..], &["predicts", "fix", "related"]].concat()), "{}", ran.out);
    let predicts = whole["documents"][0]["findings"][0]["predicts"].take();
    assert!(predicts.as_str().unwrap().starts_with("messages.1: `tool_use` ids were found"), "{predicts}");
    let place = json!({"pointer": "/messages/1/content/0", "message_index": 1});
    assert_eq!(
        whole,
        json!({"version": 1, "documents": [{
            "path": "broken.json", "dialect": "anthropic_messages", "provider": "anthropic", "messages": 3, "calls": 1,
            "findings": [{
                "code": "PAIR001", "name": "unanswered-call", "severity": "error",
                "message": "no result answers tool call `toolu_1`", "pointer": "/messages/1/content/0",
                "message_index": 1, "block_index": 0, "call_id": "toolu_1", "predicts": null,
                "fix": {"safety": "safe", "title": "answer tool call `toolu_1` with a synthetic result"},
                "related": [place],
            }],
        }]})
    );
}

#[test]
fn json_lists_unreadable_bodies_in_order() {
    let bench = Bench::new();
    bench.write("a.json", CLEAN);
    bench.write("b.json", "{");
    bench.write("c.json", CLEAN);
    let ran = bench.run(&["check", "--format", "json", "a.json", "b.json", "c.json"]).expect(2);
    let whole = ran.json();
    let paths: Vec<_> = whole["documents"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["a.json", "b.json", "c.json"]);
    let failed = whole["documents"][1].as_object().unwrap();
    assert_eq!(failed.keys().collect::<Vec<_>>(), ["error", "path"]);
    assert!(failed["error"]["message"].as_str().unwrap().contains("line 1 column 2"), "{failed:?}");
    assert!(failed["error"]["hint"].is_string());
    assert!(ran.err.starts_with("seamline: b.json: not JSON"), "{}", ran.err);
}

#[test]
fn sarif_has_rules_results_and_regions() {
    let bench = Bench::new();
    bench.write("my logs/broken.json", BROKEN);
    bench.write("cut.json", "{");
    let ran = bench.run(&["check", "--format", "sarif", "my logs/broken.json", "cut.json"]).expect(2);
    let whole = ran.json();
    assert_eq!(whole["version"], "2.1.0");
    let run = &whole["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        assert!(rule["id"].is_string() && rule["shortDescription"]["text"].is_string());
        assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# What it does"), "{rule}");
    }
    let result = &run["results"][0];
    let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
    assert_eq!(
        (&rule["id"], &result["ruleId"], &result["level"]),
        (&json!("PAIR001"), &json!("PAIR001"), &json!("error"))
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "my%20logs/broken.json");
    let offset = usize::try_from(place["region"]["byteOffset"].as_u64().unwrap()).unwrap();
    let length = usize::try_from(place["region"]["byteLength"].as_u64().unwrap()).unwrap();
    assert!(BROKEN[offset..offset + length].starts_with(r#"{"type":"tool_use""#));
    assert!(BROKEN[offset..offset + length].ends_with('}'));
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&json!(1), &json!(offset + 1)));
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let message = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(message.starts_with("not JSON"), "{message}");
}

#[test]
fn sarif_without_findings_is_complete() {
    let bench = Bench::new();
    let ran = bench.run_on(CLEAN, &["check", "--format", "sarif"]).expect(0);
    assert_eq!(ran.json()["runs"][0]["results"], json!([]));
}

#[test]
fn github_gets_workflow_commands() {
    let bench = Bench::new();
    let indented: Value = serde_json::from_str(BROKEN).unwrap();
    bench.write("a,b.json", serde_json::to_string_pretty(&indented).unwrap());
    let ran = bench.run(&["check", "--format", "github", "a,b.json"]).expect(1);
    let (start, rest) = ran.out.split_once("::no result answers").unwrap();
    let line = start.strip_prefix("::error file=a%2Cb.json,line=").unwrap();
    let (line, rest_of_start) = line.split_once(',').unwrap();
    assert!(line.parse::<usize>().unwrap() > 1);
    assert!(rest_of_start.ends_with("title=PAIR001 unanswered-call"), "{start}");
    assert_eq!(rest.matches('\n').count(), 1, "a command is one line");
    assert!(rest.contains("%0Athe provider would return: "));
}

#[test]
fn github_annotations_contain_nothing_that_a_terminal_obeys() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN.replace("toolu_1", "toolu_\\u001b]0;owned\\u0007"));
    let ran = bench.run(&["check", "body.json", "--format", "github"]).expect(1);
    assert!(ran.out.starts_with("::error ") && ran.out.contains("owned"), "{}", ran.out);
    assert!(!ran.out.contains(['\u{1b}', '\u{7}']), "{:?}", ran.out);
}
