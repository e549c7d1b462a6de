//! X11: the texts of a policy about calls that crashed or were cut off.

use std::future::pending;

use seamline::session::{OpenOptions, Session, ToolOutput};
use seamline::store::Effect;
use seamline::stream::ResponseStream;

use super::knobs::{session, session_of};
use super::stores::{ASK, Place, Tool, kept, on_every_store, turn};

const TEXTS: &str = "[synthetic_text]\ncrashed = 'it crashed'\ntruncated = 'it was cut off'";

/// The messages after a crash: the first call was started, the second was not.
async fn after_crash(place: &Place, text: &str, effect: Effect) -> String {
    let mut crashed = session(place, text).await;
    crashed.append(ASK).await.unwrap();
    let (cycle, _) = crashed.begin_cycle(&[&turn(&["toolu_1", "toolu_2"])], &|_| effect).await.unwrap();
    crashed.before_tool_call(&cycle, &"toolu_1".into()).await.unwrap();
    kept(&place.reopen(&crashed).await).last().unwrap().clone()
}

#[test]
fn x11_a_call_that_a_crash_interrupted_has_the_text_of_the_policy() {
    on_every_store(async |place| {
        for (effect, ours) in [(Effect::Unsafe, "[outcome unknown]"), (Effect::ReadOnly, "[no result]")] {
            let told = after_crash(&place, "", effect).await;
            assert!(told.contains(ours) && !told.contains("[synthetic] it crashed"), "{told}");
            let told = after_crash(&place, TEXTS, effect).await;
            assert!(!told.contains(ours) && told.contains("[synthetic] it crashed"), "{told}");
        }
        // The text of a policy says that a tool may have run. This one did not.
        let told = after_crash(&place, TEXTS, Effect::Unsafe).await;
        assert_eq!((told.matches("it crashed").count(), told.matches("[not executed]").count()), (1, 1), "{told}");
    });
}

#[test]
fn x11_a_tool_that_crashes_has_the_text_of_the_policy() {
    on_every_store(async |place| {
        for (text, own) in [("", "[tool failed] the tool crashed"), (TEXTS, "[synthetic] it crashed")] {
            let mut session = session(&place, text).await;
            session.append(ASK).await.unwrap();
            let tool = Tool::doing(|_| panic!("a tool that crashes"));
            session.execute_tool_cycle(&[&turn(&["toolu_1"])], &tool, pending()).await.unwrap();
            assert!(kept(&session).last().unwrap().contains(own), "{:?}", kept(&session));
        }
    });
}

/// A dialect that marks failed tools in their texts leaves the text of a policy as it is.
#[test]
fn x11_the_text_of_the_policy_about_a_crash_has_no_mark_of_a_failed_tool() {
    on_every_store(async |place| {
        let mut session = session_of(&place, "openai", TEXTS).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::doing(|_| panic!("a tool that crashes"));
        session.execute_tool_cycle(&[&CUT.replace("pa\"}", "path\\\":1}\"}")], &tool, pending()).await.unwrap();
        let result = kept(&session).last().unwrap().clone();
        assert!(result.contains(r#""content":"[synthetic] it crashed""#), "{result}");
    });
}

/// Only the cause of a result tells who wrote it: a tool may write the words of the policy.
#[test]
fn x11_a_tool_that_writes_the_words_of_the_policy_has_the_mark_of_a_failed_tool() {
    on_every_store(async |place| {
        let mut session = session_of(&place, "openai", TEXTS).await;
        session.append(ASK).await.unwrap();
        let tool = Tool::doing(|_| Ok(ToolOutput { output: "[synthetic] it crashed".to_owned(), is_error: true }));
        session.execute_tool_cycle(&[&CUT.replace("pa\"}", "path\\\":1}\"}")], &tool, pending()).await.unwrap();
        let result = kept(&session).last().unwrap().clone();
        assert!(result.contains(r#""content":"[tool error] [synthetic] it crashed""#), "{result}");
    });
}

/// A call whose arguments are cut, as a message and as a stream.
const CUT: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"sh","arguments":"{\"pa"}}]}"#;
const CUT_STREAM: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"tool_calls\":[\
{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn x11_a_call_that_was_cut_off_has_the_text_of_the_policy() {
    on_every_store(async |place| {
        for (text, own) in [("", "the call is incomplete"), (TEXTS, "[synthetic] it was cut off")] {
            let of_messages = async |session: &mut Session| {
                session.execute_tool_cycle(&[CUT], &Tool::saying("ran"), pending()).await.unwrap();
            };
            let of_stream = async |session: &mut Session| {
                let mut stream = ResponseStream::new(&session.stream_options()).unwrap();
                stream.feed(CUT_STREAM);
                let response = stream.finish().unwrap();
                assert!(
                    response.refused().iter().all(|refused| refused.text.contains(own)),
                    "{:?}",
                    response.refused()
                );
                session.execute_response(&response, &Tool::saying("ran"), pending()).await.unwrap();
            };
            for is_stream in [false, true] {
                let mut session = session_of(&place, "openai", text).await;
                session.append(ASK).await.unwrap();
                if is_stream {
                    of_stream(&mut session).await;
                } else {
                    of_messages(&mut session).await;
                }
                assert!(kept(&session).last().unwrap().contains(own), "{:?}", kept(&session));
                // The text is known to be synthetic, also after the session is opened again.
                let options = OpenOptions { take_over: true, ..super::stores::open_options() };
                let again = Session::open(place.store.clone(), session.id().clone(), options).await.unwrap();
                assert!(again.request(r#"{"model":"gpt-4.1"}"#).unwrap().sendable);
            }
        }
    });
}
