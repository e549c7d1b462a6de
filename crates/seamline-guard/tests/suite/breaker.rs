//! Wrong and failing rounds.

use seamline_guard::{Breaker, BreakerLimits, CallInRound, CheckedCall, Outcome, Reset, ToolSchemas};

const SHELL: &str = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;

fn tools() -> ToolSchemas {
    let mut tools = ToolSchemas::new();
    tools.add("shell", Some(SHELL)).unwrap();
    tools.add("glob", Some(r#"{"type":"object","required":["pattern","path"]}"#)).unwrap();
    tools.add("anything", None).unwrap();
    tools
}

fn call<'c>(name: &'c str, arguments: &'c str) -> CallInRound<'c> {
    CallInRound { name, arguments, free: false, truncated: false }
}

fn free<'c>(name: &'c str, text: &'c str) -> CallInRound<'c> {
    CallInRound { free: true, ..call(name, text) }
}

/// Returns for each call of a round whether it runs, is refused, or is refused with an escalation.
fn round(breaker: &mut Breaker, calls: &[CallInRound<'_>]) -> Vec<&'static str> {
    let (checked, _) = breaker.handle_round(calls, &tools());
    let word = |checked: &CheckedCall| match checked {
        CheckedCall::Run => "run",
        CheckedCall::PartlyChecked => "partly checked",
        CheckedCall::Refuse { escalated: false, .. } => "refused",
        CheckedCall::Refuse { escalated: true, .. } => "escalated",
    };
    checked.iter().map(word).collect()
}

fn ok(name: &str) -> [Outcome<'_>; 1] {
    [Outcome { name, arguments: "{}", ok: true, text: "done" }]
}

#[test]
fn s3_10_three_calls_without_a_command_escalate() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let mut texts = Vec::new();
    for _ in 0..4 {
        let (checked, _) = breaker.handle_round(&[call("shell", "{}")], &tools());
        let CheckedCall::Refuse { text, .. } = &checked[0] else { panic!("{checked:?}") };
        texts.push(text.clone());
    }
    let escalation = |count| {
        format!(
            "Tool 'shell' has failed schema validation {count} times consecutively. The required fields are: command. Do NOT \
             call this tool again without providing all required fields."
        )
    };
    assert!(texts[..2].iter().all(|text| !text.contains("consecutively")), "{texts:?}");
    assert!(texts[2].ends_with(&escalation(3)) && texts[3].ends_with(&escalation(4)), "{texts:?}");
}

#[test]
fn k30_alternating_tools_have_separate_counts() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    for expected in ["refused", "refused", "escalated"] {
        assert_eq!(round(&mut breaker, &[call("shell", "{}")]), [expected]);
        assert_eq!(round(&mut breaker, &[call("glob", "{}")]), [expected]);
    }
}

#[test]
fn k30_a_parallel_batch_counts_once() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let batch = [call("shell", "{}"), call("shell", "{\"x\":1}"), call("shell", "[]"), call("shell", "{}")];
    assert_eq!(round(&mut breaker, &batch), ["refused"; 4]);
    assert_eq!(round(&mut breaker, &batch), ["refused"; 4]);
    assert_eq!(round(&mut breaker, &batch), ["escalated"; 4]);
}

#[test]
fn k30_calls_that_were_cut_off_do_not_count() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    for _ in 0..5 {
        let cut = CallInRound { truncated: true, ..call("shell", "{\"comm") };
        let cut_absent = CallInRound { truncated: true, ..call("absent", "{\"comm") };
        assert_eq!(round(&mut breaker, &[cut, cut_absent]), ["refused"; 2]);
    }
    assert_eq!(round(&mut breaker, &[call("shell", "{}"), call("absent", "{}")]), ["refused"; 2]);
}

