//! A random plan of a conversation, without numbers and ids.
//!
//! Every text gets its own number, so that no payload is part of another and every lost payload is noticed.

use serde_json::{Value, json};

use crate::{
    render::TOOL_NAMES,
    transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript},
};

/// A whole conversation.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) system: Option<&'static str>,
    /// The assistant's text before the first user message.
    pub(super) opening: Option<&'static str>,
    pub(super) turns: Vec<TurnPlan>,
}

/// From a user's message to the assistant message that makes no call.
#[derive(Clone, Debug)]
pub(super) struct TurnPlan {
    pub(super) user: UserPlan,
    /// A system message after the user's.
    pub(super) note: Option<&'static str>,
    pub(super) cycles: Vec<CyclePlan>,
    pub(super) closing: Option<(&'static str, Shape)>,
}

#[derive(Clone, Debug)]
pub(super) struct UserPlan {
    pub(super) words: &'static str,
    pub(super) shape: Shape,
    pub(super) image: bool,
}

/// One assistant message with its calls, and the message with their results.
#[derive(Clone, Debug)]
pub(super) struct CyclePlan {
    pub(super) thinking: bool,
    pub(super) server_pair: bool,
    pub(super) text: Option<&'static str>,
    pub(super) calls: Vec<CallPlan>,
    /// True if ids repeat in every turn, as with some models.
    pub(super) reuses_ids: bool,
    /// The order of the results.
    pub(super) order: usize,
    pub(super) after_results: Option<&'static str>,
    /// Whether a cache mark ends the message with the results.
    pub(super) cache_point: bool,
    /// A system message after the results.
    pub(super) note: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct CallPlan {
    pub(super) input: &'static str,
    pub(super) depth: usize,
    pub(super) output: &'static str,
    pub(super) shape: Shape,
    pub(super) ending: Ending,
}

impl Plan {
    /// The conversation with its numbers and ids.
    pub(super) fn transcript(&self) -> Transcript {
        let mut builder = Builder::default();
        let system = self.system.map(|words| builder.say("system", words));
        if let Some(words) = self.opening {
            builder.push_text(Role::Assistant, words);
        }
        self.turns.iter().for_each(|turn| builder.turn(turn));
        Transcript { system, messages: builder.messages }
    }
}

#[derive(Default)]
struct Builder {
    messages: Vec<Message>,
    said: usize,
}

impl Builder {
    fn turn(&mut self, turn: &TurnPlan) {
        self.user(&turn.user);
        self.note(turn.note);
        turn.cycles.iter().for_each(|cycle| self.cycle(cycle));
        if let Some((words, shape)) = turn.closing {
            self.push_text(Role::Assistant, words);
            self.reshape(shape);
        }
    }

    fn user(&mut self, user: &UserPlan) {
        let mut blocks = vec![Block::Text(self.say("user", user.words))];
        if user.image {
            blocks.push(Block::Image(self.image()));
        }
        self.messages.push(Message::new(Role::User, blocks));
        self.reshape(user.shape);
    }

    /// A system message, which Anthropic accepts only after a user message.
    fn note(&mut self, words: Option<&str>) {
        if let Some(words) = words {
            self.push_text(Role::System, words);
        }
    }

    fn cycle(&mut self, cycle: &CyclePlan) {
        let (calls, mut results): (Vec<_>, Vec<_>) =
            cycle.calls.iter().enumerate().map(|(index, call)| self.pair(index, call, cycle.reuses_ids)).unzip();
        let said = self.before_calls(cycle).into_iter().chain(calls).collect();
        self.messages.push(Message::new(Role::Assistant, said));

        reorder(&mut results, cycle.order);
        results.extend(cycle.after_results.map(|words| Block::Text(self.say("user", words))));
        results.extend(cycle.cache_point.then_some(Block::CachePoint));
        self.messages.push(Message::new(Role::User, results));
        self.note(cycle.note);
    }

    fn before_calls(&mut self, cycle: &CyclePlan) -> Vec<Block> {
        let mut blocks = Vec::new();
        if cycle.thinking {
            let text = self.say("thinking", "step by step");
            blocks.push(Block::Thinking { signature: format!("c2lnbmF0dXJl{}", self.said), text });
        }
        if let Some(words) = cycle.text {
            blocks.push(Block::Text(self.say("assistant", words)));
        }
        if cycle.server_pair {
            let id = format!("srvtoolu_{}", self.said);
            blocks.extend([Block::ServerCall(id.clone()), Block::ServerResult(id)]);
        }
        blocks
    }

    fn pair(&mut self, index: usize, plan: &CallPlan, reuses_ids: bool) -> (Block, Block) {
        let output = self.say("result", plan.output);
        let id = if reuses_ids { format!("call_{index}") } else { format!("toolu_{}", self.said) };
        let name = TOOL_NAMES[index % TOOL_NAMES.len()].to_owned();
        let input = Input::Object(input(plan, self.said));
        let result = CallResult { id: Some(id.clone()), name: None, output, shape: plan.shape, ending: plan.ending };
        (Block::Call(Call { id: Some(id), name, input }), Block::Result(result))
    }

    fn push_text(&mut self, role: Role, words: &str) {
        let who = match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let text = self.say(who, words);
        self.messages.push(Message::text(role, text));
    }

    fn reshape(&mut self, shape: Shape) {
        if let Some(message) = self.messages.last_mut() {
            message.shape = shape;
        }
    }

    /// These words with a number; the colon and the full stop keep `user-1` from being found in `user-10`.
    fn say(&mut self, who: &str, words: &str) -> String {
        self.said += 1;
        format!("{who}-{}: {words}.", self.said)
    }

    fn image(&mut self) -> String {
        self.said += 1;
        format!("iVBORw0KGgo{:04}", self.said)
    }
}

/// Puts up to three results into one of their six orders.
fn reorder(results: &mut [Block], order: usize) {
    let length = results.len();
    results.rotate_left(order / 2 % length.max(1));
    if order % 2 == 1 {
        results.reverse();
    }
}

/// The input of a call, with a number that identifies it even if its id changes.
fn input(plan: &CallPlan, number: usize) -> Value {
    let step = format!("call-{number}:");
    let leaf = json!({"step": step, "path": plan.input, "limit": 10, "ratio": 0.5, "all": true, "none": null});
    (0..plan.depth).fold(leaf, |inner, depth| json!({"depth": depth, "items": [inner]}))
}
