//! A file that was made once: its tag is a hash of what is in it, and who has it already is told so.

use crate::http::respond::Reply;
use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use sha2::{Digest, Sha256};

/// Asked for again each time, and answered with 304 while it is the same.
const REVALIDATE: &str = "no-cache";

pub struct Made {
    body: Bytes,
    etag: HeaderValue,
}

impl Made {
    pub fn new(body: Vec<u8>) -> Made {
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&body)[..12]));
        let etag = HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"1\""));
        Made { body: Bytes::from(body), etag }
    }

    pub fn reply(&self, media: &'static str, policy: &'static str, headers: &HeaderMap) -> Reply {
        let is_known = headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|sent| sent.to_str().ok())
            .any(|sent| matches(sent, &self.etag));
        let reply = if is_known { Reply::empty(304) } else { Reply::new(200, media, self.body.clone()) };
        guarded(reply.header(ETAG, self.etag.clone()), policy)
    }
}

/// Asked for again each time.
pub fn guarded(reply: Reply, policy: &'static str) -> Reply {
    let fixed: [(HeaderName, &'static str); 4] = [
        (CACHE_CONTROL, REVALIDATE),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, policy),
    ];
    fixed.into_iter().fold(reply, |reply, (name, value)| reply.header(name, HeaderValue::from_static(value)))
}

/// A weak tag will do (RFC 9110, section 13.1.2).
fn matches(sent: &str, etag: &HeaderValue) -> bool {
    sent.split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_tag_is_answered_without_a_body() {
        let made = Made::new(b"{}".to_vec());
        let ask = |sent: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_str(sent).expect("a header"));
            made.reply("application/json", "default-src 'none'", &headers)
        };
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(b"{}")[..12]));
        for sent in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let reply = ask(&sent);
            assert_eq!((reply.status(), reply.body().len()), (304, 0), "{sent}");
        }
        let reply = ask("\"x\"");
        assert_eq!((reply.status(), &reply.body()[..]), (200, b"{}".as_slice()));
    }
}
