//! The programs whose files are recognised, one file each.

mod bodies;
mod claude_code;
pub(crate) mod cline;
mod codex;
mod continue_dev;
mod copilot_cli;
mod cursor;
mod droid;
mod fine_tuning;
mod gemini_cli;
pub(crate) mod goose;
mod grok;
mod har;
mod hermes;
mod kimi;
pub(crate) mod langgraph;
mod mini_swe_agent;
pub(crate) mod openai_agents;
mod openai_batch;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod pi;
mod pydantic_ai;
mod qwen_code;
mod recognised;
mod sharegpt;
mod strands;
mod swe_agent;
mod tau_bench;
mod vercel_ai;

use crate::Program;
use crate::session::Exporter;

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
    &pi::OPENCLAW,
    &recognised::CLINE_SCREEN,
    &cline::PROGRAM,
    &goose::PROGRAM,
    &copilot_cli::PROGRAM,
    &kimi::PROGRAM,
    &droid::PROGRAM,
    &grok::PROGRAM,
    &openhands::PROGRAM,
    &mini_swe_agent::PROGRAM,
    &swe_agent::PROGRAM,
    &pydantic_ai::PROGRAM,
    &continue_dev::PROGRAM,
    &hermes::PROGRAM,
    &strands::PROGRAM,
    &strands::MESSAGE,
    &cursor::PROGRAM,
    &recognised::ANTIGRAVITY,
    &recognised::ZED,
    &recognised::LLM,
    &recognised::AIDER,
    &langgraph::PROGRAM,
    &langgraph::MESSAGES,
    &openai_agents::PROGRAM,
    &openai_agents::STATE,
    &openai_batch::PROGRAM,
    &openai_batch::LIST,
    &sharegpt::PROGRAM,
    &vercel_ai::PROGRAM,
    &vercel_ai::MODEL_MESSAGES,
    &har::PROGRAM,
    &tau_bench::PROGRAM,
    &fine_tuning::PROGRAM,
    &bodies::PROGRAM,
];

/// The programs whose sessions can be written from a conversation.
pub const EXPORTERS: &[&Exporter] = &[
    &claude_code::export::EXPORTER,
    &codex::export::EXPORTER,
    &gemini_cli::export::EXPORTER,
    &pi::export::EXPORTER,
    &qwen_code::export::EXPORTER,
];
