//! The bodies of requests: chats with tool calls, in which every call has its result.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of digits that make a conversation different from all others.
const NUMBER_DIGITS: usize = 12;

/// A chat that can be sent up to any of its turns.
pub(crate) struct Chat {
    bytes: Vec<u8>,
    /// The place of the number of the conversation.
    number: usize,
    /// The end of each turn, before the comma that follows it.
    turns: Vec<usize>,
}

/// The end of every body.
const END: &[u8] = b"]}";

static NUMBERS: AtomicUsize = AtomicUsize::new(0);

impl Chat {
    /// A chat of at least so many bytes with results of so many bytes, and more turns to add to it.
    pub(crate) fn new(model: &str, is_stream: bool, bytes: usize, result_bytes: usize, more: usize) -> Self {
        let stream = if is_stream { "\"stream\":true," } else { "" };
        let mut text =
            format!("{{\"model\":\"{model}\",{stream}\"messages\":[{{\"role\":\"user\",\"content\":\"Session ");
        let number = text.len();
        text.extend(std::iter::repeat_n('0', NUMBER_DIGITS));
        text.push_str(": find out why the build fails, and mend it.\"}");
        let mut turns = vec![text.len()];
        let mut left = more;
        while left > 0 {
            if text.len() >= bytes {
                left -= 1;
            } else {
                turns.clear();
            }
            let number = text.len();
            write_turn(&mut text, number, result_bytes);
            turns.push(text.len());
        }
        Self { bytes: text.into_bytes(), number, turns }
    }

    /// Makes this a conversation that was never sent before.
    pub(crate) fn renew(&mut self) {
        let number = format!("{:0NUMBER_DIGITS$}", NUMBERS.fetch_add(1, Ordering::Relaxed));
        self.bytes[self.number..self.number + NUMBER_DIGITS].copy_from_slice(number.as_bytes());
    }

    /// The number of lengths that the chat can be sent in.
    pub(crate) fn lengths(&self) -> usize {
        self.turns.len()
    }

    /// The parts of the body up to a turn.
    pub(crate) fn parts(&self, length: usize) -> [&[u8]; 2] {
        [&self.bytes[..self.turns[length]], END]
    }
}

/// Adds a call, its result and a sentence.
fn write_turn(text: &mut String, number: usize, result_bytes: usize) {
    let _ = write!(
        text,
        ",{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"call_{number}\",\"type\":\"function\",\
         \"function\":{{\"name\":\"run_shell_command\",\"arguments\":\"{{\\\"command\\\":\\\"cargo check -p part{number}\\\"}}\"}}}}]}}\
         ,{{\"role\":\"tool\",\"tool_call_id\":\"call_{number}\",\"content\":\""
    );
    let line = "   Compiling part v0.4.2 (crates/part): 12 modules, 3 warnings, 0 errors in 0.42 s\\n";
    for _ in 0..result_bytes.div_ceil(line.len()) {
        text.push_str(line);
    }
    let _ = write!(
        text,
        "\"}},{{\"role\":\"assistant\",\"content\":\"Part {number} compiles; the next one is in doubt.\"}}"
    );
}
