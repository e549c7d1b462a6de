//! The repair loop.
//!
//! Each pass checks the transcript, takes the fixes of the earliest stage that the policy allows, drops fixes that
//! overlap one already taken, applies the rest and reads the new body. The loop ends when no fix is left to apply, so
//! the last check runs on the exact bytes that are returned.

use seamline_model::{Edit, Encoded, Fix, MessageIndex, Place, RuleFinding, Severity, Spliced, Transcript};

use crate::actions::{Action, Actions, UnlistedActions};
use crate::claims::Claims;
use crate::found::{CountedFix, Found};
use crate::input::{Left, RepairInput, is_allowed};
use crate::{RepairPolicy, check};

/// The highest number of passes. Real damage settles in one to four.
pub const PASSES_MAX: u32 = 16;

/// The highest number of further passes over a body with more fixes than one pass applies.
const CUT_PASSES_MAX: u32 = 256;

/// Reads and writes conversations. It is the loop's only connection to dialects.
pub trait Rewrite {
    /// Reads the body that edits made from a transcript, without reading copied messages again. Returns `None` if the
    /// whole body must be read.
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>>;

    /// Reads a body. Returns `None` if it cannot be read.
    fn read<'n>(&self, body: &'n [u8]) -> Option<Transcript<'n>>;

    /// Writes edits by splicing the source of a transcript. Either all edits change bytes directly, or none of them.
    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded;
}

/// The outcome of a repair.
#[derive(Debug, Clone, Default)]
pub struct Repair<'a> {
    /// The new body; `None` if the original needs no change.
    pub body: Option<Spliced<'a>>,
    /// The number of passes that applied edits.
    pub passes: u32,
    /// The actions taken, in order.
    pub actions: Vec<Action>,
    /// The actions that are not listed.
    pub more_actions: Vec<UnlistedActions>,
    /// The findings before the repair.
    pub found: Vec<RuleFinding>,
    /// The findings after the repair.
    pub remaining: Vec<RuleFinding>,
    /// For each message of the new body, the original message it comes from.
    pub origins: Vec<Option<MessageIndex>>,
}

/// Repairs a conversation as far as the policy allows.
pub fn repair<'a>(transcript: &Transcript<'a>, rewrite: &dyn Rewrite, input: RepairInput<'_>) -> Repair<'a> {
    repair_found(transcript, check(transcript, input.constraints, input.policy), rewrite, input)
}

/// Repairs a conversation that was checked for the same constraints and policy, as far as the policy allows.
pub fn repair_found<'a>(
    transcript: &Transcript<'a>,
    found: Found,
    rewrite: &dyn Rewrite,
    input: RepairInput<'_>,
) -> Repair<'a> {
    let mut state = State { input, repair: Repair::default(), actions: Actions::default(), cut_passes: 0 };
    let Some(mut stepped) = state.step(rewrite, transcript, found) else {
        return state.done(None);
    };
    let mut body = Spliced::new(transcript.source.body);
    while state.may_go_on() {
        match stepped.joined {
            Some(joined) => body = Spliced::from(joined),
            None => body.take(stepped.encoded),
        }
        let Some(transcript) = stepped.read.map(|transcript| transcript.over(body.source())) else { break };
        let found = check(&transcript, input.constraints, input.policy);
        let Some(next) = state.step(rewrite, &transcript, found) else {
            return state.done(Some(body));
        };
        stepped = next;
    }
    debug_assert!(false, "repair did not settle: {:?}", state.actions.listed);
    report_unsettled(state.repair)
}

