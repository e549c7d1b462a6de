//! The active path through the events of `OpenClaw`, as its projection tables list it.

use std::collections::{HashMap, HashSet};

use crate::json::{Object, string};

/// The types of entries that are part of a conversation.
const ENTRIES: [&str; 10] = [
    "message",
    "thinking_level_change",
    "model_change",
    "compaction",
    "reset",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
];

/// An event on the active path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ActiveEvent {
    /// The index of the event.
    pub(super) event: usize,
    /// The place of its message among the messages of the path.
    pub(super) message: Option<usize>,
    /// Whether the event is part of what the model sees.
    pub(super) is_context: bool,
}

/// The active path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ActivePath {
    pub(super) events: Vec<ActiveEvent>,
    /// The event that the next one continues.
    pub(super) leaf: Option<String>,
    /// The number of messages on the path.
    pub(super) messages: usize,
}

/// Finds the active path of events; nothing if they use navigation whose rules only `OpenClaw` itself applies.
pub(super) fn active_path(texts: &[&str]) -> Option<ActivePath> {
    let mut tree = Tree::default();
    let events: Vec<Object<'_>> = texts.iter().map(|text| Object::of(text)).collect::<Option<_>>()?;
    for (event, object) in events.iter().enumerate() {
        tree.add(event, object)?;
    }
    let mut path = ActivePath { leaf: tree.append_to.clone(), ..ActivePath::default() };
    let mut on_path = tree.path()?;
    if on_path.is_empty() && !tree.has_leaf {
        on_path = (0..events.len()).collect();
    }
    for event in on_path.into_iter().filter(|event| is_active(&events[*event])) {
        let message = events[event].get("message");
        let is_hidden = message.and_then(Object::of).is_some_and(|said| said.get("excludeFromContext") == Some("true"));
        path.events.push(ActiveEvent { event, message: message.map(|_| path.messages), is_context: !is_hidden });
        path.messages += usize::from(message.is_some());
    }
    Some(path)
}

fn is_active(event: &Object<'_>) -> bool {
    let is_linked = id_of(event).is_some() && event.get("parentId").is_some();
    !event.says("type", &["session"]) && (event.says("type", &ENTRIES) || is_linked || event.get("message").is_some())
}

fn id_of(event: &Object<'_>) -> Option<String> {
    event.string("id").map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
}

struct Node {
    event: usize,
    parent: Option<String>,
    /// Whether the event only names the leaf.
    is_leaf: bool,
}

#[derive(Default)]
struct Tree {
    nodes: HashMap<String, Node>,
    leaf: Option<String>,
    append_to: Option<String>,
    has_leaf: bool,
}

impl Tree {
    /// Adds an event; nothing if it is navigation that is not known here.
    fn add(&mut self, event: usize, object: &Object<'_>) -> Option<()> {
        if object.says("type", &["reset"]) || object.get("appendMode").is_some() {
            return None;
        }
        let is_entry = object.says("type", &ENTRIES);
        let parent = object.get("parentId");
        let Some(id) = id_of(object).filter(|_| !object.says("type", &["session"])) else { return Some(()) };
        if object.says("type", &["leaf"]) {
            return self.move_leaf(event, id, object);
        }
        let parent = match parent {
            None if !is_entry => return Some(()),
            None => self.leaf.clone(),
            Some(parent) => string(parent),
        };
        // An entry whose parent is missing continues the last one.
        let is_known = parent.as_ref().is_none_or(|parent| self.nodes.contains_key(parent));
        let parent = if is_known || !is_entry || self.leaf.is_none() { parent } else { self.leaf.clone() };
        let parent = if is_entry { self.beyond_leaves(parent) } else { parent };
        self.nodes.insert(id.clone(), Node { event, parent, is_leaf: false });
        if is_entry {
            self.leaf = Some(id.clone());
        }
        self.append_to = Some(id);
        Some(())
    }

    fn move_leaf(&mut self, event: usize, id: String, object: &Object<'_>) -> Option<()> {
        let target = string(object.get("targetId")?).filter(|target| self.nodes.contains_key(target))?;
        let append_to = match object.get("appendParentId") {
            None => target.clone(),
            Some(parent) => string(parent).filter(|parent| self.nodes.contains_key(parent))?,
        };
        self.nodes.insert(id, Node { event, parent: Some(target.clone()), is_leaf: true });
        (self.leaf, self.append_to, self.has_leaf) = (Some(target), Some(append_to), true);
        Some(())
    }

    /// The first of the parents that is not an event that only names the leaf.
    fn beyond_leaves(&self, mut parent: Option<String>) -> Option<String> {
        let mut seen = HashSet::new();
        while let Some(node) = parent.as_ref().and_then(|parent| self.nodes.get(parent)).filter(|node| node.is_leaf) {
            if !seen.insert(node.event) {
                break;
            }
            parent.clone_from(&node.parent);
        }
        parent
    }

    /// The events from the root to the leaf; nothing if the parents form a circle.
    fn path(&self) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut seen = HashSet::new();
        let mut at = self.leaf.as_ref();
        while let Some(node) = at.and_then(|id| self.nodes.get(id)) {
            if !seen.insert(node.event) {
                return None;
            }
            if !node.is_leaf {
                path.push(node.event);
            }
            at = node.parent.as_ref();
        }
        path.reverse();
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events on the path with the places of their messages, and the leaf.
    fn path(texts: &[&str]) -> Option<(Vec<OnPath>, Option<String>)> {
        let path = active_path(texts)?;
        Some((path.events.iter().map(|event| (event.event, event.message)).collect(), path.leaf))
    }

    type OnPath = (usize, Option<usize>);

    const HEAD: &str = r#"{"type":"session","version":4,"id":"s"}"#;
    const MODEL: &str = r#"{"type":"model_change","id":"1","parentId":null}"#;
    const ASKED: &str = r#"{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":"a"}}"#;

    #[test]
    fn the_path_leads_from_the_last_entry_to_the_root() {
        let other = r#"{"type":"message","id":"3","parentId":"1","message":{"role":"user","content":"b"}}"#;
        let last = r#"{"type":"message","id":"4","parentId":"2","message":{"role":"assistant","content":[]}}"#;
        let expected = (vec![(1, None), (2, Some(0)), (4, Some(1))], Some("4".to_owned()));
        assert_eq!(path(&[HEAD, MODEL, ASKED, other, last]), Some(expected));
    }

    #[test]
    fn an_event_may_name_the_leaf() {
        let other = r#"{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":"b"}}"#;
        let leaf = r#"{"type":"leaf","id":"4","parentId":"3","targetId":"2"}"#;
        let last = r#"{"type":"message","id":"5","parentId":"4","message":{"role":"user","content":"c"}}"#;
        let expected = (vec![(1, None), (2, Some(0)), (5, Some(1))], Some("5".to_owned()));
        assert_eq!(path(&[HEAD, MODEL, ASKED, other, leaf, last]), Some(expected));
    }

    #[test]
    fn navigation_with_rules_of_its_own_is_refused() {
        for text in [
            r#"{"type":"reset","id":"3","parentId":"2"}"#,
            r#"{"type":"message","id":"3","parentId":"2","appendMode":"side","message":{}}"#,
            r#"{"type":"leaf","id":"3","parentId":"2","targetId":"lost"}"#,
        ] {
            assert_eq!(path(&[HEAD, MODEL, ASKED, text]), None, "{text}");
        }
    }
}
