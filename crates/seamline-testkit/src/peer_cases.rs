//! Twenty conversations that we tried on the repairs of other programs.

use serde_json::json;

use crate::{
    Dialect, render,
    text::Style,
    transcript::{Block, Call, CallResult, Input, Message, Role, Transcript},
};

/// One conversation, and whether a provider accepts it unrepaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCase {
    /// The short name, `C01` to `C20`.
    pub id: &'static str,
    /// The title of the case.
    pub title: &'static str,
    /// True if it needs no repair in any dialect.
    pub valid: bool,
    steps: &'static [Step],
}

impl PeerCase {
    /// The text of the request body, compact.
    pub fn render(&self, dialect: Dialect) -> String {
        render::render(dialect, &self.transcript(), Style::COMPACT)
    }

    /// The texts that a repair must keep, without the synthetic result.
    pub fn payloads(&self) -> Vec<String> {
        let mut payloads = self.transcript().payloads();
        payloads.retain(|payload| payload != MADE_UP);
        payloads
    }

    /// The case as a transcript; adjacent results share a message.
    pub fn transcript(&self) -> Transcript {
        let both_results = |left: &Step, right: &Step| matches!((left, right), (Step::Result(..), Step::Result(..)));
        let messages = self.steps.chunk_by(both_results).map(message).collect();
        Transcript { system: None, messages }
    }
}

/// One step of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The user sends this text.
    User(&'static str),
    /// The assistant sends this text.
    Says(&'static str),
    /// The assistant calls these ids.
    Calls(&'static [&'static str]),
    /// A result for this id, with this output.
    Result(&'static str, &'static str),
}

fn message(steps: &[Step]) -> Message {
    let role = match steps {
        [Step::Says(_) | Step::Calls(_), ..] => Role::Assistant,
        _ => Role::User,
    };
    Message::new(role, steps.iter().flat_map(blocks).collect())
}

fn blocks(step: &Step) -> Vec<Block> {
    match *step {
        Step::User(text) | Step::Says(text) => vec![Block::Text(text.into())],
        Step::Calls(ids) => ids.iter().map(|id| call(id)).collect(),
        Step::Result(id, output) => vec![Block::Result(CallResult::new(id, output))],
    }
}

fn call(id: &str) -> Block {
    let input = Input::Object(json!({}));
    Block::Call(Call { id: Some(id.into()), name: render::TOOL_NAMES[0].into(), input })
}

/// The output of the synthetic result.
const MADE_UP: &str = "[missing]";

