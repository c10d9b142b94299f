//! The clients of one's own server: of the operators' API, and of the API as a tenant's program sees it.

use super::{Failure, Settings, other, runtime};
use crate::config::{Config, Secret, Tls};
use crate::fetch::causes;
use api::dry_run::DRY_RUN;
use clap::Args;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, StatusCode};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use uuid::Uuid;

pub const JSON: &str = "application/json";
pub const CSV: &str = "text/csv";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Operators {
    address: SocketAddr,
    token: Option<Secret>,
    tls: Option<Tls>,
    patience: Option<Duration>,
    /// Calls are only rehearsed.
    is_dry: bool,
}

impl Operators {
    /// With the token of this file if one is named. A process that is frozen takes connections and never answers.
    pub fn new(
        config: &Config,
        file: Option<&str>,
        patience: Option<Duration>,
    ) -> Result<Operators, Failure> {
        let token = match file {
            Some(file) => Some(token_in(config, file)?),
            // An operator's token may be shorter than that of the configuration has to be.
            None => config.admin.presented(&config.storage.path)?,
        };
        let (address, tls) = (reachable(config.admin.listen), config.admin.tls.clone());
        Ok(Operators { address, token, tls, patience, is_dry: false })
    }

    pub fn dry(self, is_dry: bool) -> Operators {
        Operators { is_dry, ..self }
    }

    /// When nobody knows whether a POST was done, the error says so, and how it is repeated without doing it twice.
    pub fn call(
        &self,
        (method, path): (&str, &str),
        accept: &str,
        body: Option<&Value>,
        key: Option<Uuid>,
    ) -> Result<String, Failure> {
        let advice = || if method == "POST" && !self.is_dry { advice(key) } else { String::new() };
        let (scheme, client) = reach(self.tls.as_ref())?;
        // HTTP/1.1: in HTTP/2 the host is always that of the address.
        let mut client = client.http1_only().connect_timeout(CONNECT_TIMEOUT);
        if let Some(patience) = self.patience {
            client = client.timeout(patience);
        }
        let client = client.build().map_err(other)?;
        let mut request =
            client.request(method.parse().map_err(other)?, format!("{scheme}://{}{path}", self.address));
        // The listener answers under this name wherever it listens, whatever admin.hosts says.
        request = request.header("host", "localhost").header("accept", accept);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose());
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key.to_string());
        }
        if self.is_dry {
            request = request.header(DRY_RUN, "true");
        }
        request = match body {
            Some(Value::String(file)) => request.header("content-type", CSV).body(file.clone()),
            Some(body) => request.header("content-type", JSON).body(body.to_string()),
            None => request,
        };
        let why = match runtime()?.block_on(answer(request)) {
            Ok((status, text)) if status.is_success() => {
                match self.is_dry.then(|| rehearsed_refusal(&text)) {
                    Some(Some(why)) => why,
                    _ => return Ok(text),
                }
            }
            Ok((status, text)) if is_open(status.as_u16(), &text) => {
                refused(status.as_u16(), &text) + &advice()
            }
            Ok((status, text)) => refused(status.as_u16(), &text),
            Err(error) if error.is_builder() => return Err(other(error)),
            Err(error) if error.is_connect() => self.unanswered(&error),
            Err(error) => self.unanswered(&error) + &advice(),
        };
        Err(Failure::Other(why))
    }

    fn unanswered(&self, error: &reqwest::Error) -> String {
        format!(
            "the operators' API at {} did not answer ({}); is the server running, and is admin.listen its \
             address?",
            self.address,
            causes(error)
        )
    }
}

/// A path, or the name of a file `NAME.token` in the data directory.
fn token_in(config: &Config, file: &str) -> Result<Secret, Failure> {
    let named = config.storage.path.join(format!("{file}.token"));
    let path = if Path::new(file).is_file() { Path::new(file) } else { named.as_path() };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Other(format!("--as {file}: {}: {error}", path.display())))?;
    match text.trim() {
        token if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(Secret::new(token))
        }
        _ => Err(Failure::Other(format!("--as {file}: {} holds no token", path.display()))),
    }
}

/// Nobody knows if the call was done. Most of the problems of a server say that nothing was.
fn is_open(status: u16, body: &str) -> bool {
    (status >= 500 && !body.contains("nothing was done")) || body.contains("idempotency_in_progress")
}

