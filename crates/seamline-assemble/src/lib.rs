//! Assembles the events of a stream into one message with its ending.
//!
//! An [`Assembler`] takes the [events](seamline_model::Event) that a dialect reads from a stream and assembles one
//! message. The ending is decided once: a stream that failed, was filtered, was truncated or has no final event never
//! counts as a complete message, and a call that may be incomplete must not be run.
//!
//! ```
//! use seamline_assemble::{ArgSource, Assembler, AssemblyLimits};
//! use seamline_model::{Addition, Ending, Event, Piece, Stop};
//!
//! let mut assembler = Assembler::new(ArgSource::DeltaWins, AssemblyLimits::default());
//! let start = r#"{"type":"tool_use","id":"toolu_1","name":"shell","input":{"command":"ls"}}"#;
//! assembler.handle_event(&Event::Begin { place: 0, piece: Piece::Call, base: start });
//! for addition in [
//!     Addition::Id("toolu_1"),
//!     Addition::Name("shell"),
//!     // The input is given at the start and again in deltas.
//!     Addition::StartInput(r#"{"command":"ls"}"#),
//!     Addition::Arguments(r#"{"command":"#),
//!     Addition::Arguments(r#""ls"}"#),
//! ] {
//!     assembler.handle_event(&Event::Add { place: 0, addition });
//! }
//! assembler.handle_event(&Event::End { place: 0 });
//! assembler.handle_event(&Event::Stop { stop: Stop::Calls, word: "tool_use" });
//! assembler.handle_event(&Event::Done);
//!
//! let message = assembler.finish();
//! assert_eq!(message.ending, Ending::Complete);
//! let call = message.blocks[0].call().unwrap();
//! assert_eq!((call.arguments.as_str(), call.executable), (r#"{"command":"ls"}"#, true));
//! ```
#![deny(clippy::disallowed_methods)]

mod arguments;
mod assembler;
mod block;
mod catalogue;
mod duplicates;
mod ending;
mod members;
mod snapshot;

pub use arguments::{ArgSource, is_plain_object};
pub use assembler::{Assembler, AssemblyLimits};
pub use catalogue::{FLAWS, FlawKind};
