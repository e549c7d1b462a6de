//! Writes a repaired conversation as records of Factory Droid.

use crate::json::{Object, members, quoted};
use crate::session::{Links, NewMessage, NewRecord, RecordRepair, Writer, uuid};

const WRITER: Writer = Writer {
    links: Some(Links { id: "id", parent: "parentId", new_id: uuid }),
    blocks: "content",
    rewrite,
    write: new_record,
};

pub(super) fn write(repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
    repair.write(&WRITER)
}

fn rewrite(record: &str, message: &str) -> Option<String> {
    let object = Object::of(record)?;
    let old = Object::of(object.get("message")?)?;
    let [role, content] = members(message, &["role", "content"]).ok()?;
    let new = old.with(&[("role", Some(role?.to_owned())), ("content", Some(content?.to_owned()))]);
    Some(object.with(&[("message", Some(new))]))
}

fn new_record(new: &NewMessage<'_>) -> Option<String> {
    let beside = Object::of(new.after)?;
    let time = beside.get("timestamp").map(|time| format!("\"timestamp\":{time},")).unwrap_or_default();
    let (id, parent) = (quoted(new.id), new.parent);
    Some(format!(r#"{{"type":"message","id":{id},{time}"message":{},"parentId":{parent}}}"#, new.message))
}