/// The original body with a finding that the repair failed: a half-repaired body is never returned.
fn report_unsettled(repair: Repair<'_>) -> Repair<'_> {
    let bug = RuleFinding {
        code: "BUG001",
        name: "repair-did-not-settle",
        severity: Severity::Error,
        message: format!("the repair did not settle after {PASSES_MAX} passes; nothing was changed"),
        place: Place::default(),
        call_id: None,
        related: Vec::new(),
        predicts: None,
        fix: None,
        more: 0,
    };
    let mut remaining = repair.found.clone();
    remaining.push(bug);
    Repair { found: repair.found, remaining, ..Repair::default() }
}

struct State<'i, 'a> {
    input: RepairInput<'i>,
    repair: Repair<'a>,
    actions: Actions,
    /// The number of passes that did not apply all fixes.
    cut_passes: u32,
}

/// The output of one pass.
struct Stepped {
    /// The new body.
    encoded: Encoded,
    /// The new body in one buffer, if it had to be read in full.
    joined: Option<Vec<u8>>,
    /// The transcript of the new body, if it can be read.
    read: Option<Transcript<'static>>,
}

impl<'a> State<'_, 'a> {
    /// The outcome with this body.
    fn done(mut self, body: Option<Spliced<'a>>) -> Repair<'a> {
        self.repair.more_actions = self.actions.more();
        Repair { body, actions: self.actions.listed, ..self.repair }
    }

    /// Whether there may be one more pass.
    fn may_go_on(&self) -> bool {
        self.repair.passes - self.cut_passes < PASSES_MAX && self.cut_passes < CUT_PASSES_MAX
    }

    /// Makes one pass over a body with these findings. Returns `None` if there is nothing to apply.
    fn step(&mut self, rewrite: &dyn Rewrite, transcript: &Transcript<'_>, found: Found) -> Option<Stepped> {
        let edits = self.pass(transcript, found);
        if edits.is_empty() {
            return None;
        }
        let mut encoded = rewrite.write(transcript, &edits);
        // Bytes may be around the messages, so all of them are read again.
        let is_bytes = edits.iter().all(Edit::is_bytes);
        let followed = if is_bytes { None } else { rewrite.follow(transcript, &encoded) };
        let followed = followed.map(|read| self.note_read((transcript, &edits), read, &encoded));
        let (read, joined) = if followed.is_some() {
            (followed, None)
        } else {
            let joined = encoded.source(transcript.source.body).joined();
            // The joined body takes the place of its pieces, before it is read: a body can take much memory.
            (encoded.written, encoded.pieces) = (Vec::new(), Vec::new());
            let read = rewrite.read(&joined);
            (read.map(|read| self.note_read((transcript, &edits), read, &encoded)), Some(joined))
        };
        self.follow(&encoded);
        Some(Stepped { encoded, joined, read })
    }

    /// Notes the actions of edits that only the new transcript shows.
    fn note_read(
        &mut self,
        (before, edits): (&Transcript<'_>, &[Edit]),
        read: Transcript<'_>,
        encoded: &Encoded,
    ) -> Transcript<'static> {
        if !edits.iter().all(Edit::is_bytes) {
            self.actions.note_hidden((before, edits), (&read, encoded), &self.repair.origins);
        }
        read.detached()
    }

    /// Selects the edits of one pass over a body with these findings.
    fn pass(&mut self, transcript: &Transcript<'_>, found: Found) -> Vec<Edit> {
        self.actions.start(transcript);
        if self.repair.passes == 0 {
            self.repair.origins =
                (0..transcript.messages.len() as u32).map(|index| Some(MessageIndex(index))).collect();
        }
        let edits = self.choose(transcript, &found);
        let Found { findings, is_cut, .. } = found;
        match (edits.is_empty(), self.repair.passes) {
            (true, 0) => (self.repair.found, self.repair.remaining) = (findings.clone(), findings),
            (true, _) => self.repair.remaining = findings,
            (false, 0) => self.repair.found = findings,
            (false, _) => {}
        }
        self.repair.passes += u32::from(!edits.is_empty());
        self.cut_passes += u32::from(!edits.is_empty() && is_cut);
        edits
    }

    fn choose(&mut self, transcript: &Transcript<'_>, found: &Found) -> Vec<Edit> {
        let mut edits = Vec::new();
        for taken in select_fixes(transcript, found, self.input.policy, self.input.left) {
            self.actions.note(transcript, taken, &self.repair.origins, self.repair.passes == 0);
            edits.extend(taken.fix.edits.iter().cloned());
        }
        edits
    }

    /// Maps messages to their new positions.
    fn follow(&mut self, encoded: &Encoded) {
        self.actions.land(encoded);
        let before = std::mem::take(&mut self.repair.origins);
        self.repair.origins = encoded
            .origins
            .iter()
            .map(|origin| origin.and_then(|index| before.get(index.get()).copied().flatten()))
            .collect();
    }
}

/// A fix that a pass may apply.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'f> {
    pub(crate) code: &'static str,
    pub(crate) place: Place,
    pub(crate) call_id: Option<&'f str>,
    pub(crate) fix: &'f Fix,
}