#[test]
fn k30_an_unknown_tool_counts_whatever_its_arguments() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let calls = [call("absent", "{\"a\":1}"), free("absent", "*** Begin"), call("absent", "not json")];
    let told = calls.map(|call| breaker.handle_round(&[call], &tools()).0);
    let refuse = |text: &str, escalated| vec![CheckedCall::Refuse { text: text.to_owned(), escalated }];
    let plain = "Tool 'absent' does not exist.";
    let escalation =
        format!("{plain}\n\nTool 'absent' was called 3 times consecutively. Do NOT call it again: it does not exist.");
    assert_eq!(told, [refuse(plain, false), refuse(plain, false), refuse(&escalation, true)]);

    let rounds: Vec<_> = (0..30).map(|number| format!("{{\"a\":{number}}}")).collect();
    let rounds: Vec<_> = rounds.iter().map(|arguments| [call("absent", arguments)]).collect();
    let rounds: Vec<&[_]> = rounds.iter().map(<[_; 1]>::as_slice).collect();
    let signature = |what: &str| Some(format!("{what}:absent"));
    assert_eq!(looped(&rounds, BreakerLimits::default()), (3, signature("repeated_tool_failure_loop")));
    let limits = BreakerLimits { ends_turn: true, ..BreakerLimits::default() };
    assert_eq!(looped(&rounds, limits), (3, signature("repeated_tool_validation_loop")));
}

#[test]
fn invented_names_do_not_evict_a_failing_tool() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    round(&mut breaker, &[call("shell", "{}")]);
    round(&mut breaker, &[call("shell", "{}")]);
    for number in 0..5000 {
        assert_eq!(round(&mut breaker, &[call(&format!("tool_{number}"), "{}")]), ["refused"]);
    }
    assert_eq!(round(&mut breaker, &[call("shell", "{}")]), ["escalated"]);
}

#[test]
fn free_text_is_not_checked_and_counts_like_any_call() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let patch = "*** Begin Patch\n\"{";
    assert_eq!(round(&mut breaker, &[free("anything", patch), free("anything", "")]), ["run"; 2]);
    // The text is not JSON.
    assert_eq!(round(&mut breaker, &[call("anything", patch)]), ["refused"]);
    // The same text with the same failure is a loop; another text is not.
    let failed = |arguments| [Outcome { name: "anything", arguments, ok: false, text: "does not apply" }];
    let mut breaker = Breaker::new(BreakerLimits::default());
    let stops = [patch, patch, "other", patch, patch].map(|text| breaker.handle_outcomes(&failed(text)));
    assert_eq!(stops, [const { None }; 5]);
    let stop = breaker.handle_outcomes(&failed(patch)).unwrap();
    assert_eq!(stop.signature(), "repeated_tool_failure_loop:anything");
}

