//! The path of a request, from its head to the head of its response.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::http::request::Parts;
use hyper::{Request, Response};
use seamline::endpoint::Endpoint;

use crate::body::{self, ReadBody};
use crate::call::ModelCall;
use crate::coding::{self, NotDecoded};
use crate::config::{Mode, OnFailure};
use crate::decide::decide;
use crate::forward::{Forwarding, Payload};
use crate::incident::IncidentOutcome;
use crate::inspect::{Inspector, NotInspected};
use crate::note::Note;
use crate::rejection;
use crate::rescue::{self, Refusal};
use crate::response::ResponseBody;
use crate::room::HeldBytes;
use crate::route::Route;
use crate::seats::Seat;
use crate::state::{Lens, Settings, Shared};
use crate::stop::Stop;
use crate::{admin, headers, socket, websocket};

/// The number of proxies of this machine that a request may have behind it. More are a circle.
const HOPS_MAX: u32 = 4;

/// Handles a request and makes its response.
pub(crate) async fn handle(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    seat: &Arc<Seat>,
) -> Response<ResponseBody> {
    let began = Instant::now();
    let open = shared.open.requests.enter();
    let mut note = Note::new(&shared.reporter);
    // Step 12: any error, from any step.
    let mut response = answer(&shared, (request, seat), &mut note).await.unwrap_or_else(|stop| stop.answer(&mut note));
    note.finish_call(response.status().as_u16());
    note.write_headers(response.headers_mut());
    response.body_mut().keep_open(open);
    if !note.is_own {
        shared.reporter.record_exchange(&note.summary(response.status().as_u16(), began.elapsed()));
    }
    response
}

/// Refuses a request whose length can be read in two ways.
pub(crate) fn refuse_ambiguous(shared: &Shared, request: &Request<Incoming>) -> Response<ResponseBody> {
    let began = Instant::now();
    let mut note = Note::new(&shared.reporter);
    note.facts.dialect = Endpoint::of(request.method().as_str(), request.uri().path()).dialect;
    note.set_path(request.uri().path());
    note.report_refusal(&Refusal::Ambiguous);
    let mut response = rescue::response(note.facts.dialect, &Refusal::Ambiguous);
    note.write_headers(response.headers_mut());
    shared.reporter.record_exchange(&note.summary(response.status().as_u16(), began.elapsed()));
    response
}

