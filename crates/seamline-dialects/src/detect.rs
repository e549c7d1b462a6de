//! Detection of the dialect of a request body.

use std::ops::ControlFlow;

use crate::ids::RESULT_ID_KEYS;
use crate::json::{Document, Kind, ListVisitor, Tail, Value, tail};
use crate::reader::unreadable;
use crate::{ALL, Dialect, Error, Provider, providers};

/// The most different signs of a dialect that are shown.
const EVIDENCE_MAX: usize = 8;

/// The number of messages that are looked at: half of them at the start, where a conversation tells what it is, and half at
/// the end, where a client appends what it got from elsewhere. All are looked at if these prove nothing.
const MESSAGES_MAX: usize = 256;
const ENDING_MAX: usize = MESSAGES_MAX / 2;

/// The score for the name of the list of messages. It outweighs the look of any message.
pub(crate) const NAMED: i32 = 1000;

/// The score for a member or value that only one dialect has.
const DECISIVE: i32 = 10;

/// The least score of weak signs that contest the strong sign of a single block.
const CONTESTING: i32 = 3;

/// A dialect is accepted against others with signs only if its score is so many times higher.
const MAJORITY: i32 = 2;

/// The score for a model whose provider is known: less than what only one dialect has, more than what several have.
const CLAIMED: i32 = 8;

/// The signs by which one dialect recognises a request body.
pub(crate) struct BodySigns {
    /// The place among dialects with the same score; the lowest wins. More widely used dialects come first.
    pub(crate) precedence: u8,
    /// Scores the name of the list of messages.
    pub(crate) list: fn(&mut Score, &str),
    /// Scores a member of the body beside the messages.
    pub(crate) envelope: fn(&mut Score, &str, Value<'_, '_>),
    /// Scores a member of a message.
    pub(crate) message: fn(&mut Score, &str, Value<'_, '_>),
    /// Scores a block in the `content` of a message, given with its type.
    pub(crate) block: fn(&mut Score, Option<&str>, Value<'_, '_>),
}

/// The evidence for one dialect.
#[derive(Clone, Copy, Default)]
pub(crate) struct Score {
    sum: i32,
    /// The number of signs that could decide alone.
    strong: u32,
    /// The number of signs that no other dialect has.
    proofs: u32,
    /// The strongest of the signs that count once, however often they occur.
    hint: i32,
    /// Whether a strong sign is beside the messages.
    is_declared: bool,
    /// Whether the score counts the provider of the model.
    is_claimed: bool,
    /// Whether the conversation holds something that no other dialect has.
    is_certain: bool,
    /// Whether the list of messages has the name that it has in this dialect.
    is_listed: bool,
}

impl Score {
    /// Adds a sign that counts each time it occurs.
    pub(crate) fn add(&mut self, score: i32) {
        self.sum += score;
        self.strong += u32::from(score >= CLAIMED);
    }

    /// Adds a sign that is enough to decide.
    pub(crate) fn decide(&mut self) {
        self.add(DECISIVE);
    }

    /// Adds something that no other dialect has.
    pub(crate) fn prove(&mut self) {
        self.prove_by(DECISIVE);
    }

    /// Adds something that no other dialect has, with this score.
    pub(crate) fn prove_by(&mut self, score: i32) {
        self.add(score);
        self.proofs += 1;
        self.is_certain = true;
    }

    /// Adds the name of the list, which outweighs the look of any message.
    pub(crate) fn list(&mut self) {
        self.add(NAMED);
        self.is_listed = true;
    }

    /// Adds a weak sign, which counts once.
    pub(crate) fn hint(&mut self, score: i32) {
        self.hint = score.max(self.hint);
    }

    fn total(self) -> i32 {
        self.sum + self.hint
    }

    /// The score without the provider of the model.
    fn unclaimed(self) -> Self {
        Self { sum: self.sum - CLAIMED, strong: self.strong - 1, is_claimed: false, ..self }
    }
}

