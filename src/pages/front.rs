//! The way of a request for a page. A [`Site`] has its pages and says who may log in with what.
//! What holds for every page is here, once: a page that needs a session shows the login in its
//! place; a form without the token of its session is refused before anything else of it is looked
//! at; a page is never kept by a browser and loads nothing from elsewhere.

use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::on_behalf::OnBehalf;
use crate::gateway::pipeline::{self, Anybody, Asked, Columns, Surface};
use crate::gateway::services::Services;
use crate::gateway::shares::Share;
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::{self, Reply};
use crate::http::router::{BadRoute, Router};
use crate::network::{Network, TrustedProxies};
use crate::pages::assets;
use crate::pages::attempts::Attempts;
use crate::pages::cookies::{self, Cookie};
use crate::pages::form::Form;
use crate::pages::inside::Inside;
use crate::pages::language::Language;
use crate::pages::sessions::Sessions;
use crate::pages::shell::{self, Shell};
use crate::pages::site::{Shown, Site, Visit};
use crate::pages::upload::{self, Sent};
use crate::pages::view::{self, Block, Input, Kind, Link, Note, Page, Tone, Writing};
use api::problem::Problem;
use domain::values::time::Timestamp;
use hyper::Method;
use hyper::header::{self, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use subtle::ConstantTimeEq;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// From htmx: a page shows a part anew, and nobody pressed anything.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HX_REFRESH: HeaderName = HeaderName::from_static("hx-refresh");
/// The form of the login may be left open so long.
const LOGIN_HOURS: i64 = 24;

#[derive(Clone, Copy)]
pub enum PathKind {
    Page,
    File,
}

pub struct Front<S> {
    site: S,
    services: Arc<Services>,
    router: Router<(PathKind, Arc<Meter>)>,
    sessions: Sessions,
    attempts: Attempts,
    proxies: TrustedProxies,
    /// The listener speaks TLS, or stands behind a proxy that does.
    is_secure: bool,
    unrouted: Arc<Meter>,
}

impl<S: Site> Front<S> {
    pub fn new(
        services: Arc<Services>,
        site: S,
        trusted_proxies: Vec<Network>,
        is_secure: bool,
    ) -> Result<Front<S>, BadRoute> {
        let meters = Arc::clone(&services.observed.meters);
        let files = [(Method::GET, "/page-assets/:file".to_owned(), PathKind::File)];
        let base = [(Method::GET, S::BASE.to_owned(), PathKind::Page)];
        let pages = S::PATHS
            .iter()
            .map(|(method, path)| (method.clone(), format!("{}{path}", S::BASE), PathKind::Page));
        let rows = files.into_iter().chain(base).chain(pages).map(|(method, path, kind)| {
            let path: &'static str = Box::leak(path.into_boxed_str());
            let meter = meters.of(&method, path);
            (method, path, (kind, meter))
        });
        let router = Router::new(rows)?;
        let unrouted = meters.of_none();
        Ok(Front {
            site,
            services,
            router,
            sessions: Sessions::default(),
            attempts: Attempts::default(),
            proxies: TrustedProxies::new(trusted_proxies),
            is_secure,
            unrouted,
        })
    }

    fn cookie(&self) -> Cookie {
        Cookie { name: S::COOKIE, is_secure: self.is_secure }
    }

    fn csrf(&self, cookie: &str) -> String {
        hex::encode(self.services.keys.mark(&[b"form", S::BASE.as_bytes(), cookie.as_bytes()]))
    }

    /// There is no session yet that the token could belong to.
    fn login_token(&self, hour: i64) -> String {
        let mark = self.services.keys.mark(&[b"login form", S::BASE.as_bytes(), &hour.to_be_bytes()]);
        format!("{hour}-{}", hex::encode(mark))
    }

    fn hour(now: Timestamp) -> i64 {
        now.unix_ms() / domain::values::time::HOUR_MS
    }

    fn is_login_token(&self, sent: &str) -> bool {
        let now = Self::hour(self.services.now());
        let hour = sent.split_once('-').and_then(|(hour, _)| hour.parse::<i64>().ok());
        hour.is_some_and(|hour| {
            (now - LOGIN_HOURS..=now).contains(&hour) && is_same(sent, &self.login_token(hour))
        })
    }

    fn visitor(&self, arrival: &Arrival) -> Option<(String, [u8; 32], S::Who)> {
        let cookie = self.cookie().find(&arrival.head.headers)?;
        let is_used = !arrival.head.headers.contains_key(HX_REQUEST);
        let hash = self.sessions.find(&cookie, is_used)?;
        let Some(who) = self.site.recognise(&hash) else {
            // The key was revoked, or the operator disabled: so ends what it opened.
            self.sessions.close(&cookie);
            return None;
        };
        Some((cookie, hash, who))
    }

    async fn page(&self, arrival: &Arrival, inbound: &mut Inbound) -> Result<Reply, Problem> {
        let head = &arrival.head;
        let query = Form::query(head.uri.query());
        let language = Language::from_code(query.get("lang"));
        let below = head.uri.path().strip_prefix(S::BASE).unwrap_or_default();
        let decoded =
            |part: &str| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
        let path: Vec<String> = below.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let acts = head.method == Method::POST;
        if acts && is_foreign(arrival, self.is_secure) {
            return Err(Problem::cross_site());
        }
        if path.first().is_some_and(|first| first == "login") {
            return if acts {
                self.log_in(arrival, inbound, language).await
            } else {
                self.login_page(language, arrival, &query, None, 200)
            };
        }
        let Some((cookie, hash, who)) = self.visitor(arrival) else {
            return self.login_instead(arrival, inbound, language, &query, acts).await;
        };
        let csrf = self.csrf(&cookie);
        let inside = Inside::of(self.site.api(), OnBehalf::of(hash), arrival);
        let base_url = self.services.site.base_url.clone();
        let visit = Visit { who, language, path, query, inside, arrival, csrf, base_url };
        if !acts {
            return self.written(&visit, self.site.show(&visit).await?);
        }
        let sent = upload::read(inbound, &head.headers, S::FORM_BYTES_MAX).await?;
        if !is_same(sent.form.text("csrf"), &visit.csrf) {
            return Err(no_token());
        }
        if visit.part(0) == "logout" {
            self.sessions.close(&cookie);
            let to = language.link(&format!("{}/login", S::BASE));
            return Ok(see(&to).header(header::SET_COOKIE, self.cookie().cleared()));
        }
        self.written(&visit, self.site.act(&visit, sent).await?)
    }

    /// A form of a session that is over has done nothing, and says so with its status.
    async fn login_instead(
        &self,
        arrival: &Arrival,
        inbound: &mut Inbound,
        language: Language,
        query: &Form,
        acts: bool,
    ) -> Result<Reply, Problem> {
        if !acts {
            let reply = self.login_page(language, arrival, query, None, 200)?;
            // A page that shows a part of itself anew is loaded whole.
            let is_part = arrival.head.headers.contains_key(HX_REQUEST);
            return Ok(if is_part {
                reply.header(HX_REFRESH, HeaderValue::from_static("true"))
            } else {
                reply
            });
        }
        let sent = upload::read(inbound, &arrival.head.headers, S::FORM_BYTES_MAX).await?;
        if sent.form.filled("csrf").is_none() {
            return Err(no_token());
        }
        let over = language.say(
            "La sesión terminó y no se hizo nada. Entra de nuevo.",
            "The session is over and nothing was done. Log in again.",
        );
        self.login_page(language, arrival, query, Some(over), 401)
    }

    async fn log_in(
        &self,
        arrival: &Arrival,
        inbound: &mut Inbound,
        language: Language,
    ) -> Result<Reply, Problem> {
        let Sent { form, .. } = upload::read(inbound, &arrival.head.headers, 16 << 10).await?;
        if !self.is_login_token(form.text("csrf")) {
            return Err(no_token());
        }
        let client = self.proxies.client(arrival.peer.ip(), &arrival.head.headers);
        let too_often =
            |seconds| Problem::too_often("too many wrong secrets came from this address", seconds);
        self.attempts.begin(client).map_err(too_often)?;
        let hash: [u8; 32] = Sha256::digest(form.text(S::SECRET).as_bytes()).into();
        let Some(who) = self.site.recognise(&hash) else {
            tracing::info!(site = S::BASE, request_id = arrival.request_id.as_str(), peer = %arrival.peer, "a login was refused");
            let wrong = language.say(
                "No se pudo entrar: revisa lo que pegaste y vuelve a intentarlo.",
                "Could not log in: check what you pasted and try again.",
            );
            return self.login_page(language, arrival, &form, Some(wrong), 401);
        };
        self.attempts.succeeded(client);
        // A session of its own with every login: nobody can know its cookie before.
        if let Some(before) = self.cookie().find(&arrival.head.headers) {
            self.sessions.close(&before);
        }
        let cookie = cookies::fresh()?;
        self.sessions.open(&cookie, self.site.owner(&who), hash);
        tracing::info!(site = S::BASE, request_id = arrival.request_id.as_str(), peer = %arrival.peer, "somebody logged in");
        let next = form.filled("next").filter(|next| is_own(S::BASE, next));
        let to = next.map_or_else(|| language.link(&format!("{}/home", S::BASE)), str::to_owned);
        Ok(see(&to).header(header::SET_COOKIE, self.cookie().set(&cookie)))
    }

    fn login_page(
        &self,
        language: Language,
        arrival: &Arrival,
        query: &Form,
        error: Option<&str>,
        code: u16,
    ) -> Result<Reply, Problem> {
        let csrf = self.login_token(Self::hour(self.services.now()));
        let (label, hint) = self.site.login(language);
        let here = arrival.head.uri.path_and_query().map_or("", |here| here.as_str());
        let is_login = arrival.head.uri.path() == format!("{}/login", S::BASE);
        let next = if is_login { query.text("next") } else { here };
        let mut form =
            view::Form::new(format!("{}/login", S::BASE), "login", language.say("Entrar", "Log in"))
                .input(Input::new(S::SECRET, label).kind(Kind::Secret).hint(hint));
        if is_own(S::BASE, next) && arrival.head.method == Method::GET || is_login && is_own(S::BASE, next) {
            form = form.hidden("next", next);
        }
        form.error = error.map(str::to_owned);
        let mut page = Page::new("login", language.say("Entrar", "Log in")).with(form);
        page.code = code;
        page.status = error.map(|_| "error".to_owned());
        let shell = Shell::guest(self.site.brand(language), S::BASE, language, arrival);
        shell::write(&page, &shell, &Writing { language, csrf: &csrf })
    }

    fn written(&self, visit: &Visit<'_, S>, shown: Shown) -> Result<Reply, Problem> {
        match shown {
            Shown::Page(page) => shell::write(&page, &self.shell(visit, page.name), &visit.writing()),
            Shown::See(to) => Ok(see(&visit.language.link(&to))),
            Shown::Raw(reply) => Ok(reply),
        }
    }

    fn shell(&self, visit: &Visit<'_, S>, current: &str) -> Shell {
        let nav = self.site.nav(&visit.who, visit.language).into_iter();
        Shell {
            nav: nav.map(|(name, link)| Link { is_current: name == current, ..link }).collect(),
            who: self.site.who(&visit.who, visit.language),
            banner: self.site.banner(&visit.who, visit.language),
            search: Some(format!("{}/search", S::BASE)),
            sought: visit.query.text("q").to_owned(),
            class: S::BASE.trim_start_matches('/'),
            ..Shell::guest(self.site.brand(visit.language), S::BASE, visit.language, visit.arrival)
        }
    }
}

impl<S: Site> Answer for Front<S> {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let path = arrival.head.uri.path();
        let below = path.strip_prefix(S::BASE);
        if below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            || path.starts_with(assets::PREFIX)
        {
            // Boxed: each connection has room for its longest future, and this one is rare there.
            return Box::pin(pipeline::answer(self, arrival, body)).await;
        }
        self.site.api().answer(arrival, body).await
    }
}

