//! Bytes to nodes, in one pass and without recursion.

use seamline_model::Span;

use super::view::Kind;

/// What some editors put before the first byte.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The largest body that is read: spans are 32 bits wide.
pub const BYTES_MAX: usize = u32::MAX as usize;

/// The most values a body may hold, which bounds the memory a hostile one can claim.
pub const NODES_MAX: usize = 64 * 1024 * 1024;

/// A JSON text and the values in it.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) nodes: Vec<Node>,
    /// Escapes that are half of a surrogate pair.
    pub(crate) lone_surrogates: Vec<Span>,
    /// What some editors put before the first byte, if it is there.
    pub(crate) byte_order_mark: Option<Span>,
}

/// One value, or one key of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The node after this one and everything inside it.
    pub(super) next: u32,
    pub(super) kind: Kind,
    /// Whether a string holds a backslash.
    pub(super) escaped: bool,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// What was wrong there.
    pub kind: SyntaxKind,
}

/// The ways a text can fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxKind {
    /// There is nothing.
    Empty,
    /// The text ends inside a value.
    Unfinished,
    /// A character that cannot stand here.
    Unexpected(char),
    /// A control character inside a string.
    ControlInString(u8),
    /// An escape that JSON does not have.
    Escape,
    /// A number that JSON does not have.
    Number,
    /// More text after the value.
    Trailing,
    /// More than [`NODES_MAX`] values.
    TooManyValues,
    /// More than [`BYTES_MAX`] bytes.
    TooManyBytes,
}

impl std::fmt::Display for SyntaxKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no value"),
            Self::Unfinished => f.write_str("the text ends inside a value"),
            Self::Unexpected(char) => write!(f, "unexpected {char:?}"),
            Self::ControlInString(byte) => {
                write!(f, "control character 0x{byte:02x} inside a string")
            }
            Self::Escape => f.write_str("unknown escape in a string"),
            Self::Number => f.write_str("malformed number"),
            Self::Trailing => f.write_str("more text after the value"),
            Self::TooManyValues => write!(f, "more than {NODES_MAX} values"),
            Self::TooManyBytes => write!(f, "more than {BYTES_MAX} bytes"),
        }
    }
}

impl<'a> Document<'a> {
    /// Reads a JSON text.
    ///
    /// # Errors
    ///
    /// When the text is not JSON. Half surrogate pairs and duplicate keys are not
    /// errors; they are kept and can be asked for.
    pub fn read(text: &'a str) -> Result<Self, Syntax> {
        if text.len() > BYTES_MAX {
            return Err(Syntax { offset: 0, kind: SyntaxKind::TooManyBytes });
        }
        let byte_order_mark = text.starts_with(BYTE_ORDER_MARK).then(|| Span::new(0, BYTE_ORDER_MARK.len_utf8()));
        let mut scanner = Scanner {
            text,
            bytes: text.as_bytes(),
            at: byte_order_mark.map_or(0, Span::len),
            nodes: Vec::with_capacity(text.len() / 64 + 16),
            open: Vec::new(),
            lone_surrogates: Vec::new(),
        };
        scanner.document()?;
        Ok(Self { text, nodes: scanner.nodes, lone_surrogates: scanner.lone_surrogates, byte_order_mark })
    }
}

