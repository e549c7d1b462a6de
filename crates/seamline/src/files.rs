//! The files of other programs, which are not request bodies.
//!
//! Seamline reads the histories of some programs, which are lists of messages in a shape of their own. Pass such a history to
//! [`check`](fn@crate::check), [`repair`](fn@crate::repair) or [`convert`](fn@crate::convert) like a request body. The
//! repaired history has the same shape and the same order, and every entry that needed no repair keeps its bytes.
//!
//! ```
//! // Opal stores the newest message first.
//! let history = br#"[
//!   {"role":"user","content":"never mind","id":"m3"},
//!   {"role":"assistant","content":"","tool_calls":[{"call_id":"c1","name":"read","arguments":{}}],"id":"m2"},
//!   {"role":"system","content":"Be brief.","id":"m1"}]"#;
//!
//! let options = seamline::Options::default();
//! let checked = seamline::check(history, &options)?;
//! assert_eq!((checked.dialect, checked.findings[0].pointer.as_str()), ("opal", "/1/tool_calls/0"));
//!
//! let repaired = seamline::repair(history, &options)?;
//! assert_eq!(repaired.origins, [Some(0), None, Some(1), Some(2)]);
//! assert!(String::from_utf8_lossy(&repaired.body).contains(r#""role":"tool_result","call_id":"c1""#));
//! # Ok::<(), seamline::Error>(())
//! ```

/// Recognises the program that wrote a file, by the file's name and its first bytes.
///
/// ```
/// let line = br#"{"type":"session_start","id":"s","cwd":"/tmp"}"#;
/// let program = seamline::files::recognise("session.jsonl", line).unwrap();
/// assert_eq!((program.name, program.what), ("Factory Droid", "a session log of Factory Droid"));
/// ```
#[doc(inline)]
pub use seamline_files::recognise;

/// Every program whose files are recognised.
#[doc(inline)]
pub use seamline_files::ALL;

/// A program that keeps conversations in files of its own.
#[doc(inline)]
pub use seamline_files::Program;

/// The shapes of the histories that Seamline reads, one per program.
///
/// ```
/// let names: Vec<_> = seamline::files::SHAPES.iter().map(|shape| shape.name).collect();
/// assert_eq!(names, ["opal", "openclaw", "llxprt"]);
/// ```
#[doc(inline)]
pub use seamline_files::native::ALL as SHAPES;

/// How one program writes the messages of a history.
#[doc(inline)]
pub use seamline_files::native::Shape;

/// The order in which a history is stored.
#[doc(inline)]
pub use seamline_files::native::Order;
