//! One call to a node by JSON-RPC. The node's address may hold a key of its provider, so it shows nowhere.

use crate::bank_text;
use crate::rails::http::{BaseUrl, Client, HttpAnswer, NoClient, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;
use zeroize::Zeroizing;

const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
const WORDS_MAX: usize = 160;

/// Without Debug output: providers put keys into the address.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: BaseUrl,
    url: Zeroizing<String>,
}

impl Endpoint {
    /// `https`, or `http` on this machine; what follows a question mark may be a key.
    pub fn parse(text: &str) -> Result<Endpoint, &'static str> {
        const EXPECTED: &str =
            "must be an https address without user and fragment; http goes to loopback only";
        let mut bare = Url::parse(text).map_err(|_| EXPECTED)?;
        bare.set_query(None);
        let base = BaseUrl::parse(bare.as_str()).map_err(|_| EXPECTED)?;
        Ok(Endpoint { base, url: Zeroizing::new(text.to_owned()) })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    #[error("the node cannot be asked: {0}")]
    NoAnswer(&'static str),
    #[error("the node's answer ({0}) is no JSON-RPC")]
    Garbage(u16),
    #[error("the node's answer to {0} cannot be read")]
    Unreadable(&'static str),
    #[error("the node refuses {method}: {words} ({code})")]
    Refused { method: &'static str, code: i64, words: String },
}

impl RpcError {
    pub const fn is_answer(&self) -> bool {
        matches!(self, RpcError::Refused { .. })
    }
}

#[derive(Deserialize)]
struct RpcAnswer {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    code: i64,
    #[serde(default)]
    message: String,
}

pub struct Rpc {
    endpoint: Endpoint,
    client: Client,
}

impl Rpc {
    pub fn new(endpoint: Endpoint, timeout: Duration) -> Result<Rpc, NoClient> {
        let client = Client::new(&endpoint.base, timeout)?.answers_up_to(ANSWER_BYTES_MAX);
        Ok(Rpc { endpoint, client })
    }

    /// What an answer says, or that it cannot be read.
    pub async fn ask<T>(
        &self,
        method: &'static str,
        params: Value,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, RpcError> {
        read(&self.call(method, params).await?).ok_or(RpcError::Unreadable(method))
    }

    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, RpcError> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let body = Zeroizing::new(body.to_string().into_bytes());
        let request = Request::post(self.endpoint.url.as_str().to_owned()).json(body);
        let answer = self.client.exchange(request).await.answer();
        let HttpAnswer { status, body } = answer.map_err(|failure| RpcError::NoAnswer(failure.text()))?;
        // Some nodes refuse with a status of 400 and an answer that can be read.
        let answer = bank_text::json(&body).and_then(|answer| serde_json::from_value(answer).ok());
        let answer: RpcAnswer = answer.ok_or(RpcError::Garbage(status))?;
        match answer {
            RpcAnswer { error: Some(Refusal { code, message }), .. } => {
                Err(RpcError::Refused { method, code, words: plain(&message) })
            }
            RpcAnswer { result, error: None } if status == 200 => Ok(result.unwrap_or(Value::Null)),
            _ => Err(RpcError::Garbage(status)),
        }
    }
}

fn plain(words: &str) -> String {
    let shown =
        |character: &char| !character.is_control() && !domain::values::text::is_bidi_control(*character);
    words.chars().filter(shown).take(WORDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_safe_and_does_not_show() {
        for text in [
            "http://127.0.0.1:8545",
            "https://mainnet.example/v3/hunter2",
            "https://node.example/?key=hunter2",
        ] {
            let endpoint = Endpoint::parse(text).expect(text);
            assert_eq!(endpoint.url.as_str(), text);
        }
        for text in ["", "http://node.example", "https://user:pass@node.example", "ws://127.0.0.1:1"] {
            assert!(Endpoint::parse(text).is_err(), "{text}");
        }
    }
}
