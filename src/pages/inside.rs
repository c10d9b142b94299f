//! Calls of an API by a page of the same server. A page asks what its visitor could ask with the
//! key, by the very same way (`gateway/dispatch.rs`), and gets the answer that the visitor would
//! get: pages have no rules about money, scopes or roles of their own. A page that is of several partitions asks its
//! node's front instead, all but what the first one decides and this process is.

use crate::cluster::MISSING;
use crate::cluster::page_front::ToFront;
use crate::cluster::ways::{Way, way};
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival, OnBehalf};
use crate::http::respond::{JSON, Reply, RequestId};
use api::dry_run::DRY_RUN;
use api::problem::Problem;
use bytes::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::http::request::Builder;
use hyper::{Method, Request, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const SCOPE_MISSING: &str = "scope_missing";

pub struct Inside<'a> {
    api: &'a dyn Inner,
    /// Of several partitions, with this process's own.
    front: Option<(&'a ToFront, u8)>,
    /// Partitions that are not in an answer.
    missing: Mutex<BTreeSet<u8>>,
    visitor: OnBehalf,
    host: Option<HeaderValue>,
    peer: SocketAddr,
    request_id: RequestId,
}

#[derive(Clone, Debug)]
pub struct Refused {
    pub status: u16,
    pub code: String,
    /// In English.
    pub message: String,
    pub fields: Vec<(String, String)>,
}

impl Refused {
    fn of(status: u16, body: &Value) -> Refused {
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let fields = body["fields"].as_array().into_iter().flatten();
        let fields = fields.map(|bad| (text(bad, "field"), text(bad, "message"))).collect();
        Refused { status, code: text(body, "error"), message: text(body, "message"), fields }
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        let body: Value = serde_json::from_slice(&problem.to_json("")).unwrap_or_default();
        Refused::of(problem.status, &body)
    }
}

pub type ApiResult = Result<Value, Refused>;

trait Inner: Sync {
    fn ask<'a>(&'a self, arrival: Arrival, body: Bytes) -> Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;
}

impl<A: Answer> Inner for A {
    fn ask<'a>(&'a self, arrival: Arrival, body: Bytes) -> Pin<Box<dyn Future<Output = Reply> + Send + 'a>> {
        Box::pin(async move { self.answer(&arrival, &mut Inbound::made(body)).await })
    }
}

impl<'a> Inside<'a> {
    pub fn of(
        api: &'a impl Answer,
        front: Option<(&'a ToFront, u8)>,
        visitor: OnBehalf,
        arrival: &Arrival,
    ) -> Inside<'a> {
        Inside {
            api,
            front,
            missing: Mutex::default(),
            visitor,
            // HTTP/2 names it in no header.
            host: arrival.head.headers.get(HOST).cloned().or_else(|| {
                arrival.head.uri.authority().and_then(|named| HeaderValue::from_str(named.as_str()).ok())
            }),
            peer: arrival.peer,
            request_id: arrival.request_id.clone(),
        }
    }

