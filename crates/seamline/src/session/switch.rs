//! Switches the provider of a session, and takes in messages of other dialects.

use seamline_store::{Record, Switch};

use super::facts::{Batch, Facts, said};
use super::{Request, Session, SessionError};

impl Session {
    /// Switches to another provider or dialect: from now on new messages are of its dialect, and requests are for it.
    /// Stored messages keep their bytes and their dialect, and each request renders them for the provider. Tools may be
    /// running: a cycle that was begun before is answered in the dialect of its turn. Switching back gives the original
    /// bytes again.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seamline::session::{Session, SessionOptions};
    /// use seamline::store::MemoryStore;
    ///
    /// # futures_executor::block_on(async {
    /// let store = Arc::new(MemoryStore::new());
    /// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
    /// session.append(r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#).await?;
    ///
    /// session.switch_provider("gemini").await?;
    /// assert_eq!(session.dialect(), "gemini_generate");
    /// let request = session.request("{}")?;
    /// assert_eq!(request.body, br#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, or the store failed.
    pub async fn switch_provider(&mut self, name: &str) -> Result<(), SessionError> {
        self.settle().await?;
        let batch = self.facts().plan_switch(name)?;
        self.write(batch).await
    }

    /// Appends a message of another dialect, byte for byte. `name` is the name of the dialect, or of a provider that
    /// serves it.
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, the value is not a message, or the store failed.
    pub async fn append_as(&mut self, name: &str, message: &str) -> Result<(), SessionError> {
        let wire = self.wire.named(name)?;
        let messages = wire.parse_messages(&[message])?;
        self.write(Batch::of(messages.into_iter().map(|message| said(&wire, message)).collect())).await
    }

    /// Makes the body for another provider or dialect, as [`Session::request`] does for the current one. The session does
    /// not switch.
    ///
    /// # Errors
    /// When there is no provider and no dialect of that name, the envelope is not a JSON object or has messages of its
    /// own, or the conversation cannot be read.
    pub fn request_for(&self, name: &str, envelope: &str) -> Result<Request, SessionError> {
        self.request_by(&self.wire.named(name)?, None, envelope)
    }
}

impl Facts<'_> {
    /// Plans a switch; nothing where the session speaks to that provider already.
    fn plan_switch(&self, name: &str) -> Result<Batch, SessionError> {
        let wire = self.wire.named(name)?;
        if (wire.dialect, &wire.options.provider) == (self.wire.dialect, &self.wire.options.provider) {
            return Ok(Batch::default());
        }
        let (dialect, provider) = (wire.dialect.into(), wire.options.provider);
        Ok(Record::Switch(Switch { dialect, provider }).into())
    }
}
