//! Rows of healthy sessions are lost, doubled and exchanged as crashes and rival writers do. After the repair the
//! conversation is valid for its provider by a check that shares no code with the rules, and no readable word is lost.

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
}

const KINDS: [Damage; 6] =
    [Damage::Drop, Damage::Duplicate, Damage::Reorder, Damage::LoseResult, Damage::LoseCall, Damage::Pending];

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
        bed: crate::openai_agents::healthy,
    },
    Rows {
        program: "opencode",
        session: "ses_1",
        table: "part",
        json: "data",
        copied: "id, message_id, session_id, time_created, time_updated",
        values: "id || 'x', message_id, session_id, time_created, time_updated",
        result: "none of them",
        call: "\"callID\"",
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
        let rows = self.all(connection);
        let fits: fn(&Self, &str) -> bool = match kind {
            Damage::Drop | Damage::Duplicate | Damage::Reorder => |_, _| true,
            Damage::LoseResult => |rows, json| json.contains(rows.result),
            Damage::LoseCall => |rows, json| json.contains(rows.call),
            Damage::Pending => |_, json| json.contains("\"status\":\"completed\",\"input\""),
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
        let before = self.words(bed);
        let repaired = bed.repair(self.session);
        if let Some(why) = repaired.repaired.refusal {
            return Err(format!("refused: {why}"));
        }
        repaired.write(&bed.open(), &bed.backup(), &mut |_| Ok(())).map_err(|error| error.to_string())?;
        let checked = bed.check(self.session).checked;
        let left = checked.findings.iter().find(|finding| finding.severity == Severity::Error);
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
        Ok(repaired.is_changed())
    }

    /// The words in the rows of the session.
    fn words(&self, bed: &Bed) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for (_, json) in self.all(&bed.connection()) {
            collect(&serde_json::from_str(&json).unwrap(), &mut words);
        }
        words
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
