//! Assembles frames into a message, once their dialect is known.

use seamline_assemble::Assembler;
use seamline_dialects::{Dialect, StreamReader, StreamSign, detect_stream};
use seamline_frame::{Frame, FrameKind};
use seamline_model::{Assembled, Event, Unreadable};

use super::options::Expected;
use super::progress::is_progress;
use crate::Error;

/// The most frames to buffer until one identifies the dialect, and the most frames that may contradict a named dialect.
const UNKNOWN_FRAMES_MAX: usize = 64;

/// The reader of the frames of a stream.
pub(super) struct Listening {
    ear: Ear,
    pub(super) assembler: Assembler,
    /// Whether there was progress since the caller last asked.
    moved: bool,
    /// The reason why the stream broke, while buffered frames are still unread.
    failure: Option<String>,
}

/// ```text
///              a frame of one dialect                 of another than was named
/// Waiting ──────────────────────────────▸ Reading ─────────────────────────────▸ Other
///    │                                       ▴
///    │ the end, and one dialect is likely    │
///    ├───────────────────────────────────────┘
///    │ too many frames
///    └────────────────▸ Lost
/// ```
enum Ear {
    Waiting(Waiting),
    /// The number is how many more frames may contradict the dialect.
    Reading(&'static Dialect, Box<dyn StreamReader>, usize),
    /// The stream is written in another dialect than the named one.
    Other(Error),
    /// No frame identified the dialect in time.
    Lost,
}

/// Buffered frames that do not identify their dialect.
#[derive(Default)]
struct Waiting {
    frames: Vec<KeptFrame>,
    /// The number of empty frames after these.
    idle: u64,
    bytes: usize,
    bytes_max: usize,
    likely: Option<&'static Dialect>,
}

struct KeptFrame {
    /// The number of empty frames before it.
    idle: u64,
    kind: FrameKind,
    name: Vec<u8>,
    data: Vec<u8>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dialect = match &self.ear {
            Ear::Reading(dialect, ..) => Some(dialect.name()),
            Ear::Waiting(_) | Ear::Other(_) | Ear::Lost => None,
        };
        let mut shown = f.debug_struct("Listening");
        shown.field("dialect", &dialect).field("assembler", &self.assembler).field("moved", &self.moved);
        shown.field("failure", &self.failure).finish()
    }
}

impl Listening {
    pub(super) fn new(expected: Expected, assembler: Assembler, bytes_max: usize) -> Self {
        let waiting = |likely| Ear::Waiting(Waiting { bytes_max, likely, ..Waiting::default() });
        let ear = match expected {
            Expected::Named(dialect) => Ear::reading(dialect, UNKNOWN_FRAMES_MAX),
            Expected::Likely(dialect) => waiting(Some(dialect)),
            Expected::Nothing => waiting(None),
        };
        Self { ear, assembler, moved: false, failure: None }
    }

    pub(super) fn handle_frame(&mut self, frame: &Frame<'_>) {
        match &mut self.ear {
            Ear::Reading(dialect, reader, unsure) => {
                if let Some(found) = contradiction(dialect, unsure, frame) {
                    self.ear = Ear::Other(Error::OtherStream { asked: dialect.name(), found });
                    return;
                }
                let (assembler, moved) = (&mut self.assembler, &mut self.moved);
                let is_cut = frame.kind == FrameKind::Cut;
                let mut is_remnant = is_cut && frame.data.trim_ascii().is_empty();
                assembler.handle_frame();
                reader.handle_frame(frame, &mut |event| {
                    if is_cut && event == (Event::Unreadable { what: Unreadable::NotJson }) {
                        is_remnant = true;
                    } else {
                        *moved |= is_progress(&event);
                        assembler.handle_event(&event);
                    }
                });
                if is_remnant {
                    assembler.handle_cut();
                }
            }
            Ear::Waiting(waiting) => match waiting.handle_frame(frame) {
                Heard::Nothing => {}
                Heard::Dialect(dialect) => self.read(dialect),
                Heard::TooMuch => self.ear = Ear::Lost,
            },
            Ear::Other(_) | Ear::Lost => {}
        }
    }

