//! Checkpoints, rollbacks, compaction, resets and incidents of a session.

use std::ops::Range;

use seamline::session::{ResetOptions, Session};
use seamline::store::{CheckpointId, Operation};
use serde_json::json as value;

use super::sessions::SESSION;
use crate::RpcError;
use crate::message::{Outcome, json};
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};

const CHECKPOINT: &[Param] = &[need("checkpoint", Type::Text, "The id of the checkpoint.")];
const RANGE: &[Param] = &[
    need("start", Type::Count, "The index of the first message."),
    need("end", Type::Count, "The index after the last message."),
];

pub(super) const GROUPS: &[&[Method]] = &[CHECKPOINTS, COMPACTION];

const CHECKPOINTS: &[Method] = &[
    Method {
        name: "session/create_checkpoint",
        doc: "Makes a named place to return to.",
        params: &[
            SESSION,
            &[may("operation", Type::Text, "`tool_cycle`, `compaction`, `api_call` or `manual` (the default).")],
        ],
        returns: "`id`, `sessionId`, `timestamp`, `messageIndex`, `contentHash`, `operation`, `state`",
        run: Run::Session(|session, params, _| Box::pin(create_checkpoint(session, params))),
    },
    Method {
        name: "session/commit_checkpoint",
        doc: "Commits a checkpoint: its operation went well.",
        params: &[SESSION, CHECKPOINT],
        returns: "an empty object",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                session.commit_checkpoint(&checkpoint(params)?).await?;
                json(&value!({}))
            })
        }),
    },
    Method {
        name: "session/rollback",
        doc: "Returns to a checkpoint.",
        params: &[SESSION, CHECKPOINT, &[may("reason", Type::Text, "The reason, for the log.")]],
        returns: "`success`, `messagesRemoved`, `newMessageCount`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let reason = params.text("reason")?.unwrap_or_else(|| "the host asked for it".to_owned());
                json(&session.rollback(&checkpoint(params)?, &reason).await?)
            })
        }),
    },
    Method {
        name: "session/checkpoints",
        doc: "Lists the checkpoints.",
        params: &[SESSION],
        returns: "`checkpoints`, oldest first, and `latest`: the newest open one, or null",
        run: Run::Session(|session, _, _| {
            Box::pin(async move {
                json(&value!({"checkpoints": session.checkpoints(), "latest": session.latest_checkpoint()}))
            })
        }),
    },
    Method {
        name: "session/prune_checkpoints",
        doc: "Drops old checkpoints.",
        params: &[SESSION, &[need("keep", Type::Count, "How many of them stay; 0 drops all.")]],
        returns: "`dropped`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let dropped = match params.size("keep")?.unwrap_or_default() {
                    0 => session.clear_checkpoints().await?,
                    keep => session.prune_checkpoints(keep).await?,
                };
                json(&value!({"dropped": dropped}))
            })
        }),
    },
    Method {
        name: "session/reset",
        doc: "Starts over with the system messages only.",
        params: &[SESSION, &[may("archive", Type::Flag, "Whether another session keeps the messages.")]],
        returns: "`success`, `archived`, `remainingMessages`, `archive`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move { json(&session.reset(ResetOptions { archive: params.flag("archive")? }).await?) })
        }),
    },
];

const COMPACTION: &[Method] = &[
    Method {
        name: "session/before_compaction",
        doc: "Begins a compaction. The range grows where it would split a tool cycle.",
        params: &[SESSION, RANGE],
        returns: "`start`, `end`: the messages to summarise",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let range = session.before_compaction(range(params)?).await?;
                json(&value!({"start": range.start, "end": range.end}))
            })
        }),
    },
    Method {
        name: "session/finish_compaction",
        doc: "Replaces the messages of a range by a summary.",
        params: &[SESSION, RANGE, &[need("summary", Type::List, "The messages of the summary.")]],
        returns: "`taken_in`: the messages that came meanwhile",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let summary = params.list("summary")?.unwrap_or_default();
                let compacted = session.finish_compaction(range(params)?, &summary).await?;
                json(&value!({"taken_in": compacted.taken_in}))
            })
        }),
    },
    Method {
        name: "session/cancel_compaction",
        doc: "Ends a compaction without a change.",
        params: &[SESSION],
        returns: "`taken_in`: the messages that came meanwhile",
        run: Run::Session(|session, _, _| {
            Box::pin(async move { json(&value!({"taken_in": session.cancel_compaction().await?})) })
        }),
    },
    Method {
        name: "session/take_inbox",
        doc: "Takes in the messages that other processes left.",
        params: &[SESSION],
        returns: "`taken_in`",
        run: Run::Session(|session, _, _| {
            Box::pin(async move { json(&value!({"taken_in": session.take_inbox().await?})) })
        }),
    },
    Method {
        name: "session/incidents",
        doc: "Lists what was wrong and what was done.",
        params: &[SESSION],
        returns: "`incidents`, oldest first",
        run: Run::Session(|session, _, _| {
            Box::pin(async move {
                let incidents: Vec<_> = session.incidents().collect();
                json(&value!({"incidents": incidents}))
            })
        }),
    },
];

async fn create_checkpoint(session: &mut Session, params: &Params<'_>) -> Outcome {
    let word = params.text("operation")?.unwrap_or_else(|| Operation::Manual.as_str().to_owned());
    let known = Operation::ALL.into_iter().find(|operation| operation.as_str() == word);
    let operation =
        known.ok_or_else(|| RpcError::invalid_params(format!("no operation of a checkpoint is called `{word}`")))?;
    json(&session.create_checkpoint(operation).await?)
}

fn checkpoint(params: &Params<'_>) -> Result<CheckpointId, RpcError> {
    Ok(CheckpointId::from(params.needed("checkpoint")?.as_str()))
}

fn range(params: &Params<'_>) -> Result<Range<usize>, RpcError> {
    Ok(params.size("start")?.unwrap_or_default()..params.size("end")?.unwrap_or_default())
}
