//! The ids of unknown blocks and messages, by which they may make or answer calls.

use seamline_model::FactKind;

use crate::ids::{CALL_ID_KEYS, RESULT_ID_KEYS};
use crate::json::{Kind, Value};
use crate::reader::Reader;

/// The most ids that are noted of one block.
const IDS_MAX: usize = 4;

impl Reader<'_> {
    /// Notes the ids of an unknown block: its own, and those of the objects that it holds. In dialects where the type of
    /// a block is the name of a member, that member has the id.
    pub(crate) fn unknown_block(&mut self, block: Value<'_, '_>) {
        let held = block.members().map(|(_, member)| member).filter(|member| member.is(Kind::Object));
        let ids: Vec<_> = ids_of(block).chain(held.flat_map(ids_of)).take(IDS_MAX).collect();
        for id in ids {
            self.unknown_id(id);
        }
    }

    /// Notes the names of the tools of an unknown block that has ids, for dialects whose results need none.
    pub(crate) fn unknown_tools(&mut self, block: Value<'_, '_>) {
        let held = block.members().map(|(_, member)| member).filter(|member| member.is(Kind::Object));
        let named = held.filter(|held| ids_of(*held).any(|id| id.key().name() != "name"));
        let names: Vec<_> = named.filter_map(|held| held.object()?.get("name")).take(IDS_MAX).collect();
        for name in names {
            if let Some(name) = name.str().filter(|_| self.density.has_place_for(self.transcript.facts.len())) {
                self.fact(FactKind::UnknownTool, &name);
            }
        }
    }

    /// Notes an id by which something unknown may make or answer a call.
    pub(crate) fn unknown_id(&mut self, id: Value<'_, '_>) {
        if let Some(id) =
            id.str().filter(|id| !id.is_empty() && self.density.has_place_for(self.transcript.facts.len()))
        {
            self.fact(FactKind::Unknown, &id);
        }
    }
}

/// The ids of an object, by any name that an id has; else the name of its tool, which replaces it where ids are optional.
fn ids_of<'d, 'a>(object: Value<'d, 'a>) -> impl Iterator<Item = Value<'d, 'a>> {
    let is_id = |name: &str| CALL_ID_KEYS.contains(&name) || RESULT_ID_KEYS.contains(&name);
    let ids = move || object.members().filter(move |(key, _)| is_id(&key.name())).map(|(_, member)| member);
    let name = object.object().and_then(|object| object.get("name")).filter(|_| ids().next().is_none());
    ids().chain(name).filter(|id| id.is(Kind::String))
}
