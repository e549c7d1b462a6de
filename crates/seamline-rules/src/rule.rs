//! The type of rules, and how they report findings.

use seamline_model::{
    BlockIndex, Edit, Fix, Irregularity, MessageIndex, PairedCall, Place, ResultState, RuleFinding, Safety, Severity,
    Stage,
};

use crate::context::Context;
use crate::found::{CountedFix, LISTED_MAX, Tally, fixes_max};
use crate::unknown::Unknown;

/// Code that finds one kind of violation.
#[derive(Debug)]
pub struct Rule {
    /// Its code, which is never reused.
    pub code: &'static str,
    /// Its name, which reads well after "allow".
    pub name: &'static str,
    /// The group it belongs to.
    pub group: Group,
    /// The default severity of its findings.
    pub severity: Severity,
    /// The risk of its fix under the default policy.
    pub safety: Safety,
    /// Its documentation, in Markdown.
    pub docs: &'static str,
    /// How far the rule looks from the message of a finding.
    pub(crate) reach: Reach,
    /// The checking function.
    pub(crate) check: Check,
}

/// How far a rule looks from the message of a finding. A check that continues from a [settled](crate::Settled) start of
/// the conversation relies on it. The members of the request beside its messages, the provider's constraints and the
/// policy are in reach of every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The message itself, its number, and whether it is the last one. Its findings stay the same when messages are
    /// added after the next one.
    Message,
    /// The message, the messages beside it, and the calls and results of its cycle. The rule finds nothing new in
    /// messages before a seam, because all their calls are answered there.
    Cycle,
    /// The ids of the whole conversation. The rule finds nothing in settled messages, whose ids are kept. It asks for a
    /// check of all messages when one of those ids may occur again, and so does each finding: its fix depends on all ids.
    Ids,
    /// The whole conversation. The rule runs over all messages in each check, and must not ask for the pairing of settled
    /// messages.
    Conversation,
}

/// The part of a transcript that a rule checks. Rules for the same part run together, so that a check reads a long
/// conversation once instead of once per rule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// Each message in turn.
    Message(EachMessage),
    /// Each call in turn.
    Call(EachCall),
    /// Each result in turn.
    Result(EachResult),
    /// Each irregularity in turn.
    Irregularity(EachIrregularity),
    /// The whole transcript at once.
    Whole(Whole),
}

pub(crate) type EachMessage = fn(&Context<'_, '_>, MessageIndex, &mut Report);
pub(crate) type EachCall = fn(&Context<'_, '_>, &PairedCall, &mut Report);
pub(crate) type EachResult = fn(&Context<'_, '_>, &ResultState, &mut Report);
pub(crate) type EachIrregularity = fn(&Context<'_, '_>, &Irregularity, &mut Report);
pub(crate) type Whole = fn(&Context<'_, '_>, &mut Report);

impl Rule {
    /// The first sentence of its documentation.
    pub fn summary(&self) -> String {
        let said = self.docs.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with('#'));
        let text = said.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        match text.split_once(". ") {
            Some((first, _)) => format!("{first}."),
            None => text,
        }
    }
}

/// The groups of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// The JSON of the body.
    Wire,
    /// Calls and results.
    Pairing,
    /// The order of messages and blocks.
    Order,
    /// Ids and names.
    Ident,
    /// The model's reasoning and the items it belongs to.
    Reason,
    /// Empty content, roles, first and last messages.
    Shape,
    /// Images, documents, audio.
    Media,
    /// Declared tools, and limits on counts.
    Limit,
    /// Reports of Seamline about itself.
    Log,
}

impl Group {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Pairing => "pairing",
            Self::Order => "order",
            Self::Ident => "ident",
            Self::Reason => "reason",
            Self::Shape => "shape",
            Self::Media => "media",
            Self::Limit => "limit",
            Self::Log => "log",
        }
    }
}

