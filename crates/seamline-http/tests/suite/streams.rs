use seamline::stream::Ending;
use seamline_http::Repairer;
use seamline_testkit::provider::{After, Script};

use super::clients::{FORMS, Noted, provider};

const BODY: &[u8] = br#"{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;

#[tokio::test]
async fn a_stream_passes_unchanged_and_is_assembled() {
    for form in FORMS {
        // The ids of a provider count its responses, so each response is the first one of its provider.
        let (first, second) = (provider(), provider());
        let url = format!("{}/v1/chat/completions", first.url());
        let (_, alone) = form.post(&Repairer::new(), &url, BODY).await.unwrap();
        let responses = Noted::new();
        let noted = responses.clone();
        let repairer = Repairer::new().on_response(move |response| noted.push(response));
        let url = format!("{}/v1/chat/completions", second.url());
        let (status, passed) = form.post(&repairer, &url, BODY).await.unwrap();
        let responses = responses.take();
        assert_eq!((status, passed, responses.len()), (200, alone, 1), "{form:?}");
        assert_eq!(responses[0].ending, Ending::Complete, "{form:?}");
    }
}

#[tokio::test]
async fn a_broken_stream_ends_as_it_broke() {
    let provider = provider();
    let url = format!("{}/v1/chat/completions", provider.url());
    for form in FORMS {
        let responses = Noted::new();
        let noted = responses.clone();
        let repairer = Repairer::new().on_response(move |response| noted.push(response.ending));
        provider.next(Script::default().cut(After::Frames(1)));
        let _ = form.post(&repairer, &url, BODY).await;
        assert_eq!(responses.take(), [Ending::Truncated], "{form:?}");
    }
}
