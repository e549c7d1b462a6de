//! Methods on streamed responses.

use seamline::stream::{ResponseStream, StreamOptions};
use serde_json::json as value;

use crate::RpcError;
use crate::body::{PIECE, given};
use crate::message::{Outcome, json};
use crate::object::{Object, ObjectKind, Streaming};
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};

const STREAM: &[Param] = &[need("stream", Type::Handle(ObjectKind::Stream), "The stream.")];

pub(super) const GROUPS: &[&[Method]] = &[&[
    Method {
        name: "stream/open",
        doc: "Begins to assemble a streamed response.",
        params: &[&[may(
            "options",
            Type::Options,
            "`dialect`, `provider`, `framing` (`sse`, `json_lines`, `json_array`, `aws_event_stream`), `content_type`, \
                 `policy`.",
        )]],
        returns: "`handle`",
        run: Run::Open(|_, params| Box::pin(std::future::ready(open(params)))),
    },
    Method {
        name: "stream/head",
        doc: "Takes the status and the headers of the response.",
        params: &[
            STREAM,
            &[
                need("status", Type::Count, "The status of HTTP."),
                may("headers", Type::Texts, "The headers of the response."),
            ],
        ],
        returns: "an empty object",
        run: Run::Object(head),
    },
    Method {
        name: "stream/feed",
        doc: "Takes the next piece of the response, cut anywhere.",
        params: &[STREAM, PIECE],
        returns: "`progress` (whether it brought text, reasoning, a piece of a call or an ending), `over` (whether later \
                      bytes change nothing)",
        run: Run::Object(feed),
    },
    Method {
        name: "stream/abort",
        doc: "Says that the client wants no more of the response.",
        params: &[STREAM],
        returns: "an empty object",
        run: Run::Object(|object, _| stop(object, ResponseStream::abort)),
    },
    Method {
        name: "stream/stall",
        doc: "Says that there was no progress for too long.",
        params: &[STREAM],
        returns: "an empty object",
        run: Run::Object(|object, _| stop(object, ResponseStream::stall)),
    },
    Method {
        name: "stream/fail",
        doc: "Says that the connection broke.",
        params: &[STREAM, &[need("error", Type::Text, "The text of the connection's error.")]],
        returns: "an empty object",
        run: Run::Object(|object, params| {
            let error = params.needed("error")?;
            stop(object, |stream| stream.fail(&error))
        }),
    },
    Method {
        name: "stream/finish",
        doc: "Ends the stream. The handle keeps the response for methods of sessions until it is closed.",
        params: &[STREAM],
        returns: "`ending`, `message`, `messages` (for a history), `calls` (each with `executable`), `findings`, `error`, \
                      `refused`, `filtered`, `well`, …",
        run: Run::Object(|object, _| finish(object)),
    },
]];

fn open(params: &Params<'_>) -> Result<Object, RpcError> {
    let options = StreamOptions::from_json(&params.value("options")?)?;
    Ok(Object::Stream(Box::new(Streaming::Open(Box::new(ResponseStream::new(&options)?)))))
}

fn ended() -> RpcError {
    RpcError::failed("ended", "the stream has ended", Some("open another one".to_owned()))
}

fn streaming(object: &mut Object) -> Result<&mut ResponseStream, RpcError> {
    match object {
        Object::Stream(stream) => match &mut **stream {
            Streaming::Open(stream) => Ok(stream),
            Streaming::Ended(_) | Streaming::Failed => Err(ended()),
        },
        _ => Err(ended()),
    }
}

fn head(object: &mut Object, params: &Params<'_>) -> Outcome {
    let status = u16::try_from(params.count("status")?.unwrap_or_default());
    let status = status.map_err(|_| RpcError::invalid_params("the parameter `status` is a status of HTTP"))?;
    let headers = params.texts("headers")?;
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    streaming(object)?.head(status, &headers);
    json(&value!({}))
}

fn feed(object: &mut Object, params: &Params<'_>) -> Outcome {
    let piece = given(params)?.0;
    let stream = streaming(object)?;
    let progress = stream.feed(&piece);
    json(&value!({"progress": progress, "over": stream.is_over()}))
}

fn stop(object: &mut Object, stop: impl FnOnce(&mut ResponseStream)) -> Outcome {
    stop(streaming(object)?);
    json(&value!({}))
}

fn finish(object: &mut Object) -> Outcome {
    streaming(object)?;
    let Object::Stream(stream) = object else { return Err(ended()) };
    let Streaming::Open(open) = std::mem::replace(&mut **stream, Streaming::Failed) else { return Err(ended()) };
    let response = open.finish()?;
    let report = json(&response.report());
    **stream = Streaming::Ended(Box::new(response));
    report
}
