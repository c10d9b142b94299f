//! Asks a source over HTTP that may be slow, wrong, endless or gone: a call ends in time, reads a
//! bounded answer and follows no redirect; what went wrong is said in one line, without address and
//! headers, which may be secrets.

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, StatusCode, redirect};
use std::time::Duration;

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// What we call ourselves; some sources refuse who says nothing.
const USER_AGENT: &str = concat!("pasarela/", env!("CARGO_PKG_VERSION"));

/// Asks.
pub struct Fetcher {
    client: Client,
    timeout: Duration,
}

impl Fetcher {
    /// One whose calls end after this time.
    pub fn new(timeout: Duration) -> Result<Fetcher, String> {
        // Fails when somebody installed it before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // Where a redirect leads nobody has agreed to, least of all with our headers.
            .redirect(redirect::Policy::none())
            .timeout(timeout)
            .pool_max_idle_per_host(1)
            .build()
            .map_err(|error| format!("no HTTP client: {}", causes(&error)))?;
        Ok(Fetcher { client, timeout })
    }

    /// What is answered, if it is a 200 with text.
    pub async fn ask(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: String,
    ) -> Result<String, String> {
        let mut request = self.client.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let failed = |error: reqwest::Error| match error.is_timeout() {
            true => format!("no whole answer within {} s", self.timeout.as_secs()),
            false => causes(&error.without_url()),
        };
        let mut answer = request.send().await.map_err(failed)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(format!(
                    "answered {status}; redirects are not followed, configure the final address"
                ));
            }
            status => return Err(format!("answered {status}")),
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(format!("answered more than {ANSWER_BYTES_MAX} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| "the answer is not UTF-8".to_owned())
    }
}

/// An error with what it came from, which is where the reason stands.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}
