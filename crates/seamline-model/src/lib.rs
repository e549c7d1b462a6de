//! The vocabulary of Seamline, as types.
//!
//! A [`Transcript`] is one conversation independent of its dialect: messages made of blocks, each with the byte span it
//! was read from. [`Pairing`] says which result answers which call. [`Constraints`] are a provider's demands, as data.
//! A [`RuleFinding`] is one violation at one place, and its [`Fix`] is a list of [`Edit`]s.
//!
//! This crate reads no file, no clock and no JSON. It names no dialect and no rule.
#![deny(clippy::disallowed_methods)]

mod assembled;
mod block;
mod constraints;
pub mod conversation;
mod demands;
mod edit;
mod event;
mod fact;
mod fence;
mod finding;
mod id_map;
mod irregularity;
mod item;
mod joint;
mod kinds;
pub mod knob;
mod listing;
mod models;
mod moving;
mod naming;
mod pairing;
mod request;
mod result_block;
mod role;
mod sameness;
mod scope;
mod signatures;
mod source;
mod span;
mod stop;
mod synthetic;
mod tools;
mod transcript;
mod wire_id;

pub use assembled::{Assembled, AssembledBlock, AssembledCall, Content, Ending, LocatedFlaw, StreamFlaw, Text};
pub use block::{Block, Field, Slot};
pub use constraints::{
    Alphabet, Carrier, Constraints, EmptyText, ErrorText, FirstRole, IdDemand, InputForm, ItemIdDemand, Joint,
    LastRole, NameDemand, NameStart, OutputForm, PartDemand, RoleGap, SameRole, SignatureDemand, Uniqueness, Values,
};
pub use demands::{
    Arguments, CompactionDemand, Echo, Limit, Limits, Members, PairDemands, ReasoningDemands, RoleOrder, SystemPlace,
    ToolDemands,
};
pub use edit::{Edit, Encoded, Layout, NewText};
pub use event::{Addition, Event, Piece, Recalled, Unreadable};
pub use fact::{Fact, FactKind};
pub use fence::{Fence, label};
pub use finding::{Fix, Place, RuleFinding, Safety, Severity, Stage};
pub use id_map::IdMap;
pub use irregularity::{Irregularity, IrregularityKind, UnreadableEntry};
pub use item::{Envelope, Item, ItemKind, ItemType};
pub use kinds::Kinds;
pub use listing::Demand;
pub use models::Models;
pub use pairing::{Cycle, MatchedResult, PairedCall, Pairing, ResultFate, ResultState};
pub use request::{
    Declared, DeclaredTool, Entries, Member, MemberKind, MemberSort, RejectedMember, RequestFacts, Thinking,
    is_metadata,
};
pub use result_block::{BesideText, Listed, Parts, ResultBlock};
pub use role::Role;
pub use scope::Scope;
pub use signatures::Signatures;
pub use source::{Source, Spliced};
pub use span::{BlockIndex, MessageIndex, Span};
pub use stop::Stop;
pub use synthetic::{
    ABORTED, BROKEN_CALL, CANCELLED, CONTINUE, CRASHED, DENIED, DOCUMENT, EMPTY_TEXT, MARK, NAMELESS_CALL, NO_CONTENT,
    NO_OUTPUT, NO_REASONING, NO_RESPONSE, NO_RESULT, NO_RESULT_CONVERTED, NO_SERVER_RESULT, NOTHING_BETWEEN,
    OUTPUT_FOLLOWS, START, Synthetic, TIMED_OUT, TRUNCATED, UNSIGNED_THINKING, is_default_text, is_of_others,
    is_of_session, is_of_session_about, is_synthetic, is_truncated_result, not_run,
};
pub use tools::{Tool, Tools};
pub use transcript::{
    BlockKind, Call, ContentForm, Emptiness, IdForm, Input, Message, ServerCall, ServerResult, Transcript,
};
pub use wire_id::WireId;
