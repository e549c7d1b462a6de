//! The first record of a rollout, which describes the session.

use crate::json::{members, quoted, string};
use crate::session::catalogue::FILE015;
use crate::session::{About, Defect, RecordEdit, uuid};

/// The version of Codex whose rollouts are written.
pub(super) const VERSION: &str = "0.166.0";

/// The records that describe a session.
#[derive(Default)]
pub(super) struct Head {
    /// The records with a description, and the ids that they give. A fork holds those of the session that it comes from.
    found: Vec<(usize, Option<String>)>,
    /// The first record, if it has the current layout.
    first: Option<First>,
}

/// The members of the first record that a new description needs.
struct First {
    time: String,
    ordinal: Option<u64>,
}

/// The content of a description of a session.
#[derive(Debug, Default)]
pub(super) struct Meta {
    pub(super) id: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) is_subagent: bool,
    /// Whether the records of the file are numbered.
    pub(super) is_numbered: bool,
    /// The number of the first record, if the beginning of the conversation is in another file.
    pub(super) base: Option<u64>,
    /// The number of the first record of a sub-agent's own; those before it are copied from the session that started it.
    pub(super) own_start: Option<u64>,
}

impl Meta {
    pub(super) fn of(payload: &str) -> Option<Self> {
        let names = [
            "id",
            "cwd",
            "source",
            "history_mode",
            "history_base",
            "subagent_history_start_ordinal",
            "parent_thread_id",
            "thread_source",
        ];
        let [id, cwd, source, mode, base, own_start, parent, thread_source] = members(payload, &names).ok()?;
        let text = |value: Option<&str>| value.and_then(string);
        let base = base.and_then(|base| members(base, &["end_ordinal_exclusive"]).ok()).and_then(|[end]| end);
        let is_started = source.is_some_and(|source| members(source, &["subagent"]).is_ok_and(|[name]| name.is_some()));
        Some(Self {
            id: text(id),
            folder: text(cwd),
            is_subagent: is_started || text(parent).is_some() || text(thread_source).as_deref() == Some("subagent"),
            is_numbered: text(mode).as_deref() == Some("paginated"),
            base: base.and_then(|end| end.parse().ok()),
            own_start: own_start.and_then(|start| start.parse().ok()),
        })
    }
}

impl Head {
    /// Notes the first record of a file, if it has the current layout.
    pub(super) fn begin(&mut self, time: Option<&str>, ordinal: Option<u64>) {
        self.first = time.map(|time| First { time: time.to_owned(), ordinal });
    }

    /// Notes a description.
    pub(super) fn add(&mut self, record: usize, id: Option<String>) {
        self.found.push((record, id));
    }

    /// The defect of a file that does not begin with its description.
    pub(super) fn defect(&self, about: &About, name: &str) -> Option<Defect> {
        let first = self.first.as_ref()?;
        if self.found.first().is_some_and(|(record, _)| *record == 0) {
            return None;
        }
        let named = thread_id(name);
        let own = self.found.iter().find(|(_, id)| named.is_none() || id.as_deref() == named);
        let (message, edit) = match own {
            Some((record, _)) => (
                "the description of the session is behind other records",
                RecordEdit::Move { record: *record, after: None },
            ),
            None => (
                "the description of the session is missing",
                RecordEdit::Prepend { text: first.describe(about, named) },
            ),
        };
        Some(Defect { kind: &FILE015, record: 0, message: message.to_owned(), edits: vec![edit] })
    }
}

impl First {
    /// Writes a new description.
    fn describe(&self, about: &About, named: Option<&str>) -> String {
        let hash = blake3::hash(self.time.as_bytes()).to_hex();
        let id = named.map_or_else(|| uuid(&hash), str::to_owned);
        let mode = if self.ordinal.is_some() { "paginated" } else { "legacy" };
        let meta = New { id: &id, time: &self.time, folder: about.folder.as_deref(), mode };
        record(&self.time, self.ordinal.map(|ordinal| ordinal.saturating_sub(1)), "session_meta", &meta.write())
    }
}

/// A new description.
pub(super) struct New<'n> {
    pub(super) id: &'n str,
    /// The time at which the session began, as JSON.
    pub(super) time: &'n str,
    pub(super) folder: Option<&'n str>,
    /// Whether records are numbered: `legacy` or `paginated`.
    pub(super) mode: &'static str,
}

impl New<'_> {
    pub(super) fn write(&self) -> String {
        let (id, folder) = (quoted(self.id), quoted(self.folder.unwrap_or(".")));
        format!(
            r#"{{"session_id":{id},"id":{id},"timestamp":{},"cwd":{folder},"originator":"codex_cli_rs","cli_version":"{VERSION}","source":"cli","base_instructions":null,"history_mode":"{}"}}"#,
            self.time, self.mode
        )
    }
}

/// Writes a record.
pub(super) fn record(time: &str, ordinal: Option<u64>, kind: &str, payload: &str) -> String {
    let ordinal = ordinal.map(|ordinal| format!("\"ordinal\":{ordinal},")).unwrap_or_default();
    format!("{{\"timestamp\":{time},{ordinal}\"type\":\"{kind}\",\"payload\":{payload}}}")
}

/// The id of the session in the name of its file: `rollout-<time>-<session>.jsonl`, or with `_<segment>` behind the session
/// for a later segment of it.
pub(super) fn thread_id(name: &str) -> Option<&str> {
    let file = name.rsplit(['/', '\\']).next()?;
    let core = file.strip_suffix(".zst").unwrap_or(file).strip_suffix(".jsonl")?.strip_prefix("rollout-")?;
    // The time is 19 characters long.
    let ids = core.get(19..)?.strip_prefix('-')?;
    let id = ids.split_once('_').map_or(ids, |(thread, _)| thread);
    (id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_has_the_id_of_its_session() {
        let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
        let names = [
            format!("rollout-2026-01-02T03-04-05-{id}.jsonl"),
            format!("/srv/u/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl.zst"),
            format!(r"C:\x\rollout-2026-01-02T03-04-05-{id}_0199a213-81c0-7800-8aa1-000000000000.jsonl"),
        ];
        for name in &names {
            assert_eq!(thread_id(name), Some(id), "{name}");
        }
        for name in ["rollout.jsonl", "rollout-2026.jsonl", "rollout-2026-01-02T03-04-05-x.jsonl"] {
            assert_eq!(thread_id(name), None, "{name}");
        }
    }

    #[test]
    fn a_description_tells_what_the_file_is() {
        let meta = Meta::of(
            r#"{"id":"a","cwd":"/w","source":{"subagent":{"thread_spawn":{}}},"history_mode":"paginated","history_base":{"thread_id":"b","end_ordinal_exclusive":7},"subagent_history_start_ordinal":9}"#,
        )
        .unwrap();
        assert_eq!((meta.is_subagent, meta.is_numbered, meta.base, meta.own_start), (true, true, Some(7), Some(9)));
        let new = New { id: "a", time: "\"t\"", folder: None, mode: "legacy" }.write();
        let meta = Meta::of(&new).unwrap();
        assert_eq!((meta.id.as_deref(), meta.folder.as_deref(), meta.is_subagent), (Some("a"), Some("."), false));
    }
}
