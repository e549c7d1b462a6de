//! Rows of healthy sessions are lost, doubled, exchanged and cut as crashes and rival writers do. After the repair the
//! conversation is valid for its provider by a check that shares no code with the rules, no readable word is lost, and an
//! undo restores every row.

use std::collections::BTreeSet;

use rusqlite::Connection;
use seamline::Severity;
use seamline_testkit::{Dialect, strict};
use serde_json::Value;

use crate::bed::Bed;

/// How many damaged databases of each kind each program gets.
const DATABASES: usize = 4;
const DATABASES_SOAK: usize = 200;

/// A kind of damage to the rows of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Drop,
    Duplicate,
    Reorder,
    LoseResult,
    LoseCall,
    /// A call that is still marked as running.
    Pending,
    /// A row whose JSON ends early.
    Tear,
    /// The rows of a second writer, who continued from an earlier state of the session.
    Interleave,
    /// A row that names a missing one.
    LoseParent,
    /// Two of the other kinds at once.
    Two,
}

const KINDS: [Damage; 10] = [
    Damage::Drop,
    Damage::Duplicate,
    Damage::Reorder,
    Damage::LoseResult,
    Damage::LoseCall,
    Damage::Pending,
    Damage::Tear,
    Damage::Interleave,
    Damage::LoseParent,
    Damage::Two,
];

/// The rows of a session in a program's database.
struct Rows {
    program: &'static str,
    session: &'static str,
    /// The table of the rows that are damaged, the column of their JSON, and the columns that are copied with it.
    table: &'static str,
    json: &'static str,
    copied: &'static str,
    /// The values of these columns in a copy.
    values: &'static str,
    result: &'static str,
    call: &'static str,
    /// Removes what the row `?1` names; empty where rows name no others.
    orphan: &'static str,
    bed: fn() -> Bed,
}

const PROGRAMS: [Rows; 4] = [
    Rows {
        program: "goose",
        session: "20260102_1",
        table: "messages",
        json: "content_json",
        copied: "session_id, role, created_timestamp, metadata_json",
        values: "session_id, role, created_timestamp, metadata_json",
        result: "toolResponse",
        call: "toolRequest",
        orphan: "",
        bed: crate::goose::healthy,
    },
    Rows {
        program: "OpenAI Agents SDK",
        session: "s-1",
        table: "agent_messages",
        json: "message_data",
        copied: "session_id, created_at",
        values: "session_id, created_at",
        result: "function_call_output",
        call: "function_call\"",
        orphan: "",
        bed: crate::openai_agents::healthy,
    },
    Rows {
        program: "opencode",
        session: "ses_1",
        table: "part",
        json: "data",
        copied: "id, message_id, session_id, time_created, time_updated",
        values: "id || 'x' || (SELECT count(*) FROM part), message_id, session_id, time_created, time_updated",
        result: "none of them",
        call: "\"callID\"",
        orphan: "DELETE FROM message WHERE id = (SELECT message_id FROM part WHERE rowid = ?1)",
        bed: crate::opencode::healthy,
    },
    Rows {
        program: "OpenClaw",
        session: "s-1",
        table: "transcript_events",
        json: "event_json",
        copied: "session_id, seq, created_at",
        values: "session_id, (SELECT max(seq) + 1 FROM transcript_events), created_at",
        result: "\"toolResult\"",
        call: "\"toolCall\"",
        orphan: "UPDATE transcript_events SET event_json = json_set(event_json, '$.parentId', 'gone') WHERE rowid = ?1",
        bed: crate::openclaw::healthy,
    },
];

/// A small generator of numbers: the same seed gives the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

