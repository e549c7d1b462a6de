//! The programs whose files are recognised, one file each.

mod bodies;
mod claude_code;
pub(crate) mod cline;
mod codex;
mod copilot_cli;
mod droid;
mod fine_tuning;
mod gemini_cli;
pub(crate) mod goose;
mod grok;
mod har;
mod kimi;
mod langgraph;
mod mini_swe_agent;
mod openai_agents;
mod openai_batch;
pub(crate) mod opencode;
pub(crate) mod openhands;
mod pi;
mod qwen_code;
mod sharegpt;
mod swe_agent;
mod vercel_ai;

use crate::Program;

/// All programs. If several fit, the first one counts, so that more exact signs come before more general ones.
pub const ALL: &[&Program] = &[
    &codex::PROGRAM,
    &qwen_code::PROGRAM,
    &claude_code::PROGRAM,
    &gemini_cli::DOCUMENT,
    &gemini_cli::LOG,
    &gemini_cli::CHECKPOINT,
    &opencode::PROGRAM,
    &pi::PROGRAM,
    &cline::PROGRAM,
    &goose::PROGRAM,
    &copilot_cli::PROGRAM,
    &kimi::PROGRAM,
    &droid::PROGRAM,
    &grok::PROGRAM,
    &openhands::PROGRAM,
    &mini_swe_agent::PROGRAM,
    &swe_agent::PROGRAM,
    &langgraph::PROGRAM,
    &openai_agents::PROGRAM,
    &openai_batch::PROGRAM,
    &sharegpt::PROGRAM,
    &vercel_ai::PROGRAM,
    &har::PROGRAM,
    &fine_tuning::PROGRAM,
    &bodies::PROGRAM,
];