/// Declares the rule of a file. The doc comment is the rule's documentation everywhere.
macro_rules! declare_rule {
    ($(#[doc = $doc:literal])+ $code:ident $name:literal in $group:ident, $severity:ident, $safety:ident, each $each:ident, reach $reach:ident) => {
        $(#[doc = $doc])+
        pub(crate) static RULE: crate::rule::Rule = crate::rule::Rule {
            code: stringify!($code),
            name: $name,
            group: crate::rule::Group::$group,
            severity: seamline_model::Severity::$severity,
            safety: seamline_model::Safety::$safety,
            docs: concat!($($doc, "\n"),+),
            reach: crate::rule::Reach::$reach,
            check: crate::rule::Check::$each(check),
        };
    };
}
pub(crate) use declare_rule;

/// Collects the findings of rules.
pub(crate) struct Report {
    /// The rule that is running.
    running: Option<&'static Rule>,
    pub(crate) findings: Vec<RuleFinding>,
    /// The findings that are about one message alone, as places in the list of findings.
    pub(crate) lasting: Vec<usize>,
    /// The first message with a finding that depends on the messages around it.
    pub(crate) unsettled: Option<MessageIndex>,
    /// Whether a finding depends on the ids of the whole conversation.
    pub(crate) repeats_ids: bool,
    /// The fixes of findings that are only counted.
    pub(crate) rest: Vec<CountedFix>,
    /// Whether some fixes were left out.
    pub(crate) is_cut: bool,
    pub(crate) tallies: Vec<Tally>,
    /// How many findings of the list are counted.
    counted: usize,
    /// How many more irregularities the last finding is about.
    more: u32,
    /// The most fixes of one rule.
    pub(crate) fixes_max: usize,
    /// The highest safety of fixes that the policy applies.
    safety_max: Safety,
    /// The messages that a provider may have added since.
    pub(crate) unknown: Unknown,
    /// The group of the rule of the last finding.
    group: Group,
}

impl Report {
    /// An empty report of a check.
    pub(crate) fn new(context: &Context<'_, '_>) -> Self {
        Self {
            running: None,
            findings: Vec::new(),
            lasting: Vec::new(),
            unsettled: None,
            repeats_ids: false,
            rest: Vec::new(),
            is_cut: false,
            tallies: Vec::new(),
            counted: 0,
            more: 0,
            fixes_max: fixes_max(context.transcript.source.len()),
            safety_max: safety_max(context),
            unknown: Unknown::of(context.transcript),
            group: Group::Log,
        }
    }

    /// Sets the rule that is running.
    pub(crate) fn enter(&mut self, rule: &'static Rule) {
        self.running = Some(rule);
    }

    /// Adds a finding about a block.
    pub(crate) fn block(&mut self, context: &Context<'_, '_>, block: BlockIndex, message: String) -> Draft<'_> {
        let content = context.transcript.block(block);
        self.place(Place { message: Some(content.message), block: Some(block), span: content.span }, message)
    }

    /// Adds a finding about a message.
    pub(crate) fn message(&mut self, context: &Context<'_, '_>, index: MessageIndex, message: String) -> Draft<'_> {
        let span = context.transcript.message(index).span;
        self.place(Place { message: Some(index), block: None, span }, message)
    }

    /// Adds a finding about an irregularity.
    pub(crate) fn irregularity(&mut self, irregularity: &Irregularity, message: String) -> Draft<'_> {
        let Irregularity { span, message: index, block, more, .. } = irregularity;
        let place = Place { message: *index, block: *block, span: *span };
        self.count();
        self.more = *more;
        self.place(place, message)
    }

    /// Adds a finding at a place.
    pub(crate) fn place(&mut self, place: Place, message: String) -> Draft<'_> {
        self.count();
        let finding = RuleFinding {
            code: self.running.map_or("", |rule| rule.code),
            name: self.running.map_or("", |rule| rule.name),
            severity: self.running.map_or(Severity::Error, |rule| rule.severity),
            message: shortened(message),
            place,
            call_id: None,
            related: Vec::new(),
            predicts: None,
            fix: None,
            more: 0,
        };
        let reach = self.running.map(|rule| rule.reach);
        self.group = self.running.map_or(Group::Log, |rule| rule.group);
        self.repeats_ids |= reach == Some(Reach::Ids);
        match (reach, place.message) {
            (Some(Reach::Message), Some(_)) => self.lasting.push(self.findings.len()),
            (Some(Reach::Cycle | Reach::Ids), Some(at)) => {
                self.unsettled = Some(self.unsettled.map_or(at, |first| first.min(at)));
            }
            (Some(Reach::Conversation) | None, _) | (_, None) => {}
        }
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        Draft(&mut self.findings[last])
    }

    /// Counts the last finding, which is complete. Beyond the listed ones only its fix is kept, and nothing of a finding
    /// that calls an unknown message wrong.
    pub(crate) fn count(&mut self) {
        let Some(last) = self.findings.get(self.counted) else { return };
        if self.unknown.clears(last, self.group) {
            self.lasting.pop_if(|at| *at == self.counted);
            self.findings.pop();
            self.more = 0;
            return;
        }
        let (code, severity, more) = (last.code, last.severity, std::mem::take(&mut self.more));
        let known = self.tallies.iter().position(|tally| tally.counts(code, severity));
        let at = known.unwrap_or_else(|| {
            self.tallies.push(Tally::new(code, severity));
            self.tallies.len() - 1
        });
        let tally = &mut self.tallies[at];
        tally.more += more;
        self.is_cut |= more > 0;
        if tally.listed < LISTED_MAX {
            tally.listed += 1;
            self.counted += 1;
            return;
        }
        tally.more += 1;
        self.lasting.pop_if(|at| *at == self.counted);
        let Some(RuleFinding { place, fix: Some(fix), .. }) = self.findings.pop() else { return };
        if fix.edits.is_empty() || fix.safety > self.safety_max {
        } else if tally.fixes < self.fixes_max {
            tally.fixes += 1;
            self.rest.push(CountedFix { code, place, fix: Fix { title: String::new(), ..fix } });
        } else {
            self.is_cut = true;
        }
    }
}

