//! The parameters of a request.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::table::{Method, Type};
use crate::{RpcCall, RpcError};

/// The parameters of a request, checked against the table: no unknown name, no missing one, and the right types.
#[derive(Debug)]
pub(crate) struct Params<'p> {
    members: BTreeMap<String, &'p RawValue>,
}

impl<'p> Params<'p> {
    pub(crate) fn read(method: &Method, call: &'p RpcCall) -> Result<Self, RpcError> {
        let members: BTreeMap<String, &RawValue> = match &call.params {
            None => BTreeMap::new(),
            Some(params) => serde_json::from_str(params.get())
                .map_err(|_| RpcError::invalid_params("the parameters are an object, with each name once at most"))?,
        };
        let members: BTreeMap<_, _> = members.into_iter().filter(|(_, value)| value.get() != "null").collect();
        if let Some(name) = members.keys().find(|name| method.all_params().all(|param| param.name != **name)) {
            let known: Vec<_> = method.all_params().map(|param| format!("`{}`", param.name)).collect();
            let text = format!("`{}` has no parameter `{name}`; it has {}", method.name, known.join(", "));
            return Err(RpcError::invalid_params(text));
        }
        let params = Self { members };
        for param in method.all_params() {
            match params.members.get(param.name) {
                None if param.required => {
                    return Err(RpcError::invalid_params(format!("the parameter `{}` is missing", param.name)));
                }
                Some(value) if !fits(param.of, value.get()) => {
                    return Err(wrong(param.name, wanted(param.of)));
                }
                _ => {}
            }
        }
        Ok(params)
    }

    /// The JSON of a parameter, byte for byte.
    pub(crate) fn raw(&self, name: &str) -> Option<&'p str> {
        self.members.get(name).map(|value| value.get())
    }

    fn parsed<T: DeserializeOwned>(&self, name: &str, wanted: &str) -> Result<Option<T>, RpcError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map(Some).map_err(|_| wrong(name, wanted))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, RpcError> {
        self.parsed(name, "a text")
    }

    /// A text that the table demands.
    pub(crate) fn needed(&self, name: &str) -> Result<String, RpcError> {
        Ok(self.text(name)?.unwrap_or_default())
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, RpcError> {
        Ok(self.parsed(name, "true or false")?.unwrap_or_default())
    }

    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, RpcError> {
        self.parsed(name, "a number from 0 on")
    }

    /// A number of things in memory.
    pub(crate) fn size(&self, name: &str) -> Result<Option<usize>, RpcError> {
        Ok(self.count(name)?.map(|count| usize::try_from(count).unwrap_or(usize::MAX)))
    }

    /// The elements of a list, byte for byte.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<&'p str>>, RpcError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let list: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| wrong(name, "a list"))?;
        Ok(Some(list.into_iter().map(RawValue::get).collect()))
    }

    pub(crate) fn texts(&self, name: &str) -> Result<BTreeMap<String, String>, RpcError> {
        Ok(self.parsed(name, "an object of texts")?.unwrap_or_default())
    }

    /// The options, for a reader of the library.
    pub(crate) fn value(&self, name: &str) -> Result<Value, RpcError> {
        Ok(self.parsed(name, "JSON")?.unwrap_or(Value::Null))
    }

    /// One of the words of an enumeration.
    pub(crate) fn word<T: DeserializeOwned>(&self, name: &str, words: &str) -> Result<Option<T>, RpcError> {
        self.parsed(name, words)
    }
}

pub(crate) fn wrong(name: &str, wanted: &str) -> RpcError {
    RpcError::invalid_params(format!("the parameter `{name}` is {wanted}"))
}

fn wanted(of: Type) -> &'static str {
    match of {
        Type::Text => "a text",
        Type::Flag => "true or false",
        Type::Count => "a number from 0 on",
        Type::Handle(_) => "a handle, which is a text",
        Type::Json | Type::Options => "JSON",
        Type::List => "a list",
        Type::Texts => "an object of texts",
    }
}

fn fits(of: Type, raw: &str) -> bool {
    match of {
        Type::Text | Type::Handle(_) => raw.starts_with('"'),
        Type::Flag => raw == "true" || raw == "false",
        Type::Count => raw.bytes().all(|byte| byte.is_ascii_digit()),
        Type::Json | Type::Options => true,
        Type::List => raw.starts_with('['),
        Type::Texts => raw.starts_with('{'),
    }
}
