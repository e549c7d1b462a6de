//! The body that comes of a repair.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::OnceLock;

use seamline_model::Spliced;

/// The bytes of a body that was put right: pieces of the one that came, with what the
/// repair wrote between them. Nothing that stayed as it was is copied.
///
/// It reads as a slice of bytes. The first look puts the pieces together, which for a long
/// conversation costs a copy of it; whoever only sends or stores it can
/// [write it piece by piece](Self::write_to).
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
    /// The pieces put together, once somebody asked for it.
    joined: OnceLock<Vec<u8>>,
}

impl<'b> Body<'b> {
    /// A body as it came.
    pub(crate) fn of(body: &'b [u8]) -> Self {
        Self { spliced: Spliced::new(body), is_changed: false, joined: OnceLock::new() }
    }

    /// Another body than the one that came.
    pub(crate) fn changed(spliced: Spliced<'b>) -> Self {
        Self { spliced, is_changed: true, joined: OnceLock::new() }
    }

    /// Whether it is another body than the one that came.
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

    /// The pieces, in order.
    ///
    /// ```
    /// let body = br#"{"messages":[
    ///   {"role":"user","content":"hello"},
    ///   {"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// let pieces: Vec<&[u8]> = repaired.body.pieces().collect();
    /// assert!(body.starts_with(pieces[0]), "what stayed is the very bytes that came");
    /// assert_eq!(pieces.concat(), *repaired.body);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn pieces(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.spliced.source().pieces()
    }

    /// How many bytes there are.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert_eq!(repaired.body.len(), repaired.body.to_vec().len());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.pieces().map(<[u8]>::len).sum()
    }

    /// Whether there are none, which no body is.
    pub fn is_empty(&self) -> bool {
        self.pieces().all(<[u8]>::is_empty)
    }

    /// Writes the pieces, one after the other. There can be thousands of them, so a file or
    /// socket wants a [`BufWriter`](io::BufWriter) around it, which passes long ones on as
    /// they are.
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
    /// When `out` cannot be written to.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        self.pieces().try_for_each(|piece| out.write_all(piece))
    }

    /// The bytes; those that came when nothing needed fixing.
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

    /// How many bytes it starts with that `other` starts with as well.
    pub(crate) fn common_prefix(&self, other: &[u8]) -> usize {
        let mut at = 0;
        for piece in self.pieces() {
            let rest = &other[at..];
            let compared = piece.len().min(rest.len());
            // What was not copied is the same without a look.
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

    /// Whether it ends with these bytes.
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