/// Finds the dialect of a body by all that it holds: the name of its list of messages, the members beside it, the model,
/// and the roles, members and blocks of its messages. A conversation of plain text alone is taken for the most widely
/// used dialect.
///
/// # Errors
///
/// When the part of the body that was looked at is not JSON, and when the body has signs of several dialects of which
/// none prevails: one block must not decide about all others.
pub fn detect(body: &[u8]) -> Result<&'static Dialect, Error> {
    let signs = Signs::of(body, Signs::default())?;
    if signs.ollama.is_proven() {
        return Err(Error::OllamaNative);
    }
    let (best, rival) = signs.contenders();
    let rival = match rival {
        Some(rival) => Some(rival),
        None => signs.outsider(body, best)?,
    };
    match rival {
        Some(rival) => {
            let listed = Signs::of(body, Signs { evidence: Some(Box::default()), ..Signs::default() })?;
            let mut evidence = [best, rival].map(|dialect| listed.evidence_for(dialect));
            if best.form.list != rival.form.list {
                let others = Some(&evidence[0]).filter(|others| !others.is_empty());
                evidence[0] =
                    format!("the list `{}`{}", best.form.list, others.map_or(String::new(), |o| format!(", {o}")));
            }
            Err(Error::Split { dialects: [best.name(), rival.name()], evidence })
        }
        None => Ok(best),
    }
}

/// Finds the dialect that a body is certainly written in, if that is not the given one: its tool calls, tool results
/// or list of messages belong to another dialect, and none or far fewer belong to the given one. Returns nothing when the
/// body has no such signs or cannot be read.
pub fn contradiction(body: &[u8], dialect: &str) -> Option<&'static Dialect> {
    let signs = Signs::of(body, Signs::default()).ok()?;
    let lists = ALL.iter().map(|known| known.form.list);
    let is_listed = |list: &str| signs.list == Some(list) || signs.lists.contains(&list);
    let mut listed = lists.filter(|list| is_listed(list)).peekable();
    // A conversation of plain text alone has no other sign than the name of its list.
    let own = crate::by_name(dialect).map(|own| own.form.list);
    if listed.peek().is_some() && own.is_some_and(|own| listed.all(|list| list != own)) {
        return detect(body).ok();
    }
    let by = |certain: fn(&Signs, &Dialect, &Score) -> bool| {
        signs.ranked().filter(|(dialect, score)| certain(&signs, dialect, score)).collect()
    };
    // Two dialects may share the name of the list; then the messages tell them apart.
    let mut certain: Vec<(&'static Dialect, Score)> = by(Signs::is_certain);
    if certain.is_empty() {
        certain = by(|_, _, score| score.is_listed);
    }
    let Some(&(_, own)) = certain.iter().find(|(found, _)| found.name() == dialect) else {
        return certain.first().map(|(found, _)| *found);
    };
    // The caller has named the provider, which counts like a model of it.
    let own = Score { sum: own.sum + CLAIMED, strong: own.strong + 1, ..own };
    let others = certain.into_iter().filter(|(found, score)| found.name() != dialect && prevails(*score, own));
    others.max_by_key(|(_, score)| score.total()).map(|(found, _)| found)
}

/// The signs of one dialect in words, with their number.
type Evidence = Vec<(String, usize)>;

/// The evidence for each dialect.
#[derive(Default)]
struct Signs {
    scores: [Score; ALL.len()],
    /// The scores for the name of the list of messages.
    named: [i32; ALL.len()],
    /// The name of the list of messages.
    list: Option<&'static str>,
    /// The members beside the messages that have the name of a list of messages.
    lists: Vec<&'static str>,
    /// The number of messages seen so far.
    seen: usize,
    /// Whether all messages are looked at, because the first and last ones prove nothing.
    is_whole: bool,
    /// The signs of Ollama's own interface.
    ollama: Ollama,
    /// The end of the last message that was looked at, if the messages after it were not read.
    stopped: Option<usize>,
    /// The signs of each dialect in words, with their number, if they are to be shown.
    evidence: Option<Box<[Evidence; ALL.len()]>>,
}

