//! Reading a text again after messages of it were rewritten.
//!
//! Most of a repaired body was copied, and what was copied holds the same values as
//! before, only elsewhere. So only what was rewritten is scanned; the nodes of the rest
//! are moved.

use seamline_model::{Encoded, Transcript};

use super::scan::{Document, Node};

/// The values of a text, without the text.
#[derive(Debug, Clone)]
pub struct Nodes(Vec<Node>);

impl<'a> Document<'a> {
    /// A text whose values are known.
    pub fn with_nodes(text: &'a str, nodes: Nodes) -> Self {
        let document = Self { text, nodes: nodes.0, lone_surrogates: Vec::new(), byte_order_mark: None };
        debug_assert!(document.reads_the_same(), "nodes were moved to the wrong places");
        document
    }

    /// The values of the text that edits made of this one; `list` is its list of messages.
    /// Nothing when the text must be scanned afresh.
    pub(crate) fn follow(&self, list: u32, transcript: &Transcript<'_>, encoded: &Encoded) -> Option<Nodes> {
        let plain = self.lone_surrogates.is_empty() && self.byte_order_mark.is_none();
        if !plain || encoded.spans.len() != encoded.origins.len() || encoded.text.len() > super::BYTES_MAX {
            return None;
        }
        let before = &self.nodes;
        let end = before[list as usize].next;
        let mut after: Vec<Node> = Vec::with_capacity(before.len() + before.len() / 8);
        after.extend_from_slice(&before[..=list as usize]);
        for ((span, copied), origin) in encoded.spans.iter().zip(&encoded.copied).zip(&encoded.origins) {
            if let Some(origin) = origin.filter(|_| *copied) {
                let first = transcript.message(origin).wire;
                let last = before[first as usize].next;
                push_moved(&mut after, before, first..last, span.start);
            } else {
                let scanned = Document::read(&encoded.text[span.range()]).ok()?;
                push_moved(&mut after, &scanned.nodes, 0..scanned.nodes.len() as u32, span.start);
            }
        }
        let list_next = after.len() as u32;
        let grown = (encoded.text.len() as u32).wrapping_sub(self.text.len() as u32);
        if let Some(next) = before.get(end as usize) {
            push_moved(&mut after, before, end..before.len() as u32, next.start.wrapping_add(grown));
        }
        let total = after.len() as u32;
        // The list, and the object it is in when it is not the body itself.
        for (container, next) in [(0, total), (list as usize, if list == 0 { total } else { list_next })] {
            after[container].end = before[container].end.wrapping_add(grown);
            after[container].next = next;
        }
        Some(Nodes(after))
    }

    fn reads_the_same(&self) -> bool {
        Self::read(self.text).is_ok_and(|read| read.nodes == self.nodes)
    }
}

/// Moves a range of nodes to the end of `after`, so that the first starts at byte `start`.
fn push_moved(after: &mut Vec<Node>, before: &[Node], range: std::ops::Range<u32>, start: u32) {
    let nodes = &before[range.start as usize..range.end as usize];
    let Some(first) = nodes.first() else { return };
    let bytes = start.wrapping_sub(first.start);
    let places = (after.len() as u32).wrapping_sub(range.start);
    after.extend(nodes.iter().map(|node| Node {
        start: node.start.wrapping_add(bytes),
        end: node.end.wrapping_add(bytes),
        next: node.next.wrapping_add(places),
        ..*node
    }));
}
