//! Policies: every knob and its forms, overrides per provider, presets and their effects.

use std::collections::BTreeMap;
use std::time::Duration;

use seamline::guards::{BreakerLimits, BreakerScope, GuardPolicy, OnCorruption, Reset, RetryPolicy, StallLimits};
use seamline::policy::{OnInvalid, PRESETS, PolicyErrorKind, UnansweredCall};
use seamline::stream::{ResponseStream, StreamOptions};
use seamline::{Options, Policy, check, repair};
use serde_json::Value;

/// Reads a valid policy file.
#[expect(clippy::panic, reason = "a file that is refused fails the test")]
fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[expect(clippy::unwrap_used, reason = "a file that is read fails the test")]
fn refusal(text: &str) -> String {
    Policy::from_toml(text).unwrap_err().to_string()
}

/// Values of a knob as a file writes them; none is the default.
fn others(knob: &seamline::policy::ListedKnob) -> Vec<String> {
    use seamline::policy::KnobKind;
    let values = match knob.kind {
        KnobKind::Word(words) => words.iter().map(|word| format!("\"{}\"", word.name)).collect(),
        KnobKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        KnobKind::Count(_) | KnobKind::Milliseconds | KnobKind::MillisecondsOrNever => vec!["7".to_owned()],
    };
    values.into_iter().filter(|value| *value != knob.default.to_string()).collect()
}

#[test]
fn every_knob_can_be_set_at_the_top_level_in_its_section_and_for_a_provider() {
    for knob in Policy::default().knobs() {
        for value in others(&knob) {
            let line = format!("{} = {value}", knob.name);
            let flat = policy(&line);
            assert_ne!(flat, Policy::default(), "{line}");
            assert_eq!(flat, policy(&format!("[{}]\n{line}", knob.section)), "{line}");
            let of_groq = [format!("[provider.groq]\n{line}"), format!("[provider.groq.{}]\n{line}", knob.section)];
            for text in of_groq {
                let read = policy(&text);
                assert_eq!(*read.for_provider("openai"), read, "{text}");
                let resolved = read.for_provider("groq");
                assert_eq!(*resolved, flat, "{text}");
            }
        }
    }
}

#[test]
fn no_two_knobs_share_a_name() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for knob in Policy::default().knobs() {
        for name in knob.aliases.iter().copied().chain([knob.name]) {
            let earlier = seen.insert(name.to_owned(), knob.section);
            assert_eq!(earlier, None, "{name}");
        }
        assert!(knob.about.ends_with('.') && knob.about.split(' ').count() >= 3, "{}", knob.name);
    }
}

#[test]
fn every_disputed_question_that_a_knob_can_settle_outside_sessions_has_one() {
    let marks: Vec<_> = Policy::default().knobs().iter().map(|knob| knob.mark).collect();
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 22, 23] {
        assert!(marks.contains(&format!("X{number}").as_str()), "X{number}");
    }
}

#[test]
fn s1_80_to_s1_85_the_fields_of_source_document_001_are_read_with_their_names() {
    let text = "enabled = false\nvalidateBeforeCall = false\nautoRepair = false\ncheckpointRetention = 9\n\
                snapshotMessages = true\nverbose = true\n";
    let flat = policy(text);
    let session = &flat.session;
    assert!(!session.enabled && !session.validate_before_call && session.snapshot_messages && session.verbose);
    assert_eq!((session.checkpoint_retention, flat.repair.on_invalid), (9, OnInvalid::Offer));
    assert_eq!(flat, policy(&format!("[session]\n{text}")));
    let json = r#"{"enabled":false,"validateBeforeCall":false,"autoRepair":false,"checkpointRetention":9,
        "snapshotMessages":true,"verbose":true}"#;
    assert_eq!(flat, serde_json::from_str(json).unwrap());
}

