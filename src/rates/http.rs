//! A source over HTTP: the request that is sent, and the sample that is read from the answer.
//! `fetch.rs` keeps it within its bounds.

use super::error::SourceError;
use super::reading;
use crate::bank_text;
use crate::fetch::{FetchError, Fetcher};
use crate::json_pointer::Pointer;
use domain::resources::rates::samples::{Sample, Series};
use domain::values::time::{Timestamp, Zone};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use std::time::Duration;
use zeroize::Zeroizing;

/// Today's date in Caracas, in URL, headers, body and message.
const DATE: &str = "{caracas_date}";
const SIGNATURE: &str = "{hmac}";

/// Headers and the key may be secrets: it has no Debug output.
#[derive(Clone)]
pub struct HttpCall {
    pub url: String,
    pub is_post: bool,
    pub headers: Vec<(String, Zeroizing<String>)>,
    pub body: String,
    pub price: Pointer,
    /// Without one a price is of the moment in which it was fetched.
    pub as_of: Option<Pointer>,
    pub timeout: Duration,
    /// Key and message, HMAC-SHA256 in lower-case hexadecimal digits.
    pub signature: Option<(Zeroizing<String>, String)>,
}

pub(super) struct HttpSource {
    fetcher: Fetcher,
    call: HttpCall,
}

impl HttpSource {
    pub fn new(call: HttpCall) -> Result<HttpSource, SourceError> {
        let source = HttpSource { fetcher: Fetcher::new(call.timeout).map_err(unfetched)?, call };
        source.headers(Timestamp::EPOCH)?;
        Ok(source)
    }

    pub async fn look(&self, series: &Series, now: Timestamp) -> Result<Sample, SourceError> {
        let method = if self.call.is_post { Method::POST } else { Method::GET };
        let (url, body) = (dated(&self.call.url, now), dated(&self.call.body, now));
        let text = self.fetcher.ask(method, &url, self.headers(now)?, body).await.map_err(unfetched)?;
        // As whoever asks it can read it: a raw line end somewhere is no reason to have no price.
        let text = bank_text::json(text.as_bytes()).map_or(text, |value| value.to_string());
        let price = reading::median_price(&text, &self.call.price).map_err(unreadable)?;
        let as_of = match &self.call.as_of {
            Some(pointer) => {
                reading::as_of(&text, pointer, series.has_value_dates(), now).map_err(unreadable)?
            }
            None => now,
        };
        Ok(Sample::new(series.clone(), price, as_of, now))
    }

    fn headers(&self, now: Timestamp) -> Result<HeaderMap, SourceError> {
        let mut headers = HeaderMap::new();
        let signature = self.call.signature.as_ref().map(|(key, message)| sign(key, &dated(message, now)));
        let signature = signature.unwrap_or_default();
        for (name, value) in &self.call.headers {
            // The value is not quoted: it may be a secret.
            let bad = || {
                SourceError(format!(
                    "headers: {name} is no header, or its value has characters that a header cannot have"
                ))
            };
            let value = dated(value, now).replace(SIGNATURE, &signature);
            let mut value = HeaderValue::from_str(&value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
        }
        Ok(headers)
    }
}

fn unfetched(error: FetchError) -> SourceError {
    SourceError(error.to_string())
}

fn unreadable(why: String) -> SourceError {
    SourceError(format!("the answer {why}"))
}

fn dated(text: &str, now: Timestamp) -> String {
    text.replace(DATE, &now.date_in(Zone::Caracas).to_string())
}

fn sign(key: &str, message: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        unreachable!("HMAC takes keys of any length")
    };
    mac.update(message.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banks_signature_is_of_the_day_in_caracas() {
        let now = Timestamp::parse("2026-11-21T03:00:00Z").expect("an instant");
        assert_eq!(
            dated(r#"{"Moneda":"USD","Fechavalor":"{caracas_date}"}"#, now),
            r#"{"Moneda":"USD","Fechavalor":"2026-11-20"}"#
        );
        // RFC 4231, test case 2.
        assert_eq!(
            sign("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn what_may_be_secret_is_not_shown() {
        let call = HttpCall {
            url: "http://127.0.0.1/?key=hush".to_owned(),
            is_post: false,
            headers: vec![("authorization".to_owned(), Zeroizing::new("hush\n".to_owned()))],
            body: "hush".to_owned(),
            price: Pointer::parse("/price").expect("a pointer"),
            as_of: None,
            timeout: Duration::from_secs(1),
            signature: Some((Zeroizing::new("hush".to_owned()), String::new())),
        };
        assert_eq!(
            HttpSource::new(call).err().map(|error| error.to_string()).as_deref(),
            Some(
                "headers: authorization is no header, or its value has characters that a header cannot have"
            )
        );
    }
}
