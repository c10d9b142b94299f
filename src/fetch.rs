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

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("no HTTP client: {}", causes(.0))]
    Client(#[source] reqwest::Error),
    #[error("no whole answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("{}", causes(.0))]
    Broken(#[source] reqwest::Error),
    #[error("answered {0}; redirects are not followed, configure the final address")]
    Redirected(StatusCode),
    #[error("answered {0}")]
    Refused(StatusCode),
    #[error("answered more than {ANSWER_BYTES_MAX} bytes")]
    TooLong,
}

pub struct Fetcher {
    client: Client,
    timeout: Duration,
}

impl Fetcher {
    pub fn new(timeout: Duration) -> Result<Fetcher, FetchError> {
        // Fails when somebody installed it before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // Redirects are not followed: nobody has agreed to where they lead, least of all with
            // our headers.
            .redirect(redirect::Policy::none())
            .timeout(timeout)
            .pool_max_idle_per_host(1)
            .build()
            .map_err(FetchError::Client)?;
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
            true => FetchError::Late(self.timeout),
            false => FetchError::Broken(error.without_url()),
        };
        let mut answer = request.send().await.map_err(failed)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(FetchError::Redirected(status));
            }
            status => return Err(FetchError::Refused(status)),
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(FetchError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(decoded(&body).into_owned())
    }
}

fn causes(error: &dyn Error) -> String {
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
