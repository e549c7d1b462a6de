//! The body that a repair returns.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::OnceLock;

use seamline_model::Spliced;

/// The bytes of a repaired body: pieces of the original body and, between them, the text of the repair. Unchanged parts
/// are not copied.
///
/// It dereferences to a slice of bytes. The first access joins the pieces, which copies the conversation. To only send
/// or store it, [write it piece by piece](Self::write_to).
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"hello"},
///   {"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
///
/// let repaired = seamline::repair(body, &seamline::Options::default())?;
/// let mut sent = Vec::new();
/// repaired.body.write_to(&mut sent)?;
/// assert_eq!(sent, *repaired.body);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Body<'b> {
    spliced: Spliced<'b>,
    is_changed: bool,
    /// The joined pieces, after the first access.
    joined: OnceLock<Vec<u8>>,
}

impl<'b> Body<'b> {
    /// Makes a body that no repair changed.
    pub(crate) fn of(body: &'b [u8]) -> Self {
        Self { spliced: Spliced::new(body), is_changed: false, joined: OnceLock::new() }
    }

    /// Makes a changed body.
    pub(crate) fn changed(spliced: Spliced<'b>) -> Self {
        Self { spliced, is_changed: true, joined: OnceLock::new() }
    }

    /// Joins the pieces now, and frees them.
    pub(crate) fn join(&mut self) {
        if self.spliced.source().whole().is_none() {
            self.spliced = Spliced::from(self.spliced.source().joined());
            self.joined = OnceLock::new();
        }
    }

    /// Whether the body differs from the original.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(!repaired.body.is_changed());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The pieces of the body, in order.
    ///
    /// ```
    /// let body = br#"{"messages":[
    ///   {"role":"user","content":"hello"},
    ///   {"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// let pieces: Vec<&[u8]> = repaired.body.pieces().collect();
    /// assert!(body.starts_with(pieces[0]), "unchanged bytes are borrowed");
    /// assert_eq!(pieces.concat(), *repaired.body);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn pieces(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.spliced.source().pieces()
    }

    /// The number of bytes.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// let header = format!("content-length: {}", repaired.body.len());
    /// assert_ne!(header, format!("content-length: {}", body.len()), "the repair changed the body");
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.pieces().map(<[u8]>::len).sum()
    }

    /// Whether there are no bytes, which is never true for a body.
    pub fn is_empty(&self) -> bool {
        self.pieces().all(<[u8]>::is_empty)
    }

    /// Writes the pieces in order. There can be thousands of them, so wrap a file or a socket in a
    /// [`BufWriter`](io::BufWriter), which passes long pieces on without a copy.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// let mut sent = Vec::new();
    /// repaired.body.write_to(&mut sent)?;
    /// assert_eq!(sent.len(), repaired.body.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails when `out` cannot be written.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        self.pieces().try_for_each(|piece| out.write_all(piece))
    }

    /// Returns the bytes; the original bytes when no repair was needed.
    ///
    /// ```
    /// use std::borrow::Cow;
    ///
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(matches!(repaired.body.into_bytes(), Cow::Borrowed(bytes) if bytes == body));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn into_bytes(self) -> Cow<'b, [u8]> {
        match self.joined.into_inner() {
            Some(joined) => Cow::Owned(joined),
            None => self.spliced.into_bytes(),
        }
    }

    /// The number of leading bytes that it shares with `other`.
    pub(crate) fn common_prefix(&self, other: &[u8]) -> usize {
        let mut at = 0;
        for piece in self.pieces() {
            let rest = &other[at..];
            let compared = piece.len().min(rest.len());
            // A piece that was not copied is equal without a comparison.
            let is_same = std::ptr::eq(piece.as_ptr(), rest.as_ptr());
            let same =
                if is_same { compared } else { piece.iter().zip(rest).take_while(|(one, other)| one == other).count() };
            at += same;
            if same < piece.len() {
                break;
            }
        }
        at
    }

    /// Whether the body ends with these bytes.
    pub(crate) fn ends_with(&self, mut end: &[u8]) -> bool {
        for piece in self.pieces().rev() {
            let compared = piece.len().min(end.len());
            let (rest, last) = end.split_at(end.len() - compared);
            if !piece.ends_with(last) {
                return false;
            }
            end = rest;
        }
        end.is_empty()
    }
}

impl Deref for Body<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let source = self.spliced.source();
        source.whole().unwrap_or_else(|| self.joined.get_or_init(|| source.joined()))
    }
}

impl AsRef<[u8]> for Body<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for Body<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Body<'_> {}
