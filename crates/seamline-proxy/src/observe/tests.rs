use std::time::Duration;

use http_body_util::{BodyExt as _, StreamBody};
use seamline::stream::Framing;
use tokio::sync::mpsc;

use super::*;
use crate::config::Config;
use crate::identity::ConversationKey;
use crate::incident::ProxyIncident;
use crate::ledger::LedgerLimits;
use crate::report::{Reporter, Summary};

type Piece = Result<Frame<Bytes>, std::io::Error>;

/// A body of an upstream that a test feeds.
type Fed = StreamBody<futures_util::stream::BoxStream<'static, Piece>>;

#[derive(Default)]
struct Outcomes(std::sync::Mutex<Vec<IncidentOutcome>>);

impl Reporter for Outcomes {
    fn record_incident(&self, incident: ProxyIncident) -> Option<String> {
        self.0.lock().unwrap().push(incident.outcome);
        None
    }

    fn record_exchange(&self, _: &Summary) {}
}

struct Stage {
    feed: mpsc::UnboundedSender<Piece>,
    observed: Observed<Fed>,
    outcomes: Arc<Outcomes>,
    ledger: Arc<Ledger>,
}

impl Stage {
    fn new(dialect: &'static str, watched: Watched) -> Self {
        let (feed, fed) = mpsc::unbounded_channel();
        let stream = futures_util::stream::unfold(fed, async |mut fed| Some((fed.recv().await?, fed)));
        let outcomes = Arc::<Outcomes>::default();
        let mut facts = Facts::new(&(Arc::clone(&outcomes) as Arc<dyn Reporter>));
        facts.dialect = Some(dialect);
        facts.conversation = Some(ConversationKey::of("x", None, &hyper::HeaderMap::new(), b""));
        let ledger = Arc::new(Ledger::new(LedgerLimits::default()));
        let body = StreamBody::new(futures_util::StreamExt::boxed(stream));
        let observed =
            Observed::new(body, watched, Config::default().stall_for(None), (facts, Arc::clone(&ledger), None, None));
        Self { feed, observed, outcomes, ledger }
    }

    fn chat() -> Self {
        Self::new("openai_chat", Watched::stream(&options("openai_chat"), Framing::Sse, None, false))
    }

    fn send(&self, text: &str) {
        self.feed.send(Ok(Frame::data(Bytes::from(text.to_owned())))).unwrap();
    }

    async fn next(&mut self) -> Option<Result<String, Incomplete>> {
        let frame = self.observed.frame().await?;
        Some(frame.map(|frame| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()))
    }

    fn outcomes(&self) -> Vec<IncidentOutcome> {
        self.outcomes.0.lock().unwrap().clone()
    }
}

fn options(dialect: &str) -> StreamOptions {
    StreamOptions { dialect: Some(dialect.to_owned()), ..StreamOptions::default() }
}

