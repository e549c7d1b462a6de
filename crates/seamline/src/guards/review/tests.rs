#![expect(clippy::unwrap_used, reason = "a test that cannot read a body fails")]

use super::*;

/// The parts of a conversation in one dialect.
struct Form {
    dialect: &'static str,
    head: &'static str,
    call: fn(&str, &str) -> String,
    result: fn(&str, &str) -> String,
    tail: &'static str,
}

const SCHEMA: &str = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;

const FORMS: &[Form] = &[
    Form {
        dialect: "anthropic_messages",
        head: r#"{"tools":[{"name":"shell","input_schema":SCHEMA}],"messages":[{"role":"user","content":"go"}"#,
        call: |id, args| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"shell","input":{args}}}]}}"#
            )
        },
        result: |id, text| {
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}","is_error":true}}]}}"#
            )
        },
        tail: "]}",
    },
    Form {
        dialect: "openai_chat",
        head: r#"{"tools":[{"type":"function","function":{"name":"shell","parameters":SCHEMA}}],"messages":[{"role":"user","content":"go"}"#,
        call: |id, args| {
            let args = serde_json::json!(args);
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"shell","arguments":{args}}}}}]}}"#
            )
        },
        result: |id, text| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#),
        tail: "]}",
    },
    Form {
        dialect: "openai_responses",
        head: r#"{"tools":[{"type":"function","name":"shell","parameters":SCHEMA}],"input":[{"role":"user","content":"go"}"#,
        call: |id, args| {
            let args = serde_json::json!(args);
            format!(r#"{{"type":"function_call","call_id":"{id}","name":"shell","arguments":{args}}}"#)
        },
        result: |id, text| format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#),
        tail: "]}",
    },
    Form {
        dialect: "gemini_generate",
        head: r#"{"tools":[{"functionDeclarations":[{"name":"shell","parameters":SCHEMA}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}"#,
        call: |id, args| {
            format!(r#"{{"role":"model","parts":[{{"functionCall":{{"id":"{id}","name":"shell","args":{args}}}}}]}}"#)
        },
        result: |id, text| {
            format!(
                r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"shell","response":{{"error":"{text}"}}}}}}]}}"#
            )
        },
        tail: "]}",
    },
    Form {
        dialect: "bedrock_converse",
        head: r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"shell","inputSchema":{"json":SCHEMA}}}]},"messages":[{"role":"user","content":[{"text":"go"}]}"#,
        call: |id, args| {
            format!(
                r#"{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"{id}","name":"shell","input":{args}}}}}]}}"#
            )
        },
        result: |id, text| {
            format!(
                r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"{text}"}}],"status":"error"}}}}]}}"#
            )
        },
        tail: "]}",
    },
];

impl Form {
    /// A conversation with a call and a result for each of the arguments.
    fn body(&self, calls: &[&str], text: &str) -> String {
        let mut messages = vec![self.head.replace("SCHEMA", SCHEMA)];
        for (at, args) in calls.iter().enumerate() {
            let id = format!("call_{at}");
            messages.push((self.call)(&id, args));
            messages.push((self.result)(&id, text));
        }
        messages.join(",") + self.tail
    }

    /// Whether results of the dialect have a flag for a failed tool.
    fn has_flag(&self) -> bool {
        !self.dialect.starts_with("openai")
    }

    fn options(&self) -> Options {
        Options { dialect: Some(self.dialect.to_owned()), ..Options::default() }
    }

    fn review(&self, body: &str) -> Reviewed {
        review(body.as_bytes(), &self.options()).unwrap()
    }
}