/// All cases, by number.
pub const ALL: [PeerCase; 20] = {
    use Step::{Calls, Result, Says, User};
    const GO: Step = User("go");
    const NEXT: Step = User("next");
    const REAL_A: Step = Result("A", "REAL_A");
    const REAL_B: Step = Result("B", "REAL_B");
    const STEER: Step = User("STEER");
    [
        broken("C01", "missing result, then user", &[GO, Calls(&["A"]), User("next question")]),
        broken("C02", "missing result at tail", &[GO, Calls(&["A"])]),
        broken("C03", "missing result, then assistant text", &[GO, Calls(&["A"]), Says("moving on"), User("ok")]),
        broken("C04", "parallel partial (A yes, B no)", &[GO, Calls(&["A", "B"]), REAL_A, NEXT]),
        broken("C05", "orphan result at head (trim)", &[REAL_A, Says("done"), NEXT]),
        broken("C06", "orphan result mid", &[GO, Says("hello"), Result("Z", "REAL_Z"), NEXT]),
        broken("C07", "duplicate result adjacent", &[GO, Calls(&["A"]), REAL_A, REAL_A, NEXT]),
        broken("C08", "duplicate result in later turn", &[GO, Calls(&["A"]), REAL_A, Says("done"), REAL_A, NEXT]),
        broken("C09", "displaced: user text between", &[GO, Calls(&["A"]), STEER, REAL_A, NEXT]),
        broken("C10", "displaced across assistant text", &[GO, Calls(&["A"]), Says("thinking aloud"), REAL_A, NEXT]),
        broken(
            "C11",
            "displaced across another tool turn",
            &[GO, Calls(&["A"]), STEER, Calls(&["B"]), REAL_B, REAL_A, NEXT],
        ),
        broken("C12", "partial + interleaved user", &[GO, Calls(&["A", "B"]), STEER, REAL_A, Says("ok"), NEXT]),
        valid(
            "C13",
            "same id reused in two turns (both ok)",
            &[
                GO,
                Calls(&["A"]),
                Result("A", "REAL_1"),
                Says("x"),
                User("again"),
                Calls(&["A"]),
                Result("A", "REAL_2"),
                NEXT,
            ],
        ),
        broken(
            "C14",
            "same id reused, 2nd unanswered",
            &[GO, Calls(&["A"]), Result("A", "REAL_1"), User("again"), Calls(&["A"]), NEXT],
        ),
        broken(
            "C15",
            "same id twice in one message",
            &[GO, Calls(&["A", "A"]), Result("A", "REAL_1"), Result("A", "REAL_2"), NEXT],
        ),
        broken("C16", "result before its call", &[GO, REAL_A, Calls(&["A"]), NEXT]),
        broken("C17", "wrong id, 1 call 1 result", &[GO, Calls(&["A"]), Result("WRONG", "REAL_A"), NEXT]),
        broken(
            "C18",
            "synthetic then late real result",
            &[GO, Calls(&["A"]), Result("A", MADE_UP), STEER, REAL_A, NEXT],
        ),
        valid("C19", "results reversed order", &[GO, Calls(&["A", "B"]), REAL_B, REAL_A, NEXT]),
        valid("C20", "plain", &[GO, Calls(&["A"]), REAL_A, Says("done"), NEXT]),
    ]
};

const fn broken(id: &'static str, title: &'static str, steps: &'static [Step]) -> PeerCase {
    PeerCase { id, title, valid: false, steps }
}

const fn valid(id: &'static str, title: &'static str, steps: &'static [Step]) -> PeerCase {
    PeerCase { id, title, valid: true, steps }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::{Dialect, lossless::missing_payloads, strict};

    #[test]
    fn the_strict_check_accepts_exactly_the_valid_cases() {
        for case in ALL {
            for dialect in Dialect::ALL {
                let body = serde_json::from_str(&case.render(dialect)).unwrap();
                let mut violations = strict::check(dialect, &body);
                // The cases are about calls and results, not about alternating roles.
                violations.retain(|violation| violation.kind != strict::ViolationKind::SameRole);
                // Where a result may be anywhere after its call, these cases are valid.
                let elsewhere = dialect.has_results_anywhere() && ["C09", "C10", "C11"].contains(&case.id);
                // In this dialect ids may repeat; results answer calls with the same id in order.
                let in_turn = dialect == Dialect::GeminiGenerate && case.id == "C15";
                let valid = case.valid || elsewhere || in_turn;
                assert_eq!(violations.is_empty(), valid, "{} {dialect:?}: {violations:?}", case.id);
            }
        }
    }

    #[test]
    fn every_case_holds_its_payloads_without_the_synthetic_one() {
        for case in ALL {
            let body = serde_json::from_str(&case.render(Dialect::OpenAiChat)).unwrap();
            assert_eq!(missing_payloads(&body, &case.payloads()), Vec::<String>::new());
            assert!(!case.payloads().contains(&"[missing]".to_owned()));
        }
    }

    #[test]
    fn cases_are_numbered_in_order() {
        let ids: Vec<_> = ALL.iter().map(|case| case.id.to_owned()).collect();
        let expected: Vec<_> = (1..=20).map(|number| format!("C{number:02}")).collect();
        assert_eq!(ids, expected);
    }
}