impl Signs {
    /// Collects the signs of a body: of its first and last messages, and of everything beside them.
    fn of(body: &[u8], mut signs: Self) -> Result<Self, Error> {
        let envelope = Document::read_list(body, &mut signs).map_err(|syntax| unreadable(body, syntax))?;
        for (key, value) in envelope.root().members() {
            signs.look_at_envelope(&key.name(), value);
        }
        if let Some(from) = signs.stopped {
            signs.look_at_end(&tail(body, from, ENDING_MAX, is_message));
            if signs.scores.iter().all(|score| score.proofs == 0) {
                let evidence = signs.evidence.map(|_| Box::default());
                return Self::of(body, Self { is_whole: true, evidence, ..Self::default() });
            }
        }
        Ok(signs)
    }

    /// Looks at the last messages of a long list and at the members behind it. What is not JSON has no signs.
    fn look_at_end(&mut self, Tail { members, elements }: &Tail<'_>) {
        for member in members {
            let object = format!("{{{member}}}");
            let Ok(document) = Document::read(&object) else { continue };
            for (key, value) in document.root().members() {
                self.look_at_envelope(&key.name(), value);
            }
        }
        for message in elements.iter().filter_map(|message| Document::read(message).ok()) {
            self.look_at_message(message.root());
        }
    }

    fn look_at_message(&mut self, message: Value<'_, '_>) {
        self.seen += 1;
        self.ollama.look_at_message(message);
        for (key, member) in message.members() {
            self.look_at_member(&key.name(), member);
        }
    }

