//! Joins the details of reasoning, which come in pieces and are sent back unchanged.

use crate::json::{Document, Value, quoted};
use crate::response_text::{ObjectText, list_text};

/// The members whose strings come in pieces.
const PIECES: [&str; 2] = ["text", "summary"];

/// Puts the pieces of each detail together.
pub(super) fn merged(details: &str) -> String {
    let Ok(document) = Document::read(details) else {
        return details.to_owned();
    };
    let mut merged: Vec<Detail> = Vec::new();
    for piece in document.root().elements() {
        let piece = Detail::read(piece);
        match merged.last_mut() {
            Some(detail) if detail.goes_on_in(&piece) => detail.join(piece),
            _ => merged.push(piece),
        }
    }
    list_text(&merged.iter().map(Detail::write).collect::<Vec<_>>())
}

struct Detail {
    /// The received value, if it is not an object.
    source: Option<String>,
    members: ObjectText,
    said: [Option<String>; PIECES.len()],
}

impl Detail {
    fn read(value: Value<'_, '_>) -> Self {
        let object = value.object();
        let said = |name| object.and_then(|object| object.get(name)).and_then(Value::str).map(String::from);
        Self {
            source: object.is_none().then(|| value.raw().to_owned()),
            members: ObjectText::of(value.raw()),
            said: PIECES.map(said),
        }
    }

    /// Whether another piece belongs to the same detail. Encrypted details come in one piece, and a signature ends a
    /// detail.
    fn goes_on_in(&self, piece: &Self) -> bool {
        let same = |name| self.members.get(name) == piece.members.get(name);
        let has_pieces = self.said.iter().any(Option::is_some);
        let is_signed = self.told("signature").is_some();
        let is_other = self.told("id").zip(piece.told("id")).is_some_and(|(one, other)| one != other);
        !is_signed
            && !is_other
            && has_pieces
            && same("type")
            && same("index")
            && piece.source.is_none()
            && piece.members.get("data").is_none()
    }

    /// Finds a member that is not empty.
    fn told(&self, name: &str) -> Option<&str> {
        self.members.get(name).filter(|json| !matches!(*json, "null" | "\"\""))
    }

    fn join(&mut self, piece: Self) {
        for (name, json) in piece.members.members() {
            if json != "null" {
                self.members.set(name, json.as_str());
            }
        }
        for (said, more) in self.said.iter_mut().zip(piece.said) {
            if let Some(more) = more {
                said.get_or_insert_default().push_str(&more);
            }
        }
    }

    fn write(&self) -> String {
        if let Some(source) = &self.source {
            return source.clone();
        }
        let mut members = ObjectText::default();
        members.set_all(self.members.members());
        for (name, said) in PIECES.iter().zip(&self.said) {
            if let Some(said) = said {
                members.set(name, quoted(said));
            }
        }
        members.write()
    }
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn pieces_of_one_detail_are_joined_and_others_are_not() {
        let pieces = r#"[{"type":"reasoning.text","text":"I ","index":0},{"type":"reasoning.text","text":"see.","index":0},
            {"type":"reasoning.text","text":null,"signature":"s","index":0},{"type":"reasoning.encrypted","data":"x","index":1},
            {"type":"reasoning.encrypted","data":"y","index":1},7]"#;
        let whole = concat!(
            r#"[{"type":"reasoning.text","text":"I see.","index":0,"signature":"s"},"#,
            r#"{"type":"reasoning.encrypted","data":"x","index":1},{"type":"reasoning.encrypted","data":"y","index":1},7]"#,
        );
        assert_eq!(merged(pieces), whole);
    }

    #[test]
    fn a_signature_or_another_id_starts_another_detail() {
        for two in [
            r#"[{"type":"reasoning.text","text":"a","signature":"s","index":0},{"type":"reasoning.text","text":"b","index":0}]"#,
            r#"[{"type":"reasoning.text","text":"a","id":"1"},{"type":"reasoning.text","text":"b","id":"2"}]"#,
        ] {
            assert_eq!(merged(two), two);
        }
        let one = r#"[{"type":"reasoning.text","text":"a","id":"1","signature":null},{"type":"reasoning.text","text":"b","id":null,"signature":"s"}]"#;
        assert_eq!(merged(one), r#"[{"type":"reasoning.text","text":"ab","id":"1","signature":"s"}]"#);
    }
}
