//! `/openapi.json`, `/docs` and, where it has one, the page at `/` of a listener: its description
//! for programs, and a page made from it for people. The page is three files of our own: it asks no
//! other host for anything, has no inline script, and works where there is no network. It must not
//! know what is described.

pub mod home;

use crate::http::respond::{HTML, JSON, Reply};
use api::problem::Problem;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// The content security policy of the page: it loads its own files and calls its own server.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The caching of the files: asked for again each time, and answered with 304 while they are the
/// same.
const REVALIDATE: &str = "no-cache";
/// The methods of every file.
const ALLOW: &str = "GET, HEAD";

/// A file of the documentation, made when it is first asked for: a start need not wait for it.
struct File<M> {
    path: &'static str,
    media: &'static str,
    make: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    made: OnceLock<(Bytes, HeaderValue)>,
    /// The value that its caller has for it.
    value: M,
}

/// The files of a listener, each with a value of its caller's, such as the meter that counts
/// answers.
pub struct Documents<M> {
    files: Vec<File<M>>,
}

impl<M> Documents<M> {
    /// The documentation with the description that `describe` makes, and for each path what `value`
    /// gives.
    pub fn new(describe: fn() -> Vec<u8>, value: impl Fn(&'static str) -> M) -> Documents<M> {
        let mut documents = Documents { files: Vec::with_capacity(5) };
        documents.add("/openapi.json", JSON, describe, &value);
        documents.add("/docs", HTML, || include_bytes!("documents/page.html").to_vec(), &value);
        documents.add(
            "/docs/page.css",
            "text/css; charset=utf-8",
            || include_bytes!("documents/page.css").to_vec(),
            &value,
        );
        documents.add(
            "/docs/page.js",
            "text/javascript; charset=utf-8",
            || include_bytes!("documents/page.js").to_vec(),
            &value,
        );
        documents
    }

    /// Adds `page` at `/`.
    pub fn with_home(mut self, page: Vec<u8>, value: impl Fn(&'static str) -> M) -> Documents<M> {
        self.add("/", HTML, move || page.clone(), &value);
        self
    }

    fn add(
        &mut self,
        path: &'static str,
        media: &'static str,
        make: impl Fn() -> Vec<u8> + Send + Sync + 'static,
        value: &impl Fn(&'static str) -> M,
    ) {
        let (make, made) = (Box::new(make), OnceLock::new());
        self.files.push(File { path, media, make, made, value: value(path) });
    }

    /// The answer and the file's value, if the path is one of theirs.
    pub fn answer(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Result<(&M, Reply), Problem>> {
        let file = self.files.iter().find(|file| file.path == path)?;
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(Err(Problem::method_not_allowed(ALLOW.into())));
        }
        let (body, etag) = file.made.get_or_init(|| {
            let body = (file.make)();
            let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&body)[..12]));
            (Bytes::from(body), HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"1\"")))
        });
        let is_known = headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|sent| sent.to_str().ok())
            .any(|sent| matches(sent, etag));
        let reply = if is_known { Reply::empty(304) } else { Reply::new(200, file.media, body.clone()) };
        let fixed: [(HeaderName, &'static str); 4] = [
            (CACHE_CONTROL, REVALIDATE),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (CONTENT_SECURITY_POLICY, CSP),
        ];
        let reply = fixed.into_iter().fold(reply.header(ETAG, etag.clone()), |reply, (name, value)| {
            reply.header(name, HeaderValue::from_static(value))
        });
        Some(Ok((&file.value, reply)))
    }
}

/// Whether a list of tags names this one; a weak one will do (RFC 9110, section 13.1.2).
fn matches(sent: &str, etag: &HeaderValue) -> bool {
    sent.split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: Method, path: &str, sent: Option<&str>) -> Option<Result<Reply, Problem>> {
        let mut headers = HeaderMap::new();
        if let Some(sent) = sent {
            headers.insert(IF_NONE_MATCH, HeaderValue::from_str(sent).expect("a header"));
        }
        let documents = Documents::new(|| b"{}".to_vec(), |path| path);
        let answer = documents.answer(&method, path, &headers);
        answer.map(|answer| {
            answer.map(|(value, reply)| {
                assert_eq!(value, &path);
                reply
            })
        })
    }

    #[test]
    fn a_known_tag_is_answered_without_a_body() {
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(b"{}")[..12]));
        for sent in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let reply = ask(Method::GET, "/openapi.json", Some(&sent)).expect("there").expect("an answer");
            assert_eq!((reply.status(), reply.body().len()), (304, 0), "{sent}");
        }
        let reply = ask(Method::HEAD, "/openapi.json", Some("\"x\"")).expect("there").expect("an answer");
        assert_eq!((reply.status(), &reply.body()[..]), (200, b"{}".as_slice()));
    }

    #[test]
    fn other_paths_are_not_theirs_and_other_methods_are_named() {
        assert!(
            ask(Method::GET, "/docs/", None).is_none() && ask(Method::GET, "/v1/balance", None).is_none()
        );
        let problem = ask(Method::POST, "/docs", None).expect("there").expect_err("refused");
        assert_eq!((problem.status, problem.allow.as_deref()), (405, Some("GET, HEAD")));
    }
}
