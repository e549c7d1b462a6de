//! The memory that hostile bodies can claim.
//!
//! The allocator of this binary counts the bytes that are in use. Each shape of body is checked, repaired and converted, and
//! may take a multiple of its own size and a fixed number of bytes. The address space of the process is limited, too, so that
//! a body that claims much more ends the test and not the machine.

#[path = "memory/shapes.rs"]
mod shapes;

use peak_alloc::PeakAlloc;
use seamline::convert::ConvertOptions;
use seamline::{Options, check, convert, repair};
use shapes::Shape;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The number of times its own size that a body may take, and the bytes that any body may take.
const CHECK_TIMES: usize = 12;
const CONVERT_TIMES: usize = 10;
const BYTES: usize = 64 << 20;

/// The bytes of a body, and those that `cargo xtask soak` uses.
const SIZE: usize = 512 << 10;
const SOAK_SIZE: usize = 4 << 20;

/// The bytes of an ordinary conversation.
const ORDINARY_SIZE: usize = 3 << 20;

/// The least number of shapes that are read and not refused.
const READ_MIN: usize = 60;

/// The bytes of the smaller of two bodies of one shape. The larger one has twice as many.
const HALF: usize = 128 << 10;

/// How many times the memory of a body a body of twice its size may take, in tenths, and the bytes that it may take beyond
/// that: lists double, and some are bounded.
const GROWTH_TENTHS: usize = 25;
const GROWTH_BYTES: usize = 1 << 20;

/// The address space of the process beyond what a body may take: threads, and what the allocator keeps.
#[cfg(target_os = "linux")]
const ROOM: usize = 512 << 20;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Check,
    Repair,
    Convert,
}

impl Operation {
    const ALL: [Self; 3] = [Self::Check, Self::Repair, Self::Convert];

    fn times(self) -> usize {
        match self {
            Self::Check | Self::Repair => CHECK_TIMES,
            Self::Convert => CONVERT_TIMES,
        }
    }

    /// Does it. Returns whether the body was read: one that is refused takes little memory whatever the bound is.
    fn run(self, dialect: &str, body: &[u8]) -> bool {
        let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        match self {
            Self::Check => check(body, &options).is_ok(),
            Self::Repair => repair(body, &options).is_ok(),
            Self::Convert => {
                let to = if dialect == "anthropic_messages" { "openai_chat" } else { "anthropic_messages" };
                let options =
                    ConvertOptions { from: Some(dialect.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
                convert(body, &options).is_ok()
            }
        }
    }
}

/// Runs an operation on a body and returns the peak of its memory, and whether the body was read.
fn peak_of(operation: Operation, shape: &Shape, body: &str) -> (usize, bool) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let is_read = operation.run(shape.dialect, body.as_bytes());
    (MEMORY.peak_usage().saturating_sub(before), is_read)
}

/// Compares the peak of the memory of an operation with what it may take.
fn judge(operation: Operation, shape: &Shape, body: &str) -> Result<(usize, bool), String> {
    let (took, is_read) = peak_of(operation, shape, body);
    let most = operation.times() * body.len() + BYTES;
    if took <= most {
        return Ok((took, is_read));
    }
    Err(format!("{operation:?} {}: {} MB for a body of {} KB", shape.name(), took >> 20, body.len() >> 10))
}

#[cfg(target_os = "linux")]
fn limit(size: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = (CHECK_TIMES * size + BYTES + ROOM) as u64;
    let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: getrlimit(Resource::As).maximum });
}

/// One test, because the allocator counts the bytes of all threads.
#[test]
fn hostile_bodies_take_bounded_memory() {
    println!("{}", every_shape_is_bounded());
    conversations_are_read();
    an_ordinary_conversation_is_converted_in_little_memory();
    memory_grows_with_the_body();
}

/// Returns the most memory that an operation took.
fn every_shape_is_bounded() -> String {
    let shapes = shapes::all();
    assert!(shapes.len() >= 200, "{} shapes", shapes.len());
    let size = if std::env::var_os("SEAMLINE_SOAK").is_some() { SOAK_SIZE } else { SIZE };
    #[cfg(target_os = "linux")]
    limit(size);
    let (mut failures, mut most) = (Vec::new(), [0; Operation::ALL.len()]);
    let mut refused = [0; Operation::ALL.len()];
    for shape in &shapes {
        let body = shape.body(size);
        for (at, operation) in Operation::ALL.into_iter().enumerate() {
            match judge(operation, shape, &body) {
                Ok((took, is_read)) => {
                    most[at] = took.max(most[at]);
                    refused[at] += usize::from(!is_read);
                }
                Err(failure) => failures.push(failure),
            }
        }
    }
    let most = most.map(|bytes| bytes >> 20);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    // Most shapes are denser than a conversation can be, and refused; the bound matters for the others.
    assert!(
        refused.iter().all(|refused| shapes.len() - refused >= READ_MIN),
        "refused: {refused:?} of {}",
        shapes.len()
    );
    format!(
        "{} shapes of {} KB; at most {most:?} MB to check, repair and convert, of which {refused:?} were refused",
        shapes.len(),
        size >> 10
    )
}

/// Bodies that are conversations are read, so that the bound is about reading them.
fn conversations_are_read() {
    for shape in shapes::read().chain([shapes::ordinary()]) {
        let body = shape.body(SIZE);
        for operation in Operation::ALL {
            let judged = judge(operation, &shape, &body);
            assert!(judged.as_ref().is_ok_and(|(_, is_read)| *is_read), "{operation:?} {}: {judged:?}", shape.name());
        }
    }
}

/// The bound of a conversion without the bytes that any body may take, which hide the multiple of a small one.
fn an_ordinary_conversation_is_converted_in_little_memory() {
    let shape = shapes::ordinary();
    let body = shape.body(ORDINARY_SIZE);
    let (took, is_read) = peak_of(Operation::Convert, &shape, &body);
    assert!(is_read && took <= CONVERT_TIMES * body.len(), "{} KB for {} KB", took >> 10, body.len() >> 10);
}

/// A body of twice the size takes about twice the memory. Memory that grows with the square of the body takes four times
/// as much.
fn memory_grows_with_the_body() {
    let mut failures = Vec::new();
    for shape in shapes::all() {
        let (half, whole) = (shape.body(HALF), shape.body(2 * HALF));
        for operation in Operation::ALL {
            let [(one, _), (two, _)] = [&half, &whole].map(|body| peak_of(operation, &shape, body));
            if two > one * GROWTH_TENTHS / 10 + GROWTH_BYTES {
                failures.push(format!("{operation:?} {}: {} KB, then {} KB", shape.name(), one >> 10, two >> 10));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
