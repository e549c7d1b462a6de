//! Reads bytes into nodes, in one pass and without recursion.

use seamline_model::{Source, Span};

use super::growth::grow;
use super::plain::string_prefix;
use super::syntax::{Syntax, SyntaxKind};
use super::text::hex_escape;
use super::view::{Kind, Value};
use super::visit::{ListVisitor, NoList};

/// The byte order mark, which some editors put before the first byte.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The largest body that is read: spans are 32 bits wide.
pub const BYTES_MAX: usize = u32::MAX as usize;

/// The most values a body may hold, which bounds the memory a hostile one can claim.
pub const NODES_MAX: usize = 64 * 1024 * 1024;

/// The length up to which a text gets room for all its values at once, and the bytes that such a text has for each.
const NODES_ROOM_BYTES: usize = 512;
const NODE_BYTES: usize = 8;

/// A JSON text and the values in it.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    pub(super) bytes: &'a [u8],
    /// The part of `bytes` that is looked at and known to be UTF-8, and where it starts.
    pub(super) text: &'a str,
    pub(super) text_start: u32,
    pub(super) nodes: Vec<Node>,
    /// Escapes that are half of a surrogate pair.
    pub(crate) lone_surrogates: Vec<Span>,
    /// The byte order mark, if there is one.
    pub(crate) byte_order_mark: Option<Span>,
}

/// One value, or one key of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The node after this one and everything inside it. While a container is open, this is the container around it.
    pub(super) next: u32,
    pub(super) kind: Kind,
    /// Whether a string holds a backslash.
    pub(super) escaped: bool,
}

impl<'a> Document<'a> {
    /// Reads a JSON text.
    ///
    /// # Errors
    ///
    /// When the text is not JSON. Half surrogate pairs and duplicate keys are not
    /// errors; they are kept and can be asked for.
    pub fn read(text: &'a str) -> Result<Self, Syntax> {
        read_into(text, Vec::new())
    }

    /// A text whose values are known.
    pub(super) fn of_nodes(text: &'a str, nodes: Vec<Node>) -> Self {
        let (bytes, lone_surrogates) = (text.as_bytes(), Vec::new());
        Self { bytes, text, text_start: 0, nodes, lone_surrogates, byte_order_mark: None }
    }

    /// Reads one value of a text that was read before, at a known span. Spans stay those of the text.
    pub(crate) fn part(source: Source<'a>, span: Span) -> Self {
        let part = Self::read_part(source, span);
        debug_assert!(part.is_ok(), "a value that was read before is one");
        part.unwrap_or_else(|_| {
            let mut document = Scanner::new(source.get(span).unwrap_or_default(), NoList).document;
            document.nodes = vec![Node { start: 0, end: span.len() as u32, next: 1, kind: Kind::Null, escaped: false }];
            document.placed(source, span)
        })
    }

    /// Reads one value of a text at a known span. Spans stay those of the text.
    ///
    /// # Errors
    ///
    /// When the span holds no value, or more than one.
    pub(crate) fn read_part(source: Source<'a>, span: Span) -> Result<Self, Syntax> {
        let mut scanner = Scanner::new(source.get(span).unwrap_or_default(), NoList);
        scanner.document()?;
        Ok(scanner.document.placed(source, span))
    }

    /// A value that was read alone, with its spans in the text.
    fn placed(mut self, source: Source<'a>, span: Span) -> Self {
        let bytes = source.get(span).unwrap_or_default();
        self.text = std::str::from_utf8(bytes).unwrap_or_default();
        self.move_to(span.start);
        self
    }

    /// Moves all spans to those of a text in which this one starts at `start`.
    fn move_to(&mut self, start: u32) {
        self.text_start = start;
        for node in &mut self.nodes {
            node.start += start;
            node.end += start;
        }
        for span in &mut self.lone_surrogates {
            *span = span.moved(start);
        }
    }

    /// Reads a text whose long list is handed over element by element, so that a long
    /// conversation takes no more memory than its longest message, and goes through the
    /// caches once. The values around the list are kept.
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8 or the text is not JSON.
    pub(crate) fn read_list(bytes: &'a [u8], visitor: impl ListVisitor<'a>) -> Result<Self, Syntax> {
        if bytes.len() > BYTES_MAX {
            return Err(Syntax { offset: 0, kind: SyntaxKind::TooManyBytes });
        }
        let mut scanner = Scanner::new(bytes, visitor);
        let read = scanner.document().and_then(|()| scanner.look_at(bytes.len()));
        match (read, std::str::from_utf8(&bytes[scanner.known..])) {
            (Ok(()), _) => Ok(scanner.document),
            // Invalid UTF-8 is the cause, whatever it did to the syntax.
            (Err(_), Err(error)) => {
                Err(Syntax { offset: scanner.known + error.valid_up_to(), kind: SyntaxKind::NotUtf8 })
            }
            (Err(syntax), Ok(_)) => Err(syntax),
        }
    }
}

