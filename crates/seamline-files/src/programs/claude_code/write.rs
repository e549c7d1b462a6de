//! Writes a repaired conversation as records of Claude Code.

use super::read::message_of;
use crate::json::{Object, members, quoted, string};
use crate::session::{Links, NewMessage, NewRecord, RecordRepair, Writer, uuid};

const WRITER: Writer = Writer {
    links: Some(Links { id: "uuid", parent: "parentUuid", new_id: uuid }),
    blocks: "content",
    rewrite,
    write: new_record,
};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    repair.write(&WRITER)
}

fn rewrite(record: &str, message: &str) -> Option<String> {
    let object = Object::of(record)?;
    let [role, content] = members(message, &["role", "content"]).ok()?;
    let (role, content) = (role?, content?);
    let mut changes = vec![(
        "message",
        Some(message_of(record)?.with(&[("role", Some(role.to_owned())), ("content", Some(content.to_owned()))])),
    )];
    if !object.says("type", &[string(role)?.as_str()]) {
        changes.push(("type", Some(role.to_owned())));
    }
    Some(object.with(&changes))
}

/// The members that a new record takes over from the record before it.
const SHARED: [&str; 8] =
    ["isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId"];

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let beside = Object::of(new.after)?;
    let [role] = members(new.message, &["role"]).ok()?;
    let role = role?;
    let shared: Vec<String> =
        SHARED.iter().filter_map(|name| Some(format!("\"{name}\":{},", beside.get(name)?))).collect();
    let time = beside.get("timestamp").map(|time| format!(",\"timestamp\":{time}")).unwrap_or_default();
    let source =
        (string(role)? == "user" && beside.says("type", &["assistant"]) && new.message.contains("tool_use_id"))
            .then(|| format!(",\"sourceToolAssistantUUID\":{}", new.parent));
    Some(format!(
        "{{\"parentUuid\":{},{}\"type\":{role},\"message\":{},\"uuid\":{}{time}{}}}",
        new.parent,
        shared.concat(),
        new.message,
        quoted(new.id),
        source.unwrap_or_default(),
    ))
}
