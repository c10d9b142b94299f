//! The frame of every page, and the headers that every page has.

use crate::http::listen::Arrival;
use crate::http::respond::{HTML, Reply};
use crate::language::Language;
use crate::pages::assets::{PATHS, Paths};
use crate::pages::inside::with_query;
use crate::pages::show;
use crate::pages::view::{self, Block, Link, Note, Page, Tone, Writing};
use api::problem::Problem;
use askama::Template;
use hyper::header::{self, HeaderName, HeaderValue};

/// Nothing that stands in the page, nothing from elsewhere.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

#[derive(Default)]
pub struct Shell {
    pub brand: String,
    pub who: String,
    pub class: &'static str,
    pub home: String,
    pub logout: String,
    pub search: Option<String>,
    pub sought: String,
    pub banner: Option<String>,
    pub nav: Vec<Link>,
    pub other_language: String,
}

impl Shell {
    pub fn guest(brand: String, base: &str, language: Language, arrival: &Arrival) -> Shell {
        Shell {
            brand,
            class: "guest",
            home: base.to_owned(),
            logout: format!("{base}/logout"),
            other_language: other_language(language, arrival),
            ..Shell::default()
        }
    }
}

/// A form's own address may take no GET, so it is that of the page that the form was on.
fn other_language(language: Language, arrival: &Arrival) -> String {
    let query = arrival.head.uri.query().unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "lang");
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    if language == Language::Spanish {
        query.append_pair("lang", "en");
    } else {
        query.append_pair("lang", "es");
    }
    let path = arrival.head.uri.path();
    let path = if arrival.head.method == hyper::Method::GET { path } else { page_of(path) };
    format!("{path}?{}", query.finish())
}

/// An address of a page, in the language that is not shown.
pub fn in_other_language(language: Language, at: &str) -> String {
    let other = if language == Language::Spanish { "en" } else { "es" };
    with_query(at, &[("lang", other)])
}

/// Every site has a page at the first two parts of a path.
fn page_of(path: &str) -> &str {
    path.match_indices('/').nth(2).map_or(path, |(at, _)| &path[..at])
}

#[derive(Template)]
#[template(path = "layout.html", config = "src/pages/askama.toml")]
struct Layout<'a> {
    page: &'a Page,
    shell: &'a Shell,
    on: &'a Writing<'a>,
    files: &'a Paths,
    body: String,
    plots: bool,
    live: bool,
}

pub fn write(page: &Page, shell: &Shell, on: &Writing<'_>) -> Result<Reply, Problem> {
    let body = view::html(&page.blocks, on)?;
    let plots = page.blocks.iter().any(|block| matches!(block, Block::Plot(_)));
    let live = page.blocks.iter().any(|block| matches!(block, Block::Live(_)));
    let layout = Layout { page, shell, on, files: &PATHS, body, plots, live };
    let html = layout.render().map_err(Problem::internal_error)?;
    Ok(safe(Reply::new(page.code, HTML, html)).header(header::CONTENT_SECURITY_POLICY, POLICY))
}

/// The referrer stays at home; without one browsers say of a form that it comes from nowhere.
pub fn safe(reply: Reply) -> Reply {
    private(reply, "same-origin").header(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
}

pub fn private(reply: Reply, referrer: &'static str) -> Reply {
    let permissions = HeaderValue::from_static("camera=(), microphone=(), geolocation=()");
    reply
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(header::REFERRER_POLICY, HeaderValue::from_static(referrer))
        .header(HeaderName::from_static("permissions-policy"), permissions)
}

pub fn trouble(problem: &Problem, request_id: &str, base: &str, language: Language) -> Page {
    let say = |spanish, english| language.say(spanish, english);
    let (title, hint) = match problem.status {
        403 => (
            say("No se hizo", "It was not done"),
            say(
                "El formulario no trae el código de su sesión, o tu acceso no lo permite. Vuelve a abrir la \
                 página e inténtalo otra vez.",
                "The form does not carry the token of its session, or your access does not allow it. Open \
                 the page again and retry.",
            ),
        ),
        404 => (
            say("Esta página no existe", "This page does not exist"),
            say("Revisa la dirección.", "Check the address."),
        ),
        413 => (
            say("El archivo es demasiado grande", "The file is too large"),
            say("No se hizo nada. Divídelo en partes.", "Nothing was done. Split it into parts."),
        ),
        429 => (
            say("Demasiados intentos", "Too many attempts"),
            say(
                "Espera unos minutos. Hasta entonces se rechaza incluso una llave o un token correcto.",
                "Wait a few minutes. Until then even a correct key or token is refused.",
            ),
        ),
        status if status >= 500 => (
            say("Algo salió mal", "Something went wrong"),
            say(
                "Vuelve a cargar la página. Si pediste algo, mira primero si se hizo.",
                "Reload the page. If you asked for something, check first whether it was done.",
            ),
        ),
        _ => (say("No se pudo hacer", "It could not be done"), say("No se hizo nada.", "Nothing was done.")),
    };
    let note = Note {
        tone: Tone::Bad,
        text: hint.to_owned(),
        more: vec![
            format!("{}: {}", problem.code, show::problem(language, problem)),
            format!("X-Request-Id: {request_id}"),
        ],
    };
    let mut page = Page::new("problem", title).status("error").with(note);
    page.blocks.push(Block::Links(vec![Link::new(say("Ir al inicio", "Go to the home page"), base)]));
    page.code = problem.status;
    page
}
