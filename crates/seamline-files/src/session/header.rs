//! Files of lines whose first record describes the session, and the defect of a file that begins with another record.

use super::catalogue::FILE015;
use super::{Defect, RecordEdit, uuid};

/// The description of a session, as far as a reading has it.
#[derive(Default)]
pub(crate) struct SessionHeader {
    /// The first description in the file.
    found: Option<usize>,
    /// The time of the first record that has one, as JSON.
    time: Option<String>,
}

impl SessionHeader {
    /// Notes a record with a description.
    pub(crate) fn find(&mut self, record: usize) {
        self.found.get_or_insert(record);
    }

    /// Notes the time of a record, as JSON.
    pub(crate) fn see_time(&mut self, time: Option<&str>) {
        if self.time.is_none() {
            self.time = time.map(str::to_owned);
        }
    }

    pub(crate) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// The defect of a file that does not begin with its description. `write` writes a new one of the id of the session
    /// and the time of its first record, which is JSON.
    pub(crate) fn defect(&self, name: &str, write: impl Fn(&str, &str) -> String) -> Option<Defect> {
        let (message, edit) = match self.found {
            Some(0) => return None,
            Some(record) => {
                ("the description of the session is behind other records", RecordEdit::Move { record, after: None })
            }
            None => {
                let time = self.time.as_deref()?;
                let hash = blake3::hash(time.as_bytes()).to_hex();
                let id = id_in(name).map_or_else(|| uuid(&hash), str::to_owned);
                ("the description of the session is missing", RecordEdit::Prepend { text: write(&id, time) })
            }
        };
        Some(Defect { kind: &FILE015, record: 0, message: message.to_owned(), edits: vec![edit] })
    }
}

/// The id of a session at the end of the name of its file.
fn id_in(name: &str) -> Option<&str> {
    let file = name.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
    let id = file.get(file.len().checked_sub(36)?..)?;
    let is_id = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    id.bytes().enumerate().all(is_id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_description_has_the_id_in_the_name_of_the_file() {
        let mut header = SessionHeader::default();
        header.see_time(Some("\"t\""));
        let text = |name: &str| match header.defect(name, |id, time| format!("{id} {time}")).unwrap().edits.remove(0) {
            RecordEdit::Prepend { text } => text,
            other => panic!("{other:?}"),
        };
        let id = "019c0000-0000-7000-8000-000000000001";
        assert_eq!(text(&format!("/a/2026_{id}.jsonl")), format!("{id} \"t\""));
        assert_eq!(text("s.jsonl").len(), 40);
    }
}