    /// Lets each dialect score something; `what` says in words what it is.
    fn score(&mut self, what: impl Fn() -> String, mut look: impl FnMut(&'static BodySigns, &mut Score)) {
        for (index, (dialect, score)) in ALL.iter().zip(&mut self.scores).enumerate() {
            let before = score.total();
            look(dialect.body_signs, score);
            if let Some(evidence) = self.evidence.as_mut()
                && score.total() > before
            {
                let (words, known) = (what(), &mut evidence[index]);
                match known.iter().position(|(known, _)| *known == words) {
                    Some(index) => known[index].1 += 1,
                    None if known.len() < EVIDENCE_MAX => known.push((words, 1)),
                    None => {}
                }
            }
        }
    }

    /// The signs of a dialect in words.
    fn evidence_for(&self, dialect: &Dialect) -> String {
        let index = ALL.iter().position(|other| other.name() == dialect.name());
        let evidence = index.zip(self.evidence.as_ref()).map_or(&[][..], |(index, evidence)| &evidence[index]);
        let words = evidence.iter().map(|(what, count)| match count {
            1 => what.clone(),
            _ => format!("{what} ({count} times)"),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The dialects with their scores, in the order of precedence.
    fn ranked(&self) -> impl Iterator<Item = (&'static Dialect, Score)> + use<> {
        let mut ranked: Vec<_> = ALL.iter().copied().zip(self.scores).collect();
        ranked.sort_by_key(|(dialect, _)| dialect.body_signs.precedence);
        ranked.into_iter()
    }

    /// The dialect with the most signs, and another one that it does not prevail over. Only dialects whose list of
    /// messages has this name compete.
    fn contenders(&self) -> (&'static Dialect, Option<&'static Dialect>) {
        let most = self.named.iter().copied().max().unwrap_or_default();
        let named = |dialect: &Dialect| {
            ALL.iter().zip(self.named).any(|(other, named)| other.name() == dialect.name() && named == most)
        };
        let mut rivals: Vec<_> = self.ranked().filter(|(dialect, _)| named(dialect)).collect();
        // The order of precedence decides between equals.
        rivals.sort_by_key(|(_, score)| std::cmp::Reverse(score.total()));
        match rivals.as_slice() {
            [] => (ALL[0], None),
            [(best, _)] => (best, None),
            [(best, score), (rival, other), ..] => {
                let is_split = self.seen > 0 && !prevails(*score, *other);
                (best, is_split.then_some(rival))
            }
        }
    }

    /// A dialect whose list of messages has another name, but that alone writes the calls and results of the body.
    fn outsider(&self, body: &[u8], best: &Dialect) -> Result<Option<&'static Dialect>, Error> {
        let named = |dialect: &Dialect| self.list.is_none_or(|list| list == dialect.form.list);
        let has_proof = |(dialect, score): &(&'static Dialect, Score)| score.proofs > 0 && !named(dialect);
        let mut outsiders: Vec<_> = self.ranked().filter(has_proof).collect();
        outsiders.sort_by_key(|(_, score)| std::cmp::Reverse(score.total()));
        let Some((outsider, _)) = outsiders.first() else { return Ok(None) };
        let mut pairs = Pairs { dialects: [best, outsider], messages: [0; 2], seen: 0 };
        Document::read_list(body, &mut pairs).map_err(|syntax| unreadable(body, syntax))?;
        // One message may be a slip; a call and its result are not.
        Ok((pairs.messages[0] == 0 && pairs.messages[1] > 1).then_some(outsider))
    }

    /// Whether the conversation holds something that only this dialect has, in a list that it may have.
    fn is_certain(&self, dialect: &Dialect, score: &Score) -> bool {
        score.is_certain && self.list.is_none_or(|list| list == dialect.form.list)
    }

    fn look_at_envelope(&mut self, key: &str, value: Value<'_, '_>) {
        self.lists.extend(ALL.iter().map(|dialect| dialect.form.list).find(|list| *list == key));
        if key == "model" {
            self.look_at_model(value.raw_str());
        }
        self.ollama.is_marked |= key == "keep_alive" || key == "options" && value.is(Kind::Object);
        let declare = |signs: &BodySigns, score: &mut Score| {
            let before = score.strong;
            (signs.envelope)(score, key, value);
            score.is_declared |= score.strong > before;
        };
        self.score(|| format!("the member `{key}`"), declare);
    }

    fn look_at_model(&mut self, model: &str) {
        let claims = |provider: &&&Provider| provider.claims(model);
        for (index, dialect) in ALL.iter().enumerate() {
            if providers::ALL.iter().filter(claims).any(|provider| provider.dialect == dialect.name()) {
                self.scores[index].add(CLAIMED);
                self.scores[index].is_claimed = true;
                self.scores[index].is_declared = true;
                if let Some(evidence) = self.evidence.as_mut() {
                    evidence[index].push((format!("the model `{model}`"), 1));
                }
            }
        }
    }

    fn look_at_member(&mut self, key: &str, value: Value<'_, '_>) {
        let what = || match key {
            "role" => format!("the role `{}`", value.raw_str()),
            "type" => format!("an item of type `{}`", value.raw_str()),
            _ => format!("`{key}` in a message"),
        };
        self.score(what, |signs, score| (signs.message)(score, key, value));
        if key == "content" && value.is(Kind::Array) {
            for block in value.elements() {
                let kind = block.object().and_then(|block| block.get("type")).map(Value::raw_str);
                let what = || match (kind, block.members().next()) {
                    (Some(kind), _) => format!("a block of type `{kind}`"),
                    (None, Some((key, _))) => format!("a block with `{}`", key.name()),
                    (None, None) => "an empty block".to_owned(),
                };
                self.score(what, |signs, score| (signs.block)(score, kind, block));
            }
        }
    }
}

/// The signs of a body for `/api/chat` of Ollama. Its calls have no ids and their arguments are objects, which
/// Chat Completions reject.
#[derive(Default)]
struct Ollama {
    /// Whether a member occurs that only this interface has.
    is_marked: bool,
    /// Whether a call has no id, and its arguments are an object.
    has_own_calls: bool,
    /// Whether a call or a result has an id.
    has_ids: bool,
}

impl Ollama {
    fn look_at_message(&mut self, message: Value<'_, '_>) {
        let Some(message) = message.object() else { return };
        self.has_ids |= message.get("tool_call_id").is_some();
        let is_image = |image: Value<'_, '_>| image.is(Kind::String);
        self.is_marked |= message.get("tool_name").is_some()
            || message.get("images").is_some_and(|images| images.elements().next().is_some_and(is_image));
        for call in message.get("tool_calls").into_iter().flat_map(Value::elements).filter_map(Value::object) {
            let arguments = call.get("function").and_then(Value::object).and_then(|function| function.get("arguments"));
            let has_id = call.get("id").is_some();
            self.has_ids |= has_id;
            self.has_own_calls |= !has_id && arguments.is_some_and(|arguments| arguments.is(Kind::Object));
        }
    }

    fn is_proven(&self) -> bool {
        self.is_marked && self.has_own_calls && !self.has_ids
    }
}

/// Whether the signs of one dialect outweigh those of another. Against strong signs it needs several strong signs and far
/// more of them; against weak signs one block is not enough.
fn prevails(best: Score, rival: Score) -> bool {
    if best.is_claimed && rival.is_claimed {
        // The provider serves both dialects, so its model does not decide between them.
        return prevails(best.unclaimed(), rival.unclaimed());
    }
    if rival.strong > 0 {
        best.strong >= 2 && best.total() >= MAJORITY * rival.total()
    } else {
        let is_one_block = best.strong == 1 && !best.is_declared;
        rival.total() < CONTESTING || !is_one_block
    }
}

/// Whether the first block of a list is a text without a type.
pub(crate) fn starts_typeless(list: Value<'_, '_>) -> bool {
    let is_typeless = |block: Value<'_, '_>| {
        block.object().is_some_and(|block| block.get("type").is_none() && block.get("text").is_some())
    };
    list.elements().next().is_some_and(is_typeless)
}

/// Whether the first tool of a list has this member.
pub(crate) fn first_tool_has(tools: Value<'_, '_>, key: &str) -> bool {
    tools.elements().next().and_then(Value::object).is_some_and(|tool| tool.get(key).is_some())
}

impl<'a> ListVisitor<'a> for &mut Signs {
    fn enter(&mut self, key: Option<&str>) -> bool {
        let Some(key) = key else { return true };
        let Some(dialect) = ALL.iter().find(|dialect| dialect.form.list == key) else { return false };
        self.list = Some(dialect.form.list);
        for (index, dialect) in ALL.iter().enumerate() {
            let mut score = Score::default();
            (dialect.body_signs.list)(&mut score, key);
            self.named[index] = score.sum;
            self.scores[index].is_certain |= score.is_certain;
            self.scores[index].is_listed |= score.is_listed;
        }
        true
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        self.look_at_message(value);
        if self.is_whole || self.seen + ENDING_MAX < MESSAGES_MAX {
            return ControlFlow::Continue(());
        }
        self.stopped = Some(value.span().end as usize);
        ControlFlow::Break(())
    }
}

/// Whether a text is a message or an item, and not a tool.
fn is_message(text: &str) -> bool {
    let Ok(document) = Document::read(text) else { return false };
    let is_of_message = |key: &str| {
        matches!(key, "role" | "parts" | "content" | "output" | "result" | "summary") || RESULT_ID_KEYS.contains(&key)
    };
    document.root().members().any(|(key, _)| is_of_message(&key.name()))
}

/// The number of messages with calls or results as each of two dialects writes them.
struct Pairs<'p> {
    dialects: [&'p Dialect; 2],
    messages: [usize; 2],
    seen: usize,
}

impl<'a> ListVisitor<'a> for &mut Pairs<'_> {
    fn enter(&mut self, key: Option<&str>) -> bool {
        key.is_none_or(|key| ALL.iter().any(|dialect| dialect.form.list == key))
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        self.seen += 1;
        if let Some(message) = value.object() {
            for (dialect, messages) in self.dialects.iter().zip(&mut self.messages) {
                *messages += usize::from((dialect.shapes().has_pairs)(message));
            }
        }
        if self.seen >= MESSAGES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests;
