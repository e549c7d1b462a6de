use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use seamline::Policy;
use seamline_http::{ClientMode, Repairer};
use seamline_testkit::provider::Script;

use super::clients::{FORMS, Noted, provider};

const BODY: &[u8] = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hi","mood":"good"}]}"#;
const UNKNOWN: &str =
    r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'.","type":"invalid_request_error","code":null}}"#;
const QUOTA: &str = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;

#[tokio::test]
async fn a_member_that_the_provider_rejects_is_removed_once() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let repairs = Noted::new();
        let noted = repairs.clone();
        let repairer = Repairer::new().on_repair(move |repaired| noted.push(repaired.is_lossless()));
        provider.next(Script::default().answer(400, UNKNOWN));
        let (status, _) = form.post(&repairer, &url, BODY).await.unwrap();
        let sent: Vec<String> =
            provider.take().iter().map(|exchange| String::from_utf8_lossy(&exchange.raw_body).into_owned()).collect();
        let second = r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!((status, sent[1].as_str(), sent.len()), (200, second, 2), "{form:?}");
        assert_eq!(repairs.take().len(), 1, "{form:?}");
    }
}

#[tokio::test]
async fn the_caller_gets_the_first_error_where_no_repair_helps() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        provider.next(Script::default().answer(400, QUOTA));
        let got = form.post(&Repairer::new(), &url, BODY).await.unwrap();
        assert_eq!((got.0, &got.1[..], provider.take().len()), (400, QUOTA.as_bytes(), 1), "{form:?}: not its subject");
        provider.next(Script::default().answer(400, UNKNOWN));
        provider.next(Script::default().answer(400, QUOTA));
        let got = form.post(&Repairer::new(), &url, BODY).await.unwrap();
        assert_eq!((got.0, &got.1[..], provider.take().len()), (400, UNKNOWN.as_bytes(), 2), "{form:?}: only once");
        provider.next(Script::default().answer(400, UNKNOWN));
        let got = form.post(&Repairer::new().mode(ClientMode::Report), &url, BODY).await.unwrap();
        assert_eq!((got.0, provider.take().len()), (400, 1), "{form:?}: only reported");
    }
}

#[tokio::test]
async fn a_policy_that_does_not_repair_after_a_rejection_leaves_the_error() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        for text in ["on_corruption = 'stop'", "preset = 'opal'", "[provider.openai]\non_corruption = 'rollback'"] {
            let repairer = Repairer::new().provider("openai").policy(Policy::from_toml(text).unwrap());
            provider.next(Script::default().answer(400, UNKNOWN));
            let got = form.post(&repairer, &url, BODY).await.unwrap();
            assert_eq!((got.0, &got.1[..], provider.take().len()), (400, UNKNOWN.as_bytes(), 1), "{form:?} {text}");
        }
    }
}

#[tokio::test]
async fn the_caller_gets_the_first_error_where_the_connection_of_the_second_try_breaks() {
    for form in FORMS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
        let once = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            drop(listener);
            let mut read = [0; 4096];
            let mut request = Vec::new();
            while !request.ends_with(BODY) {
                let count = stream.read(&mut read).unwrap();
                request.extend_from_slice(&read[..count]);
            }
            let length = UNKNOWN.len();
            write!(
                stream,
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{UNKNOWN}"
            )
            .unwrap();
        });
        let got = form.post(&Repairer::new(), &url, BODY).await.unwrap();
        once.join().unwrap();
        assert_eq!((got.0, &got.1[..]), (400, UNKNOWN.as_bytes()), "{form:?}");
    }
}
