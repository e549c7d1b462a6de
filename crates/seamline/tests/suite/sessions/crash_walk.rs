//! A crash at every call of the store, before it and after it.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{Arc, Mutex};

use seamline::session::{
    AgentStart, OpenOptions, Session, SessionError, SessionOptions, ToolOutput, Truth, TurnEnd, Unresolved,
};
use seamline::store::{Effect, InboxItem, Raw, SessionId, Store};

use super::faulty::{Fault, Faulty};
use super::stores::{ASK, ENVELOPE, Place, Tick, Tool, is_valid, kept, on_every_store, open_options, turn};

const ANSWER: &str = r#"{"role":"assistant","content":"all done"}"#;
const PUSHED: &str = r#"{"role":"user","content":"pushed"}"#;

/// The effects outside the session before the process died.
#[derive(Default)]
struct World {
    /// The acknowledged messages, which must survive.
    kept: Mutex<Vec<String>>,
    /// The calls that were run.
    ran: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn acknowledge(&self, what: &str) {
        self.kept.lock().unwrap().push(what.to_owned());
    }

    fn ran(&self, call: &str) -> bool {
        self.ran.lock().unwrap().iter().any(|ran| ran == call)
    }
}

/// A turn with one cycle that the session runs and one that the host runs, and everything around them, up to the death
/// of the process.
async fn script(store: Arc<dyn Store>, id: SessionId, effect: Effect, world: &World) -> Result<(), SessionError> {
    let options = SessionOptions { clock: Arc::new(Tick::default()), ..SessionOptions::default() };
    let session = Session::create(store.clone(), id.clone(), options).await?;
    session.close().await?;
    let mut session = Session::open(store.clone(), id.clone(), open_options()).await?;
    world.acknowledge("");
    session.append(ASK).await?;
    world.acknowledge("please");
    for (name, message) in [("one", PUSHED), ("two", "42")] {
        let item = InboxItem { id: name.into(), message: Raw::parse(message).unwrap(), dialect: None };
        store.push(&id, &item).await?;
    }
    store.count_inbox(&id).await?;
    let AgentStart::Proceed { .. } = session.before_agent_start(ENVELOPE).await? else { panic!("it is valid") };
    world.acknowledge("pushed");
    let ran = world.ran.clone();
    let tool = Tool::doing(move |call| {
        ran.lock().unwrap().push(call.id.to_string());
        Ok(ToolOutput { output: format!("did {}", call.id), is_error: false })
    });
    let tool = Tool { effect, ..tool };
    session.execute_tool_cycle(&[&turn(&["toolu_1", "toolu_2"])], &tool, pending()).await?;
    world.acknowledge("did toolu_1");
    let (cycle, calls) = session.begin_cycle(&[&turn(&["toolu_3", "toolu_4"])], &|_| effect).await?;
    for call in &calls {
        session.before_tool_call(&cycle, &call.id).await?;
        let output = (tool.does)(call).unwrap();
        session.after_tool_call(&cycle, &call.id, &output).await?;
    }
    world.acknowledge("did toolu_4");
    session.agent_end(TurnEnd::Messages(&[ANSWER])).await?;
    world.acknowledge("all done");
    session.close().await
}

/// The places where a process can die: before and after each call of a store.
fn deaths() -> impl Iterator<Item = Fault> {
    (0..).flat_map(|at| [false, true].map(|after| Fault::Dies { at, after }))
}

#[test]
fn after_a_crash_at_any_store_call_each_call_has_one_of_three_truths() {
    on_every_store(async |place| {
        let mut seen = BTreeSet::new();
        for effect in Effect::ALL {
            let mut count = 0;
            for death in deaths() {
                let crash = Crash::at(&place, death, effect).await;
                if !crash.died {
                    break;
                }
                count += 1;
                let Some(unresolved) = crash.unresolved().await else { continue };
                let session = crash.open_again().await;
                crash.judge(&unresolved, &session, &mut seen).await;
            }
            assert!(count > 40, "{}: {count}", place.name);
        }
        let told = ["began, unknown", "finished", "harmless", "never started", "ran, unknown"];
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), told, "{}", place.name);
    });
}

#[test]
fn a_crash_at_any_store_call_of_the_recovery_changes_no_truth() {
    let place = super::stores::memory();
    futures_executor::block_on(async {
        let mut count = 0;
        for first in deaths() {
            for second in deaths() {
                let mut crash = Crash::at(&place, first, Effect::Unsafe).await;
                if !crash.died {
                    assert!(count > 400, "{count}");
                    return;
                }
                let Some(unresolved) = crash.unresolved().await else { break };
                if !crash.dies_again(second).await {
                    break;
                }
                count += 1;
                let session = crash.open_again().await;
                crash.judge(&unresolved, &session, &mut BTreeSet::new()).await;
            }
        }
    });
}