#[test]
fn x8_auto_repair_is_another_name_of_on_invalid() {
    let on_invalid = |text: &str| policy(text).repair.on_invalid;
    assert_eq!(on_invalid("auto_repair = true"), OnInvalid::Repair);
    assert_eq!(on_invalid("auto_repair = false"), OnInvalid::Offer);
    assert_eq!(on_invalid("preset = 'clawos'"), OnInvalid::Offer, "source document 001 does not repair by itself");
    assert_eq!(on_invalid("preset = 'clawos'\nautoRepair = true"), OnInvalid::Repair);
    assert_eq!(on_invalid("on_invalid = 'repair'\nauto_repair = true"), OnInvalid::Repair);
    for knob in Policy::default().knobs() {
        assert_ne!(knob.name, "auto_repair");
    }
}

#[test]
fn two_lines_that_contradict_each_other_are_refused() {
    for text in [
        "on_invalid = 'repair'\nauto_repair = false",
        "unanswered_call = 'fail'\norphan_call = 'rollback'",
        "retries_max = 1\n[guard]\nretries_max = 2",
        "[provider.groq]\nretries_max = 1\n[provider.groq.guard]\nretries_max = 2",
    ] {
        let error = Policy::from_toml(text).unwrap_err();
        assert!(matches!(error.kind, PolicyErrorKind::Contradiction { .. }), "{text}: {error}");
    }
    policy("retries_max = 1\n[guard]\nretries_max = 1");
    policy("on_corruption = 'repair'\non_mismatch_400 = 'repair_and_resend'");
}

#[test]
fn an_unknown_name_is_reported_with_similar_and_all_known_names() {
    for (text, words) in [
        ("preset = 'clawoss'", ["`clawoss`", "did you mean `clawos`?", "`lossless`, `minimal`"]),
        ("preset = 3", ["`3`", "no preset", "`lossless`, `minimal`"]),
        (
            "orphan_results = 'remove'",
            ["the policy has no knob `orphan_results`", "`orphan_result`?", "`stall_warn_ms`"],
        ),
        (
            "[session]\nretension = 3",
            ["`[session]` has no knob `retension`", "the knobs are", "`checkpoint_retention`"],
        ),
        ("[repair]\nretries_max = 3", ["`retries_max`", "is a knob of `[guard]`", "not of `[repair]`"]),
        ("orphan_result = 'removed'", ["`orphan_result` does not take `removed`", "`remove`?", "`\"to_text\"`"]),
        ("verbose = 'yes'", ["`verbose` does not take `yes`", "it takes", "`true` or `false`"]),
        ("breaker_rounds_max = 0", ["`breaker_rounds_max` does not take `0`", "whole number", "at least 1"]),
        ("stall_timeout_ms = -1", ["`-1`", "milliseconds", "0 for never"]),
        ("[provider.gorq]\nverbose = true", ["no provider is called `gorq`", "`groq`?", "`anthropic`"]),
        ("[provider.groq]\nloud = true", ["`[provider.groq]` has no knob `loud`", "the knobs are", "`verbose`"]),
        ("[synthetic_text]\nlost = 'gone'", ["`[synthetic_text]`", "`lost`", "`missing`"]),
        ("[synthetic_text]\nmissing = 3", ["`synthetic_text.missing`", "`3`", "a text"]),
        ("guard = 3", ["`guard`", "is a table", "`[guard]`"]),
        ("preset = ", ["not a policy", "preset", "1"]),
    ] {
        let error = refusal(text);
        for word in words {
            assert!(error.contains(word), "{text}: {word}: {error}");
        }
    }
}

