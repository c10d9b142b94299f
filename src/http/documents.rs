//! `/openapi.json`, `/docs` and, where it has one, the page at `/` of a listener. The page is three
//! files of our own: it asks no other host for anything, has no inline script, and works where
//! there is no network.

pub mod home;
mod made;

pub use made::{Made, guarded};

use crate::http::respond::{HTML, JSON, Reply};
use api::problem::Problem;
use askama::Template;
use hyper::Method;
use hyper::header::HeaderMap;
use std::sync::OnceLock;

/// The page loads its own files and calls its own server.
pub const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What searches take for one another, as JSON: `words` that people type, the names that the `api`
/// has for the same, and the guide's `page` that is about it.
pub const SYNONYMS: &str = include_str!("documents/synonyms.json");
const SCRIPT: &str = concat!(
    "'use strict';\nconst SYNONYMS = ",
    include_str!("documents/synonyms.json"),
    ";\n",
    include_str!("documents/page.js")
);
pub const ALLOW: &str = "GET, HEAD";

#[derive(Template)]
#[template(path = "page.html", config = "src/http/documents/askama.toml")]
struct Reference<'a> {
    guides: &'a str,
    test_key: Option<&'a str>,
}

/// `guides` is HTML before the page, `test_key` one that may be shown to whoever asks.
pub fn reference(guides: &str, test_key: Option<&str>) -> Result<Vec<u8>, askama::Error> {
    Reference { guides, test_key }.render().map(String::into_bytes)
}

/// Made when it is first asked for: a start need not wait for it.
struct File<M> {
    path: &'static str,
    media: &'static str,
    make: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    made: OnceLock<Made>,
    value: M,
}

/// Each with a value of its caller's, such as the meter that counts answers.
pub struct Documents<M> {
    files: Vec<File<M>>,
}

impl<M> Documents<M> {
    pub fn new(describe: fn() -> Vec<u8>, value: impl Fn(&'static str) -> M) -> Documents<M> {
        let mut documents = Documents { files: Vec::with_capacity(5) };
        documents.add("/openapi.json", JSON, describe, &value);
        documents.add("/docs", HTML, || reference("", None).unwrap_or_default(), &value);
        documents.add(
            "/docs/page.css",
            "text/css; charset=utf-8",
            || include_bytes!("documents/page.css").to_vec(),
            &value,
        );
        documents.add("/docs/page.js", "text/javascript; charset=utf-8", || SCRIPT.into(), &value);
        documents
    }

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

    /// `None` if the path is not one of theirs.
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
        let reply = file.made.get_or_init(|| Made::new((file.make)())).reply(file.media, CSP, headers);
        Some(Ok((&file.value, reply)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: Method, path: &str) -> Option<Result<Reply, Problem>> {
        let documents = Documents::new(|| b"{}".to_vec(), |path| path);
        let answer = documents.answer(&method, path, &HeaderMap::new());
        answer.map(|answer| {
            answer.map(|(value, reply)| {
                assert_eq!(value, &path);
                reply
            })
        })
    }

    #[test]
    fn other_paths_are_not_theirs_and_other_methods_are_named() {
        assert!(ask(Method::GET, "/docs/").is_none() && ask(Method::GET, "/v1/balance").is_none());
        let problem = ask(Method::POST, "/docs").expect("there").expect_err("refused");
        assert_eq!((problem.status, problem.allow.as_deref()), (405, Some("GET, HEAD")));
    }
}
