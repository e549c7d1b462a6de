//! The table of the dialects that the test kit writes and judges.

use serde_json::{Map, Value};

use crate::{events::Event, provider::Service, strict::Violation, transcript::Transcript};

/// Builds the enum, the list, the modules and the tests of all dialects from one table. The dollar sign is for the
/// macro that is defined inside.
macro_rules! dialects {
    ($dollar:tt $($(#[$doc:meta])* $module:ident => $name:ident,)*) => {
        $(mod $module;)*

        /// A way of writing a conversation on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Dialect {
            $($(#[$doc])* $name,)*
        }

        /// One row per dialect, in the order of the enum.
        const ROWS: &[&Row] = &[$(&$module::ROW,)*];

        impl Dialect {
            /// Every dialect, in a fixed order.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name,)*];
        }

        /// Declares one test for each dialect, which calls a function with it.
        #[macro_export]
        macro_rules! test_each_dialect {
            ($dollar run:path) => {
                $(
                    #[test]
                    fn $module() {
                        $dollar run($crate::Dialect::$name);
                    }
                )*
            };
        }
    };
}

dialects! { $
    /// Anthropic's Messages API.
    anthropic_messages => AnthropicMessages,
    /// `OpenAI`'s Chat Completions API.
    openai_chat => OpenAiChat,
    /// `OpenAI`'s Responses API.
    openai_responses => OpenAiResponses,
    /// AWS Bedrock's Converse API.
    bedrock_converse => BedrockConverse,
    /// Google's generateContent.
    gemini_generate => GeminiGenerate,
    /// Google's Interactions API.
    gemini_interactions => GeminiInteractions,
}

/// The members of an object.
pub(crate) type Fields = Map<String, Value>;

/// The properties of one dialect.
pub(crate) struct Row {
    /// The name users write, such as `anthropic_messages`.
    pub(crate) name: &'static str,
    /// The provider that defines the dialect, for which the strict check speaks.
    pub(crate) provider: &'static str,
    /// The member of a body that is the list of messages.
    pub(crate) list_key: &'static str,
    /// The member of a message that is its content.
    pub(crate) content_key: &'static str,
    /// The role of the model.
    pub(crate) assistant_role: &'static str,
    /// The member of a call that is its id.
    pub(crate) call_id_key: &'static str,
    /// The member of a call that is its input.
    pub(crate) input_key: &'static str,
    /// The member of a result that names the id of its call.
    pub(crate) result_id_key: &'static str,
    /// The member of a result that is its content.
    pub(crate) output_key: &'static str,
    /// Whether the input of a call is a string that holds JSON.
    pub(crate) has_text_input: bool,
    /// Whether the content of a message may be a string.
    pub(crate) has_text_content: bool,
    /// Whether a string content may also be a list of texts without a type.
    pub(crate) has_untyped_text: bool,
    /// Whether messages have the fields that clients of `OpenAI`'s Chat Completions write.
    pub(crate) has_chat_fields: bool,
    /// Whether calls may lack an id; the name of the tool pairs them then.
    pub(crate) has_optional_ids: bool,
    /// Whether the roles of messages must alternate.
    pub(crate) must_take_turns: bool,
    /// Whether a result may be anywhere after its call.
    pub(crate) has_results_anywhere: bool,
    /// Whether a mark of the cache is a block of its own.
    pub(crate) has_cache_blocks: bool,
    /// The request body that holds a transcript.
    pub(crate) body: fn(&Transcript) -> Value,
    /// Finds what the provider rejects in a body with these messages.
    pub(crate) check: fn(&Value, &[Value]) -> Vec<Violation>,
    /// Whether the provider accepts a body without a list of messages.
    pub(crate) may_lack_list: fn(&Value) -> bool,
    /// The calls of a body.
    pub(crate) calls: fn(&mut Value) -> Vec<&mut Fields>,
    /// The results of a body.
    pub(crate) results: fn(&mut Value) -> Vec<&mut Fields>,
    /// Adds a picture with this data to a result. The number picks the place among its parts.
    pub(crate) add_image: fn(&mut Fields, &str, usize) -> Option<()>,
    /// Adds reasoning with this text, and a signature if there is one, to an assistant message.
    pub(crate) add_reasoning: fn(&mut Fields, &str, Option<String>) -> Option<()>,
    /// Reads the calls and results of one message.
    pub(crate) events: fn(&Value, &mut Vec<Event>),
    /// A message in which the user asks to go on.
    pub(crate) user_message: &'static str,
    /// The smallest body around the messages, without their list.
    pub(crate) envelope: &'static str,
    /// The event by which a stream says that it failed.
    pub(crate) error_event: &'static str,
    /// The paths, errors and responses of the fake provider.
    pub(crate) service: Service,
}

impl Dialect {
    /// The dialect with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The dialect that this provider defines.
    pub fn of_provider(provider: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.provider() == provider)
    }

    pub(crate) fn row(self) -> &'static Row {
        ROWS[self as usize]
    }

    pub(crate) fn service(self) -> &'static Service {
        &self.row().service
    }

    /// The name users write, such as `anthropic_messages`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The provider that defines the dialect, for which the strict check speaks.
    pub fn provider(self) -> &'static str {
        self.row().provider
    }

    /// The member of a body that is the list of messages.
    pub fn list_key(self) -> &'static str {
        self.row().list_key
    }

    /// The member of a message that is its content.
    pub fn content_key(self) -> &'static str {
        self.row().content_key
    }

    /// The role of the model.
    pub fn assistant_role(self) -> &'static str {
        self.row().assistant_role
    }

    /// Whether the content of a message may be a string.
    pub fn has_text_content(self) -> bool {
        self.row().has_text_content
    }

    /// Whether the roles of messages must alternate.
    pub fn must_take_turns(self) -> bool {
        self.row().must_take_turns
    }

    /// Whether a result may be anywhere after its call.
    pub fn has_results_anywhere(self) -> bool {
        self.row().has_results_anywhere
    }

    /// A message in which the user asks to go on.
    pub fn user_message(self) -> &'static str {
        self.row().user_message
    }

    /// The smallest body around the messages, without their list.
    pub fn envelope(self) -> &'static str {
        self.row().envelope
    }

    /// The event by which a stream says that it failed.
    pub fn error_event(self) -> &'static str {
        self.row().error_event
    }

    /// The path for a response. Its first part names the provider.
    pub fn path(self) -> &'static str {
        self.service().path
    }

    /// The path for a streamed response.
    pub fn stream_path(self) -> &'static str {
        self.service().stream_path
    }

    /// A short request that the provider accepts.
    pub fn short_body(self) -> &'static str {
        self.service().short_body
    }

    /// A streamed response with one tool call, from its name and the text of its input.
    pub fn call_stream(self, name: &str, input: &str) -> String {
        (self.service().call_stream)(name, input)
    }
}