#[test]
fn an_error_has_its_line_the_nearest_name_and_the_allowed_values() {
    for (text, line, words) in [
        ("preset = 'opal'\n\norphan_results = 'remove'", 3, "did you mean `orphan_result`?"),
        ("[guard]\n# how often\nretrys_max = 3\n", 3, "did you mean `retries_max`?"),
        (
            "preset = 'opal'\n[repair]\nemptied = 'kep'",
            3,
            "did you mean `keep`? it takes `\"remove\"`, `\"placeholder\"`",
        ),
        ("\nverbose = 1", 2, "`true` or `false`"),
        ("\nauto_repair = 'yes'", 2, "`auto_repair` does not take `yes`; it takes `true` or `false`"),
        ("[gaurd]\nretries_max = 3", 1, "the policy has no section `[gaurd]`; did you mean `guard`? the sections are"),
        ("[provider.groq]\n[provider.groq.gaurd]\nretries_max = 3", 2, "`[provider.groq]` has no section `[gaurd]`"),
        ("\n[provider.gorq]\nverbose = true", 2, "did you mean `groq`?"),
        ("[provider.groq]\npreset = 'opal'", 2, "`[provider.groq]` has no knob `preset`"),
        ("[provider.groq.guard]\n\nretries_max = -3", 3, "`retries_max` does not take `-3`; it takes a whole number"),
        ("[synthetic_text]\n\nmising = 'gone'", 3, "did you mean `missing`?"),
        ("verbose = true\nguard = 3", 2, "write `[guard]`"),
        (
            "on_invalid = 'repair'\n\nautoRepair = false",
            3,
            "`autoRepair = false` contradicts `on_invalid = \"repair\"` in line 1",
        ),
        (
            "[guard]\nretries_max = 2\n[provider.groq]\nretries_max = 1\n[provider.groq.guard]\nretries_max = 2",
            6,
            "in line 4",
        ),
    ] {
        let error = Policy::from_toml(text).unwrap_err();
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
    // The parser of TOML shows the place itself.
    assert!(refusal("verbose = true\npreset = ").contains("line 2"));
    // A policy that is not in a file has no lines.
    let error = serde_json::from_str::<Policy>(r#"{"orphan_results":"remove"}"#).unwrap_err().to_string();
    assert!(error.starts_with("the policy has no knob `orphan_results`; did you mean `orphan_result`?"), "{error}");
}

#[test]
fn a_policy_is_written_and_read_back() {
    let overrides = "[provider.groq]\nretries_max = 5\n[provider.groq.synthetic_text]\nmissing = 'lost'";
    let presets = PRESETS.iter().map(|preset| format!("preset = '{}'\n", preset.name));
    for text in presets.flat_map(|preset| [preset.clone(), preset + overrides]) {
        let written = serde_json::to_string(&policy(&text)).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&written).unwrap(), policy(&text), "{written}");
        assert!(written.contains("\"trailing_call\""), "every knob is written: {written}");
    }
}

#[test]
fn a_stored_policy_that_names_a_retired_text_is_read() {
    let written = serde_json::to_string(&policy("preset = 'opal'")).unwrap();
    assert!(!written.contains("reconstructed"), "{written}");
    let earlier = written.replacen("\"synthetic_text\":{", "\"synthetic_text\":{\"reconstructed\":\"rebuilt\",", 1);
    assert!(earlier != written, "{written}");
    assert_eq!(serde_json::from_str::<Policy>(&earlier).unwrap(), policy("preset = 'opal'"));
    let earlier = r#"{"provider":{"groq":{"synthetic_text":{"reconstructed":"rebuilt"}}}}"#;
    assert_eq!(serde_json::from_str::<Policy>(earlier).unwrap().repair, policy("").repair);
}

#[test]
fn a_file_that_sets_a_retired_text_is_refused() {
    for table in ["synthetic_text", "repair.synthetic_text", "provider.groq.synthetic_text"] {
        let text = format!("[{table}]\nreconstructed = 'rebuilt'");
        let error = Policy::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains("`reconstructed`"), "{table}: {error}");
        let object = toml::from_str::<serde_json::Value>(&text).unwrap();
        let error = Policy::from_json(&object).unwrap_err().to_string();
        assert!(error.contains("`reconstructed`"), "{table}: {error}");
    }
}

const UNANSWERED: &str = r#"{"model":"MODEL","messages":[{"role":"user","content":"hi"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"t","arguments":"{}"}}]},
    {"role":"user","content":"go on"}]}"#;

fn for_provider(policy: &Policy, provider: &str) -> Options {
    Options { provider: Some(provider.to_owned()), policy: policy.clone(), ..Options::default() }
}

