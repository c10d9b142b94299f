//! The API as a tenant's program sees it: for the commands that play one.

use super::{Failure, Settings, trust};
use clap::Args;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// A bank may need some of it.
const PATIENCE: Duration = Duration::from_secs(30);
/// As many as a page holds.
const PAGE: usize = 100;
const TEST_KEY: &str = "pk_test_";

/// The server to call, and the key to call it with.
#[derive(Args, Clone, Debug)]
pub struct Api {
    #[command(flatten)]
    settings: Settings,
    /// Address of the API [default: that of server.listen]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The account's key: a test key, where something is made to happen
    #[arg(long, env = "PASARELA_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
}

pub struct Caller {
    client: reqwest::Client,
    base: String,
    key: String,
}

#[derive(Deserialize)]
pub struct Event {
    pub id: String,
    pub sequence: u64,
    pub event: String,
    /// Byte by byte.
    pub data: Box<RawValue>,
    pub timestamp: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Event>,
}

impl Api {
    /// In test mode.
    pub fn caller(&self) -> Result<Caller, Failure> {
        if self.key.as_ref().is_some_and(|key| !key.starts_with(TEST_KEY)) {
            return Err(Failure::Other(format!("the key is no test key: those begin with {TEST_KEY}")));
        }
        self.any_caller()
    }

    /// In the mode of the key.
    pub fn any_caller(&self) -> Result<Caller, Failure> {
        let key = self.key.clone().ok_or_else(|| {
            Failure::Other("a key is needed: --key, or PASARELA_KEY in the environment".to_owned())
        })?;
        let (base, client) = match &self.server {
            Some(url) => (url.trim_end_matches('/').to_owned(), trust::reach(None)?.1),
            None => {
                let server = self.settings.load()?.server;
                let (scheme, client) = trust::reach(server.tls.as_ref())?;
                (format!("{scheme}://{}", server.listen), client)
            }
        };
        let client = client.timeout(PATIENCE).build();
        let client = client.map_err(|error| Failure::Other(format!("there is no client: {error}")))?;
        Ok(Caller { client, base, key })
    }
}

impl Caller {
    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Anything but a success is a failure in the words of the API, here and below.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send("POST", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send("PATCH", path, Some(body)).await
    }

    /// With the client secret of a checkout session.
    pub async fn post_as_buyer(&self, path: &str, secret: &str, body: &Value) -> Result<Value, Failure> {
        let request = self.client.post(format!("{}{path}", self.base)).bearer_auth(secret);
        let body = self.answered("POST", path, with_json(request, Some(body))).await?;
        parsed("POST", path, &body)
    }

    /// Oldest first, at most a page of them.
    pub async fn events_after(&self, sequence: u64) -> Result<Vec<Event>, Failure> {
        self.events(sequence, PAGE).await
    }

    /// 0 when there is none: looked for in ever larger steps, then by halves.
    pub async fn newest_event(&self) -> Result<u64, Failure> {
        let (mut known, mut step) = (0, 1);
        while let Some(event) = self.events(known + step - 1, 1).await?.first() {
            known = event.sequence;
            step *= 2;
        }
        // An event is after `known - 1`, and none after `known + step - 1`.
        let mut beyond = known + step;
        while known + 1 < beyond {
            let middle = known + (beyond - known) / 2;
            if self.events(middle - 1, 1).await?.is_empty() { beyond = middle } else { known = middle }
        }
        Ok(known)
    }

    /// Oldest first.
    pub async fn events(&self, after: u64, limit: usize) -> Result<Vec<Event>, Failure> {
        let path = format!("/v1/events?after={after}&limit={limit}");
        let body = self.exchange("GET", &path, None).await?;
        let page: Page =
            serde_json::from_slice(&body).map_err(|error| Failure::Other(format!("{path}: {error}")))?;
        Ok(page.items)
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let body = self.exchange(method, path, body).await?;
        parsed(method, path, &body)
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Vec<u8>, Failure> {
        let verb = reqwest::Method::from_bytes(method.as_bytes());
        let verb = verb.map_err(|error| Failure::Other(format!("{method} {path}: {error}")))?;
        let request = self.client.request(verb, format!("{}{path}", self.base));
        self.answered(method, path, with_json(request.header("x-api-key", &self.key), body)).await
    }

    async fn answered(&self, method: &str, path: &str, request: RequestBuilder) -> Result<Vec<u8>, Failure> {
        let failed =
            |why: &dyn std::fmt::Display| Failure::Other(format!("{method} {}{path}: {why}", self.base));
        let answer = request.send().await.map_err(|error| failed(&error.without_url()))?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(|error| failed(&error.without_url()))?;
        if status.is_success() {
            Ok(body.to_vec())
        } else {
            Err(failed(&format!("{}: {}", status.as_u16(), String::from_utf8_lossy(&body))))
        }
    }
}

fn with_json(request: RequestBuilder, body: Option<&Value>) -> RequestBuilder {
    match body {
        Some(body) => request.header("content-type", "application/json").body(body.to_string()),
        None => request,
    }
}

fn parsed(method: &str, path: &str, body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::Other(format!("{method} {path}: {error}")))
}
