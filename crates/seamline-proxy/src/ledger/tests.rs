use hyper::HeaderMap;

use super::*;

fn key(name: &str) -> ConversationKey {
    ConversationKey::of(name, None, &HeaderMap::new(), b"{}")
}

fn options() -> Options {
    Options { dialect: Some("anthropic_messages".to_owned()), ..Options::default() }
}

/// A conversation with an unanswered call, and so many messages behind it. It is long enough to be kept.
fn conversation(messages: usize) -> Bytes {
    let mut list = vec![
        r#"{"role":"user","content":"go"}"#.to_owned(),
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}"#.to_owned(),
    ];
    let roles = ["user", "assistant"].into_iter().cycle();
    list.extend(roles.take(messages).enumerate().map(|(at, role)| format!(r#"{{"role":"{role}","content":"m{at}"}}"#)));
    let system = "x".repeat(KEPT_BYTES_MIN);
    Bytes::from(format!(
        r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"system":"{system}","messages":[{}]}}"#,
        list.join(",")
    ))
}

#[test]
fn repairs_of_the_prefix_stay_identical() {
    let ledger = Ledger::new(LedgerLimits::default());
    let mut earlier: Option<Vec<u8>> = None;
    for messages in (1..120).step_by(2) {
        let body = conversation(messages);
        let (repaired, _) = ledger.repair(&key("a"), &body, &options()).unwrap();
        assert!(repaired.is_changed() && repaired.remaining.is_empty());
        let sent = repaired.body.to_vec();
        assert_eq!(sent, seamline::repair(&body, &options()).unwrap().body.to_vec());
        if let Some(earlier) = earlier {
            let shared = &earlier[..earlier.len() - b"]}".len()];
            assert!(sent.starts_with(shared), "{messages}");
        }
        earlier = Some(sent);
    }
    assert_eq!(ledger.size().0, 1);
}

#[test]
fn a_late_real_result_takes_the_place_of_the_synthetic_one() {
    let ledger = Ledger::new(LedgerLimits::default());
    let open = conversation(1);
    let (first, _) = ledger.repair(&key("a"), &open, &options()).unwrap();
    assert!(first.actions.iter().any(|action| action.synthetic));
    let result = r#",{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"real"}]}]}"#;
    let late = String::from_utf8(conversation(2).to_vec()).unwrap();
    let late = Bytes::from(format!("{}{result}", &late[..late.len() - b"]}".len()]));
    let (second, _) = ledger.repair(&key("a"), &late, &options()).unwrap();
    let sent = String::from_utf8(second.body.to_vec()).unwrap();
    assert!(second.remaining.is_empty(), "{:?}", second.remaining);
    assert_eq!((sent.matches(r#""type":"tool_result""#).count(), sent.contains("real")), (1, true), "{sent}");
    assert!(second.actions.iter().all(|action| !action.synthetic));
}

#[test]
fn the_least_recently_used_conversations_go_first() {
    let limits = LedgerLimits { conversations_max: 2, ..LedgerLimits::default() };
    let ledger = Ledger::new(limits);
    let body = conversation(1);
    for name in ["a", "b", "a", "c"] {
        ledger.repair(&key(name), &body, &options()).unwrap();
    }
    assert_eq!(ledger.size().0, 2);
    let known = |name: &str| ledger.lock().by_key.contains_key(&key(name));
    assert_eq!([known("a"), known("b"), known("c")], [true, false, true]);
    let (_, held) = ledger.size();
    let small = Ledger::new(LedgerLimits { bytes_max: held / 4, ..limits });
    small.repair(&key("a"), &body, &options()).unwrap();
    assert_eq!(small.size(), (0, 0));
}

#[test]
fn a_lost_signature_is_given_back_in_another_conversation() {
    let ledger = Ledger::new(LedgerLimits::default());
    let response = br#"{"candidates":[{"content":{"role":"model","parts":[
        {"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"c2ln"}]}}]}"#;
    ledger.learn("gemini_generate", response);
    let lost = Bytes::from_static(
        br#"{"contents":[{"role":"user","parts":[{"text":"go"}]},
        {"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]}]}"#,
    );
    let options = Options { model: Some("gemini-3-pro".to_owned()), ..Options::default() };
    let (repaired, _) = ledger.repair(&key("resumed"), &lost, &options).unwrap();
    let sent = String::from_utf8(repaired.body.to_vec()).unwrap();
    assert!(sent.contains(r#""thoughtSignature":"c2ln""#) && !sent.contains("skip_thought"), "{sent}");
}

#[test]
fn a_short_request_is_not_kept() {
    let ledger = Ledger::new(LedgerLimits::default());
    let short =
        Bytes::from_static(br#"{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#);
    let (repaired, unread) = ledger.repair(&key("a"), &short, &options()).unwrap();
    assert_eq!(repaired, seamline::repair(&short, &options()).unwrap());
    assert_eq!((unread.messages, ledger.size()), (0, (0, 0)));
}

#[test]
fn a_rejected_member_is_tried_again_after_a_while() {
    let ledger = Ledger::new(LedgerLimits::default());
    let names = vec!["mood".to_owned()];
    let rejected = RejectedMembers { names, ..RejectedMembers::default() };
    ledger.reject(key("a"), &rejected, 1000);
    assert_eq!(ledger.rejected(&key("a"), 1000 + REJECTED_TIME_MS), rejected);
    assert!(ledger.rejected(&key("a"), 1001 + REJECTED_TIME_MS).is_empty());
    assert!(ledger.rejected(&key("b"), 1000).is_empty());
}
