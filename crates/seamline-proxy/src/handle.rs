//! The path of a request, from its head to the head of its response.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::CONTENT_ENCODING;
use hyper::http::request::Parts;
use hyper::{Request, Response};
use seamline::endpoint::Endpoint;

use crate::answer::AnswerBody;
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
use crate::route::Route;
use crate::state::{Lens, Settings, Shared};
use crate::{admin, socket, websocket};

/// Answers a request.
pub(crate) async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Response<AnswerBody> {
    let began = Instant::now();
    let open = shared.open.requests.enter();
    let mut note = Note::new(&shared.reporter);
    // Step 12: any error, from any step.
    let mut response = answer(&shared, request, &mut note).await.unwrap_or_else(|refusal| {
        note.report_refusal(&refusal);
        rescue::response(note.facts.dialect, &refusal)
    });
    note.finish_call(response.status().as_u16());
    note.write_headers(response.headers_mut());
    response.body_mut().keep_open(open);
    if !note.is_own {
        shared.reporter.exchange(&note.summary(response.status().as_u16(), began.elapsed()));
    }
    response
}

/// Refuses a request whose length can be read in two ways.
pub(crate) fn refuse_ambiguous(shared: &Shared, request: &Request<Incoming>) -> Response<AnswerBody> {
    let began = Instant::now();
    let mut note = Note::new(&shared.reporter);
    note.facts.dialect = Endpoint::of(request.method().as_str(), request.uri().path()).dialect;
    note.set_path(request.uri().path());
    note.report_refusal(&Refusal::Ambiguous);
    let mut response = rescue::response(note.facts.dialect, &Refusal::Ambiguous);
    note.write_headers(response.headers_mut());
    shared.reporter.exchange(&note.summary(response.status().as_u16(), began.elapsed()));
    response
}

async fn answer(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    note: &mut Note,
) -> Result<Response<AnswerBody>, Refusal> {
    let settings = shared.settings();
    let upgrade = websocket::is_upgrade(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (head, body) = request.into_parts();
    // Step 1: only clients that know the token go on. Every client may ask for its health.
    note.facts.dialect = Endpoint::of(head.method.as_str(), head.uri.path()).dialect;
    note.set_path(head.uri.path());
    if let Some(page) = admin::health(&head) {
        note.is_own = true;
        return Ok(page);
    }
    if !settings.admits(&head.headers) {
        return Err(Refusal::Token);
    }
    // Step 2: choose the upstream and the dialect.
    let target = match Route::of(&head, &settings.upstreams)? {
        Route::Admin(page) => {
            note.is_own = true;
            return admin::page(shared, &page).ok_or(Refusal::Page);
        }
        Route::Forward(target) => target,
    };
    note.facts.upstream = Some(Arc::clone(&target.upstream));
    note.set_path(target.uri.path());
    note.facts.dialect = target.endpoint.dialect;
    let forwarding = Forwarding { shared, settings: &settings, target: &target };
    match (upgrade, settings.lens(&target)) {
        (Some(upgrade), _) => socket::answer(&forwarding, (head, body), upgrade, note).await,
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
) -> Result<Response<AnswerBody>, Refusal> {
    let Forwarding { settings, target, .. } = forwarding;
    let config = &settings.config;
    note.call = ModelCall::begin(&note.facts, target.endpoint.model.clone());
    // Step 3: read the body, within the limits.
    let original = body::read(body, config.limits.body_bytes_max, config.limits.body_time).await?;
    note.body_bytes = Some(original.bytes.len() as u64);
    let Some(plain) = decoded(settings, &head, &original, note).await? else {
        let response = forwarding.send(&head, Payload::original(original), note).await?;
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
    let decision = decide(config, &looked);
    note.record(looked.inspected.as_ref().ok(), &decision, &plain);
    looked.note_sent(&settings.ledger, &decision);
    if let Some(refusal) = decision.refusal {
        return Err(refusal);
    }
    // Steps 7 and 8: an unchanged body goes out as it came.
    let sent = decision.body.clone().unwrap_or(plain);
    let payload = Payload { new: decision.body, original };
    let response = forwarding.send(&head, payload, note).await?;
    // Step 10: a rejected history is repaired harder and sent once more.
    let may_repair = config.mode == Mode::Repair && rejection::is_possible(response.status());
    let response = if may_repair {
        let rejected = rejection::Rejected { forwarding, lens: &lens, looked: &looked, head: &head, sent: &sent };
        match rejected.retry(response, note).await {
            rejection::Retried::Accepted(response) => response,
            rejection::Retried::Untouched(answer) => return Ok(answer),
        }
    } else {
        response
    };
    // Steps 9 and 11: the response passes while it is assembled; its end is recorded.
    Ok(forwarding.observe(response, Some(&lens), note))
}

/// The body without its content coding; `None` where the coding cannot be read and the original is to be sent.
async fn decoded(
    settings: &Settings,
    head: &Parts,
    original: &ReadBody,
    note: &mut Note,
) -> Result<Option<Bytes>, Refusal> {
    let Some(coding) = head.headers.get(CONTENT_ENCODING) else { return Ok(Some(original.bytes.clone())) };
    let coding = coding.to_str().unwrap_or("?").to_owned();
    let (bytes, bytes_max) = (original.bytes.clone(), settings.config.limits.body_bytes_max);
    // A short body can decode to a long one, so other connections must not wait for it.
    let decode = tokio::task::spawn_blocking(move || coding::decode(Some(&coding), &bytes, bytes_max));
    let decoded = decode.await.unwrap_or(Err(NotDecoded::Invalid));
    match (decoded, settings.config.on_failure) {
        (Ok(plain), _) => Ok(Some(plain)),
        (Err(NotDecoded::TooLarge), _) => Err(Refusal::DecodedTooLarge(bytes_max)),
        (Err(NotDecoded::Unknown | NotDecoded::Invalid), on_failure) => {
            note.report(IncidentOutcome::Failed, "the content coding of the body cannot be read", None);
            match on_failure {
                OnFailure::Pass => Ok(None),
                OnFailure::Reject => Err(Refusal::Unchecked(NotInspected::Unreadable)),
            }
        }
    }
}
