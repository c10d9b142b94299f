//! Fills the templates. `session.rs` says which page a session shows, from where it stands and what
//! its address asks for; `link.rs` shows a payment link; `figures.rs` writes amounts, moments and
//! QR codes for people. Nothing in here asks the engine or changes anything.

mod figures;
mod link;
mod session;
#[cfg(test)]
mod skeleton_tests;

use domain::entities::deposit_address::Asset;
use domain::entities::session::Way;
use domain::values::address::Network;
use domain::values::colombia::Channel;
use domain::values::ids::is_live;
pub use link::{link, show_link};
pub use session::{fields, session, show};

use crate::checkout::assets;
use crate::checkout::visit::Shop;
use crate::checkout::words::{Language, Words};
use crate::http::respond::{HTML, Reply};
use crate::pages::form::Form;
use crate::pages::inside::with_query;
use crate::pages::shell::private;
use api::problem::Problem;
use askama::Template;
use domain::platform::settings;
use domain::values::ids::Id;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;

/// The value of `channel` that asks for another one than that which waits.
const ANEW: &str = "other";
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// A page by itself; nobody may frame it.
    Whole,
    /// A page in a frame of a shop's own page.
    Embedded,
}

pub struct PageOptions {
    pub language: Language,
    pub manner: Manner,
    pub way: Option<Way>,
    pub intent: Option<Id>,
    pub attempt: Option<Id>,
    pub channel: Option<Channel>,
    pub anew: bool,
    pub place: Option<(Network, Asset)>,
    /// The price in bolívares that a Pago Móvil is to have, as a page has shown it.
    pub quote: Option<String>,
    pub parent: Option<String>,
    pub typed: Typed,
    pub notice: Option<String>,
    /// Whether the buyer has named a Pago Móvil that may have been sent.
    pub is_sent: bool,
}

#[derive(Default)]
pub struct Typed {
    values: Vec<(&'static str, String)>,
    pub wrong: Vec<&'static str>,
}

impl Typed {
    pub fn read(form: &Form, names: &[&'static str]) -> Typed {
        Typed {
            values: names.iter().map(|name| (*name, form.text(name).to_owned())).collect(),
            wrong: Vec::new(),
        }
    }

    /// A secret that cannot be right; it is not shown again.
    pub fn wrong(name: &'static str) -> Typed {
        Typed { values: Vec::new(), wrong: vec![name] }
    }

    pub fn need<T>(&mut self, name: &'static str, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.wrong.push(name);
        }
        read
    }

    pub fn get(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    fn is_wrong(&self, field: &str) -> bool {
        self.wrong.contains(&field)
    }
}

impl PageOptions {
    pub fn read(query: &Form, manner: Manner) -> PageOptions {
        let id = |name| query.get(name).and_then(Id::parse);
        PageOptions {
            language: Language::from_code(query.get("lang")),
            manner,
            way: query.get("method").and_then(|name| Way::ALL.into_iter().find(|way| way.name() == name)),
            intent: id("intent"),
            attempt: id("attempt"),
            channel: query
                .get("channel")
                .and_then(|name| Channel::ALL.into_iter().find(|channel| channel.name() == name)),
            anew: query.get("channel") == Some(ANEW),
            place: place(query),
            quote: query.filled("quote").map(str::to_owned),
            parent: query.get("origin").map(str::to_owned),
            typed: Typed::default(),
            notice: None,
            is_sent: false,
        }
    }

    pub fn address(&self, session: Id, what: &str) -> String {
        self.towards(session, self.way, what)
    }

    /// The address of the session's page for this way to pay, or for all of them.
    fn towards(&self, session: Id, way: Option<Way>, what: &str) -> String {
        let frame = if self.manner == Manner::Embedded { "/embed" } else { "" };
        let quote = self.quote.as_deref().filter(|_| way == Some(Way::PagoMovil));
        let lang = if self.language == Language::English { self.language.code() } else { "" };
        let mut asked = vec![("method", way.map_or("", Way::name)), ("quote", quote.unwrap_or_default())];
        asked.extend(what.split('&').filter_map(|pair| pair.split_once('=')));
        asked.extend([("lang", lang), ("origin", self.parent.as_deref().unwrap_or_default())]);
        with_query(&format!("/checkout/{session}{frame}"), &asked)
    }

