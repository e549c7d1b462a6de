//! Rounds that go wrong.

use seamline_guard::{Breaker, BreakerLimits, CallInRound, Checked, Outcome, Reset, ToolSchemas};

const SHELL: &str = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;

fn tools() -> ToolSchemas {
    let mut tools = ToolSchemas::new();
    tools.add("shell", Some(SHELL)).unwrap();
    tools.add("glob", Some(r#"{"type":"object","required":["pattern","path"]}"#)).unwrap();
    tools.add("anything", None).unwrap();
    tools
}

fn call<'c>(name: &'c str, arguments: &'c str) -> CallInRound<'c> {
    CallInRound { name, arguments, truncated: false }
}

/// For each call of a round whether it is run, refused, or refused with what the tool wants.
fn round(breaker: &mut Breaker, calls: &[CallInRound<'_>]) -> Vec<&'static str> {
    let (checked, _) = breaker.handle_round(calls, &tools());
    let word = |checked: &Checked| match checked {
        Checked::Run => "run",
        Checked::Refuse { escalated: false, .. } => "refused",
        Checked::Refuse { escalated: true, .. } => "escalated",
    };
    checked.iter().map(word).collect()
}

fn ok(name: &str) -> [Outcome<'_>; 1] {
    [Outcome { name, arguments: "{}", ok: true, text: "done" }]
}

#[test]
fn the_loop_of_a_shell_without_a_command_is_told_what_is_wanted_after_three() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let mut texts = Vec::new();
    for _ in 0..4 {
        let (checked, _) = breaker.handle_round(&[call("shell", "{}")], &tools());
        let Checked::Refuse { text, .. } = &checked[0] else { panic!("{checked:?}") };
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
fn alternating_tools_have_counts_of_their_own() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    for expected in ["refused", "refused", "escalated"] {
        assert_eq!(round(&mut breaker, &[call("shell", "{}")]), [expected]);
        assert_eq!(round(&mut breaker, &[call("glob", "{}")]), [expected]);
    }
}

#[test]
fn a_parallel_batch_counts_once() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let batch = [call("shell", "{}"), call("shell", "{\"x\":1}"), call("shell", "[]"), call("shell", "{}")];
    assert_eq!(round(&mut breaker, &batch), ["refused"; 4]);
    assert_eq!(round(&mut breaker, &batch), ["refused"; 4]);
    assert_eq!(round(&mut breaker, &batch), ["escalated"; 4]);
}

#[test]
fn what_was_cut_off_and_tools_that_do_not_exist_are_not_counted() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    for _ in 0..5 {
        let cut = CallInRound { truncated: true, ..call("shell", "{\"comm") };
        assert_eq!(round(&mut breaker, &[cut, call("nobody", "{}")]), ["refused"; 2]);
    }
    assert_eq!(round(&mut breaker, &[call("shell", "{}")]), ["refused"]);
}

#[test]
fn a_row_ends_as_the_policy_says() {
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
        // Another tool went well.
        round(&mut breaker, &[call("anything", "{}")]);
        breaker.handle_outcomes(&ok("anything"));
        assert_eq!(round(&mut breaker, &[bad]), [after_other], "{reset:?}");

        let mut breaker = Breaker::new(limits);
        round(&mut breaker, &[bad]);
        round(&mut breaker, &[bad]);
        // The same tool was called well, and failed.
        assert_eq!(round(&mut breaker, &[good]), ["run"]);
        breaker.handle_outcomes(&[Outcome { name: "shell", arguments: good.arguments, ok: false, text: "no" }]);
        assert_eq!(round(&mut breaker, &[bad]), [after_fit], "{reset:?}");
    }
}

#[test]
fn the_same_calls_that_cannot_be_read_end_the_turn() {
    let mut breaker = Breaker::new(BreakerLimits::default());
    let broken = [call("shell", "{\"command\":\"ls\"}{\"command\":\"ls\"}")];
    let mut stops: Vec<_> = (0..3).map(|_| breaker.handle_round(&broken, &tools()).1).collect();
    let stop = stops.pop().flatten().unwrap();
    assert_eq!(stops, [None, None]);
    assert_eq!((stop.signature().as_str(), stop.rounds), ("repeated_malformed_tool_loop:shell", 3));
    // Another one begins another row.
    let mut breaker = Breaker::new(BreakerLimits::default());
    for arguments in ["{a", "{b", "{a", "{b"] {
        assert_eq!(breaker.handle_round(&[call("shell", arguments)], &tools()).1, None);
    }
}

#[test]
fn the_same_failures_end_the_turn_with_a_signature_that_stays() {
    let failed = |name, text| Outcome { name, arguments: "{}", ok: false, text };
    let mut breaker = Breaker::new(BreakerLimits::default());
    let round = [failed("close_agent", "no such agent"), failed("anything", "no")];
    assert_eq!([breaker.handle_outcomes(&round), breaker.handle_outcomes(&round)], [None, None]);
    let stop = breaker.handle_outcomes(&round).unwrap();
    assert_eq!(stop.signature(), "repeated_tool_failure_loop:anything,close_agent");
    // One that went well, or that failed otherwise, begins another row.
    let mut breaker = Breaker::new(BreakerLimits::default());
    for text in ["1", "1", "2", "1", "1"] {
        assert_eq!(breaker.handle_outcomes(&[failed("anything", text)]), None);
    }
    breaker.handle_outcomes(&ok("anything"));
    assert_eq!(breaker.handle_outcomes(&[failed("anything", "1")]), None);
}

#[test]
fn a_tool_called_wrongly_too_often_may_end_the_turn() {
    let mut breaker = Breaker::new(BreakerLimits { ends_turn: true, ..BreakerLimits::default() });
    let stops: Vec<_> = (0..3).map(|_| breaker.handle_round(&[call("glob", "{}")], &tools()).1).collect();
    assert_eq!(stops[..2], [None, None]);
    assert_eq!(stops[2].as_ref().unwrap().signature(), "repeated_tool_validation_loop:glob");
}

#[test]
fn a_schema_that_is_none_says_so_and_lets_everything_through() {
    let mut tools = ToolSchemas::new();
    assert!(tools.add("odd", Some(r#"{"type":"nothing"}"#)).unwrap_err().to_string().contains("`odd`"));
    assert!(tools.add("text", Some("not json")).is_err());
    let mut breaker = Breaker::new(BreakerLimits::default());
    let (checked, _) = breaker.handle_round(&[call("odd", "{}"), call("text", "")], &tools);
    assert_eq!(checked, [Checked::Run, Checked::Run]);
}
