//! The answers to requests for guides: pages and codes of errors, each as HTML or as Markdown, the search, pictures,
//! the lists for language models, and the reference with a table of contents of the guides before it.

use crate::guides::contents::{self, INDEX, LANGUAGES, Source};
use crate::guides::markdown;
use crate::guides::render::{self, Rendered};
use crate::guides::search::{Found, Index};
use crate::http::accept;
use crate::http::documents::{self, Made};
use crate::http::respond::{HTML, Reply, TEXT};
use crate::language::Language;
use api::codes;
use api::problem::Problem;
use askama::Template;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Uri};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

/// One script of our own, no other host.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri \
    'none'; form-action 'self'; frame-ancestors 'none'";

/// As metrics name the addresses.
pub const ROUTES: [&str; 9] = [
    "/docs",
    "/docs/:language",
    "/docs/:language/:page",
    "/docs/guides.css",
    "/docs/images/:picture",
    "/docs/guides.js",
    "/docs/:language/errors/:code",
    "/llms.txt",
    "/llms-full.txt",
];

const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// What a page can be had as: people's browsers name the first, or nothing in particular.
const FORMS: [&str; 2] = ["text/html", "text/markdown"];
const OF_ERRORS: &str = "errors/";
/// A path, and how what is there is made.
type List = (&'static str, fn() -> String);
const LISTS: [List; 2] = [("/llms.txt", markdown::list), ("/llms-full.txt", markdown::full)];

/// The server in the examples, as documents name it: the one that shows them takes its place.
const SERVERS: [&str; 3] = ["http://127.0.0.1:8080", "https://pay.example", "https://pagos.example"];

/// In one pass: the server's own address may begin with one of them. Without an address of its own nothing changes.
pub fn addressed(base_url: &str, document: &str) -> String {
    let mut text = String::with_capacity(document.len());
    let mut rest = document;
    let first = |rest: &str| SERVERS.iter().filter_map(|server| Some((rest.find(server)?, *server))).min();
    while !base_url.is_empty()
        && let Some((at, server)) = first(rest)
    {
        text.push_str(&rest[..at]);
        text.push_str(base_url);
        rest = &rest[at + server.len()..];
    }
    text + rest
}

/// With a value of the caller's for each of [`ROUTES`], such as the meter that counts answers.
pub struct Guides<M> {
    pub(crate) values: [M; 9],
    test_key: Option<String>,
    /// Where callers reach this server, without a slash at the end.
    base_url: String,
    sites: [OnceLock<Option<Site>>; 2],
    files: [File; 21],
    lists: [OnceLock<Made>; 2],
    /// The pages that are made when they are first asked for, of as many names as there are.
    rare: RwLock<HashMap<Name, Made>>,
}

/// A page in a language and a form: whether it is about a code of errors, and whether it is Markdown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    language: usize,
    name: &'static str,
    is_error: bool,
    is_markdown: bool,
}

impl Name {
    /// None of what is no page.
    fn of(language: Language, path: &str, is_markdown: bool) -> Option<Name> {
        let code = path.strip_prefix(OF_ERRORS);
        let name = match code {
            Some(code) => codes::all().chain(codes::of_banks()).find(|known| known.name == code)?.name,
            None => contents::pages().find(|source| source.name == path)?.name,
        };
        Some(Name { language: place(language), name, is_error: code.is_some(), is_markdown })
    }

    fn document(self) -> Cow<'static, str> {
        let language = LANGUAGES[self.language];
        let document = match self.is_error {
            true => markdown::explanation(language, self.name).map(Cow::Owned),
            false => contents::pages()
                .find(|source| source.name == self.name)
                .map(|source| Cow::Borrowed(source.document(language))),
        };
        document.unwrap_or_default()
    }
}

struct File {
    path: &'static str,
    route: usize,
    media: &'static str,
    made: Made,
}

macro_rules! asset {
    ($route:literal, $path:literal, $media:literal, $folder:literal) => {{
        let made = Made::new(include_bytes!(concat!($folder, $path)).to_vec());
        File { path: $path, route: $route, media: $media, made }
    }};
}

