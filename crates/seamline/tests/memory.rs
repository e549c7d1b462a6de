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

    /// Does it. A body may be refused.
    fn run(self, dialect: &str, body: &[u8]) {
        let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        match self {
            Self::Check => drop(check(body, &options)),
            Self::Repair => drop(repair(body, &options)),
            Self::Convert => {
                let to = if dialect == "anthropic_messages" { "openai_chat" } else { "anthropic_messages" };
                let options =
                    ConvertOptions { from: Some(dialect.to_owned()), to: to.to_owned(), ..ConvertOptions::default() };
                drop(convert(body, &options));
            }
        }
    }
}

/// Runs an operation on a body and returns the peak of its memory.
fn peak_of(operation: Operation, shape: &Shape, body: &str) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    operation.run(shape.dialect, body.as_bytes());
    MEMORY.peak_usage().saturating_sub(before)
}

/// Compares the peak of the memory of an operation with what it may take.
fn judge(operation: Operation, shape: &Shape, body: &str) -> Result<usize, String> {
    let took = peak_of(operation, shape, body);
    let most = operation.times() * body.len() + BYTES;
    if took <= most {
        return Ok(took);
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
    for shape in &shapes {
        let body = shape.body(size);
        for (operation, most) in Operation::ALL.into_iter().zip(&mut most) {
            match judge(operation, shape, &body) {
                Ok(took) => *most = took.max(*most),
                Err(failure) => failures.push(failure),
            }
        }
    }
    let most = most.map(|bytes| bytes >> 20);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    format!("{} shapes of {} KB; at most {most:?} MB to check, repair and convert", shapes.len(), size >> 10)
}

/// A body of twice the size takes about twice the memory. Memory that grows with the square of the body takes four times
/// as much.
fn memory_grows_with_the_body() {
    let mut failures = Vec::new();
    for shape in shapes::all() {
        let (half, whole) = (shape.body(HALF), shape.body(2 * HALF));
        for operation in Operation::ALL {
            let (one, two) = (peak_of(operation, &shape, &half), peak_of(operation, &shape, &whole));
            if two > one * GROWTH_TENTHS / 10 + GROWTH_BYTES {
                failures.push(format!("{operation:?} {}: {} KB, then {} KB", shape.name(), one >> 10, two >> 10));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
