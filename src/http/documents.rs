//! `/openapi.json`, `/docs` and, where it has one, the page at `/` of a listener. The page is three
//! files of our own: it asks no other host for anything, has no inline script, and works where
//! there is no network.

use crate::http::respond::{HTML, JSON, Reply};
use api::fields::{Invalid, read};
use api::openapi::compact::compact;
use api::openapi::kinds;
use api::openapi::spanish::spanish;
use api::problem::Problem;
use api::query::{self, Query};
use askama::Template;
use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Uri};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

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

struct File {
    path: &'static str,
    media: &'static str,
    make: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    made: OnceLock<Made>,
}

pub struct Documents(Vec<File>);

/// The description, then without what a caller can do without; and both in Spanish.
const DESCRIPTIONS: [&str; 4] = [
    "/openapi.json",
    "/openapi.json?view=compact",
    "/openapi.json?lang=es",
    "/openapi.json?view=compact&lang=es",
];

impl Documents {
    pub fn new(describe: fn() -> Vec<u8>) -> Documents {
        let in_spanish = move || spanish(&describe()).unwrap_or_default();
        Documents(vec![
            File::new(DESCRIPTIONS[0], JSON, describe),
            File::new(DESCRIPTIONS[1], JSON, move || compact(&describe()).unwrap_or_default()),
            File::new(DESCRIPTIONS[2], JSON, in_spanish),
            File::new(DESCRIPTIONS[3], JSON, move || compact(&in_spanish()).unwrap_or_default()),
            File::new("/docs", HTML, || reference("", None).unwrap_or_default()),
            File::new("/docs/page.css", "text/css; charset=utf-8", || {
                include_bytes!("documents/page.css").to_vec()
            }),
            File::new("/docs/page.js", "text/javascript; charset=utf-8", || SCRIPT.into()),
        ])
    }

    pub fn with_home(mut self, page: Vec<u8>) -> Documents {
        self.0.push(File::new("/", HTML, move || page.clone()));
        self
    }

    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|file| file.path.split('?').next().unwrap_or_default())
    }

    /// The answer, and the place of the document's path among [`Documents::paths`].
    pub fn answer(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Result<(usize, Reply), Problem>> {
        let asked =
            if uri.path() == DESCRIPTIONS[0] { query::read(uri.query(), asked_description) } else { Ok(0) };
        let path = asked.as_ref().ok().filter(|at| **at > 0).map_or(uri.path(), |at| DESCRIPTIONS[*at]);
        let place = self.0.iter().position(|file| file.path == path)?;
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(Err(Problem::method_not_allowed(ALLOW.into())));
        }
        if let Err(unknown) = asked {
            return Some(Err(unknown.into()));
        }
        let file = &self.0[place];
        let made = file.made.get_or_init(|| Made::new((file.make)()));
        Some(Ok((place, made.reply(file.media, CSP, headers))))
    }
}

/// Which of [`DESCRIPTIONS`].
fn asked_description(mut query: Query<'_>) -> Result<usize, Invalid> {
    Ok(read!(query {
        optional view = "view", kinds::one_of([("compact", 1)]);
        optional language = "lang", kinds::one_of([("en", 0), ("es", 2)]);
    } => view.unwrap_or(0) + language.unwrap_or(0)))
}

impl File {
    fn new(
        path: &'static str,
        media: &'static str,
        make: impl Fn() -> Vec<u8> + Send + Sync + 'static,
    ) -> File {
        File { path, media, make: Box::new(make), made: OnceLock::new() }
    }
}

/// The page at `/`: what answers here, where it is described, and a first call to paste.
#[derive(Template)]
#[template(path = "home.html", config = "src/http/documents/askama.toml")]
struct Home<'a> {
    base_url: &'a str,
    demo_key: Option<&'a str>,
}

/// Clients reach the server at `base_url`. `demo_key` is a test key that may be shown to whoever
/// asks; without one the page says where keys come from.
pub fn home(base_url: &str, demo_key: Option<&str>) -> Result<Vec<u8>, askama::Error> {
    Home { base_url, demo_key }.render().map(String::into_bytes)
}

/// A file that was made once: its tag is a hash of what is in it, and who has it already is told so.
#[derive(Clone)]
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
        let reply = if is_known(headers, self.etag.as_bytes()) {
            Reply::empty(304)
        } else {
            Reply::new(200, media, self.body.clone())
        };
        guarded(reply.header(ETAG, self.etag.clone()), policy)
    }
}

/// Asked for again each time, and answered with 304 while it is the same.
pub fn guarded(reply: Reply, policy: &'static str) -> Reply {
    let fixed: [(HeaderName, &'static str); 4] = [
        (CACHE_CONTROL, "no-cache"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, policy),
    ];
    fixed.into_iter().fold(reply, |reply, (name, value)| reply.header(name, HeaderValue::from_static(value)))
}

/// Whether whoever asks has the version with this tag; weak ones count too (RFC 9110, section 13.1.2).
pub fn is_known(headers: &HeaderMap, etag: &[u8]) -> bool {
    let sent = headers.get_all(IF_NONE_MATCH).iter().filter_map(|sent| sent.to_str().ok());
    sent.flat_map(|sent| sent.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: Method, path: &str) -> Option<Result<Reply, Problem>> {
        let documents = Documents::new(|| b"{}".to_vec());
        let uri = path.parse().expect("an address");
        let answer = documents.answer(&method, &uri, &HeaderMap::new());
        answer.map(|answer| {
            answer.map(|(place, reply)| {
                assert_eq!(documents.paths().nth(place), Some(uri.path()));
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

    #[test]
    fn the_description_takes_two_parameters() {
        for (query, status) in [
            ("", 200),
            ("?view=compact", 200),
            ("?lang=en", 200),
            ("?lang=es", 200),
            ("?lang=es&view=compact", 200),
            ("?view=whole", 400),
            ("?viw=compact", 400),
            ("?lang=fr", 400),
        ] {
            let reply = ask(Method::GET, &format!("/openapi.json{query}")).expect("there");
            assert_eq!(reply.map_or_else(|problem| problem.status, |reply| reply.status), status, "{query}");
        }
    }

    #[test]
    fn a_key_is_shown_only_where_there_is_one_to_show() {
        let text =
            |key| String::from_utf8(home("http://127.0.0.1:8080", key).expect("a page")).expect("UTF-8");
        assert!(text(Some("pk_test_demo")).contains("/v1/balance -H 'x-api-key: pk_test_demo'"));
        assert!(text(None).contains("tenant create") && text(None).contains("pk_test_…"));
        assert!(!text(Some("<b>")).contains("<b>"));
    }

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
            assert_eq!((reply.status, reply.body.len()), (304, 0), "{sent}");
        }
        let reply = ask("\"x\"");
        assert_eq!((reply.status, &reply.body[..]), (200, b"{}".as_slice()));
    }
}
