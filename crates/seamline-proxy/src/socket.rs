//! `WebSocket` connections: the handshake is forwarded, and then messages pass between the client and the upstream.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use seamline::Options;
use seamline::endpoint::Endpoint;
use tokio::sync::watch;

use crate::body::SentBody;
use crate::config::Mode;
use crate::decide::decide;
use crate::forward::Forwarding;
use crate::harder::{self, Attempt, Harder, Rejection};
use crate::headers::prepare_response;
use crate::identity::ConversationKey;
use crate::incident::IncidentOutcome;
use crate::inspect::Inspector;
use crate::journal::now_ms;
use crate::members::Members;
use crate::note::Note;
use crate::rescue::{self, Refusal};
use crate::response::ResponseBody;
use crate::route::Target;
use crate::seats::Seat;
use crate::state::{BridgeOrder, Shared};
use crate::websocket::{BridgeEnd, BridgeLimits, EXTENSIONS, FrameVerdict, Judge, bridge};

/// The dialect whose messages are checked.
const CHECKED: &str = "openai_responses";

/// Answers a request that asks for a WebSocket.
pub(crate) async fn answer(
    forwarding: &Forwarding<'_>,
    (head, body): (Parts, Incoming),
    (client, seat): (OnUpgrade, &Arc<Seat>),
    note: &mut Note,
) -> Result<Response<ResponseBody>, Refusal> {
    let checker = checker(forwarding, &head, note);
    let mut prepared = forwarding.prepared(&head);
    if checker.is_some() {
        // A compressed message could not be read.
        prepared.headers.remove(EXTENSIONS);
    }
    keep_upgrade(&mut prepared.headers);
    let mut response = forwarding.wait(Request::from_parts(prepared, SentBody::Passed(body))).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(forwarding.observe(response, None, note));
    }
    let upstream = hyper::upgrade::on(&mut response);
    let message_bytes_max = forwarding.settings.config.limits.body_bytes_max;
    let stall = forwarding.stall(note.facts.provider);
    let limits = BridgeLimits { message_bytes_max, stall };
    let sides = Sides { client, upstream, limits, seat: Arc::clone(seat) };
    tokio::spawn(run(Arc::clone(forwarding.shared), sides, checker));
    let (mut head, _) = response.into_parts();
    prepare_response(&mut head.headers);
    keep_upgrade(&mut head.headers);
    Ok(Response::from_parts(head, ResponseBody::whole(Bytes::new())))
}

/// The check of the messages of a conversation; `None` where messages pass unread.
fn checker(forwarding: &Forwarding<'_>, head: &Parts, note: &Note) -> Option<Checker> {
    let endpoint = Endpoint::of("POST", forwarding.target.uri.path());
    let target = Target { endpoint, ..forwarding.target.clone() };
    let lens = forwarding.settings.lens(&target).filter(|lens| lens.dialect == CHECKED)?;
    let mut facts = note.facts.clone();
    facts.dialect = Some(lens.dialect);
    let inspector = Inspector { settings: Arc::clone(forwarding.settings), lens, upstream: target.upstream };
    let (headers, orders) = (head.headers.clone(), forwarding.shared.bridges.subscribe());
    Some(Checker { inspector, headers, facts, orders, last: Mutex::default() })
}

/// Both connections, before they change their protocol.
struct Sides {
    client: OnUpgrade,
    upstream: OnUpgrade,
    limits: BridgeLimits,
    /// The place of the client's connection, which the bridge keeps.
    seat: Arc<Seat>,
}

/// Passes messages until one side closes, or the proxy stops.
async fn run(shared: Arc<Shared>, sides: Sides, checker: Option<Checker>) {
    let mut stop = shared.bridges.subscribe();
    let _open = shared.open.streams.enter();
    // The connection is not idle, so it makes no room for another one.
    let _busy = sides.seat.request();
    let pass = async {
        let (Ok(client), Ok(upstream)) = (sides.client.await, sides.upstream.await) else { return };
        let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
        let Some(checker) = checker else {
            let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
            return;
        };
        match bridge(client, upstream, sides.limits, &checker).await {
            BridgeEnd::UpstreamFailed => {
                checker.facts.report(IncidentOutcome::Broken, "the upstream closed the WebSocket");
            }
            BridgeEnd::Stalled(how) => {
                checker.facts.report(IncidentOutcome::Stalled, how.cause());
            }
            BridgeEnd::Closed | BridgeEnd::ClientFailed => {}
        }
    };
    tokio::select! {
        () = pass => {}
        _ = stop.wait_for(|order| *order == BridgeOrder::End) => {}
    }
}

