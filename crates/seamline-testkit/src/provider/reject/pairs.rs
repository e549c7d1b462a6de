//! The ids that the words of a rejection name.

use serde_json::{Value, json};

use super::Case;
use crate::dialect::Fields;

impl Case<'_> {
    /// The ids of the calls of the message that no result after it answers, or of all of them.
    pub(super) fn unanswered(&self) -> Vec<String> {
        let calls = self.call_ids(self.message);
        let later = self.messages.get(self.at + 1..).unwrap_or_default();
        let answers = later.iter().take_while(|message| self.call_ids(message).is_empty());
        let answered: Vec<String> = answers.flat_map(|message| self.result_ids(message)).collect();
        let open: Vec<String> = calls.iter().filter(|id| !answered.contains(id)).cloned().collect();
        if open.is_empty() { calls } else { open }
    }

    /// The id of the last result of the message that no call before it made, or of its last result.
    pub(super) fn orphan(&self) -> String {
        let before = &self.messages[..self.at.min(self.messages.len())];
        let near = before.iter().rev().find(|message| !self.call_ids(message).is_empty());
        let called = near.map(|message| self.call_ids(message)).unwrap_or_default();
        let mut results = self.result_ids(self.message);
        let last = results.pop().unwrap_or_default();
        if !called.contains(&last) {
            return last;
        }
        results.into_iter().rfind(|id| !called.contains(id)).unwrap_or(last)
    }

    /// The first id that two results of the message have, or that of its last result.
    pub(super) fn repeated_result(&self) -> String {
        repeated(self.result_ids(self.message))
    }

    /// The first id that two calls of the message have, or that of its last call.
    pub(super) fn repeated_call(&self) -> String {
        repeated(self.call_ids(self.message))
    }

    /// The ids of the calls of a message.
    pub(super) fn call_ids(&self, message: &Value) -> Vec<String> {
        let row = self.dialect.row();
        self.ids(message, |body| (row.calls)(body).into_iter().map(|call| self.id(call, row.call_id_key)).collect())
    }

    /// The ids of the results of a message.
    pub(super) fn result_ids(&self, message: &Value) -> Vec<String> {
        let row = self.dialect.row();
        self.ids(message, |body| {
            (row.results)(body).into_iter().map(|result| self.id(result, row.result_id_key)).collect()
        })
    }

    fn ids(&self, message: &Value, read: impl Fn(&mut Value) -> Vec<Option<String>>) -> Vec<String> {
        let mut body = json!({self.dialect.list_key(): [message]});
        read(&mut body).into_iter().flatten().collect()
    }

    fn id(&self, fields: &Fields, key: &str) -> Option<String> {
        let id = fields.get(key).or_else(|| fields.get("name").filter(|_| self.dialect.row().has_optional_ids));
        id.and_then(Value::as_str).map(str::to_owned)
    }
}

fn repeated(mut ids: Vec<String>) -> String {
    let first = ids.iter().enumerate().find(|(index, id)| ids[..*index].contains(id));
    first.map(|(_, id)| id.clone()).or_else(|| ids.pop()).unwrap_or_default()
}