#[test]
fn overrides_change_repairs_for_their_provider_alone() {
    let policy = policy(
        "safety = 'unsafe'\n[provider.groq.repair]\nunanswered_call = 'remove_call'\n[provider.cerebras]\non_invalid = 'warn'",
    );
    assert_eq!(policy.for_provider("groq").repair.unanswered_call, UnansweredCall::RemoveCall);
    let body = |provider: &str| {
        let repaired = repair(UNANSWERED.as_bytes(), &for_provider(&policy, provider)).unwrap();
        (String::from_utf8(repaired.body.to_vec()).unwrap(), repaired.sendable)
    };
    assert!(body("openai").0.contains("\"tool_call_id\""));
    assert!(!body("groq").0.contains("call_1"));
    assert_eq!(body("cerebras"), (UNANSWERED.to_owned(), true), "S4-36: one provider can be switched off");
}

#[test]
fn texts_of_every_override_are_known_to_be_synthetic() {
    let policy = policy("[provider.groq.synthetic_text]\nmissing = 'lost at sea'");
    let closed = repair(UNANSWERED.as_bytes(), &for_provider(&policy, "groq")).unwrap().body.to_vec();
    assert!(String::from_utf8_lossy(&closed).contains("lost at sea"));
    // The real result arrives late, and another provider gets the request.
    let late = r#",{"role":"tool","tool_call_id":"call_1","content":"real"}]}"#;
    let body = [&closed[..closed.len() - 2], late.as_bytes()].concat();
    let repaired = repair(&body, &for_provider(&policy, "openai")).unwrap();
    let text = String::from_utf8_lossy(&repaired.body).into_owned();
    assert!(text.contains("real") && !text.contains("lost at sea"), "{text}");
}

#[test]
fn x8_an_offered_repair_is_made_on_request() {
    let policy = policy("preset = 'clawos'");
    let options = for_provider(&policy, "openai");
    assert!(!check(UNANSWERED.as_bytes(), &options).unwrap().is_accepted());
    assert!(repair(UNANSWERED.as_bytes(), &options).unwrap().is_changed());
    let strict = for_provider(&Policy::preset("strict").unwrap(), "openai");
    assert!(!repair(UNANSWERED.as_bytes(), &strict).unwrap().is_changed());
}

#[test]
fn s3_16_the_key_for_stalls_is_read_from_a_file() {
    let stall = |text: &str| policy(text).guard.stall;
    assert_eq!(policy("stall_timeout_ms = 300000"), Policy::default(), "the value of the template");
    assert_eq!(stall("stall_timeout_ms = 600000").kill_after, Some(Duration::from_mins(10)));
    assert_eq!(stall("stall_timeout_ms = 0").kill_after, None, "switched off by hand");
    for milliseconds in [150, 1000, 300_000] {
        let text = format!("stall_kill_ms = {milliseconds}");
        assert_eq!(stall(&text), StallLimits::of_timeout_ms(Some(milliseconds)), "{text}");
    }
    let loud = stall("stall_warn_ms = 0\nstall_timeout_ms = 150");
    assert_eq!((loud.warn_after, loud.kill_after), (None, Some(Duration::from_millis(150))));
}

#[test]
fn every_limit_of_a_guard_has_a_knob() {
    let all = policy(
        "[guard]
        retries_max = 7
        retry_wait_min_ms = 20
        retry_wait_max_ms = 30
        retry_asked_wait_max_ms = 40
        on_corruption = 'restart'
        breaker_failures_max = 4
        breaker_rounds_max = 5
        breaker_period_max = 1
        breaker_scope = 'turn'
        breaker_reset = 'same_tool_fits'
        breaker_ends_turn = true
        breaker_reads_results = false
        stall_timeout_ms = 1000
        stall_warn_ms = 100
        stall_tool_timeout_ms = 2000",
    );
    let milliseconds = Duration::from_millis;
    let expected = GuardPolicy {
        retry: RetryPolicy {
            retries_max: 7,
            wait_min: milliseconds(20),
            wait_max: milliseconds(30),
            asked_wait_max: milliseconds(40),
            on_corruption: OnCorruption::Restart,
        },
        breaker: BreakerLimits {
            failures_max: 4,
            rounds_max: 5,
            period_max: 1,
            scope: BreakerScope::Turn,
            reset: Reset::SameToolFits,
            ends_turn: true,
            reads_results: false,
        },
        stall: StallLimits {
            warn_after: Some(milliseconds(100)),
            kill_after: Some(milliseconds(1000)),
            tool_kill_after: Some(milliseconds(2000)),
        },
    };
    assert_eq!(all.guard, expected);
}