    /// Notes that the stream broke. Reads the buffered frames first, once their dialect is known.
    pub(super) fn handle_failure(&mut self, said: &str) {
        if matches!(self.ear, Ear::Waiting(_)) {
            self.failure.get_or_insert_with(|| said.to_owned());
        } else {
            self.assembler.handle_failure(said);
        }
    }

    /// Whether there was progress since the last call.
    pub(super) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }

    /// Whether later frames are ignored.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.ear, Ear::Other(_) | Ear::Lost) || self.assembler.is_full()
    }

    /// Returns the dialect and the message after the last frame.
    pub(super) fn finish(mut self) -> Result<(&'static Dialect, Assembled), Error> {
        if let Ear::Waiting(Waiting { likely: Some(dialect), .. }) = self.ear {
            self.read(dialect);
        }
        let (dialect, mut reader) = match self.ear {
            Ear::Reading(dialect, reader, _) => (dialect, reader),
            Ear::Other(error) => return Err(error),
            Ear::Waiting(_) | Ear::Lost => return Err(Error::UnknownStream),
        };
        if let Some(said) = &self.failure {
            self.assembler.handle_failure(said);
        }
        reader.handle_end(&mut |event| self.assembler.handle_event(&event));
        Ok((dialect, self.assembler.finish()))
    }

    /// Reads the buffered frames, and all later ones, in a dialect.
    fn read(&mut self, dialect: &'static Dialect) {
        if let Ear::Waiting(waiting) = std::mem::replace(&mut self.ear, Ear::reading(dialect, 0)) {
            for KeptFrame { idle, kind, name, data } in &waiting.frames {
                (0..*idle).for_each(|_| self.assembler.handle_frame());
                self.handle_frame(&Frame { kind: *kind, name, data });
            }
            (0..waiting.idle).for_each(|_| self.assembler.handle_frame());
        }
    }
}

impl Ear {
    fn reading(dialect: &'static Dialect, unsure: usize) -> Self {
        Self::Reading(dialect, (dialect.streaming().reader)(), unsure)
    }
}

/// The dialect that a frame is certainly written in, if that is not the named one. The first frame that only one
/// dialect has decides.
fn contradiction(named: &Dialect, unsure: &mut usize, frame: &Frame<'_>) -> Option<&'static str> {
    *unsure = unsure.checked_sub(1)?;
    let Some(StreamSign::Certain(found)) = detect_stream(frame) else { return None };
    *unsure = 0;
    (found.name() != named.name()).then_some(found.name())
}

/// The evidence of a frame for the dialect of its stream.
enum Heard {
    Nothing,
    Dialect(&'static Dialect),
    TooMuch,
}

impl Waiting {
    fn handle_frame(&mut self, frame: &Frame<'_>) -> Heard {
        let sign = detect_stream(frame);
        // Any number of such frames decides nothing.
        if let Some(StreamSign::Idle(dialect)) = sign {
            self.idle += 1;
            self.likely = self.likely.or(Some(dialect));
            return Heard::Nothing;
        }
        self.bytes += frame.name.len() + frame.data.len();
        self.frames.push(KeptFrame {
            idle: std::mem::take(&mut self.idle),
            kind: frame.kind,
            name: frame.name.to_vec(),
            data: frame.data.to_vec(),
        });
        match sign {
            Some(StreamSign::Certain(dialect)) => return Heard::Dialect(dialect),
            Some(StreamSign::Likely(dialect)) => self.likely = self.likely.or(Some(dialect)),
            Some(StreamSign::Idle(_)) | None => {}
        }
        let is_much = self.frames.len() >= UNKNOWN_FRAMES_MAX || self.bytes > self.bytes_max;
        if is_much { self.likely.map_or(Heard::TooMuch, Heard::Dialect) } else { Heard::Nothing }
    }
}
