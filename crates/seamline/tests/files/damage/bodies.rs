//! Damage to files with one request body per line: to the lines, and to the messages of one body.

use seamline_testkit::{Dialect, strict};
use serde_json::Value;

use super::{Damage, Damaged, Numbers, lines};

pub(super) fn damage(file: &str, kind: Damage, numbers: &mut Numbers) -> Option<Damaged> {
    let change: fn(&mut Vec<Value>, &mut Numbers) -> Option<()> = match kind {
        Damage::Tear | Damage::Glue | Damage::Splice | Damage::Nul => return lines::damage(file, kind, numbers),
        Damage::LoseParent | Damage::Interleave => return None,
        Damage::Drop => |list, numbers| {
            list.remove(numbers.below(list.len()));
            Some(())
        },
        Damage::Duplicate => |list, numbers| {
            let at = numbers.below(list.len());
            list.insert(at, list[at].clone());
            Some(())
        },
        Damage::Reorder => |list, numbers| {
            let at = numbers.below(list.len() - 1);
            list.swap(at, at + 1);
            Some(())
        },
        Damage::LoseResult => |list, numbers| lose(list, numbers, |message| message["role"] == "tool"),
        Damage::LoseCall => |list, numbers| lose(list, numbers, |message| message["tool_calls"].is_array()),
    };
    let mut records: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = numbers.below(records.len());
    change(body_of(&mut records[at])["messages"].as_array_mut()?, numbers)?;
    let bytes: Vec<u8> = records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect();
    Some(Damaged { words: lines::words(&bytes), bytes })
}

fn lose(list: &mut Vec<Value>, numbers: &mut Numbers, fits: fn(&Value) -> bool) -> Option<()> {
    let found: Vec<usize> = (0..list.len()).filter(|at| fits(&list[*at])).collect();
    list.remove(*found.get(numbers.below(found.len()))?);
    Some(())
}

fn body_of(record: &mut Value) -> &mut Value {
    if record["body"].is_object() { &mut record["body"] } else { record }
}

/// Checks every body of a file.
pub(super) fn strictly_valid(file: &[u8]) -> Result<(), String> {
    let dialect = Dialect::ALL.iter().copied().find(|known| known.name() == "openai_chat").unwrap();
    for (index, line) in String::from_utf8_lossy(file).lines().enumerate() {
        let mut record: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let body = body_of(&mut record);
        // A cut line may leave one message, which is kept and is not a body.
        let is_body = body["messages"].is_array();
        if let Some(first) = strict::check(dialect, body).first().filter(|_| is_body) {
            return Err(format!("line {}: the strict check finds {first:?}", index + 1));
        }
    }
    Ok(())
}