struct Site {
    groups: Vec<Group>,
    pages: Vec<(&'static str, Made)>,
    index: Index,
    reference: Made,
}

#[derive(Clone)]
struct Group {
    title: &'static str,
    links: Vec<Link>,
}

#[derive(Clone)]
struct Link {
    name: &'static str,
    path: String,
    title: String,
}

struct Shell<'a> {
    language: Language,
    other: Language,
    other_path: String,
    title: String,
    name: &'a str,
    sought: &'a str,
    groups: &'a [Group],
}

impl Shell<'_> {
    fn say(&self, spanish: &'static str, english: &'static str) -> &'static str {
        self.language.say(spanish, english)
    }
}

#[derive(Template)]
#[template(path = "page.html", config = "src/guides/askama.toml")]
struct Page<'a> {
    shell: Shell<'a>,
    /// The title, and what is below it.
    html: (&'a str, &'a str),
    sections: Vec<(&'a str, &'a str)>,
    before: Option<&'a Link>,
    after: Option<&'a Link>,
}

#[derive(Template)]
#[template(path = "search.html", config = "src/guides/askama.toml")]
struct Search<'a> {
    shell: Shell<'a>,
    missing: Option<&'static str>,
    /// The code that is sought, and the address of its page.
    code: Option<(&'static str, String)>,
    count: usize,
    found: Vec<Found<'a>>,
}

#[derive(Template)]
#[template(path = "panel.html", config = "src/guides/askama.toml")]
struct Panel<'a> {
    language: Language,
    other: Language,
    groups: &'a [Group],
}

fn place(language: Language) -> usize {
    usize::from(language == LANGUAGES[1])
}

const fn other(language: Language) -> Language {
    match language {
        Language::Spanish => Language::English,
        Language::English => Language::Spanish,
    }
}

impl Site {
    fn new(language: Language, test_key: Option<&str>, base_url: &str) -> Result<Site, askama::Error> {
        let rendered: Vec<(&Source, Rendered)> = contents::pages()
            .map(|source| (source, render::page(language, &addressed(base_url, source.document(language)))))
            .collect();
        let links: Vec<Link> = rendered
            .iter()
            .map(|(source, page)| Link {
                name: source.name,
                path: source.path(language),
                title: page.title().to_owned(),
            })
            .collect();
        let mut left = links.iter().cloned();
        let groups: Vec<Group> = contents::GROUPS
            .iter()
            .map(|group| Group {
                title: language.say(group.title.0, group.title.1),
                links: left.by_ref().take(group.pages.len()).collect(),
            })
            .collect();
        let mut pages = Vec::with_capacity(rendered.len());
        for (at, (source, page)) in rendered.iter().enumerate() {
            let neighbours = (at.checked_sub(1).and_then(|at| links.get(at)), links.get(at + 1));
            let other_path = source.path(other(language));
            let html = written(language, (source.name, other_path), page, &groups, neighbours)?;
            pages.push((source.name, Made::new(html)));
        }
        let panel = Panel { language, other: other(language), groups: &groups }.render()?;
        let reference = Made::new(documents::reference(&panel, test_key)?);
        let index = Index::new(language, rendered);
        Ok(Site { groups, pages, index, reference })
    }

    /// The page about a code: few of the many are ever read.
    fn explanation(&self, language: Language, name: &str, document: &str) -> Result<Made, Problem> {
        let page = render::page(language, document);
        let other_path = format!("/docs/{}/{OF_ERRORS}{name}", other(language).code());
        let html = written(language, (name, other_path), &page, &self.groups, (None, None));
        html.map(Made::new).map_err(|error| Problem::internal_error(error.to_string()))
    }

    /// What is found, or that there is no such page.
    fn list(&self, language: Language, sought: Option<&str>) -> Result<Reply, Problem> {
        let (name, title, missing, status) = match sought {
            Some(_) => ("search", language.say("Buscar en las guías", "Search the guides"), None, 200),
            None => {
                let text = language.say(
                    "Esa página no existe. Busca arriba, o elige una de la lista.",
                    "There is no such page. Search above, or choose one from the list.",
                );
                ("missing", language.say("No se encontró", "Not found"), Some(text), 404)
            }
        };
        let sought = sought.unwrap_or_default();
        let found = self.index.find(sought);
        let code =
            codes::all().chain(codes::of_banks()).find(|known| known.name.eq_ignore_ascii_case(sought));
        let code =
            code.map(|code| (code.name, format!("/docs/{}/{OF_ERRORS}{}", language.code(), code.name)));
        let encoded = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", sought).finish();
        let shell = Shell {
            language,
            other: other(language),
            other_path: format!("/docs/{}/search?{encoded}", other(language).code()),
            title: title.to_owned(),
            name,
            sought,
            groups: &self.groups,
        };
        let html =
            Search { shell, missing, count: found.len() + usize::from(code.is_some()), code, found }.render();
        let html = html.map_err(|error| Problem::internal_error(error.to_string()))?;
        Ok(documents::guarded(Reply::new(status, HTML, html.into_bytes()), CSP))
    }
}