const PIECE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
const LAST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[tokio::test(start_paused = true)]
async fn pieces_pass_unchanged_and_a_complete_stream_ends_quietly() {
    let mut stage = Stage::chat();
    for piece in [PIECE, "data: {\"choi", "ces\":[]}\n\n", ": note\n\n", LAST] {
        stage.send(piece);
        assert_eq!(stage.next().await.unwrap().unwrap(), piece);
    }
    drop(std::mem::replace(&mut stage.feed, mpsc::unbounded_channel().0));
    assert!(stage.next().await.is_none());
    assert_eq!(stage.outcomes(), []);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_save_a_stream_only_until_their_own_limit() {
    let mut stage = Stage::chat();
    stage.send(PIECE);
    assert_eq!(stage.next().await.unwrap().unwrap(), PIECE);
    let began = tokio::time::Instant::now();
    let feed = stage.feed.clone();
    let beat = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(20)).await;
            if feed.send(Ok(Frame::data(Bytes::from_static(b": ping\n\n")))).is_err() {
                return;
            }
        }
    });
    let mut pings = 0;
    let last = loop {
        match stage.next().await.unwrap().unwrap() {
            piece if piece == ": ping\n\n" => pings += 1,
            other => break other,
        }
    };
    assert_eq!((began.elapsed().as_secs(), pings), (1800, 89));
    assert!(last.contains("signs of life"), "{last}");
    assert!(last.starts_with("data: {\"error\":{") && last.ends_with("\n\n"), "{last}");
    assert!(stage.next().await.is_none());
    assert_eq!(stage.outcomes(), [IncidentOutcome::Stalled]);
    beat.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_not_read_are_never_ended() {
    let mut stage = Stage::new("openai_chat", Watched::Opaque);
    stage.send("a");
    assert_eq!(stage.next().await.unwrap().unwrap(), "a");
    let waited = tokio::time::timeout(Duration::from_hours(24), stage.next()).await;
    assert!(waited.is_err(), "the stream is still open");
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_time_over() {
    let mut stage = Stage::chat();
    for _ in 0..5 {
        stage.send(PIECE);
        assert!(stage.next().await.unwrap().is_ok());
        let waited = tokio::time::timeout(Duration::from_secs(290), stage.next()).await;
        assert!(waited.is_err(), "the stream is still open");
    }
    assert_eq!(stage.outcomes(), []);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_slow_client_does_not_count() {
    let mut stage = Stage::chat();
    stage.send(PIECE);
    assert!(stage.next().await.unwrap().is_ok());
    tokio::time::advance(Duration::from_secs(1000)).await;
    let waited = tokio::time::timeout(Duration::from_secs(299), stage.next()).await;
    assert!(waited.is_err(), "the wait begins when the client asks for more");
    assert!(stage.next().await.unwrap().unwrap().starts_with("data: {\"error\""));
}

#[tokio::test(start_paused = true)]
async fn a_broken_upstream_ends_the_stream_between_events_only() {
    let fail = || Err(std::io::Error::other("reset"));
    let mut stage = Stage::chat();
    stage.send(PIECE);
    stage.feed.send(fail()).unwrap();
    assert!(stage.next().await.unwrap().is_ok());
    assert!(stage.next().await.unwrap().unwrap().contains("closed the connection"));
    assert!(stage.next().await.is_none());

    let mut stage = Stage::chat();
    stage.send("data: {\"choices\":[");
    stage.feed.send(fail()).unwrap();
    assert!(stage.next().await.unwrap().is_ok() && stage.next().await.unwrap().is_err());
    assert_eq!(stage.outcomes(), [IncidentOutcome::Broken]);

    let mut stage = Stage::chat();
    stage.send(&format!("{PIECE}{LAST}"));
    stage.feed.send(fail()).unwrap();
    assert!(stage.next().await.unwrap().is_ok());
    assert!(stage.next().await.is_none(), "the client has the whole message");
    assert_eq!(stage.outcomes(), []);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_its_last_event_is_recorded_and_not_changed() {
    let mut stage = Stage::chat();
    stage.send(PIECE);
    assert!(stage.next().await.unwrap().is_ok());
    stage.feed = mpsc::unbounded_channel().0;
    assert!(stage.next().await.is_none());
    assert_eq!(stage.outcomes(), [IncidentOutcome::Broken]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_too_long_is_passed_on_without_its_assembly() {
    let mut options = options("openai_chat");
    options.policy.stream.limits.message_bytes_max = 10;
    let mut stage = Stage::new("openai_chat", Watched::stream(&options, Framing::Sse, None, false));
    for _ in 0..20 {
        stage.send(PIECE);
        assert_eq!(stage.next().await.unwrap().unwrap(), PIECE);
    }
    assert!(matches!(stage.observed.watched, Watched::Stream { assembly: None, .. }));
    stage.feed = mpsc::unbounded_channel().0;
    assert!(stage.next().await.is_none());
    assert_eq!(stage.outcomes(), []);
}

#[tokio::test(start_paused = true)]
async fn signatures_of_a_whole_response_are_learned() {
    let response = r#"{"candidates":[{"content":{"role":"model","parts":[
        {"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"c2ln"}]}}]}"#;
    let mut stage = Stage::new("gemini_generate", Watched::whole(None));
    for piece in [&response[..20], &response[20..]] {
        stage.send(piece);
        assert_eq!(stage.next().await.unwrap().unwrap(), piece);
    }
    stage.feed = mpsc::unbounded_channel().0;
    assert!(stage.next().await.is_none());
    let request = br#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]}]}"#;
    assert_eq!(stage.ledger.signatures().lost("gemini_generate", request).0.get("c1"), Some("c2ln"));
}
