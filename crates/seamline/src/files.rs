//! The files of other programs, which are not request bodies.

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