#[test]
fn synonyms_of_a_value_are_read() {
    let reset = |word: &str| policy(&format!("breaker_reset = '{word}'")).guard.breaker.reset;
    assert_eq!([reset("same_tool_success"), reset("valid_args")], [Reset::SameTool, Reset::SameToolFits]);
    let after = |word: &str| policy(&format!("on_mismatch_400 = '{word}'")).guard.retry.on_corruption;
    assert_eq!([after("repair_and_resend"), after("transient")], [OnCorruption::Repair, OnCorruption::Restart]);
}

/// A response with a text and a call that was cut.
const CUT: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"Look:\",\"tool_calls\":[\
{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn x16_the_policy_decides_whether_a_history_keeps_a_cut_call() {
    let answer = |text: &str| {
        let options = StreamOptions { policy: policy(text), ..StreamOptions::default() };
        let mut stream = ResponseStream::new(&options).unwrap();
        stream.feed(CUT);
        stream.finish().unwrap()
    };
    let kept = |text: &str| answer(text).messages().concat();
    assert_eq!(kept("partial_call = 'drop_call'"), r#"{"role":"assistant","content":"Look:"}"#);
    assert_eq!(kept(""), kept("partial_call = 'drop_call'"), "the default");
    assert_eq!(kept("preset = 'clawos'"), "", "the whole turn goes");
    let refused = answer("preset = 'kilroy'");
    let message: Value = serde_json::from_str(refused.messages()[0]).unwrap();
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{}", "{message}");
    assert!(!refused.calls[0].executable);
    let results = refused.refused();
    assert_eq!((results.len(), results[0].id.as_str(), results[0].name.as_str()), (1, "call_1", "write"));
    assert!(results[0].text.contains("cut off"), "{}", results[0].text);
    // The kept messages, with the result, are accepted.
    let result = format!(r#"{{"role":"tool","tool_call_id":"{}","content":"{}"}}"#, results[0].id, results[0].text);
    let user = r#"{"role":"user","content":"go"}"#;
    let body = format!(r#"{{"model":"gpt-4.1","messages":[{user},{message},{result}]}}"#);
    assert!(check(body.as_bytes(), &Options::default()).unwrap().is_accepted());
}

#[test]
fn limits_of_streams_are_knobs() {
    let options = StreamOptions { policy: policy("[stream]\nblocks_max = 1"), ..StreamOptions::default() };
    let mut stream = ResponseStream::new(&options).unwrap();
    stream.feed(CUT);
    assert_eq!(stream.finish().unwrap().ending, seamline::stream::Ending::Failed);
}

/// The values that the five source documents describe, where they differ from the default or matter most.
#[test]
fn a_preset_sets_everything_that_its_source_document_describes() {
    let expected = [
        (
            "opal",
            "on_invalid=repair unanswered_call=synthesize orphan_result=remove match_scope=anywhere displaced=relocate \
            trailing_call=close persist_repairs=all duplicate_result=first duplicate_call_id=allow_positional \
            on_executor_failure=record partial_call=drop_call id_mode=preserve emptied=keep on_corruption=stop \
            stall_warn_ms=10000 stall_timeout_ms=0",
        ),
        (
            "clawos",
            "on_invalid=offer unanswered_call=remove_call orphan_result=remove match_scope=adjacent \
            displaced=remove_pair trailing_call=allow_pending persist_repairs=all duplicate_result=first \
            duplicate_call_id=rename_later on_executor_failure=rollback on_tool_error=record partial_call=drop_turn \
            id_mode=preserve emptied=remove on_corruption=rollback enabled=true validate_before_call=true \
            checkpoint_retention=5 snapshot_messages=false",
        ),
        (
            "llxprt",
            "on_invalid=repair unanswered_call=synthesize orphan_result=reconstruct_call match_scope=anywhere \
            displaced=relocate trailing_call=close persist_repairs=never duplicate_result=best \
            duplicate_call_id=rename_later on_executor_failure=record partial_call=drop_call id_mode=canonical \
            emptied=placeholder",
        ),
        (
            "kilroy",
            "on_invalid=repair unanswered_call=remove_call orphan_result=remove match_scope=span displaced=relocate \
            trailing_call=close persist_repairs=all duplicate_result=first duplicate_call_id=allow_positional \
            on_executor_failure=record partial_call=error_result arg_source=delta_wins id_mode=preserve \
            merge_same_role=true on_corruption=repair retries_max=2 retry_wait_min_ms=1000 retry_wait_max_ms=60000 \
            breaker_failures_max=3 breaker_scope=tool breaker_reset=any_success breaker_ends_turn=true stall_warn_ms=0 \
            stall_timeout_ms=300000",
        ),
        (
            "libr-agent",
            "on_invalid=repair unanswered_call=remove_call orphan_result=remove match_scope=anywhere \
            displaced=remove_pair trailing_call=remove persist_repairs=never duplicate_result=first \
            duplicate_call_id=allow_positional on_executor_failure=record partial_call=drop_call \
            arg_source=parsable_wins id_mode=preserve emptied=keep",
        ),
        ("strict", "on_invalid=block persist_repairs=never on_corruption=stop"),
    ];
    for (preset, knobs) in expected {
        let values: BTreeMap<_, _> = Policy::preset(preset)
            .unwrap()
            .knobs()
            .into_iter()
            .map(|knob| (knob.name, knob.value.to_string().trim_matches('"').to_owned()))
            .collect();
        for knob in knobs.split_whitespace() {
            let (name, value) = knob.split_once('=').unwrap();
            assert_eq!(values[name], value, "{preset}: {name}");
        }
    }
}

#[test]
fn x22_failures_count_together_as_the_scope_says() {
    use seamline::guards::{Breaker, CallInRound, CheckedCall, ToolSchemas};
    let escalations = |scope: &str, rounds: &[&str]| {
        let limits = policy(&format!("breaker_scope = '{scope}'")).guard.breaker;
        let mut breaker = Breaker::new(limits);
        let mut escalated = Vec::new();
        for name in rounds {
            if *name == "turn" {
                breaker.handle_turn();
                continue;
            }
            let call = CallInRound { name, arguments: "{}", free: false, truncated: false };
            let (checked, _) = breaker.handle_round(&[call], &ToolSchemas::new());
            escalated.push(matches!(checked[0], CheckedCall::Refuse { escalated: true, .. }));
        }
        escalated
    };
    let alternating = ["one", "two", "one", "two"];
    assert_eq!(escalations("tool", &alternating), [false; 4], "alternating tools defeat a count per tool");
    assert_eq!(escalations("turn", &alternating), [false, false, true, true]);
    let turns = ["one", "two", "turn", "one", "two"];
    assert_eq!(escalations("turn", &turns), [false; 4]);
    assert_eq!(escalations("session", &turns), [false, false, true, true]);
}

#[test]
fn overrides_of_a_company_apply_in_all_its_dialects_and_those_of_one_dialect_last() {
    let layered =
        policy("[provider.deepseek]\nretries_max = 5\nverbose = true\n[provider.deepseek-responses]\nretries_max = 7");
    let read = |provider: &str| {
        let policy = layered.for_provider(provider);
        (policy.guard.retry.retries_max, policy.session.verbose)
    };
    assert_eq!(read("deepseek"), (5, true));
    assert_eq!(read("deepseek-responses"), (7, true));
    assert_eq!(read("deepseek-anthropic"), (5, true));
    assert_ne!(read("openai"), (5, true));
    let call = r#"{"type":"function_call","call_id":"call_1","name":"x","arguments":"{}"}"#;
    let body = format!(r#"{{"input":[{call},{{"role":"user","content":"hi"}}]}}"#);
    let removing = policy("safety = 'unsafe'\n[provider.openai]\nunanswered_call = 'remove_call'");
    let repaired = repair(body.as_bytes(), &for_provider(&removing, "openai")).unwrap();
    assert_eq!(repaired.provider, "openai-responses");
    assert_eq!(&*repaired.body, br#"{"input":[{"role":"user","content":"hi"}]}"#);
}