/// The longest id or name in a message, in characters.
const QUOTED_CHARS_MAX: usize = 80;

/// The longest predicted error in bytes; only ids and names can make it longer.
const PREDICTED_BYTES_MAX: usize = 2000;

/// Cuts a predicted error that a long id or many of them make long.
fn cut(mut text: String) -> String {
    if text.len() > PREDICTED_BYTES_MAX {
        text.truncate(text.floor_char_boundary(PREDICTED_BYTES_MAX));
        text.push('…');
    }
    text
}

/// Shortens the ids and names of a message, which are in backquotes: a conversation may hold ids of any length.
fn shortened(message: String) -> String {
    if message.len() <= QUOTED_CHARS_MAX || message.split('`').all(|part| part.len() <= QUOTED_CHARS_MAX) {
        return message;
    }
    let shown = |(index, part): (usize, &str)| match part.char_indices().nth(QUOTED_CHARS_MAX - 1) {
        Some((end, _)) if index % 2 == 1 && part.len() > QUOTED_CHARS_MAX => format!("{}…", &part[..end]),
        _ => part.to_owned(),
    };
    message.split('`').enumerate().map(shown).collect::<Vec<_>>().join("`")
}

/// The highest safety of fixes that the policy applies.
fn safety_max(context: &Context<'_, '_>) -> Safety {
    let levels = [Safety::Unknown, Safety::Unsafe];
    levels.into_iter().find(|&safety| context.policy.allows(safety)).unwrap_or(Safety::Safe)
}

/// A finding under construction.
pub(crate) struct Draft<'r>(&'r mut RuleFinding);

impl Draft<'_> {
    pub(crate) fn severity(self, severity: Severity) -> Self {
        self.0.severity = severity;
        self
    }

    pub(crate) fn call_id(self, id: &str) -> Self {
        self.0.call_id = Some(id.to_owned());
        self
    }

    pub(crate) fn related(self, blocks: impl IntoIterator<Item = BlockIndex>) -> Self {
        self.0.related.extend(blocks);
        self
    }

    pub(crate) fn predicts(self, text: String) -> Self {
        if !text.is_empty() {
            self.0.predicts = Some(cut(text));
        }
        self
    }

    pub(crate) fn fix(self, stage: Stage, safety: Safety, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.0.fix = Some(Fix { title: shortened(title.into()), safety, stage, edits });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_in_messages_are_shortened_and_the_words_around_them_stay() {
        let words =
            "a sentence of ours that is much longer than the eighty characters which an id may have in a report";
        assert_eq!(shortened(format!("`x` {words}")), format!("`x` {words}"));
        let id = "é".repeat(500);
        assert_eq!(shortened(format!("`{id}` {words} `y`")), format!("`{}…` {words} `y`", "é".repeat(79)));
    }
}