fn advice(key: Option<Uuid>) -> String {
    match key {
        Some(key) => format!(
            "\nIt may have been done all the same. The same command with --idempotency-key {key} does it \
             once, or says what came of it."
        ),
        None => "\nIt may have been done all the same: look before you repeat it.".to_owned(),
    }
}

/// A server that listens everywhere is reached on this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

pub fn refused(status: u16, body: &str) -> String {
    let Ok(Value::Object(problem)) = serde_json::from_str(body) else { return format!("{status}: {body}") };
    let word = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut line = format!("{status} {}: {}", word("error"), word("message"));
    for field in problem.get("fields").and_then(Value::as_array).into_iter().flatten() {
        let [name, why] = ["field", "message"].map(|member| field[member].as_str().unwrap_or_default());
        // The message of one bad field is about it.
        if !line.contains(&format!("{name}: {why}")) {
            line.push_str(&format!("; {name} {why}"));
        }
    }
    for (name, value) in &problem {
        if !matches!(name.as_str(), "error" | "message" | "fields") {
            line.push_str(&format!("; {name} {}", scalar(value)));
        }
    }
    line
}

/// What a call that was only rehearsed would be refused with.
fn rehearsed_refusal(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok())?;
    (status >= 400).then(|| refused(status, &answer["body"].to_string()))
}

pub fn warnings(answer: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    answer["warnings"].as_array().into_iter().flatten().map(scalar).collect()
}

pub fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

pub async fn answer(request: RequestBuilder) -> Result<(StatusCode, String), reqwest::Error> {
    let answer = request.send().await?;
    Ok((answer.status(), answer.text().await?))
}

const PATIENCE: Duration = Duration::from_secs(30);
pub const PAGE: usize = 100;
const TEST_KEY: &str = "pk_test_";

/// The server to call, and the key to call it with.
#[derive(Args, Clone, Debug)]
pub struct Api {
    #[command(flatten)]
    settings: Settings,
    /// Address of the API [default: that of server.listen]
    #[arg(long, env = "PASARELA_URL", value_name = "URL", value_parser = web_address)]
    server: Option<String>,
    /// The account's key: a test key, where something is made to happen
    #[arg(long, env = "PASARELA_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
}

/// Read when the command starts, not when it is first used.
pub fn web_address(text: &str) -> Result<String, &'static str> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest.filter(|rest| !rest.is_empty()) {
        Some(_) if Url::parse(text).is_ok() => Ok(text.to_owned()),
        _ => Err("an address begins with http:// or https://, such as http://127.0.0.1:8080"),
    }
}

pub struct Reached {
    pub client: reqwest::ClientBuilder,
    pub base: String,
    pub key: String,
}

pub struct Caller {
    client: reqwest::Client,
    pub base: String,
    pub key: String,
}

#[derive(Deserialize)]
pub struct Event {
    pub id: String,
    pub sequence: u64,
    pub event: String,
    pub data: Box<RawValue>,
    pub timestamp: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Event>,
}

impl Api {
    pub fn caller(&self) -> Result<Caller, Failure> {
        if self.key.as_ref().is_some_and(|key| !key.starts_with(TEST_KEY)) {
            return Err(Failure::Other(format!("the key is no test key: those begin with {TEST_KEY}")));
        }
        self.any_caller()
    }

    pub fn any_caller(&self) -> Result<Caller, Failure> {
        let Reached { client, base, key } = self.reached()?;
        let client = client.timeout(PATIENCE).build();
        let client = client.map_err(|error| Failure::Other(format!("there is no client: {error}")))?;
        Ok(Caller { client, base, key })
    }

    /// The way to the server, for a client that waits as long as it likes.
    pub fn reached(&self) -> Result<Reached, Failure> {
        let key = self.key.clone().ok_or_else(|| {
            Failure::Other("a key is needed: --key, or PASARELA_KEY in the environment".to_owned())
        })?;
        let (base, client) = match &self.server {
            Some(url) => (url.trim_end_matches('/').to_owned(), reach(None)?.1),
            None => {
                let server = self.settings.load()?.server;
                let (scheme, client) = reach(server.tls.as_ref())?;
                (format!("{scheme}://{}", server.listen), client)
            }
        };
        Ok(Reached { client, base, key })
    }
}

impl Caller {
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