fn written(
    language: Language,
    (name, other_path): (&str, String),
    page: &Rendered,
    groups: &[Group],
    (before, after): (Option<&Link>, Option<&Link>),
) -> Result<Vec<u8>, askama::Error> {
    let main = page.sections.iter().filter(|section| section.is_main);
    let html = Page {
        shell: Shell {
            language,
            other: other(language),
            other_path,
            title: page.title().to_owned(),
            name,
            sought: "",
            groups,
        },
        html: page.html.split_at(page.html.find("</h1>").map_or(0, |at| at + "</h1>".len())),
        sections: main.map(|section| (section.anchor.as_str(), section.title.as_str())).collect(),
        before,
        after,
    };
    html.render().map(String::into_bytes)
}

impl<M> Guides<M> {
    /// Clients reach the server at `base_url`, which is the operator's word and not that of who asks; empty where
    /// nobody knows it.
    pub fn new(base_url: &str, test_key: Option<&str>, value: impl Fn(&'static str) -> M) -> Guides<M> {
        Guides {
            values: ROUTES.map(value),
            test_key: test_key.map(str::to_owned),
            base_url: base_url.trim_end_matches('/').to_owned(),
            sites: [const { OnceLock::new() }; 2],
            lists: [const { OnceLock::new() }; 2],
            rare: RwLock::default(),
            files: [
                asset!(3, "guides.css", "text/css; charset=utf-8", ""),
                asset!(5, "guides.js", "text/javascript; charset=utf-8", ""),
                asset!(4, "images/payment-states.es.svg", "image/svg+xml", "../../docs/"),
                asset!(4, "images/payment-states.en.svg", "image/svg+xml", "../../docs/"),
                asset!(4, "images/checkout-phone.es.png", "image/png", "../../docs/"),
                asset!(4, "images/checkout-phone.en.png", "image/png", "../../docs/"),
                asset!(4, "images/portal-inicio.png", "image/png", "../../docs/"),
                asset!(4, "images/portal-cobro.png", "image/png", "../../docs/"),
                asset!(4, "images/portal-pagos-telefono.png", "image/png", "../../docs/"),
                asset!(4, "images/consola-cobro-telefono.png", "image/png", "../../docs/"),
                asset!(4, "images/consola-colas.png", "image/png", "../../docs/"),
                asset!(4, "images/consola-aprobaciones.png", "image/png", "../../docs/"),
                asset!(4, "images/consola-tasas.png", "image/png", "../../docs/"),
                asset!(4, "images/consola-conciliacion.png", "image/png", "../../docs/"),
                asset!(4, "images/portal-home.png", "image/png", "../../docs/"),
                asset!(4, "images/portal-payment.png", "image/png", "../../docs/"),
                asset!(4, "images/console-payment.png", "image/png", "../../docs/"),
                asset!(4, "images/console-queues-phone.png", "image/png", "../../docs/"),
                asset!(4, "images/console-approvals-phone.png", "image/png", "../../docs/"),
                asset!(4, "images/console-rates-phone.png", "image/png", "../../docs/"),
                asset!(4, "images/console-reconciliation-phone.png", "image/png", "../../docs/"),
            ],
        }
    }

    /// No request must wait behind it: a search, and the first page of a language, for which all of its are made.
    pub fn takes_long(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix("/docs") else { return false };
        let mut parts = below.split('/').skip(1);
        let named = parts.next().and_then(|code| LANGUAGES.into_iter().find(|known| known.code() == code));
        let is_made = |language: Language| self.sites[place(language)].get().is_some();
        let is_ready = named.map_or_else(|| LANGUAGES.into_iter().all(is_made), is_made);
        parts.next() == Some("search") || (!below.contains('.') && !is_ready)
    }

    pub fn answer(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Result<(usize, Reply), Problem>> {
        let list = LISTS.iter().position(|(path, _)| *path == uri.path());
        let below = if list.is_some() { "" } else { uri.path().strip_prefix("/docs")? };
        let path = below.strip_prefix('/').unwrap_or(below);
        let file = self.files.iter().find(|file| file.path == path);
        let as_markdown = path.strip_suffix(".md");
        let page = as_markdown.unwrap_or(path);
        let (code, name) = page.split_once('/').unwrap_or((page, ""));
        let named = LANGUAGES.into_iter().find(|language| language.code() == code);
        let route = match (file, named) {
            _ if let Some(at) = list => 7 + at,
            (Some(file), _) => file.route,
            (None, Some(_)) if name.is_empty() => 1,
            (None, Some(_)) if name.strip_prefix(OF_ERRORS).is_some_and(|code| !code.contains('/')) => 6,
            (None, Some(_)) if !name.contains('/') => 2,
            (None, None) if path.is_empty() => 0,
            _ => return None,
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(Err(Problem::method_not_allowed(documents::ALLOW.into())));
        }
        let reply = match (file, named) {
            _ if let Some(at) = list => Ok(self.list(at).reply(TEXT, CSP, headers)),
            (Some(file), _) => Ok(file.made.reply(file.media, CSP, headers)),
            (None, Some(language)) => {
                let name = if name.is_empty() { INDEX } else { name };
                self.page(language, name, as_markdown.is_some(), uri.query(), headers)
            }
            (None, None) => self.front(below, uri.query(), headers),
        };
        Some(reply.map(|reply| (route, reply)))
    }

    fn list(&self, at: usize) -> &Made {
        self.lists[at].get_or_init(|| Made::new(addressed(&self.base_url, &LISTS[at].1()).into_bytes()))
    }

    /// At `/docs/` the way to the guides. In the language that `lang` names, or else in the reader's.
    fn front(&self, below: &str, query: Option<&str>, headers: &HeaderMap) -> Result<Reply, Problem> {
        let named = LANGUAGES.into_iter().find(|language| parameter(query, "lang") == language.code());
        let language = named.unwrap_or_else(|| Language::accepted(headers));
        let reply = if below == "/" {
            let to = HeaderValue::from_static(language.say("/docs/es", "/docs/en"));
            Reply::empty(303).header(header::LOCATION, to)
        } else {
            self.site(language)?.reference.reply(HTML, documents::CSP, headers)
        };
        Ok(reply.header(header::VARY, HeaderValue::from_static("Accept-Language")))
    }

    fn page(
        &self,
        language: Language,
        name: &str,
        is_markdown: bool,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Reply, Problem> {
        if name == "search" && !is_markdown {
            return self.site(language)?.list(language, Some(parameter(query, "q").trim()));
        }
        let wants_markdown = is_markdown || accept::wanted_first(headers, &FORMS) == Some(FORMS[1]);
        let known = Name::of(language, name, wants_markdown);
        if wants_markdown {
            let made = known.map(|known| {
                self.made(known, |document| {
                    Ok(Made::new(markdown::markdown(language, document).into_bytes()))
                })
            });
            let reply = match made {
                Some(made) => made?.reply(MARKDOWN, CSP, headers),
                None => {
                    let missing = markdown::missing(language).into_bytes();
                    documents::guarded(Reply::new(404, MARKDOWN, missing), CSP)
                }
            };
            return Ok(if is_markdown { reply } else { varying(reply) });
        }
        let site = self.site(language)?;
        let made = site.pages.iter().find(|(known, _)| *known == name).map(|(_, made)| made);
        let reply = match (made, known) {
            (Some(made), _) => made.reply(HTML, CSP, headers),
            (None, Some(known)) => {
                let explained = |document: &str| site.explanation(language, known.name, document);
                self.made(known, explained)?.reply(HTML, CSP, headers)
            }
            (None, None) => site.list(language, None)?,
        };
        Ok(varying(reply))
    }

    /// A page as it was made for who asked first.
    fn made(&self, name: Name, make: impl FnOnce(&str) -> Result<Made, Problem>) -> Result<Made, Problem> {
        if let Some(made) = self.rare.read().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Ok(made.clone());
        }
        let made = make(&addressed(&self.base_url, &name.document()))?;
        self.rare.write().unwrap_or_else(PoisonError::into_inner).insert(name, made.clone());
        Ok(made)
    }

    /// Made when they are first asked for: a start need not wait for them.
    fn site(&self, language: Language) -> Result<&Site, Problem> {
        let make = || Site::new(language, self.test_key.as_deref(), &self.base_url).ok();
        let site = self.sites[place(language)].get_or_init(make);
        site.as_ref().ok_or_else(|| Problem::internal_error("the guides could not be written"))
    }
}

/// Who asks says in which form they read it.
fn varying(reply: Reply) -> Reply {
    reply.header(header::VARY, HeaderValue::from_static("Accept"))
}

fn parameter(query: Option<&str>, name: &str) -> String {
    let mut parameters = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    parameters.find(|(known, _)| known == name).map_or_else(String::new, |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_made_once() {
        let guides = Guides::new("https://cobros.example:8443/", None, |_| ());
        let get = |path: &str, ending: &str| {
            let uri = format!("/docs/{path}{ending}").parse().expect("an address");
            let answer = guides.answer(&Method::GET, &uri, &HeaderMap::new()).expect("a guide");
            answer.unwrap_or_else(|problem| panic!("{path}: {problem}")).1
        };
        for path in ["es/errors", "en/errors", "es/errors/not_found", "en/errors/not_found"] {
            let [html, markdown] = ["", ".md"].map(|ending| {
                let (first, again) = (get(path, ending), get(path, ending));
                assert_eq!((first.status, first.body.as_ptr()), (200, again.body.as_ptr()), "{path}{ending}");
                first.body
            });
            assert_ne!(html, markdown, "{path}: each form is its own");
        }
        let [es, en] = ["es/errors/not_found", "en/errors/not_found"].map(|path| get(path, ".md").body);
        assert_ne!(es, en, "and so is each language");
    }

    #[test]
    fn examples_call_the_server_that_shows_them() {
        let guides = Guides::new("https://cobros.example:8443/", None, |_| ());
        for path in [
            "/docs/es/quick-start",
            "/docs/en/quick-start.md",
            "/docs/en/checkout",
            "/docs/es/checkout",
            "/llms-full.txt",
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("evil.example"));
            let answer = guides.answer(&Method::GET, &Uri::from_static(path), &headers).expect("a guide");
            let body = answer.unwrap_or_else(|problem| panic!("{path}: {problem}")).1.body;
            let text = String::from_utf8(body.to_vec()).expect("UTF-8");
            assert!(text.contains("https://cobros.example:8443"), "{path}");
            for other in ["127.0.0.1:8080", "pay.example", "pagos.example", "evil.example"] {
                assert!(!text.contains(other), "{path}: {other}");
            }
        }
    }

    #[test]
    fn an_address_takes_the_place_of_the_examples_once() {
        for (base_url, shown) in [
            ("https://pay.example.com", "a https://pay.example.com/v1 b https://pay.example.com c"),
            ("", "a https://pagos.example/v1 b http://127.0.0.1:8080 c"),
        ] {
            let document = "a https://pagos.example/v1 b http://127.0.0.1:8080 c";
            assert_eq!(addressed(base_url, document), shown);
        }
    }

    #[test]
    fn a_page_takes_long_until_those_of_its_language_are_made() {
        let guides = Guides::new("https://cobros.example:8443/", None, |_| ());
        let get = |path: &'static str| {
            guides.answer(&Method::GET, &Uri::from_static(path), &HeaderMap::new()).expect("a guide").is_ok()
        };
        assert!(["/docs", "/docs/es", "/docs/en"].iter().all(|path| guides.takes_long(path)));
        assert!(get("/docs/es"));
        for (path, takes_long) in [
            ("/docs/es", false),
            ("/docs/es/errors", false),
            ("/docs/es/search", true),
            ("/docs/en/errors", true),
            ("/docs", true),
            ("/docs/guides.css", false),
            ("/v1/payments", false),
        ] {
            assert_eq!(guides.takes_long(path), takes_long, "{path}");
        }
        assert!(get("/docs/en"));
        assert!(["/docs", "/docs/", "/docs/en/errors"].iter().all(|path| !guides.takes_long(path)));
    }
}