#[test]
fn damaged_sessions_become_valid_and_lose_no_word() {
    let count = if std::env::var_os("SEAMLINE_SOAK").is_some() { DATABASES_SOAK } else { DATABASES };
    let mut wrong = Vec::new();
    for rows in &PROGRAMS {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for kind in KINDS {
            let (mut damaged, mut broken) = (0, 0);
            for index in 0..count {
                let bed = (rows.bed)();
                if rows.damage(&bed.connection(), kind, &mut numbers).is_none() {
                    continue;
                }
                damaged += 1;
                match rows.judge(&bed) {
                    Ok(was_broken) => broken += usize::from(was_broken),
                    Err(why) => wrong.push(format!("{} {kind:?} {index}: {why}", rows.program)),
                }
            }
            println!("{:<20}{:<12}{broken:>5}/{damaged} broken before", rows.program, format!("{kind:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

impl Rows {
    /// The rows of the session: their ids and their JSON.
    fn all(&self, connection: &Connection) -> Vec<(i64, String)> {
        let sql = format!("SELECT rowid, {} FROM {} WHERE session_id = ?1 ORDER BY rowid", self.json, self.table);
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement.query_map([self.session], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Damages a row; returns nothing if this kind of damage cannot happen.
    fn damage(&self, connection: &Connection, kind: Damage, numbers: &mut Numbers) -> Option<()> {
        if kind == Damage::Two {
            let mut one = || {
                let kind = KINDS[numbers.below(KINDS.len() - 1)];
                self.damage(connection, kind, numbers)
            };
            return [one(), one()].into_iter().flatten().next();
        }
        let rows = self.all(connection);
        let fits: fn(&Self, &str) -> bool = match kind {
            Damage::LoseParent => |rows, json| !rows.orphan.is_empty() && is_whole(json),
            Damage::Drop | Damage::Duplicate | Damage::Reorder | Damage::Tear | Damage::Interleave | Damage::Two => {
                |_, _| true
            }
            Damage::LoseResult => |rows, json| json.contains(rows.result),
            Damage::LoseCall => |rows, json| json.contains(rows.call),
            Damage::Pending => |_, json| json.contains("\"status\":\"completed\",\"input\"") && is_whole(json),
        };
        let found: Vec<usize> = (0..rows.len()).filter(|at| fits(self, &rows[*at].1)).collect();
        let at = *found.get(numbers.below(found.len()))?;
        let (table, json, columns, values) = (self.table, self.json, self.copied, self.values);
        let id = rows[at].0;
        let change = |sql: &str| connection.execute(sql, []).unwrap();
        match kind {
            Damage::Drop | Damage::LoseResult | Damage::LoseCall => {
                change(&format!("DELETE FROM {table} WHERE rowid = {id}"));
            }
            Damage::Duplicate => {
                change(&format!(
                    "INSERT INTO {table} ({columns}, {json}) SELECT {values}, {json} FROM {table} WHERE rowid = {id}"
                ));
            }
            Damage::Reorder => {
                let (other, text) = rows.get(at + 1)?;
                let sql = format!("UPDATE {table} SET {json} = ?1 WHERE rowid = ?2");
                connection.execute(&sql, (text, id)).unwrap();
                connection.execute(&sql, (&rows[at].1, other)).unwrap();
            }
            Damage::Tear => {
                let end = rows[at].1.floor_char_boundary(numbers.below(rows[at].1.len()));
                let sql = format!("UPDATE {table} SET {json} = ?1 WHERE rowid = ?2");
                connection.execute(&sql, (&rows[at].1[..end], id)).unwrap();
            }
            Damage::Interleave => {
                let sql = format!(
                    "INSERT INTO {table} ({columns}, {json}) SELECT {values}, ?1 FROM {table} WHERE rowid = ?2"
                );
                for (index, (id, text)) in rows[at..].iter().take(1 + numbers.below(4)).enumerate() {
                    let Ok(row) = serde_json::from_str(text) else { continue };
                    connection.execute(&sql, (of_rival(row, index > 0).to_string(), id)).unwrap();
                }
            }
            Damage::LoseParent => {
                connection.pragma_update(None, "foreign_keys", false).unwrap();
                connection.execute(self.orphan, [id]).unwrap();
            }
            Damage::Two => {}
            Damage::Pending => {
                change(&format!(
                    "UPDATE {table} SET {json} = json_remove(json_set({json}, '$.state.status', 'running'), '$.state.output') WHERE rowid = {id}"
                ));
            }
        }
        Some(())
    }

    /// Repairs the session. Returns whether it was broken.
    fn judge(&self, bed: &Bed) -> Result<bool, String> {
        let (before, dump) = (self.words(bed), bed.dump());
        // A row that is cut is reported and stays as it is.
        let torn: Vec<(i64, String)> =
            self.all(&bed.connection()).into_iter().filter(|(_, json)| !is_whole(json)).collect();
        let repaired = bed.repair(self.session);
        if let Some(why) = repaired.repaired.refusal {
            let is_left = !torn.is_empty() && !repaired.is_changed();
            return if is_left { Ok(false) } else { Err(format!("refused: {why}")) };
        }
        let journal = repaired.write(&bed.open(), &bed.backup(), &mut |_| Ok(())).map_err(|error| error.to_string())?;
        let checked = bed.check(self.session).checked;
        let is_expected = |code: &str| code == "FILE005" && !torn.is_empty();
        let mut errors = checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let left = errors.find(|finding| !is_expected(finding.code));
        let after = self.all(&bed.connection());
        if let Some((_, lost)) = torn.iter().find(|(_, json)| !after.iter().any(|(_, after)| after == json)) {
            return Err(format!("lost the cut row {lost}"));
        }
        if let Some(left) = left {
            return Err(format!("{} remains: {}", left.code, left.message));
        }
        let dialect = Dialect::ALL.iter().copied().find(|known| known.name() == checked.dialect).unwrap();
        let body: Value = serde_json::from_str(&checked.body).unwrap();
        if let Some(first) = strict::check(dialect, &body).first() {
            return Err(format!("the strict check finds {first:?}"));
        }
        if let Some(lost) = before.difference(&self.words(bed)).next() {
            return Err(format!("lost: {lost}"));
        }
        if bed.repair(self.session).is_changed() {
            return Err("a second repair changes rows".to_owned());
        }
        if let Some(journal) = journal {
            bed.undo(&journal, &dump);
        }
        Ok(repaired.is_changed())
    }

    /// The words in the rows of the session.
    fn words(&self, bed: &Bed) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for (_, json) in self.all(&bed.connection()) {
            // A row that is cut has no complete record.
            if let Ok(record) = serde_json::from_str(&json) {
                collect(&record, &mut words);
            }
        }
        words
    }
}

/// Whether the JSON of a row is not cut.
fn is_whole(json: &str) -> bool {
    serde_json::from_str::<Value>(json).is_ok()
}

/// The record that a second writer added in place of this one: other words, and where records have ids, an id of its own.
fn of_rival(mut record: Value, has_own_parent: bool) -> Value {
    if record.get("parentId").is_some() {
        for (name, is_own) in [("id", true), ("parentId", has_own_parent)] {
            if let Some(id) = record[name].as_str().filter(|_| is_own).map(|id| format!("{id}r")) {
                record[name] = id.into();
            }
        }
    }
    say_otherwise(&mut record);
    record
}

fn say_otherwise(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if matches!(name.as_str(), "text" | "content" | "output") => *text += " rival",
                    member => say_otherwise(member),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(say_otherwise),
        _ => {}
    }
}

/// The texts that people, models and tools wrote.
fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str() {
                    Some(text) if matches!(name.as_str(), "text" | "content" | "output") => {
                        words.extend(text.split_whitespace().map(str::to_owned));
                    }
                    _ => collect(member, words),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|member| collect(member, words)),
        _ => {}
    }
}
