//! One file per rule.

mod ident;
mod limit;
mod media;
mod naming;
mod order;
mod pairing;
mod reason;
mod shape;
mod wire;

use crate::Rule;

/// Every rule, by code.
pub static ALL: &[&Rule] = &[
    &ident::illegal_call_id::RULE,
    &ident::long_call_id::RULE,
    &ident::repeated_call_id::RULE,
    &ident::missing_call_id::RULE,
    &ident::illegal_tool_name::RULE,
    &ident::internal_call_id::RULE,
    &ident::illegal_server_id::RULE,
    &ident::illegal_item_id::RULE,
    &ident::repeated_item::RULE,
    &limit::surplus_cache_mark::RULE,
    &limit::undeclared_tools::RULE,
    &limit::empty_tool_list::RULE,
    &limit::repeated_tool::RULE,
    &limit::undeclared_choice::RULE,
    &limit::illegal_declared_name::RULE,
    &ident::unnamed_result::RULE,
    &media::media_in_result::RULE,
    &order::text_before_results::RULE,
    &order::unordered_results::RULE,
    &order::unexpected_role::RULE,
    &order::misplaced_system::RULE,
    &pairing::unanswered_call::RULE,
    &pairing::orphan_result::RULE,
    &pairing::duplicate_result::RULE,
    &pairing::displaced_result::RULE,
    &pairing::misaddressed_result::RULE,
    &pairing::superseded_result::RULE,
    &pairing::split_results::RULE,
    &pairing::unanswered_server_call::RULE,
    &pairing::orphan_server_result::RULE,
    &pairing::wrong_role_block::RULE,
    &pairing::mistyped_result::RULE,
    &reason::unsigned_thinking::RULE,
    &reason::missing_thinking::RULE,
    &reason::missing_reasoning::RULE,
    &reason::unwanted_reasoning::RULE,
    &reason::dangling_reasoning::RULE,
    &reason::lost_item::RULE,
    &reason::unsigned_call::RULE,
    &shape::empty_text::RULE,
    &shape::empty_message::RULE,
    &shape::consecutive_roles::RULE,
    &shape::leading_role::RULE,
    &shape::trailing_assistant::RULE,
    &shape::empty_call_list::RULE,
    &shape::missing_content::RULE,
    &shape::unsupported_role::RULE,
    &shape::no_messages::RULE,
    &shape::trailing_space::RULE,
    &shape::listed_result::RULE,
    &shape::early_trigger::RULE,
    &shape::empty_failure::RULE,
    &shape::wordless_text::RULE,
    &wire::lone_surrogate::RULE,
    &wire::byte_order_mark::RULE,
    &wire::duplicate_key::RULE,
    &wire::foreign_key::RULE,
    &wire::call_list_as_text::RULE,
    &wire::call_input::RULE,
    &wire::legacy_call::RULE,
    &wire::unreadable_message::RULE,
    &wire::unreadable_block::RULE,
    &wire::unreadable_call_list::RULE,
    &wire::unquoted_id::RULE,
    &wire::broken_arguments::RULE,
    &wire::extra_member::RULE,
    &wire::part_of_other_role::RULE,
    &wire::foreign_block::RULE,
    &wire::foreign_role::RULE,
];