impl<'f> Candidate<'f> {
    /// The fixes of listed and counted findings, in the order of the transcript.
    fn all(found: &'f Found) -> Vec<Self> {
        let listed = found.findings.iter().filter_map(|finding| {
            let RuleFinding { code, place, ref call_id, .. } = *finding;
            Some(Self { code, place, call_id: call_id.as_deref(), fix: finding.fix.as_ref()? })
        });
        let rest = found.rest.iter().map(|counted| {
            let CountedFix { code, place, ref fix } = *counted;
            Self { code, place, call_id: None, fix }
        });
        let mut all: Vec<_> = listed.chain(rest).collect();
        if !found.rest.is_empty() {
            all.sort_by_key(|candidate| (candidate.place.message, candidate.place.span.start, candidate.code));
        }
        all
    }
}

/// Selects the fixes of one pass: those of the earliest stage, without any two that change the same thing.
fn select_fixes<'f>(
    transcript: &Transcript<'_>,
    found: &'f Found,
    policy: &RepairPolicy,
    left: Left,
) -> Vec<Candidate<'f>> {
    let mut allowed = Candidate::all(found);
    allowed.retain(|candidate| is_allowed(candidate.code, candidate.fix, policy, left));
    let stage = allowed.iter().map(|candidate| candidate.fix.stage).min();
    allowed.retain(|candidate| Some(candidate.fix.stage) == stage);
    // Byte edits and block edits are written differently, so a pass holds only one of the two.
    let is_bytes = allowed.first().is_some_and(|first| first.fix.is_bytes());
    let mut claims = Claims::new(transcript);
    allowed.retain(|candidate| candidate.fix.is_bytes() == is_bytes && claims.take(candidate.fix));
    allowed
}

#[cfg(test)]
mod tests {
    use seamline_model::{Safety, Stage};

    use super::*;

    fn finding(edit: Edit) -> RuleFinding {
        let fix = Fix { title: String::new(), safety: Safety::Safe, stage: Stage::Form, edits: vec![edit] };
        RuleFinding {
            code: "WIRE001",
            name: "wire",
            severity: Severity::Error,
            message: String::new(),
            place: Place::default(),
            call_id: None,
            related: Vec::new(),
            predicts: None,
            fix: Some(fix),
            more: 0,
        }
    }

    #[test]
    fn a_pass_edits_only_bytes_or_only_blocks() {
        let bytes = |start| Edit::Patch { span: seamline_model::Span::new(start, start + 1), text: String::new() };
        let blocks = Edit::DeclareTools { names: Vec::new() };
        let findings = [finding(bytes(0)), finding(blocks.clone()), finding(bytes(4))];
        let edits = |findings: &[RuleFinding]| -> Vec<Edit> {
            let found = Found { findings: findings.to_vec(), ..Found::default() };
            select_fixes(&Transcript::new(b"[]"), &found, &RepairPolicy::default(), Left::Nothing)
                .into_iter()
                .flat_map(|taken| taken.fix.edits.clone())
                .collect()
        };
        assert_eq!(edits(&findings), [bytes(0), bytes(4)]);
        assert_eq!(edits(&findings[1..]), [blocks]);
    }
}
