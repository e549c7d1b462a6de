use seamline_http::{ClientMode, Repairer};

use super::clients::{FORMS, Noted, provider};

const CLEAN: &[u8] = br#"{"model":"gpt-5","x":1.0,  "messages":[{"role":"user","content":"hi"}]}"#;
const ORPHAN: &[u8] =
    br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c1","content":"real"}]}"#;

#[tokio::test]
async fn a_clean_body_is_sent_byte_for_byte() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let (status, _) = form.post(&Repairer::new(), &url, CLEAN).await.unwrap();
        let sent = provider.take().remove(0);
        assert_eq!((status, sent.raw_body.as_slice()), (200, CLEAN), "{form:?}");
    }
}

#[tokio::test]
async fn a_broken_history_fails_alone_and_succeeds_repaired() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let (status, _) = form.post(&Repairer::new().mode(ClientMode::Report), &url, ORPHAN).await.unwrap();
        assert_eq!(status, 400, "{form:?}: the provider rejects it as it is");
        provider.take();
        let codes = Noted::new();
        let noted = codes.clone();
        let repairer = Repairer::new().on_repair(move |repaired| noted.push(repaired.actions[0].code));
        let (status, _) = form.post(&repairer, &url, ORPHAN).await.unwrap();
        let sent = provider.take().remove(0);
        assert_eq!((status, codes.take()), (200, vec!["PAIR002"]), "{form:?}");
        assert!(String::from_utf8_lossy(&sent.raw_body).contains("real"), "{form:?}: the real result is sent");
        assert_eq!(sent.header("content-length"), Some(sent.raw_body.len().to_string().as_str()), "{form:?}");
    }
}

#[tokio::test]
async fn a_blocked_request_is_not_sent_and_says_why() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let blocking = Repairer::new().mode(ClientMode::Block);
        let error = form.post(&blocking, &url, ORPHAN).await.unwrap_err();
        assert!(error.to_string().starts_with("cannot send the request: PAIR002 at `/messages/1`"), "{error}");
        assert!(provider.take().is_empty(), "{form:?}");
        assert_eq!(form.post(&blocking, &url, CLEAN).await.unwrap().0, 200, "{form:?}");
        provider.take();
    }
}

#[tokio::test]
async fn other_requests_and_unreadable_bodies_pass_through() {
    let provider = provider();
    for form in FORMS {
        let url = format!("{}/v1/embeddings", provider.url());
        form.post(&Repairer::new().mode(ClientMode::Block), &url, ORPHAN).await.unwrap();
        let url = format!("{}/v1/chat/completions", provider.url());
        form.post(&Repairer::new(), &url, b"not json").await.unwrap();
        form.post(&Repairer::new().body_bytes_max(8), &url, ORPHAN).await.unwrap();
        let sent: Vec<Vec<u8>> = provider.take().into_iter().map(|exchange| exchange.raw_body).collect();
        assert_eq!(sent.len(), 3, "{form:?}");
        assert!(sent[0] == ORPHAN && sent[1] == b"not json" && sent[2] == ORPHAN, "{form:?}");
    }
}

#[tokio::test]
async fn a_signed_request_is_sent_as_it_is_and_its_repair_is_reported() {
    const SIGNATURE: &str =
        "AWS4-HMAC-SHA256 Credential=AKID/20261118/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00";
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let codes = Noted::new();
        let noted = codes.clone();
        let repairer = Repairer::new().on_repair(move |repaired| noted.push(repaired.actions[0].code));
        let (status, _) = form.post_as(&repairer, &url, SIGNATURE, ORPHAN).await.unwrap();
        let sent = provider.take();
        assert_eq!((status, sent.len(), codes.take()), (400, 1, vec!["PAIR002"]), "{form:?}");
        assert_eq!(sent[0].raw_body, ORPHAN, "{form:?}: another body would have a wrong signature");
        let blocking = Repairer::new().mode(ClientMode::Block);
        assert!(form.post_as(&blocking, &url, SIGNATURE, ORPHAN).await.is_err(), "{form:?}");
    }
}