    /// Those that could not be asked so far.
    pub fn missing(&self) -> Option<String> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let named: Vec<String> = missing.iter().map(u8::to_string).collect();
        (!named.is_empty()).then(|| named.join(", "))
    }

    /// What each partition says of its own books.
    pub async fn parts<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Refused> {
        #[derive(Deserialize)]
        struct Parts<T> {
            items: Vec<T>,
        }
        let parts = self.get(path).await?;
        let parts: Parts<T> = serde_json::from_value(parts).map_err(Problem::internal_error)?;
        Ok(parts.items)
    }

    pub async fn get(&self, path: &str) -> ApiResult {
        read(self.call(Method::GET, path, None, "", JSON).await)
    }

    /// `None` where there is nothing, or nothing for the visitor's role or settings. A key without
    /// the scope is refused: nothing is known of what it may not read.
    pub async fn find(&self, path: &str) -> Result<Option<Value>, Refused> {
        match self.get(path).await {
            Ok(found) => Ok(Some(found)),
            Err(refused) if refused.code == SCOPE_MISSING => Err(refused),
            Err(refused) if matches!(refused.status, 403 | 404) => Ok(None),
            Err(refused) => Err(refused),
        }
    }

    /// Once however often the same `once` is sent; the page's own request id names the act.
    pub async fn post(&self, path: &str, body: &Value, once: &str) -> ApiResult {
        read(self.call(Method::POST, path, Some((body.to_string().into(), JSON)), once, JSON).await)
    }

    /// What the same call would do now, as the API shows it, or why it would be refused.
    pub async fn rehearse(&self, method: Method, path: &str, body: Option<&Value>, once: &str) -> ApiResult {
        let mut asked = self.request(method, path, body.map(|_| JSON), once, JSON);
        if let Some(headers) = asked.headers_mut() {
            headers.insert(DRY_RUN, HeaderValue::from_static("true"));
        }
        let shown = read(self.ask(asked, body.map(|body| body.to_string().into())).await)?;
        match shown["status"].as_u64().and_then(|status| u16::try_from(status).ok()) {
            Some(status) if status < 400 => Ok(shown),
            status => Err(Refused::of(status.unwrap_or(500), &shown["body"])),
        }
    }

    pub async fn change(&self, method: Method, path: &str, body: Option<&Value>) -> ApiResult {
        let body = body.map(|body| (body.to_string().into(), JSON));
        read(self.call(method, path, body, "", JSON).await)
    }

    pub async fn upload(&self, path: &str, content_type: &'static str, body: Bytes, once: &str) -> ApiResult {
        read(self.call(Method::POST, path, Some((body, content_type)), once, JSON).await)
    }

    /// In another form than JSON; the answer as it is, unless it is refused.
    pub async fn download(&self, path: &str, form: &'static str) -> Result<Reply, Refused> {
        let reply = self.call(Method::GET, path, None, "", form).await;
        if reply.status < 400 { Ok(reply) } else { Err(refused(&reply)) }
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<(Bytes, &'static str)>,
        once: &str,
        accept: &'static str,
    ) -> Reply {
        let (body, content_type) = body.unzip();
        self.ask(self.request(method, path, content_type, once, accept), body).await
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&'static str>,
        once: &str,
        accept: &'static str,
    ) -> Builder {
        let mut request = Request::builder().method(method).uri(path).header(ACCEPT, accept);
        if let Some(host) = &self.host {
            request = request.header(HOST, host);
        }
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        if !once.is_empty() {
            request = request.header(IDEMPOTENCY_KEY, once);
        }
        request
    }

    async fn ask(&self, request: Builder, body: Option<Bytes>) -> Reply {
        // Reads have ids of their own: the page's own id leads to what was done.
        let reads = request.method_ref() == Some(&Method::GET);
        let request_id = if reads { RequestId::generate() } else { self.request_id.clone() };
        let Ok(request) = request.extension(self.visitor).body(()) else {
            return Reply::problem(&Problem::not_found(), &request_id);
        };
        let (head, ()) = request.into_parts();
        let is_here =
            |own: u8| own == 0 && way(&head.method, head.uri.path()) == Way::First && !is_page(&head.uri);
        let front = self.front.filter(|(_, own)| !is_here(*own));
        let arrival = Arrival { head, request_id, peer: self.peer };
        let Some((front, _)) = front else {
            return self.api.ask(arrival, body.unwrap_or_default()).await;
        };
        let mut reply = front.ask(arrival, body.unwrap_or_default()).await;
        if let Some(missing) = reply.take_header(&MISSING) {
            let named =
                missing.to_str().unwrap_or_default().split(',').filter_map(|one| one.parse::<u8>().ok());
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).extend(named);
            reply = reply.header(MISSING, missing);
        }
        reply
    }
}

/// Not of the API: what another page counts.
fn is_page(uri: &Uri) -> bool {
    !uri.path().starts_with("/admin/")
}

fn read(reply: Reply) -> ApiResult {
    if reply.status >= 400 {
        return Err(refused(&reply));
    }
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn refused(reply: &Reply) -> Refused {
    Refused::of(reply.status, &serde_json::from_slice(&reply.body).unwrap_or_default())
}

pub fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    let mut mark = if path.contains('?') { '&' } else { '?' };
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        address.push(mark);
        address.push_str(name);
        address.push('=');
        address.extend(url::form_urlencoded::byte_serialize(value.as_bytes()));
        mark = '&';
    }
    address
}

pub fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