    fn other_language(&self) -> String {
        let id = |id: Option<Id>| id.map(|id| id.to_string()).unwrap_or_default();
        let channel = self.channel.map_or(if self.anew { ANEW } else { "" }, Channel::name);
        let (network, asset) = self.place.map_or(("", ""), |(network, asset)| (network.name(), asset.name()));
        let asked = [
            ("lang", self.language.words().other_language_code),
            ("method", self.way.map_or("", Way::name)),
            ("intent", &id(self.intent)),
            ("attempt", &id(self.attempt)),
            ("channel", channel),
            ("network", network),
            ("asset", asset),
            ("quote", self.quote.as_deref().unwrap_or_default()),
            ("origin", self.parent.as_deref().unwrap_or_default()),
        ];
        with_query("", &asked)
    }
}

/// A network and an asset; the asset is USDT unless another one is named.
pub fn place(form: &Form) -> Option<(Network, Asset)> {
    let network = Network::NAMES.into_iter().find(|(name, _)| Some(*name) == form.get("network"))?.1;
    let asset = Asset::NAMES
        .into_iter()
        .find(|(name, _)| Some(*name) == form.get("asset"))
        .map_or(Asset::Usdt, |(_, asset)| asset);
    Some((network, asset))
}

/// The frame of a page: whose it is, and the session that it is of, if it is of one.
struct Shell {
    w: &'static Words,
    lang: &'static str,
    style: String,
    script: String,
    icon: String,
    title: String,
    shop: String,
    about: settings::Shop,
    test_mode: bool,
    other_language: String,
    refreshes: bool,
    embedded: bool,
    bill: Bill,
    handle: Handle,
}

#[derive(Default)]
struct Bill {
    amount: String,
    description: Option<String>,
    reference: Option<String>,
    /// The USDT that came before it was paid.
    came: Option<String>,
}

#[derive(Default)]
struct Handle {
    session: String,
    secret: String,
    status: &'static str,
    base: String,
    parent: String,
    cause: &'static str,
    attempt: Option<Id>,
    /// The attempt that began last, as far as the page knows.
    newest: Option<Id>,
    /// The amount in USDT that had come when the page was made.
    received: String,
}

impl Shell {
    fn of(shop: &Shop, language: Language, title: String) -> Shell {
        Shell {
            shop: shop.name().to_owned(),
            about: shop.tenant.tenant_settings.settings.shop.clone(),
            test_mode: !is_live(shop.tenant_key),
            ..Shell::new(language, title)
        }
    }

    fn phone_address(&self) -> String {
        let phone = self.about.phone.as_deref().unwrap_or_default();
        phone.chars().filter(|part| part.is_ascii_digit() || *part == '+').collect()
    }