impl<S: Site> Surface for Front<S> {
    type Row = PathKind;
    type Caller = Anybody;
    /// The body is read where its session is known, so reading a request is all of it.
    type Work = Infallible;

    fn services(&self) -> &Services {
        &self.services
    }

    fn router(&self) -> &Router<(PathKind, Arc<Meter>)> {
        &self.router
    }

    fn unrouted(&self) -> &Meter {
        &self.unrouted
    }

    fn columns(&self, _: &PathKind) -> Columns {
        Columns { takes_query: true, ..Columns::default() }
    }

    fn guard(&self, arrival: &Arrival) -> Result<(), Problem> {
        self.site.guard(arrival)
    }

    /// An address with a slash at its end, as people type it, leads to the page without one.
    async fn beside<'m>(
        &'m self,
        arrival: &Arrival,
        _: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let (head, path) = (&arrival.head, arrival.head.uri.path());
        let is_typed = head.method == Method::GET && path.ends_with('/') && path.starts_with(S::BASE);
        let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        is_typed.then(|| Ok(see(&format!("{}{query}", path.trim_end_matches('/')))))
    }

    /// Whoever visits is known by the session, which the page itself looks at: without one it shows
    /// the login.
    fn authenticate(&self, _: &PathKind, _: &Arrival) -> Result<Anybody, Problem> {
        Ok(Anybody)
    }

    /// Each address has a part of the room, also of those who have no session.
    fn gathered_in(&self, _: &PathKind, _: &Anybody, arrival: &Arrival) -> Option<Arc<Share>> {
        let client = self.proxies.client(arrival.peer.ip(), &arrival.head.headers);
        Some(self.services.shares.of_client(client))
    }

    async fn prepare(
        &self,
        _: Anybody,
        asked: &mut Asked<'_, Front<S>>,
    ) -> Result<ControlFlow<Reply, Infallible>, Problem> {
        let reply = match asked.row {
            PathKind::File => assets::find(asked.arrival.head.uri.path()).ok_or_else(Problem::not_found)?,
            PathKind::Page => self.page(asked.arrival, asked.inbound).await?,
        };
        Ok(ControlFlow::Break(reply))
    }

    async fn perform(&self, work: Infallible, _: &Arrival) -> Result<Reply, Problem> {
        match work {}
    }

    /// Without a session it has no links.
    fn refused(&self, problem: &Problem, arrival: &Arrival) -> Reply {
        respond::log(problem, &arrival.request_id);
        let query = Form::query(arrival.head.uri.query());
        let language = Language::from_code(query.get("lang"));
        let shell = Shell::guest(self.site.brand(language), S::BASE, language, arrival);
        let page = shell::trouble(problem, arrival.request_id.as_str(), S::BASE, language);
        let reply = shell::write(&page, &shell, &Writing { language, csrf: "" });
        let reply = reply.unwrap_or_else(|unrendered| Reply::problem(&unrendered, &arrival.request_id));
        let reply = match problem.retry_after {
            Some(seconds) => reply.header(header::RETRY_AFTER, seconds.get().into()),
            None => reply,
        };
        match problem.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
            Some(allow) => reply.header(header::ALLOW, allow),
            None => reply,
        }
    }
}