const WRONG: &[&str] = &[r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#, r#"{"d":4}"#];

#[test]
fn the_third_wrong_call_in_a_row_gets_the_escalation_and_keeps_its_error() {
    for form in FORMS {
        let two = form.body(&WRONG[..2], "Error: bad input");
        assert_eq!(form.review(&two), Reviewed { body: None, escalated: vec![], stop: None }, "{}", form.dialect);

        let three = form.body(&WRONG[..3], "Error: bad input");
        let reviewed = form.review(&three);
        let sent = String::from_utf8(reviewed.body.unwrap()).unwrap();
        assert_eq!(reviewed.escalated, ["shell"], "{}", form.dialect);
        assert_eq!(sent.matches("Error: bad input").count(), 3, "{sent}");
        let start = three.rfind(&(form.call)("call_2", WRONG[2])).unwrap();
        assert_eq!(sent[..start], three[..start], "only the last result changes");
        assert!(sent[start..].contains("command"), "{sent}");
        let checked = crate::check(sent.as_bytes(), &form.options()).unwrap();
        assert_eq!(checked.findings, [], "{sent}");
    }
}

#[test]
fn escalations_stay_the_same_from_request_to_request() {
    for form in FORMS {
        let sent = |calls| String::from_utf8(form.review(&form.body(calls, "Error: no")).body.unwrap()).unwrap();
        let (three, four) = (sent(&WRONG[..3]), sent(WRONG));
        assert!(four.starts_with(&three[..three.len() - form.tail.len()]), "{}", form.dialect);
    }
}

/// A result with this text that did not fail.
fn fine(form: &Form, calls: &[&str], text: &str) -> Reviewed {
    let body = form.body(calls, text);
    let body = body.replace(r#","is_error":true"#, "").replace(r#","status":"error""#, "");
    form.review(&body.replace(r#"{"error":"#, r#"{"output":"#))
}

#[test]
fn a_result_that_did_not_fail_is_left_alone_in_dialects_that_say_so() {
    for form in FORMS.iter().filter(|form| form.has_flag()) {
        // No word of the text counts.
        for text in ["total 12", "0 errors found", "Error: invalid, failed, missing, exception"] {
            let reviewed = fine(form, &WRONG[..3], text);
            assert_eq!((reviewed.body, reviewed.escalated.len()), (None, 0), "{} {text}", form.dialect);
        }
    }
}

#[test]
fn a_call_that_does_not_fit_failed_where_the_dialect_has_no_flag() {
    for form in FORMS.iter().filter(|form| !form.has_flag()) {
        assert_eq!(form.review(&form.body(&WRONG[..3], "total 12")).escalated, ["shell"], "{}", form.dialect);
    }
}

#[test]
fn right_calls_with_results_that_do_not_say_that_they_failed_make_no_loop() {
    for form in FORMS {
        let reviewed = fine(form, &[r#"{"command":"grep error log"}"#; 4], "0 errors found");
        assert_eq!(reviewed, Reviewed::default(), "{}", form.dialect);
    }
}

#[test]
fn right_calls_that_fail_in_the_same_way_are_a_loop() {
    for form in FORMS {
        // The mark that a conversion gives a failed result in dialects without a flag.
        let text = if form.has_flag() { "no such file" } else { "[tool error] no such file" };
        let call = r#"{"command":"ls"}"#;
        let reviewed = form.review(&form.body(&[call; 2], text));
        assert_eq!(reviewed.stop, None, "{}", form.dialect);
        let reviewed = form.review(&form.body(&[call; 3], text));
        let stop = reviewed.stop.unwrap();
        assert_eq!(stop.signature(), "repeated_tool_failure_loop:shell", "{}", form.dialect);
        let sent = String::from_utf8(reviewed.body.unwrap()).unwrap();
        assert!(sent.contains("Do not repeat them") && sent.matches("no such file").count() == 3, "{sent}");
        let left = form.review(&form.body(&[call, call, call, r#"{"command":"pwd"}"#], text));
        assert_eq!(left.stop, None, "the loop is over");
    }
}

#[test]
fn the_limits_are_those_of_the_provider() {
    let form = &FORMS[0];
    let policy = crate::Policy::from_toml("[provider.anthropic]\nbreaker_failures_max = 1").unwrap();
    let body = form.body(&WRONG[..1], "bad input");
    let escalated = |policy: &crate::Policy| {
        let options = Options { policy: policy.clone(), provider: Some("anthropic".to_owned()), ..form.options() };
        review(body.as_bytes(), &options).unwrap().escalated
    };
    assert_eq!((escalated(&policy), escalated(&crate::Policy::default())), (vec!["shell".to_owned()], vec![]));
}

#[test]
fn arguments_that_are_not_json_are_wrong() {
    let reviewed = FORMS[1].review(&FORMS[1].body(&[r#"{"command":"#; 3], "bad input"));
    assert_eq!(reviewed.stop.unwrap().signature(), "repeated_malformed_tool_loop:shell");
    assert!(String::from_utf8(reviewed.body.unwrap()).unwrap().contains("are not JSON"));
}

#[test]
fn a_result_with_an_image_stays_unchanged() {
    let form = &FORMS[0];
    let image = r#"[{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]"#;
    let body = form.body(&WRONG[..3], "IMAGE").replace(r#""IMAGE""#, image);
    assert_eq!(form.review(&body).body, None);
}

#[test]
fn other_blocks_beside_an_escalated_result_stay() {
    let form = &FORMS[0];
    let body = form
        .body(&WRONG[..3], "bad input")
        .replace(r#""is_error":true}]"#, r#""is_error":true},{"type":"text","text":"hurry"}]"#);
    let sent = String::from_utf8(form.review(&body).body.unwrap()).unwrap();
    assert_eq!((sent.matches("hurry").count(), sent.matches("\"tool_result\"").count()), (3, 3), "{sent}");
}

#[test]
fn a_tool_that_the_request_does_not_declare_is_not_wrong() {
    let form = &FORMS[0];
    let body =
        form.body(&WRONG[..3], "Error").replace(r#""name":"shell","input_schema""#, r#""name":"other","input_schema""#);
    assert_eq!(form.review(&body).escalated, Vec::<String>::new());
}

#[test]
fn parallel_calls_count_as_one_round() {
    for form in FORMS.iter().filter(|form| form.dialect == "openai_responses") {
        let ids = ["a", "b", "c"];
        let calls: Vec<_> = ids.iter().zip(WRONG).map(|(id, args)| (form.call)(id, args)).collect();
        let results: Vec<_> = ids.iter().map(|id| (form.result)(id, "Error: bad input")).collect();
        let head = form.head.replace("SCHEMA", SCHEMA);
        let body = [vec![head], calls, results].concat().join(",") + form.tail;
        assert_eq!(form.review(&body).escalated, Vec::<String>::new(), "{}", form.dialect);
    }
}