/// What may stand at the place reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The containers that are open, as nodes.
    open: Vec<u32>,
    lone_surrogates: Vec<Span>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Syntax> {
        self.skip_space();
        if self.at == self.bytes.len() {
            return self.fail(SyntaxKind::Empty);
        }
        let mut expect = Expect::Value;
        loop {
            expect = match expect {
                Expect::Value | Expect::ValueOrEnd => self.value(expect)?,
                Expect::Key | Expect::KeyOrEnd => self.key(expect)?,
                Expect::CommaOrEnd => self.comma_or_end()?,
            };
            if self.open.is_empty() && expect == Expect::CommaOrEnd {
                break;
            }
        }
        self.skip_space();
        if self.at == self.bytes.len() { Ok(()) } else { self.fail(SyntaxKind::Trailing) }
    }

    fn value(&mut self, expect: Expect) -> Result<Expect, Syntax> {
        self.skip_space();
        let Some(&byte) = self.bytes.get(self.at) else {
            return self.fail(SyntaxKind::Unfinished);
        };
        match byte {
            b'"' => self.string()?,
            b'{' => return self.open(Kind::Object, Expect::KeyOrEnd),
            b'[' => return self.open(Kind::Array, Expect::ValueOrEnd),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word(b"true", Kind::True)?,
            b'f' => self.word(b"false", Kind::False)?,
            b'n' => self.word(b"null", Kind::Null)?,
            b']' if expect == Expect::ValueOrEnd => return Ok(self.close()),
            _ => return self.unexpected(),
        }
        Ok(Expect::CommaOrEnd)
    }

    fn key(&mut self, expect: Expect) -> Result<Expect, Syntax> {
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b'"') => self.string()?,
            Some(b'}') if expect == Expect::KeyOrEnd => return Ok(self.close()),
            Some(_) => return self.unexpected(),
            None => return self.fail(SyntaxKind::Unfinished),
        }
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b':') => self.at += 1,
            Some(_) => return self.unexpected(),
            None => return self.fail(SyntaxKind::Unfinished),
        }
        Ok(Expect::Value)
    }

    fn comma_or_end(&mut self) -> Result<Expect, Syntax> {
        self.skip_space();
        let container = self.open.last().map(|&index| self.nodes[index as usize].kind);
        match (self.bytes.get(self.at), container) {
            (Some(b','), Some(Kind::Object)) => {
                self.at += 1;
                Ok(Expect::Key)
            }
            (Some(b','), Some(_)) => {
                self.at += 1;
                Ok(Expect::Value)
            }
            (Some(b'}'), Some(Kind::Object)) | (Some(b']'), Some(Kind::Array)) => Ok(self.close()),
            (Some(_), _) => self.unexpected(),
            (None, _) => self.fail(SyntaxKind::Unfinished),
        }
    }

    fn open(&mut self, kind: Kind, expect: Expect) -> Result<Expect, Syntax> {
        self.open.push(self.nodes.len() as u32);
        self.at += 1;
        self.push(self.at - 1, kind, false)?;
        Ok(expect)
    }

    fn close(&mut self) -> Expect {
        self.at += 1;
        if let Some(index) = self.open.pop() {
            let next = self.nodes.len() as u32;
            let node = &mut self.nodes[index as usize];
            node.end = self.at as u32;
            node.next = next;
        }
        Expect::CommaOrEnd
    }

    fn string(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain_prefix(&self.bytes[self.at..]);
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(&byte) => return self.fail(SyntaxKind::ControlInString(byte)),
                None => return self.fail(SyntaxKind::Unfinished),
            }
        }
        self.at += 1;
        self.push(start, Kind::String, escaped)
    }

    fn escape(&mut self) -> Result<(), Syntax> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => self.unicode_escape()?,
            Some(_) => return self.fail(SyntaxKind::Escape),
            None => return self.fail(SyntaxKind::Unfinished),
        }
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        let Some(unit) = hex_escape(self.bytes, start) else {
            return self.fail(SyntaxKind::Escape);
        };
        self.at += 6;
        if !(0xD800..=0xDFFF).contains(&unit) {
            return Ok(());
        }
        let low = hex_escape(self.bytes, self.at).filter(|low| (0xDC00..=0xDFFF).contains(low));
        if unit < 0xDC00 && low.is_some() {
            self.at += 6;
        } else {
            self.lone_surrogates.push(Span::new(start, self.at));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        self.eat(b"-");
        if !self.eat(b"0") && self.digits() == 0 {
            return self.fail(SyntaxKind::Number);
        }
        if self.eat(b".") && self.digits() == 0 {
            return self.fail(SyntaxKind::Number);
        }
        if self.eat(b"eE") {
            self.eat(b"+-");
            if self.digits() == 0 {
                return self.fail(SyntaxKind::Number);
            }
        }
        self.push(start, Kind::Number, false)
    }

    fn eat(&mut self, any: &[u8]) -> bool {
        let found = self.bytes.get(self.at).is_some_and(|byte| any.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> usize {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<(), Syntax> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.unexpected();
        }
        let start = self.at;
        self.at += word.len();
        self.push(start, kind, false)
    }

    fn push(&mut self, start: usize, kind: Kind, escaped: bool) -> Result<(), Syntax> {
        if self.nodes.len() >= NODES_MAX {
            return self.fail(SyntaxKind::TooManyValues);
        }
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: start as u32, end: self.at as u32, next, kind, escaped });
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self) -> Result<T, Syntax> {
        let char = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        self.fail(char.map_or(SyntaxKind::Unfinished, SyntaxKind::Unexpected))
    }

    fn fail<T>(&self, kind: SyntaxKind) -> Result<T, Syntax> {
        Err(Syntax { offset: self.at, kind })
    }
}

/// How many bytes at the start of `bytes` can stand in a string as they are, until a
/// quote, a backslash or a control character. Most strings are short, so the first words
/// are looked at in place; the rest of a long one is searched with vector instructions.
#[inline]
fn plain_prefix(bytes: &[u8]) -> usize {
    let mut at = 0;
    for word in bytes.as_chunks::<8>().0.iter().take(SHORT_WORDS) {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + long_plain_prefix(&bytes[at..])
}

/// How many words of a string are looked at before it counts as long.
const SHORT_WORDS: usize = 3;

fn long_plain_prefix(bytes: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    let (lanes, rest) = bytes[..end].as_chunks::<LANE>();
    let mut smallest = [u8::MAX; LANE];
    for lane in lanes {
        smallest = smaller(&smallest, lane);
    }
    let control = smallest.iter().chain(rest).any(|&byte| byte < 0x20);
    if control { bytes.iter().position(|&byte| byte < 0x20).unwrap_or(end) } else { end }
}

/// How many bytes the compiler compares at once.
const LANE: usize = 16;

/// The smaller of two bytes at each place, written so that the compiler takes a whole lane
/// at once.
fn smaller(one: &[u8; LANE], other: &[u8; LANE]) -> [u8; LANE] {
    std::array::from_fn(|at| one[at].min(other[at]))
}

/// The high bit of each byte of `word` that cannot stand in a string as it is. Bits above
/// the lowest one set may be wrong, which is why only that one is used.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let quote = word ^ (ONES * u64::from(b'"'));
    let slash = word ^ (ONES * u64::from(b'\\'));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let is_quote = quote.wrapping_sub(ONES) & !quote;
    let is_slash = slash.wrapping_sub(ONES) & !slash;
    (control | is_quote | is_slash) & HIGH
}

/// The code unit of the four-digit `\u` escape at `at`.
pub(super) fn hex_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let mut unit = 0;
    for &digit in digits {
        let value = (digit as char).to_digit(16)?;
        unit = unit << 4 | value as u16;
    }
    Some(unit)
}