#[test]
fn free_text_does_not_fit_a_tool_with_a_schema() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    for expected in ["refused", "refused", "escalated"] {
        assert_eq!(round(&mut breaker, &[free("shell", r#"{"command":"ls"}"#)]), [expected]);
    }
    assert_eq!(looped(&[&[free("shell", "ls")]], BreakerLimits::default()).0, 3);
}

#[test]
fn s3_12_the_policy_decides_what_resets_the_count() {
    let good = call("shell", r#"{"command":"ls"}"#);
    let bad = call("shell", "{}");
    for (reset, after_other, after_fit) in [
        (Reset::AnySuccess, "refused", "escalated"),
        (Reset::SameTool, "escalated", "escalated"),
        (Reset::SameToolFits, "escalated", "refused"),
    ] {
        let limits = BreakerLimits { reset, ..BreakerLimits::default() };
        let mut breaker = Breaker::new(limits);
        round(&mut breaker, &[bad]);
        round(&mut breaker, &[bad]);
        // Another tool succeeds.
        round(&mut breaker, &[call("anything", "{}")]);
        breaker.handle_outcomes(&ok("anything"));
        assert_eq!(round(&mut breaker, &[bad]), [after_other], "{reset:?}");

        let mut breaker = Breaker::new(limits);
        round(&mut breaker, &[bad]);
        round(&mut breaker, &[bad]);
        // A valid call of the same tool fails.
        assert_eq!(round(&mut breaker, &[good]), ["run"]);
        breaker.handle_outcomes(&[Outcome { name: "shell", arguments: good.arguments, ok: false, text: "no" }]);
        assert_eq!(round(&mut breaker, &[bad]), [after_fit], "{reset:?}");
    }
}

#[test]
fn s3_13_repeated_malformed_calls_end_the_turn() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let broken = [call("shell", "{\"command\":\"ls\"}{\"command\":\"ls\"}")];
    let mut stops: Vec<_> = (0..3).map(|_| breaker.handle_round(&broken, &tools()).1).collect();
    let stop = stops.pop().flatten().unwrap();
    assert_eq!(stops, [None, None]);
    assert_eq!((stop.signature().as_str(), stop.rounds), ("repeated_malformed_tool_loop:shell", 3));
    // A different call starts a new row.
    let mut breaker = Breaker::new(BreakerLimits::default());
    for arguments in ["{a", "{b", "{c", "{a", "{b", "{c", "{a", "{b"] {
        assert_eq!(breaker.handle_round(&[call("shell", arguments)], &tools()).1, None);
    }
}

#[test]
fn a_round_that_was_cut_off_does_not_end_a_row_of_malformed_calls() {
    let broken = call("shell", "{\"command\":\"ls\"}{\"command\":\"ls\"}");
    let cut = CallInRound { truncated: true, ..call("shell", "{\"comm") };
    for rounds in [&[&[broken][..], &[cut], &[broken], &[cut], &[broken]][..], &[&[broken], &[cut, broken], &[broken]]]
    {
        let mut breaker = Breaker::new(BreakerLimits::default());
        let mut stops: Vec<_> = rounds.iter().map(|calls| breaker.handle_round(calls, &tools()).1).collect();
        let stop = stops.pop().flatten().unwrap();
        assert_eq!((stop.signature().as_str(), stop.rounds), ("repeated_malformed_tool_loop:shell", 3));
        assert!(stops.iter().all(Option::is_none));
    }
    let mut breaker = Breaker::new(BreakerLimits::default());
    assert!((0..5).all(|_| breaker.handle_round(&[cut], &tools()).1.is_none()), "it does not start a row either");
}

#[test]
fn k31_repeated_failures_end_the_turn_with_a_stable_signature() {
    let failed = |name, text| Outcome { name, arguments: "{}", ok: false, text };
    let mut breaker = Breaker::new(BreakerLimits::default());
    let round = [failed("close_agent", "no such agent"), failed("anything", "no")];
    assert_eq!([breaker.handle_outcomes(&round), breaker.handle_outcomes(&round)], [None, None]);
    let stop = breaker.handle_outcomes(&round).unwrap();
    assert_eq!(stop.signature(), "repeated_tool_failure_loop:anything,close_agent");
    // A success or a different failure starts a new row.
    let mut breaker = Breaker::new(BreakerLimits::default());
    for text in ["1", "1", "2", "1", "1"] {
        assert_eq!(breaker.handle_outcomes(&[failed("anything", text)]), None);
    }
    breaker.handle_outcomes(&ok("anything"));
    assert_eq!(breaker.handle_outcomes(&[failed("anything", "1")]), None);
}

#[test]
fn s3_11_too_many_wrong_calls_of_a_tool_can_end_the_turn() {
    let mut breaker = Breaker::new(BreakerLimits { ends_turn: true, ..BreakerLimits::default() });
    let stops: Vec<_> = (0..3).map(|_| breaker.handle_round(&[call("glob", "{}")], &tools()).1).collect();
    assert_eq!(stops[..2], [None, None]);
    let stop = stops[2].as_ref().unwrap();
    assert_eq!(
        (stop.signature().as_str(), stop.failure_class()),
        ("repeated_tool_validation_loop:glob", "deterministic")
    );
}

/// Runs a turn in which the model repeats the same rounds and every call gets a result. Returns the number of rounds and
/// the signature.
fn looped(rounds: &[&[CallInRound<'_>]], limits: BreakerLimits) -> (usize, Option<String>) {
    let tools = tools();
    let mut breaker = Breaker::new(limits);
    for (index, calls) in rounds.iter().cycle().take(30).enumerate() {
        let (checked, stop) = breaker.handle_round(calls, &tools);
        // Every call has its result.
        assert_eq!(checked.len(), calls.len());
        let text = |checked: &CheckedCall| match checked {
            CheckedCall::Run | CheckedCall::PartlyChecked => None,
            CheckedCall::Refuse { text, .. } => Some(text.clone()),
        };
        let texts: Vec<_> = checked.iter().map(text).collect();
        let outcomes: Vec<_> = calls
            .iter()
            .zip(&texts)
            .map(|(call, refused)| Outcome {
                name: call.name,
                arguments: call.arguments,
                ok: refused.is_none(),
                text: refused.as_deref().unwrap_or("done"),
            })
            .collect();
        if let Some(stop) = stop.or(breaker.handle_outcomes(&outcomes)) {
            return (index + 1, Some(stop.signature()));
        }
    }
    (30, None)
}

#[test]
fn s3_25_a_loop_of_calls_without_a_command_stops_after_three() {
    let shell = [call("shell", "{}")];
    let stopped = looped(&[&shell], BreakerLimits::default());
    assert_eq!(stopped, (3, Some("repeated_tool_failure_loop:shell".to_owned())));
    let limits = BreakerLimits { rounds_max: 2, ..BreakerLimits::default() };
    assert_eq!(looped(&[&shell], limits).0, 2);
    // A batch of four calls is one round.
    assert_eq!(looped(&[&[shell[0]; 4]], BreakerLimits::default()).0, 3);
}

#[test]
fn k30_a_round_is_the_same_in_every_notation() {
    let limits = BreakerLimits::default();
    let written = ["{ }", "{\n}", ""].map(|arguments| [call("shell", arguments)]);
    let rounds: Vec<&[CallInRound<'_>]> = written.iter().map(|round| &round[..]).collect();
    let stopped = (3, Some("repeated_tool_failure_loop:shell".to_owned()));
    assert_eq!(looped(&rounds, limits), stopped);
    assert_eq!(looped(&[&[call("shell", "null")]], limits), stopped);
    let (one, other) = (call("shell", r#"{"a":1,"b":2}"#), call("shell", r#"{"b": 2, "a": 1}"#));
    let unknown = call("absent", "{}");
    let both = (3, Some("repeated_tool_failure_loop:absent,shell".to_owned()));
    assert_eq!(looped(&[&[one, unknown], &[unknown, other]], BreakerLimits { period_max: 1, ..limits }), both);
}

#[test]
fn s3_13_a_count_in_a_result_does_not_hide_equal_rounds() {
    let limits = BreakerLimits { failures_max: 2, rounds_max: 6, ..BreakerLimits::default() };
    assert_eq!(looped(&[&[call("shell", "{}")]], limits).0, 6);
}

#[test]
fn k30_two_alternating_failing_rounds_are_a_loop() {
    let (shell, glob) = ([call("shell", "{}")], [call("glob", "{}")]);
    let signature = Some("repeated_tool_failure_loop:glob,shell".to_owned());
    assert_eq!(looped(&[&shell, &glob], BreakerLimits::default()), (6, signature.clone()));
    assert_eq!(looped(&[&glob, &shell], BreakerLimits::default()), (6, signature));
}

#[test]
fn three_alternating_failing_rounds_are_a_loop_and_four_are_not() {
    let [shell, glob, absent, patch] =
        [[call("shell", "{}")], [call("glob", "{}")], [call("absent", "{}")], [free("shell", "ls")]];
    let signature = Some("repeated_tool_failure_loop:absent,glob,shell".to_owned());
    assert_eq!(looped(&[&shell, &glob, &absent], BreakerLimits::default()), (9, signature.clone()));
    let limits = BreakerLimits { rounds_max: 2, ..BreakerLimits::default() };
    assert_eq!(looped(&[&shell, &glob, &absent], limits), (6, signature));
    assert_eq!(looped(&[&shell, &glob, &absent, &patch], BreakerLimits::default()), (30, None));
    let limits = BreakerLimits { period_max: 2, ..BreakerLimits::default() };
    assert_eq!(looped(&[&shell, &glob, &absent], limits), (30, None));
    // A success in between breaks the loop.
    let well = [call("anything", "{}")];
    assert_eq!(looped(&[&shell, &glob, &well], BreakerLimits::default()), (30, None));
}

#[test]
fn k30_a_success_of_another_tool_hides_nothing_if_only_the_same_tool_resets() {
    let rounds: [&[CallInRound<'_>]; 2] = [&[call("shell", "{}")], &[call("anything", "{}")]];
    let limits = |reset| BreakerLimits { reset, ends_turn: true, ..BreakerLimits::default() };
    assert_eq!(looped(&rounds, limits(Reset::AnySuccess)), (30, None), "the seed's own rule");
    let signature = Some("repeated_tool_validation_loop:shell".to_owned());
    assert_eq!(looped(&rounds, limits(Reset::SameTool)), (5, signature.clone()));
    assert_eq!(looped(&rounds, limits(Reset::SameToolFits)), (5, signature));
}

#[test]
fn k30_results_that_report_a_failure_are_failures() {
    for text in [r#"{"ok":false,"error":"x"}"#, r#" {"success": false}"#, r#"{"isError":true}"#] {
        let outcome = [Outcome { name: "anything", arguments: "{}", ok: true, text }];
        let mut breaker = Breaker::new(BreakerLimits::default());
        let stops = [(); 3].map(|()| breaker.handle_outcomes(&outcome).is_some());
        assert_eq!(stops, [false, false, true], "{text}");
        let mut breaker = Breaker::new(BreakerLimits { reads_results: false, ..BreakerLimits::default() });
        assert!((0..9).all(|_| breaker.handle_outcomes(&outcome).is_none()), "{text}");
    }
    for text in [r#"{"ok":true}"#, "ok: false", "{\"ok\":false", r#"["ok",false]"#, r#"{"log":"{\"ok\":false}"}"#] {
        let outcome = [Outcome { name: "anything", arguments: "{}", ok: true, text }];
        let mut breaker = Breaker::new(BreakerLimits::default());
        assert!((0..9).all(|_| breaker.handle_outcomes(&outcome).is_none()), "{text}");
    }
}

#[test]
fn k30_repeatedly_cut_off_rounds_do_not_count() {
    let cut = [CallInRound { truncated: true, ..call("shell", "{\"comm") }];
    assert_eq!(looped(&[&cut], BreakerLimits { ends_turn: true, ..BreakerLimits::default() }), (30, None));
}

#[test]
fn k29_a_round_that_ends_the_turn_has_a_result_for_every_call() {
    let mut breaker = Breaker::new(BreakerLimits { rounds_max: 1, ..BreakerLimits::default() });
    let (checked, stop) = breaker.handle_round(&[call("shell", "{"), call("glob", "[")], &tools());
    assert!(stop.is_some());
    assert!(matches!(&checked[..], [CheckedCall::Refuse { .. }, CheckedCall::Refuse { .. }]), "{checked:?}");
}

#[test]
fn s3_08_arguments_are_checked_against_the_schema_before_a_tool_runs() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let calls = [
        call("shell", r#"{"command":"ls"}"#),
        call("shell", r#"{"command":7}"#),
        call("shell", ""),
        call("shell", "[]"),
    ];
    assert_eq!(round(&mut breaker, &calls), ["run", "refused", "refused", "refused"]);
    let (checked, _) = breaker.handle_round(&calls[1..2], &tools());
    let CheckedCall::Refuse { text, .. } = &checked[0] else { panic!("{checked:?}") };
    assert!(text.contains("/command") && text.contains("string"), "{text}");
}

#[test]
fn a_too_expensive_schema_is_rejected_and_accepts_all_arguments() {
    let alternatives = (0..24).map(|index| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, index + 1);
        format!(r#""a{index}":{{"anyOf":[{next},{next}]}},"#)
    });
    let defs: String = alternatives.collect();
    let schema = format!(r##"{{"$defs":{{{defs}"a24":{{"type":"string"}}}},"$ref":"#/$defs/a0"}}"##);
    let mut tools = ToolSchemas::new();
    assert_eq!(tools.add("endless", Some(&schema)).unwrap_err().tool, "endless");
    let (checked, _) = Breaker::default().handle_round(&[call("endless", "{}")], &tools);
    assert_eq!(checked, [CheckedCall::Run]);
}

#[test]
fn a_schema_in_gemini_s_notation_is_understood() {
    let mut tools = ToolSchemas::new();
    let schema = r#"{"type":"OBJECT","required":["path"],"properties":{"path":{"type":"STRING","nullable":true}}}"#;
    tools.add("read", Some(schema)).unwrap();
    for (arguments, fits) in
        [(r#"{"path":"a"}"#, true), (r#"{"path":null}"#, true), (r#"{"path":1}"#, false), ("{}", false)]
    {
        let (checked, _) = Breaker::default().handle_round(&[call("read", arguments)], &tools);
        assert_eq!(checked == [CheckedCall::Run], fits, "{arguments}: {checked:?}");
    }
}

#[test]
fn an_invalid_schema_is_rejected_and_accepts_all_arguments() {
    let mut tools = ToolSchemas::new();
    assert!(tools.add("odd", Some(r#"{"type":"nothing"}"#)).unwrap_err().tool == "odd");
    assert!(tools.add("text", Some("not json")).is_err());
    let mut breaker = Breaker::new(BreakerLimits::default());
    let (checked, _) = breaker.handle_round(&[call("odd", "{}"), call("text", "")], &tools);
    assert_eq!(checked, [CheckedCall::Run, CheckedCall::Run]);
}