    fn new(language: Language, title: String) -> Shell {
        let [style, script, icon] = assets::paths();
        let w = language.words();
        let other_language = format!("?lang={}", w.other_language_code);
        Shell {
            w,
            lang: language.code(),
            style,
            script,
            icon,
            title,
            shop: String::new(),
            about: settings::Shop::default(),
            test_mode: false,
            other_language,
            refreshes: false,
            embedded: false,
            bill: Bill::default(),
            handle: Handle::default(),
        }
    }
}

#[derive(Template)]
#[template(path = "trouble.html", config = "src/checkout/askama.toml")]
struct TroublePage {
    shell: Shell,
    heading: &'static str,
    hint: &'static str,
    /// The page of the session that the address is of, where something may have been paid.
    session: Option<String>,
}

/// The page of a problem at an address. The shop's pages at `origins` may frame it, where it is known
/// whose session the address is of.
pub fn problem(problem: &Problem, head: &Parts, origins: Option<&[String]>) -> Result<Reply, Problem> {
    let path = head.uri.path();
    let query = Form::query(head.uri.query());
    let language = Language::from_code(query.get("lang"));
    let id = path.strip_prefix("/checkout/").and_then(|rest| rest.split('/').next()).and_then(Id::parse);
    // A form of a framed page sends to the address that one of a whole page does: the browser says it.
    let framed =
        path.ends_with("/embed") || head.headers.get(SEC_FETCH_DEST).is_some_and(|to| to == "iframe");
    let parent = match (framed, origins) {
        (true, Some([only])) => Some(query.filled("origin").unwrap_or(only)),
        (true, Some(_)) => query.filled("origin"),
        _ => None,
    };
    let session = id.map(|id| match (framed && origins.is_some(), parent) {
        (true, Some(parent)) => language.link(&format!("/checkout/{id}/embed?origin={}", encoded(parent))),
        (true, None) => language.link(&format!("/checkout/{id}/embed")),
        (false, _) => language.link(&format!("/checkout/{id}")),
    });
    let mut shown = trouble(problem, language, session);
    shown.shell.embedded = framed;
    if let Some(parent) = parent {
        shown.shell.other_language.push_str(&format!("&origin={}", encoded(parent)));
    }
    answer(problem, shown, origins)
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

pub fn problem_page(problem: &Problem, language: Language) -> Result<Reply, Problem> {
    answer(problem, trouble(problem, language, None), None)
}

fn answer(problem: &Problem, shown: TroublePage, origins: Option<&[String]>) -> Result<Reply, Problem> {
    Ok(page(problem.status, shown.render(), origins)?.with_problem_headers(problem))
}

/// The words of a problem's page. It may come after a charge, of which it says nothing: it leads to
/// the `session`, which does.
fn trouble(problem: &Problem, language: Language, session: Option<String>) -> TroublePage {
    let w = language.words();
    let session = session.filter(|_| problem.status == 429 || problem.status >= 500);
    let (heading, hint) = match problem.status {
        404 => (w.not_found, w.not_found_hint),
        429 => (w.too_often, w.too_often_hint),
        _ if session.is_some() => (w.trouble, w.trouble_wait),
        _ => (w.trouble, w.trouble_hint),
    };
    TroublePage { shell: Shell::new(language, heading.to_owned()), heading, hint, session }
}

/// An answer with a page and the headers that all pages have. `ancestors` may frame it; nobody when
/// there are none.
fn page(status: u16, html: askama::Result<String>, ancestors: Option<&[String]>) -> Result<Reply, Problem> {
    let html = html.map_err(Problem::internal_error)?;
    let framed_by = match ancestors {
        Some(origins) if !origins.is_empty() => origins.join(" "),
        _ => "'none'".to_owned(),
    };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {framed_by}"
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let reply = private(Reply::new(status, HTML, html), "no-referrer")
        .header(header::CONTENT_SECURITY_POLICY, policy);
    // The header is for browsers that do not know frame-ancestors. It cannot name several origins,
    // so an embedded page goes without.
    Ok(if ancestors.is_none() {
        reply.header(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"))
    } else {
        reply
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_problem_claims_no_charge_and_none_missing() {
        let session = "/checkout/01930000-0000-7000-8000-000000000000";
        for shown in
            [Problem::storage_unavailable(), Problem::too_often("x", 1), Problem::internal_error("x")]
        {
            for language in [Language::Spanish, Language::English] {
                let html = trouble(&shown, language, Some(language.link(session))).render().expect("a page");
                assert!(html.contains(&format!("href=\"{session}")), "{html}");
                assert!(!html.contains("se te cobró") && !html.contains("were not charged"), "{html}");
            }
        }
    }

    #[test]
    fn the_page_of_a_problem_in_a_frame_leads_to_the_page_of_the_frame() {
        let id = "01930000-0000-7000-8000-000000000000";
        let shop = ["https://shop.example".to_owned()];
        let link = |path: &str, to: &str, origins| {
            let request = hyper::Request::get(path).header(SEC_FETCH_DEST, to).body(()).expect("a request");
            let reply = problem(&Problem::storage_unavailable(), &request.into_parts().0, origins);
            let html = String::from_utf8(reply.expect("a page").body.to_vec()).expect("text");
            html.split("<p><a href=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
        };
        let whole = format!("/checkout/{id}");
        let framed = format!("{whole}/embed?origin=https%3A%2F%2Fshop.example");
        let known = Some(&shop[..]);
        assert_eq!(link(&format!("{whole}/c2p"), "iframe", known).as_ref(), Some(&framed));
        assert_eq!(link(&format!("{whole}/embed"), "", known).as_ref(), Some(&framed));
        assert_eq!(link(&format!("{whole}/c2p"), "document", known).as_ref(), Some(&whole));
        assert_eq!(link(&format!("{whole}/c2p"), "iframe", None).as_ref(), Some(&whole));
    }

    #[test]
    fn a_page_that_cannot_be_rendered_is_a_problem_of_the_request() {
        let problem = page(200, Err(askama::Error::Fmt), None).expect_err("no page");
        assert_eq!((problem.status, problem.code), (500, "internal_error"));
        assert!(problem.private_message().is_some(), "for the log, beside the id that is answered");
    }
}
