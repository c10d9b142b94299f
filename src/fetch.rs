//! A fetcher for sources over HTTP that may be slow, wrong, endless or gone: a call ends in time,
//! reads a bounded answer and follows no redirect; what went wrong is said in one line, without
//! address and headers, which may be secrets.

use crate::bank_text::decoded;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, StatusCode, redirect};
use std::error::Error;
use std::time::Duration;

const ANSWER_BYTES_MAX: usize = 1 << 20;
/// The `User-Agent` of our calls; some sources refuse calls without one.
const USER_AGENT: &str = concat!("pasarela/", env!("CARGO_PKG_VERSION"));

/// Why a source gave no text. Address and headers are not part of it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(String);

pub struct Fetcher {
    client: Client,
    timeout: Duration,
}

impl Fetcher {
    pub fn new(timeout: Duration) -> Result<Fetcher, FetchError> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // Nobody has agreed to where they lead, least of all with our headers.
            .redirect(redirect::Policy::none())
            .timeout(timeout)
            .pool_max_idle_per_host(1)
            .build()
            .map_err(|error| FetchError(format!("no HTTP client: {}", causes(&error))))?;
        Ok(Fetcher { client, timeout })
    }

    pub async fn ask(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: String,
    ) -> Result<String, FetchError> {
        let mut request = self.client.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let failed = |error: reqwest::Error| match error.is_timeout() {
            true => FetchError(format!("no whole answer within {} s", self.timeout.as_secs())),
            false => FetchError(causes(&error.without_url())),
        };
        let mut answer = request.send().await.map_err(failed)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                let advice = "redirects are not followed, configure the final address";
                return Err(FetchError(format!("answered {status}; {advice}")));
            }
            status => return Err(FetchError(format!("answered {status}"))),
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(FetchError(format!("answered more than {ANSWER_BYTES_MAX} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(decoded(&body).into_owned())
    }
}

/// An error with those behind it.
pub fn causes(error: &dyn Error) -> String {
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