fn no_token() -> Problem {
    Problem::refused(403, "csrf_token", "the form does not carry the token of its session; nothing was done")
}

/// A page's own forms say where they come from; programs say nothing.
fn is_foreign(arrival: &Arrival, is_secure: bool) -> bool {
    let headers = &arrival.head.headers;
    let elsewhere = headers
        .get_all(SEC_FETCH_SITE)
        .iter()
        .any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| arrival.head.uri.authority().map(|authority| authority.as_str()));
    let is_here = |origin: &HeaderValue| {
        let Some((scheme, authority)) = origin.to_str().ok().and_then(|origin| origin.split_once("://"))
        else {
            return false;
        };
        // Behind a proxy that speaks TLS the listener itself may not.
        let fits = scheme == "https" || (scheme == "http" && !is_secure);
        fits && host.is_some_and(|host| authority.eq_ignore_ascii_case(host))
    };
    // Browsers say where every form comes from, unless a page says nothing about itself.
    elsewhere || !headers.get_all(header::ORIGIN).iter().all(is_here)
}

fn is_same(sent: &str, right: &str) -> bool {
    sent.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Nobody is led elsewhere by a link to a login.
fn is_own(base: &str, address: &str) -> bool {
    let below = address.strip_prefix(base);
    below.is_some_and(|below| below.is_empty() || below.starts_with(['/', '?']))
        && address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// What a form asked is done, and loading the page anew does not ask it again.
fn see(to: &str) -> Reply {
    let location = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    shell::safe(Reply::empty(303)).header(header::LOCATION, location)
}

pub fn bad(text: impl Into<String>) -> Block {
    Block::Note(Note::new(Tone::Bad, text))
}