    pub async fn events(&self, after: u64, limit: usize) -> Result<Vec<Event>, Failure> {
        let path = format!("/v1/events?after={after}&limit={limit}");
        let page: Page = self.call("GET", &path, None, None).await?;
        Ok(page.items)
    }

    /// With the client secret of a checkout session, or else with the key. Anything but a success is a failure in the
    /// words of the API.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        secret: Option<&str>,
        body: Option<&str>,
    ) -> Result<T, Failure> {
        let failed = |why: &dyn Display| Failure::Other(format!("{method} {}{path}: {why}", self.base));
        let verb = method.parse().map_err(|error: hyper::http::method::InvalidMethod| failed(&error))?;
        let mut request = self.client.request(verb, format!("{}{path}", self.base));
        request = match secret {
            Some(secret) => request.bearer_auth(secret),
            None => request.header("x-api-key", &self.key),
        };
        if let Some(body) = body {
            request = request.header("content-type", JSON).body(body.to_owned());
        }
        let (status, body) = answer(request).await.map_err(|error| match error.is_connect() {
            true => Failure::Other(format!(
                "nothing answers at {} ({}); --server says where the API is",
                self.base,
                causes(&error)
            )),
            false => failed(&error.without_url()),
        })?;
        if !status.is_success() {
            return Err(failed(&refused(status.as_u16(), &body)));
        }
        serde_json::from_str(&body).map_err(|error| failed(&error))
    }
}

pub fn reach(tls: Option<&Tls>) -> Result<(&'static str, reqwest::ClientBuilder), Failure> {
    // A second call finds it installed.
    let _ = ring::default_provider().install_default();
    // The environment's proxies are not used to reach one's own server, and no key goes where an answer leads.
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none());
    let Some(tls) = tls else { return Ok(("http", client)) };
    let failed = |why: &dyn Display| Failure::Other(format!("{}: {why}", tls.certificate.display()));
    let provider = Arc::new(ring::default_provider());
    // The first in the file is the server's own.
    let certificate = CertificateDer::from_pem_file(&tls.certificate).map_err(|error| failed(&error))?;
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { certificate, provider }))
        .with_no_client_auth();
    Ok(("https", client.tls_backend_preconfigured(config)))
}

#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *shown == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, shown, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, shown, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_that_says_all() {
        let body = concat!(
            r#"{"error":"invalid_data","message":"fields are bad","requestId":"r1","#,
            r#""fields":[{"field":"name","message":"must have 1 to 120 characters"}]}"#,
        );
        assert_eq!(
            refused(400, body),
            "400 invalid_data: fields are bad; name must have 1 to 120 characters; requestId r1"
        );
        assert_eq!(refused(502, "bad gateway"), "502: bad gateway");
        let once = concat!(
            r#"{"error":"invalid_data","message":"to: must be the name of a node","#,
            r#""fields":[{"field":"to","message":"must be the name of a node"}]}"#,
        );
        assert_eq!(refused(400, once), "400 invalid_data: to: must be the name of a node");
    }

    #[test]
    fn what_was_certainly_not_done_is_not_said_to_be_open() {
        let body = |problem: api::problem::Problem| String::from_utf8(problem.to_json("r1")).expect("text");
        assert!(!is_open(503, &body(api::problem::Problem::no_leader())));
        assert!(!is_open(503, &body(api::problem::Problem::overloaded(1))));
        assert!(!is_open(400, "{}"));
        assert!(is_open(503, &body(api::problem::Problem::storage_unavailable())));
        assert!(is_open(502, "bad gateway"));
        assert!(is_open(409, r#"{"error":"idempotency_in_progress"}"#));
    }

    #[test]
    fn warnings_are_told_one_by_one() {
        assert_eq!(
            warnings(r#"{"liveStatus":"active","warnings":["C2P: no","COP: \"no\""]}"#),
            ["C2P: no", "COP: \"no\""]
        );
        assert!(
            warnings(r#"{"warnings":[]}"#).is_empty()
                && warnings("[]").is_empty()
                && warnings("{}").is_empty()
        );
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_here() {
        let reached = |listen: &str| reachable(listen.parse().expect("an address")).to_string();
        assert_eq!(reached("0.0.0.0:9090"), "127.0.0.1:9090");
        assert_eq!(reached("[::]:9090"), "[::1]:9090");
        assert_eq!(reached("10.1.2.3:9090"), "10.1.2.3:9090");
    }
}