/// Checks the messages of one WebSocket.
struct Checker {
    inspector: Inspector,
    headers: HeaderMap,
    facts: crate::facts::Facts,
    orders: watch::Receiver<BridgeOrder>,
    last: Mutex<Option<Last>>,
}

/// The last message that went to the upstream.
struct Last {
    conversation: ConversationKey,
    /// The same under the terms of the handshake.
    terms: ConversationKey,
    options: Arc<Options>,
    /// The treatment of a broken history.
    mode: Mode,
    /// The stronger repair that was sent, with the body that it replaces.
    retried: Option<(Harder, Bytes)>,
}

impl Judge for Checker {
    async fn judge(&self, message: Bytes) -> FrameVerdict {
        let began = Instant::now();
        let looked = self.inspector.look(&self.headers, &message).await;
        let mut note = Note::of(self.facts.clone());
        note.body_bytes = Some(message.len() as u64);
        note.facts.conversation = Some(looked.conversation);
        let decision = decide(&self.inspector.settings.config, &looked);
        note.record(looked.inspected.as_ref().ok(), &decision, &message);
        looked.note_sent(&self.inspector.settings.ledger, &decision);
        let status = decision.refusal.as_ref().map_or(StatusCode::OK, Refusal::status);
        self.facts.reporter.record_exchange(&note.summary(status.as_u16(), began.elapsed()));
        let mode = looked.mode(&self.inspector.settings.config);
        let (conversation, terms, options) = (looked.conversation, looked.terms, looked.options);
        *self.last() = Some(Last { conversation, terms, options, mode, retried: None });
        match (decision.refusal, decision.body.map(|body| String::from_utf8(body.to_vec()))) {
            (Some(refusal), _) => FrameVerdict::Respond(rescue::socket_event(&refusal)),
            (None, Some(Ok(body))) => FrameVerdict::Replace(body),
            (None, Some(Err(_)) | None) => FrameVerdict::Pass,
        }
    }

    async fn retry(&self, sent: Bytes, error: Bytes) -> Option<String> {
        let last = self.last().as_ref().map(|last| (Arc::clone(&last.options), last.mode));
        let (options, _) = last.filter(|(_, mode)| *mode == Mode::Repair)?;
        let (lens, body) = (Arc::clone(&self.inspector.lens), sent.clone());
        // The status is a member of the event.
        let status = Members::get(&error, "status").and_then(|status| std::str::from_utf8(status).ok()?.parse().ok());
        let status = status.unwrap_or(StatusCode::BAD_REQUEST.as_u16());
        let repair = move || {
            let text = String::from_utf8_lossy(&error);
            harder::repair(&lens, &options, &body, &Rejection { status, text: &text })
        };
        let attempt = tokio::task::spawn_blocking(repair).await.unwrap_or(Attempt::NotAboutHistory);
        match attempt {
            Attempt::Repaired(harder) => {
                let new = harder.inspected.repaired.as_ref().and_then(|new| String::from_utf8(new.to_vec()).ok())?;
                if let Some(last) = self.last().as_mut() {
                    last.retried = Some((*harder, sent));
                }
                Some(new)
            }
            Attempt::NotAboutHistory => None,
            Attempt::NothingLeft(name) => {
                self.note().report_rejected(name, status, &sent);
                None
            }
            Attempt::LeftByPolicy(name) => {
                self.note().report_left(name, status, &sent);
                None
            }
        }
    }

    fn handle_retried(&self, is_accepted: bool) {
        let last = self.last().as_mut().and_then(|last| Some((last.terms, last.retried.take()?)));
        let Some((terms, (harder, sent))) = last else { return };
        if !is_accepted {
            let status = StatusCode::BAD_REQUEST.as_u16();
            return self.note().report_rejected("a stronger repair was rejected, too", status, &sent);
        }
        self.note().record_harder(&harder.inspected, &sent, StatusCode::OK.as_u16());
        if let Some(rejected) = harder.rejected {
            self.inspector.settings.ledger.reject(terms, &rejected, now_ms());
        }
    }

    async fn stopping(&self) {
        // The sender lives as long as the proxy.
        let _ = self.orders.clone().wait_for(|order| *order >= BridgeOrder::Finish).await;
    }
}

impl Checker {
    fn last(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes about the last message.
    fn note(&self) -> Note {
        let mut note = Note::of(self.facts.clone());
        note.facts.conversation = self.last().as_ref().map(|last| last.conversation);
        note
    }
}

/// Puts back the headers that ask for the other protocol, and that agree to it.
fn keep_upgrade(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}