/// A run of the script up to the death of its process.
struct Crash<'a> {
    place: &'a Place,
    id: SessionId,
    world: World,
    died: bool,
    /// The context of a failed assertion.
    what: String,
}

impl<'a> Crash<'a> {
    async fn at(place: &'a Place, death: Fault, effect: Effect) -> Self {
        let dying = Faulty::new(place.store.clone(), death);
        let id: SessionId = place.name().parse().unwrap();
        let world = World::default();
        let running = Box::pin(script(dying.clone(), id.clone(), effect, &world));
        let ran = dying.until_death(running).await;
        let died = ran.is_none();
        ran.transpose().unwrap();
        let what = format!("{}, {death:?}, {}", place.name, effect.as_str());
        Self { place, id, world, died, what }
    }

    /// The calls that were left open; none if the process died before there was a session.
    async fn unresolved(&self) -> Option<Vec<Unresolved>> {
        let options = OpenOptions { take_over: true, recover: false, ..open_options() };
        match Session::open(self.place.store.clone(), self.id.clone(), options).await {
            Ok(session) => {
                let unresolved = session.unresolved();
                // A process that dies runs no destructor, so its lease is neither released nor abandoned.
                std::mem::forget(session);
                Some(unresolved)
            }
            Err(error) => {
                assert!(self.world.kept.lock().unwrap().is_empty(), "{}: {error}", self.what);
                None
            }
        }
    }

    /// Whether the process that opens the session again dies as well.
    async fn dies_again(&mut self, death: Fault) -> bool {
        self.what = format!("{}, then {death:?}", self.what);
        let dying = Faulty::new(self.place.store.clone(), death);
        let options = OpenOptions { take_over: true, ..open_options() };
        dying.until_death(Session::open(dying.clone(), self.id.clone(), options)).await.is_none()
    }

    async fn open_again(&self) -> Session {
        let options = OpenOptions { take_over: true, ..open_options() };
        Session::open(self.place.store.clone(), self.id.clone(), options).await.unwrap()
    }

    async fn judge(&self, unresolved: &[Unresolved], session: &Session, seen: &mut BTreeSet<&'static str>) {
        let all = kept(session).concat();
        self.judge_calls(unresolved, &all, seen);
        self.judge_view(session, &all);
        let again = self.open_again().await;
        assert_eq!(kept(&again), kept(session), "{}: recovery is done once", self.what);
        assert!(again.unresolved().is_empty() && again.health().is_whole(), "{}", self.what);
    }

    /// Checks that the truth about each call matches the world, and that the model reads it.
    fn judge_calls(&self, unresolved: &[Unresolved], all: &str, seen: &mut BTreeSet<&'static str>) {
        let is_untouched = unresolved.iter().all(|call| call.truth == Truth::NeverStarted);
        for call in unresolved {
            let (what, ran) = (&self.what, self.world.ran(call.call.as_str()));
            let about = |start: &str| format!("[{start}] The tool call \\\"sh\\\" ");
            let (name, text) = match call.truth {
                Truth::NeverStarted => ("never started", about("not executed")),
                Truth::Harmless => ("harmless", about("no result")),
                Truth::OutcomeUnknown if ran => ("ran, unknown", about("outcome unknown")),
                Truth::OutcomeUnknown => ("began, unknown", about("outcome unknown")),
                Truth::Finished => ("finished", format!("did {}", call.call)),
            };
            seen.insert(name);
            assert!(call.truth != Truth::NeverStarted || !ran, "{what}: {} ran", call.call);
            assert!(call.truth != Truth::Finished || ran, "{what}: {} did not run", call.call);
            assert!(call.truth != Truth::Harmless || call.effect == Effect::ReadOnly, "{what}");
            // A cycle without a started call is rolled back completely.
            assert_eq!(all.contains(&text), !is_untouched, "{what}: {text} in {all}");
        }
    }

    /// Checks that acknowledged messages survive, that cycles are complete or absent, and that no effect is forgotten.
    fn judge_view(&self, session: &Session, all: &str) {
        let what = &self.what;
        for acknowledged in self.world.kept.lock().unwrap().iter() {
            assert!(all.contains(acknowledged), "{what}: {acknowledged} in {all}");
        }
        let ran = self.world.ran.lock().unwrap();
        assert_eq!(ran.iter().collect::<BTreeSet<_>>().len(), ran.len(), "{what}: nothing is run twice");
        for call in ran.iter() {
            assert!(all.contains(&format!("\"id\":\"{call}\"")), "{what}: {call} in {all}");
        }
        assert_eq!(all.matches("tool_use\"").count(), all.matches("tool_result\"").count(), "{what}: {all}");
        assert!(all.is_empty() || is_valid(session), "{what}: {all}");
    }
}
