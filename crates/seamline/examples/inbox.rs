//! The user types while tools run.
//!
//! `execute_tool_cycle` borrows the session until the tools are done. Other tasks do not need the session: they put
//! messages into its inbox, which belongs to the store. The next `before_agent_start` takes them in, after the results.
//!
//! Run it with `cargo run -p seamline --example inbox`; `cargo test` runs it too.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;

use futures_util::future::join;
use seamline::session::{AgentStart, Running, Session, SessionOptions, ToolCall, ToolExecutor, ToolOutput};
use seamline::store::{InboxItem, MemoryStore, Pushed, Raw, SessionId, Store};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENVELOPE: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":1024}"#;

/// A tool that runs until the user has typed something.
struct Build {
    store: Arc<dyn Store>,
    id: SessionId,
}

impl ToolExecutor for Build {
    fn execute<'a>(&'a self, _call: &'a ToolCall) -> Running<'a> {
        Box::pin(async move {
            while self.store.count_inbox(&self.id).await.is_ok_and(|count| count == 0) {
                yield_once().await;
            }
            Ok(ToolOutput { output: "the build is green".to_owned(), is_error: false })
        })
    }
}

fn main() -> Result<()> {
    futures_executor::block_on(async {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let id: SessionId = "s-1".parse()?;
        let mut session = Session::create(store.clone(), id.clone(), SessionOptions::default()).await?;
        session.append(r#"{"role":"user","content":"build it"}"#).await?;

        let turn = [r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"build","input":{}}]}"#];
        let tool = Build { store: store.clone(), id: id.clone() };
        // Both run at once. A host with an async runtime would spawn the second one.
        let agent = session.execute_tool_cycle(&turn, &tool, std::future::pending());
        let (result, typed) = join(agent, type_a_message(store.as_ref(), &id)).await;
        assert!(result?.success);
        typed?;

        let AgentStart::Proceed { request, .. } = session.before_agent_start(ENVELOPE).await? else {
            return Err("the request is blocked".into());
        };
        println!("{}", String::from_utf8_lossy(&request.body));
        let messages: Vec<&str> = session.messages().collect();
        assert_eq!(messages.len(), 4);
        assert!(messages[2].contains("the build is green") && messages[3].contains("and run the tests"));
        session.close().await?;
        Ok(())
    })
}

/// The user interface: it has the store and the name of the session, and not the session.
async fn type_a_message(store: &dyn Store, id: &SessionId) -> Result<()> {
    let message = Raw::parse(r#"{"role":"user","content":"and run the tests"}"#)?;
    // With the same id, a message that is sent twice is added once. The dialect is given, because the session may switch
    // to another one before it takes the message in.
    let item = InboxItem { id: "ui-1".into(), message, dialect: Some("anthropic_messages".into()) };
    assert_eq!(store.push(id, &item).await?, Pushed::New);
    assert_eq!(store.push(id, &item).await?, Pushed::Already);
    Ok(())
}

/// Lets other futures of the same task run.
async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