async fn answer(
    shared: &Arc<Shared>,
    (mut request, seat): (Request<Incoming>, &Arc<Seat>),
    note: &mut Note,
) -> Result<Response<ResponseBody>, Stop> {
    let settings = shared.settings();
    let upgrade = websocket::is_upgrade(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (head, body) = request.into_parts();
    // Step 1: only clients that know the token go on. Every client may ask for its health.
    if let Some(page) = admin::health(&head) {
        note.is_own = true;
        return Ok(page);
    }
    // Step 2: choose the upstream and the dialect.
    let route = if settings.admits(&head.headers) {
        Route::of(&head, &settings.upstreams, settings.config.aws_region.as_deref()).map_err(Stop::from)
    } else {
        Err(Refusal::Token.into())
    };
    let route = route.inspect_err(|_| {
        note.facts.dialect = Endpoint::of(head.method.as_str(), head.uri.path()).dialect;
        note.set_path(head.uri.path());
    });
    let target = match route? {
        Route::Admin(page) => {
            note.is_own = true;
            note.set_path(head.uri.path());
            if !admin::is_for_this_host(&head, settings.config.listen) {
                return Err(Refusal::Host.into());
            }
            return admin::page(shared, &page).ok_or(Refusal::Page.into());
        }
        Route::Forward(target) => target,
    };
    note.facts.upstream = Some(Arc::clone(&target.upstream));
    note.set_path(&target.path);
    note.facts.dialect = target.endpoint.dialect;
    let hops = headers::hops(&head.headers);
    if hops >= HOPS_MAX {
        return Err(Refusal::Circle(hops).into());
    }
    let forwarding = Forwarding { shared, settings: &settings, target: &target };
    match (upgrade, settings.lens(&target)) {
        (Some(upgrade), _) => Ok(socket::answer(&forwarding, (head, body), (upgrade, seat), note).await?),
        (None, None) => forwarding.pass_through(head, body, note).await,
        (None, Some(lens)) => answer_checked(&forwarding, (head, body), lens, note).await,
    }
}

/// Answers a request whose body the proxy reads.
async fn answer_checked(
    forwarding: &Forwarding<'_>,
    (head, body): (Parts, Incoming),
    lens: Arc<Lens>,
    note: &mut Note,
) -> Result<Response<ResponseBody>, Stop> {
    let Forwarding { settings, target, .. } = forwarding;
    let config = &settings.config;
    note.call = ModelCall::begin(&note.facts, target.endpoint.model.clone());
    // Step 3: read the body, within the limits.
    let mut held = forwarding.shared.bodies.enter(config.limits.all_bodies_bytes_max);
    let original = body::read(body, config.limits.body_bytes_max, config.limits.body_time, &mut held).await?;
    note.body_bytes = Some(original.bytes.len() as u64);
    let Some(plain) = decode(settings, (&head, &original), &mut held, note).await? else {
        let response = forwarding.send(&head, original, note).await?;
        return Ok(forwarding.observe(response, None, note));
    };
    if let Some(call) = &mut note.call {
        call.find_model(&plain);
    }
    // Step 4: check and repair.
    let inspector =
        Inspector { settings: Arc::clone(settings), lens: Arc::clone(&lens), upstream: Arc::clone(&target.upstream) };
    let looked = inspector.look(&head.headers, &plain).await;
    // Steps 5 and 6: decide, and record what changes before it is sent.
    note.facts.conversation = Some(looked.conversation);
    let mut decision = decide(config, &looked);
    if let Some(refusal) = decision.refusal.clone() {
        note.record(looked.inspected.as_ref().ok(), &decision, &plain);
        looked.note_sent(&settings.ledger, &decision);
        return Err(refusal.into());
    }
    let ready = forwarding.ready(&head, Payload { new: decision.body.clone(), original }).await;
    if let Some(why) = ready.unsigned {
        decision.keep_original(why);
    }
    note.record(looked.inspected.as_ref().ok(), &decision, &plain);
    looked.note_sent(&settings.ledger, &decision);
    // Steps 7 and 8: the bytes of an unchanged body are forwarded.
    let sent = decision.body.unwrap_or(plain);
    let response = forwarding.wait(ready.request).await?;
    // Step 10: a rejected history is repaired harder and sent once more.
    // A request that could not be signed once cannot be signed now.
    let may_change = looked.mode(config) == Mode::Repair && ready.unsigned.is_none();
    let may_repair = may_change && rejection::is_possible(response.status());
    let response = if may_repair {
        let rejected = rejection::Rejected { forwarding, lens: &lens, looked: &looked, head: &head, sent: &sent };
        match rejected.retry(response, note).await {
            rejection::Retried::Accepted(response) => response,
            rejection::Retried::Untouched(response) => return Ok(response),
        }
    } else {
        response
    };
    // Steps 9 and 11: the response passes while it is assembled; its end is recorded.
    Ok(forwarding.observe(response, Some(&lens), note))
}

/// Decodes the content coding of a body; `None` where the coding cannot be read and the original is to be sent.
async fn decode(
    settings: &Settings,
    (head, original): (&Parts, &ReadBody),
    held: &mut HeldBytes,
    note: &mut Note,
) -> Result<Option<Bytes>, Stop> {
    let Some(coding) = head.headers.get(CONTENT_ENCODING) else { return Ok(Some(original.bytes.clone())) };
    let coding = coding.to_str().unwrap_or("?").to_owned();
    let (bytes, bytes_max) = (original.bytes.clone(), settings.config.limits.body_bytes_max);
    // A short body can decode to a long one, so other connections must not wait for it.
    let mut grown = held.empty();
    let decoding = tokio::task::spawn_blocking(move || {
        let decoded = coding::decode_within(Some(&coding), &bytes, bytes_max, &mut grown);
        (decoded, grown)
    });
    let decoded = match decoding.await {
        Ok((decoded, grown)) => {
            held.add(grown);
            decoded
        }
        Err(_) => Err(NotDecoded::Invalid),
    };
    match (decoded, settings.config.on_failure) {
        (Ok(plain), _) => Ok(Some(plain)),
        (Err(NotDecoded::TooLarge), _) => Err(Refusal::DecodedTooLarge(bytes_max).into()),
        (Err(NotDecoded::NoRoom(full)), _) => Err(full.into()),
        (Err(NotDecoded::Unknown | NotDecoded::Invalid), on_failure) => {
            note.report(IncidentOutcome::Failed, "the content coding of the body cannot be read", None);
            match on_failure {
                OnFailure::Pass => Ok(None),
                OnFailure::Reject => Err(Refusal::Unchecked(NotInspected::Unreadable).into()),
            }
        }
    }
}
