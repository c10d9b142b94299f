//! A blocking HTTP/1.1 client with kept connections, and answers that say what is wrong with them.

use super::conformance::assert_described;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
static CLIENT: LazyLock<Client<HttpConnector, Full<Bytes>>> = LazyLock::new(|| {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
});

/// A base address and the headers that go with every request.
#[derive(Clone)]
pub struct Api {
    base: String,
    headers: HeaderMap,
}

impl Api {
    /// A client for the address, with these headers on every request.
    pub fn new(base: &str, headers: &[(&str, &str)]) -> Api {
        let mut api = Api { base: base.to_owned(), headers: HeaderMap::new() };
        for (name, value) in headers {
            api = api.with(name, value);
        }
        api
    }

    /// The client with one header more.
    pub fn with(&self, name: &str, value: &str) -> Api {
        let mut api = self.clone();
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("a header value");
        api.headers.insert(HeaderName::from_str(name).expect("a header name"), value);
        api
    }

    /// The client with an Idempotency-Key.
    pub fn keyed(&self, key: &str) -> Api {
        self.with("idempotency-key", key)
    }

    /// Sends a GET.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path)
    }

    /// Sends a GET; the error says why there was no answer.
    pub fn try_get(&self, path: &str) -> Result<Answer, String> {
        self.send("GET", path, None, Bytes::new())
    }

    /// Sends a GET with query parameters, encoded.
    #[track_caller]
    pub fn query(&self, path: &str, parameters: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> =
            parameters.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        self.get(&format!("{path}?{}", pairs.join("&")))
    }

    /// Sends a POST of JSON.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.json("POST", path, body)
    }

    /// Sends a POST of JSON; the error says why there was no answer.
    pub fn try_post(&self, path: &str, body: &Value) -> Result<Answer, String> {
        self.send("POST", path, Some("application/json"), Bytes::from(body.to_string()))
    }

    /// Sends a POST without a body.
    #[track_caller]
    pub fn act(&self, path: &str) -> Answer {
        self.request("POST", path)
    }

    /// Sends a POST of the very bytes given, as JSON.
    #[track_caller]
    pub fn post_raw(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.post_as(path, "application/json", body)
    }

    /// Sends a POST of the very bytes given, as another type.
    #[track_caller]
    pub fn post_as(&self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Answer {
        self.send("POST", path, Some(content_type), body.into()).expect("an answer")
    }

    /// Sends a PATCH of JSON.
    #[track_caller]
    pub fn patch(&self, path: &str, body: &Value) -> Answer {
        self.json("PATCH", path, body)
    }

    /// Sends a PUT of JSON.
    #[track_caller]
    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.json("PUT", path, body)
    }

    /// Sends a DELETE.
    #[track_caller]
    pub fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path)
    }

    /// Sends a request of any method without a body.
    #[track_caller]
    pub fn request(&self, method: &str, path: &str) -> Answer {
        self.send(method, path, None, Bytes::new()).expect("an answer")
    }

    #[track_caller]
    fn json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, Some("application/json"), Bytes::from(body.to_string())).expect("an answer")
    }

    #[track_caller]
    fn send(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: Bytes,
    ) -> Result<Answer, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::from_str(method).expect("a method");
        *request.uri_mut() = format!("{}{path}", self.base).parse().expect("an address");
        *request.headers_mut() = self.headers.clone();
        if let Some(content_type) = content_type {
            request
                .headers_mut()
                .insert("content-type", HeaderValue::from_str(content_type).expect("a header value"));
        }
        let told = format!("{method} {path}");
        let exchange = async {
            let answer = CLIENT.request(request).await.map_err(|error| format!("{told}: {error:?}"))?;
            let (head, body) = answer.into_parts();
            let body = body.collect().await.map_err(|error| format!("{told}: {error:?}"))?.to_bytes();
            Ok(Answer { told: told.clone(), status: head.status.as_u16(), headers: head.headers, body })
        };
        let answer: Answer = RUNTIME
            .block_on(async { tokio::time::timeout(PATIENCE, exchange).await })
            .unwrap_or_else(|_| Err(format!("{told}: no answer within {PATIENCE:?}")))?;
        // A form is sent by a page, and answered with one: the description is of calls in JSON.
        if content_type != Some("application/x-www-form-urlencoded") {
            assert_described(method, path, answer.status, answer.header("content-type"), &answer.body);
        }
        Ok(answer)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    told: String,
    /// The answer's status.
    pub status: u16,
    headers: HeaderMap,
    /// The answer's body, byte by byte.
    pub body: Bytes,
}

impl Answer {
    /// A header, if it is there and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// The body as JSON; numbers are kept as they were written.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{}: {} is not JSON ({error}): {}", self.told, self.status, self.text())
        })
    }

    /// The body as JSON, after the status was seen to be this one.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.told, self.text());
        self.json()
    }

    /// The body of an error, after its status, code and shape were seen to be right.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"], code, "{}: {body}", self.told);
        assert!(
            body["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{}: no message in {body}",
            self.told
        );
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"), "{}: {body}", self.told);
        body
    }

    /// The fields that a 400 `invalid_data` names: each once, each with a message.
    #[track_caller]
    pub fn bad_fields(&self) -> BTreeSet<String> {
        let body = self.refused(400, "invalid_data");
        let fields =
            body["fields"].as_array().unwrap_or_else(|| panic!("{}: no fields in {body}", self.told));
        let mut names = BTreeSet::new();
        for field in fields {
            let name = field["field"]
                .as_str()
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| panic!("{}: a field without a name: {body}", self.told));
            assert!(
                field["message"].as_str().is_some_and(|message| !message.is_empty()),
                "{}: {name} without a message",
                self.told
            );
            assert!(names.insert(name.to_owned()), "{}: {name} twice in {body}", self.told);
        }
        names
    }

    /// Asserts that a 400 `invalid_data` names exactly these fields.
    #[track_caller]
    pub fn names(&self, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(self.bad_fields(), expected, "{}", self.told);
    }

    /// The sequence of the durable record that holds what this answer speaks of.
    #[track_caller]
    pub fn wal_seq(&self) -> u64 {
        let text =
            self.header("wal-seq").unwrap_or_else(|| panic!("{}: no Wal-Seq on {}", self.told, self.status));
        text.parse().unwrap_or_else(|_| panic!("{}: Wal-Seq is {text}", self.told))
    }
}

/// Percent-encoding of everything but letters, digits and a few marks.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