/// Reads a JSON text into a list of values that is empty.
pub(super) fn read_into(text: &str, nodes: Vec<Node>) -> Result<Document<'_>, Syntax> {
    if text.len() > BYTES_MAX {
        return Err(Syntax { offset: 0, kind: SyntaxKind::TooManyBytes });
    }
    let mut scanner = Scanner::with_nodes(text.as_bytes(), NoList, nodes);
    scanner.document.text = text;
    scanner.document()?;
    Ok(scanner.document)
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

struct Scanner<'a, V> {
    document: Document<'a>,
    bytes: &'a [u8],
    at: usize,
    /// The innermost container that is open, as a node, and how many are.
    innermost: u32,
    depth: usize,
    visitor: V,
    /// The node of the list whose elements are handed over, and the depth of the elements.
    list: Option<(u32, usize)>,
    /// The number of values that were handed over and dropped.
    handed_over: usize,
    /// The number of bytes that are known to be UTF-8.
    known: usize,
    /// Whether the visitor has seen enough.
    stopped: bool,
}

impl<'a, V: ListVisitor<'a>> Scanner<'a, V> {
    fn new(bytes: &'a [u8], visitor: V) -> Self {
        Self::with_nodes(bytes, visitor, Vec::new())
    }

    fn with_nodes(bytes: &'a [u8], visitor: V, mut nodes: Vec<Node>) -> Self {
        // Room for all of a small text, such as an event of a stream.
        nodes.reserve(bytes.len().min(NODES_ROOM_BYTES) / NODE_BYTES + 1);
        let mark = BYTE_ORDER_MARK.len_utf8();
        let marked = bytes.starts_with(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes());
        let byte_order_mark = marked.then(|| Span::new(0, mark));
        Self {
            bytes,
            at: byte_order_mark.map_or(0, Span::len),
            document: Document { bytes, text: "", text_start: 0, nodes, lone_surrogates: Vec::new(), byte_order_mark },
            innermost: 0,
            depth: 0,
            visitor,
            list: None,
            handed_over: 0,
            known: 0,
            stopped: false,
        }
    }

    fn document(&mut self) -> Result<(), Syntax> {
        if self.skip_space().is_none() {
            return self.fail(SyntaxKind::Empty);
        }
        let mut expect = Expect::Value;
        loop {
            expect = match expect {
                Expect::Value | Expect::ValueOrEnd => self.value(expect)?,
                Expect::Key | Expect::KeyOrEnd => self.key(expect)?,
                Expect::CommaOrEnd if self.depth == 0 => break,
                Expect::CommaOrEnd => {
                    if let Some((list, depth)) = self.list
                        && depth == self.depth
                    {
                        self.hand_over(list)?;
                        if self.stopped {
                            self.leave_open();
                            return Ok(());
                        }
                    }
                    self.comma_or_end()?
                }
            };
        }
        if self.skip_space().is_none() { Ok(()) } else { self.fail(SyntaxKind::Trailing) }
    }

    /// Hands over the element of the list that was just read.
    fn hand_over(&mut self, list: u32) -> Result<(), Syntax> {
        self.look_at(self.at)?;
        self.stopped = self.visitor.element(Value { document: &self.document, node: list + 1 }).is_break();
        let kept = list as usize + 1;
        self.handed_over += self.document.nodes.len() - kept;
        self.document.nodes.truncate(kept);
        Ok(())
    }

    /// Makes sure that the bytes up to `end` are UTF-8, which those before are known to be.
    fn look_at(&mut self, end: usize) -> Result<(), Syntax> {
        // The rest is not read once the visitor has seen enough.
        let end = if self.stopped { self.known } else { end };
        match std::str::from_utf8(&self.bytes[self.known..end]) {
            Ok(text) => {
                self.document.text = text;
                self.document.text_start = self.known as u32;
                self.known = end;
                Ok(())
            }
            Err(error) => Err(Syntax { offset: self.known + error.valid_up_to(), kind: SyntaxKind::NotUtf8 }),
        }
    }

    /// Notes whether a list that begins is the one to be handed over, and skips the elements that are known.
    fn enter_list(&mut self, node: u32, expect: Expect) -> Result<Expect, Syntax> {
        let below = match self.document.nodes.first() {
            Some(root) if root.kind == Kind::Object => self.depth == 2,
            _ => self.depth == 1,
        };
        if !below {
            return Ok(expect);
        }
        let key = node.checked_sub(1).map(|key| Value { document: &self.document, node: key }.name());
        if !self.visitor.enter(key.as_deref()) {
            return Ok(expect);
        }
        self.list = Some((node, self.depth));
        let known = self.visitor.skip(&self.bytes[self.at..], self.at);
        if known == 0 {
            return Ok(expect);
        }
        self.look_at(self.at)?;
        self.at += known;
        self.known = self.at;
        self.comma_or_end()
    }

    fn value(&mut self, expect: Expect) -> Result<Expect, Syntax> {
        let Some(byte) = self.skip_space() else {
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
        match self.skip_space() {
            Some(b'"') => self.string()?,
            Some(b'}') if expect == Expect::KeyOrEnd => return Ok(self.close()),
            Some(_) => return self.unexpected(),
            None => return self.fail(SyntaxKind::Unfinished),
        }
        match self.skip_space() {
            Some(b':') => self.at += 1,
            Some(_) => return self.unexpected(),
            None => return self.fail(SyntaxKind::Unfinished),
        }
        Ok(Expect::Value)
    }

    fn comma_or_end(&mut self) -> Result<Expect, Syntax> {
        let byte = self.skip_space();
        // Only asked while a container is open.
        let container = self.document.nodes[self.innermost as usize].kind;
        match (byte, container) {
            (Some(b','), Kind::Object) => {
                self.at += 1;
                Ok(Expect::Key)
            }
            (Some(b','), _) => {
                self.at += 1;
                Ok(Expect::Value)
            }
            (Some(b'}'), Kind::Object) | (Some(b']'), Kind::Array) => Ok(self.close()),
            (Some(_), _) => self.unexpected(),
            (None, _) => self.fail(SyntaxKind::Unfinished),
        }
    }

    // A call for every container costs up to 2 % of the instructions of a check.
    #[inline]
    fn open(&mut self, kind: Kind, expect: Expect) -> Result<Expect, Syntax> {
        let node = self.document.nodes.len() as u32;
        self.at += 1;
        self.push(self.at - 1, kind, false)?;
        self.document.nodes[node as usize].next = self.innermost;
        self.innermost = node;
        self.depth += 1;
        if kind == Kind::Array && self.depth <= 2 { self.enter_list(node, expect) } else { Ok(expect) }
    }

    fn close(&mut self) -> Expect {
        self.at += 1;
        let index = self.innermost;
        if self.list.is_some_and(|(list, _)| list == index) {
            self.list = None;
        }
        let next = self.document.nodes.len() as u32;
        let node = &mut self.document.nodes[index as usize];
        self.innermost = std::mem::replace(&mut node.next, next);
        self.depth -= 1;
        node.end = self.at as u32;
        Expect::CommaOrEnd
    }

    /// Ends the containers that are still open as if they were empty.
    fn leave_open(&mut self) {
        for _ in 0..std::mem::take(&mut self.depth) {
            let index = self.innermost;
            self.innermost = std::mem::replace(&mut self.document.nodes[index as usize].next, index + 1);
        }
    }

    fn string(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        let bytes = self.bytes;
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            let (length, escapes) = string_prefix(&bytes[at..]);
            at += length;
            escaped |= escapes;
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(&byte) => return Err(Syntax { offset: at, kind: SyntaxKind::ControlInString(byte) }),
                None => return Err(Syntax { offset: at, kind: SyntaxKind::Unfinished }),
            }
        }
        self.at = at + 1;
        self.push(start, Kind::String, escaped)
    }

    /// Reads an escape of more than one letter, and gives the place after it.
    fn escape(&mut self, at: usize) -> Result<usize, Syntax> {
        match self.bytes.get(at + 1) {
            Some(b'u') => self.unicode_escape(at),
            Some(_) => Err(Syntax { offset: at, kind: SyntaxKind::Escape }),
            None => Err(Syntax { offset: at, kind: SyntaxKind::Unfinished }),
        }
    }

    fn unicode_escape(&mut self, start: usize) -> Result<usize, Syntax> {
        let Some(unit) = hex_escape(self.bytes, start) else {
            return Err(Syntax { offset: start, kind: SyntaxKind::Escape });
        };
        let end = start + 6;
        if !(0xD800..=0xDFFF).contains(&unit) {
            return Ok(end);
        }
        let low = hex_escape(self.bytes, end).filter(|low| (0xDC00..=0xDFFF).contains(low));
        if unit < 0xDC00 && low.is_some() {
            return Ok(end + 6);
        }
        self.document.lone_surrogates.push(Span::new(start, end));
        Ok(end)
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
        if self.document.nodes.len() + self.handed_over >= NODES_MAX {
            return self.fail(SyntaxKind::TooManyValues);
        }
        if self.document.nodes.len() == self.document.nodes.capacity() {
            grow(&mut self.document.nodes, self.bytes.len() - self.at, self.at);
        }
        let next = self.document.nodes.len() as u32 + 1;
        self.document.nodes.push(Node { start: start as u32, end: self.at as u32, next, kind, escaped });
        Ok(())
    }

    /// Goes to the next byte that is not white space, and returns it.
    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    fn unexpected<T>(&self) -> Result<T, Syntax> {
        let rest = self.bytes[self.at..].utf8_chunks().next();
        let char = rest.and_then(|rest| rest.valid().chars().next());
        self.fail(char.map_or(SyntaxKind::Unfinished, SyntaxKind::Unexpected))
    }

    fn fail<T>(&self, kind: SyntaxKind) -> Result<T, Syntax> {
        Err(Syntax { offset: self.at, kind })
    }
}
