//! Idempotency keys of calls.

use std::sync::Mutex;

use seamline::session::{
    OpenOptions, Running, Session, SessionOptions, SessionPolicy, ToolCall, ToolExecutor, ToolOutput,
};
use seamline::store::Effect;

use super::stores::{ASK, memory, on_every_store, open_options, turn};

/// Records the idempotency keys of its runs.
struct Noting(Effect, Mutex<Vec<Option<String>>>);

impl ToolExecutor for Noting {
    fn effect(&self, _call: &ToolCall) -> Effect {
        self.0
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        self.1.lock().unwrap().push(call.key.clone());
        Box::pin(async { Ok(ToolOutput { output: "ok".to_owned(), is_error: false }) })
    }
}

#[test]
fn a_call_runs_again_under_its_first_idempotency_key() {
    on_every_store(async |place| {
        let mut session = place.create(SessionPolicy::default()).await;
        session.append(ASK).await.unwrap();
        let (cycle, _) = session.begin_cycle(&[&turn(&["toolu_1"])], &|_| Effect::Idempotent).await.unwrap();
        let key = session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap().key;
        assert_eq!(session.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap().key, key);
        let options = OpenOptions { take_over: true, recover: false, ..open_options() };
        let mut again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
        let tool = Noting(Effect::Idempotent, Mutex::default());
        again.recover_with(&tool).await.unwrap();
        assert_eq!(*tool.1.lock().unwrap(), [Some(key)]);
    });
}

#[test]
fn sessions_of_one_name_in_two_stores_have_different_keys() {
    let mut keys = Vec::new();
    for place in [memory(), memory()] {
        futures_executor::block_on(async {
            let mut session =
                Session::create(place.store.clone(), "s-1".parse().unwrap(), SessionOptions::default()).await.unwrap();
            session.append(ASK).await.unwrap();
            let tool = Noting(Effect::Unsafe, Mutex::default());
            let calls = turn(&["toolu_1"]);
            session.execute_tool_cycle(&[&calls], &tool, std::future::pending()).await.unwrap();
            keys.extend(tool.1.lock().unwrap().drain(..));
        });
    }
    assert!(keys.len() == 2 && keys[0].is_some() && keys[0] != keys[1], "{keys:?}");
}
