//! The way of a request for a page: what holds for every page is here, once. A page that needs a session shows
//! the login in its place; a form without the token of its session is refused before anything else of it is
//! looked at; a page is never kept by a browser and loads nothing from elsewhere.

use crate::cluster::passing;
use crate::gateway::dispatch::Request;
use crate::gateway::limits::Failures;
use crate::gateway::services::Services;
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival, OnBehalf};
use crate::http::respond::Reply;
use crate::language::Language;
use crate::network::{Client, TrustedProxies};
use crate::pages::assets;
use crate::pages::cookies::{self, Cookie};
use crate::pages::form::{self, Form, Sent};
use crate::pages::inside::Inside;
use crate::pages::sessions::Sessions;
use crate::pages::shell::{self, Shell};
use crate::pages::site::{HX_REQUEST, PageRow, Shown, Site, Visit};
use crate::pages::view::{self, Block, Input, Kind, Note, Page, Tone, Writing};
use api::problem::Problem;
use domain::values::time::Timestamp;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Uri};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const HX_REFRESH: HeaderName = HeaderName::from_static("hx-refresh");
/// The form of the login may be left open so long.
const LOGIN_HOURS: i64 = 24;
/// Wrong secrets from one address within ten minutes.
const FAILURES_MAX: usize = 10;
const LOGIN_BYTES_MAX: usize = 16 << 10;

pub struct Pages<W: 'static> {
    site: &'static Site<W>,
    services: Arc<Services>,
    sessions: Sessions,
    attempts: Failures<Client>,
    proxies: TrustedProxies,
    /// The listener speaks TLS, or stands behind a proxy that does.
    is_secure: bool,
}

impl<W: Send + Sync> Pages<W> {
    pub fn new(
        services: Arc<Services>,
        site: &'static Site<W>,
        proxies: TrustedProxies,
        is_secure: bool,
    ) -> Pages<W> {
        let (sessions, attempts) = (Sessions::default(), Failures::new(FAILURES_MAX));
        Pages { site, services, sessions, attempts, proxies, is_secure }
    }

    fn cookie(&self) -> Cookie {
        Cookie { name: self.site.cookie, is_secure: self.is_secure }
    }

    fn csrf(&self, cookie: &str) -> String {
        hex::encode(self.services.keys.mark(&[b"form", self.site.base.as_bytes(), cookie.as_bytes()]))
    }

    /// There is no session yet that the token could belong to.
    fn login_token(&self, hour: i64) -> String {
        let mark = self.services.keys.mark(&[b"login form", self.site.base.as_bytes(), &hour.to_be_bytes()]);
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

    fn visitor(&self, arrival: &Arrival) -> Option<(String, [u8; 32], W)> {
        let cookie = self.cookie().find(&arrival.head.headers);
        // The process that has the session let them in, or a page asks here.
        if let Some(OnBehalf(hash)) = arrival.head.extensions.get::<OnBehalf>() {
            return Some((cookie.unwrap_or_default(), *hash, (self.site.recognise)(&self.services, hash)?));
        }
        let cookie = cookie?;
        let is_used = !arrival.head.headers.contains_key(HX_REQUEST);
        let hash = self.sessions.find(&cookie, is_used)?;
        let who = (self.site.recognise)(&self.services, &hash).filter(|who| {
            let book = (self.site.book)(who);
            book.is_none_or(|book| self.services.callers.elsewhere_of(book).is_none())
        });
        let Some(who) = who else {
            // The key was revoked, or the operator disabled, or the account has gone to another partition, where one
            // logs in anew: so ends what it opened.
            self.sessions.close(&cookie);
            return None;
        };
        Some((cookie, hash, who))
    }

    pub async fn answer(
        &self,
        row: &PageRow<W>,
        api: &impl Answer,
        request: &mut Request<'_>,
    ) -> Result<Reply, Problem> {
        let Request { arrival, inbound, .. } = request;
        let head = &arrival.head;
        if let PageRow::File = row {
            return assets::find(&*assets::FILES, head.uri.path()).ok_or_else(Problem::not_found);
        }
        let query = Form::query(head.uri.query());
        let language = Language::from_code(query.get("lang"));
        let acts = head.method == Method::POST;
        if acts && is_foreign(arrival, self.is_secure) {
            return Err(Problem::cross_site());
        }
        if let PageRow::LogIn = row {
            return match acts {
                true => self.log_in(arrival, inbound, language).await,
                false => self.login_page(language, arrival, &query, None, 200),
            };
        }
        let Some((cookie, hash, who)) = self.visitor(arrival) else {
            return self.login_instead(arrival, inbound, language, &query, acts).await;
        };
        let below = head.uri.path().strip_prefix(self.site.base).unwrap_or_default();
        let decoded =
            |part: &str| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
        let path: Vec<String> = below.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let front = self.site.shown_by.zip(self.services.callers.to_front.as_ref());
        if let Some((shown_by, front)) = front
            && head.extensions.get::<OnBehalf>().is_none()
            && let Some(by) = shown_by(&self.services, &path, &query)
        {
            let body = inbound.bytes().await?;
            return of_another(head, front.page(by, arrival, OnBehalf(hash), body).await?);
        }
        let csrf = self.csrf(&cookie);
        let (mut form, mut file) = (Form::query(None), None);
        if acts {
            Sent { form, file } = form::read(inbound, &head.headers, self.site.form_bytes_max).await?;
            if !is_same(form.text("csrf"), &csrf) {
                return Err(no_token());
            }
        }
        let front = front.map(|(_, front)| (front, self.services.callers.partition));
        let inside = Inside::of(api, front, OnBehalf(hash), arrival);
        let (site, services) = (self.site, &self.services);
        let visit = Visit { site, who, services, language, path, query, form, file, inside, arrival, csrf };
        let shown = match row {
            PageRow::LogOut => {
                self.sessions.close(&cookie);
                let to = language.link(&format!("{}/login", self.site.base));
                return Ok(see(&to).header(header::SET_COOKIE, self.cookie().cleared()));
            }
            PageRow::Show(show) => visit.shown(show(&visit).await)?,
            PageRow::Answer(answer) => answer(&visit).await?,
            PageRow::Nothing | PageRow::File | PageRow::LogIn => return Err(Problem::not_found()),
        };
        match shown {
            Shown::Page(mut page) => {
                if let Some(missing) = visit.inside.missing() {
                    page.blocks.insert(0, without(language, &missing));
                }
                let (mut shell, mut on) = (self.shell(&visit, page.name), visit.writing());
                if let Some(at) = page.at.as_deref().filter(|_| acts) {
                    (shell.other_language, on.refresh) = (shell::in_other_language(language, at), Some(at));
                }
                shell::write(&page, &shell, &on)
            }
            Shown::See(to) => Ok(see(&language.link(&to))),
            Shown::Raw(reply) => Ok(reply),
        }
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
        let sent = form::read(inbound, &arrival.head.headers, self.site.form_bytes_max).await?;
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
        let Sent { form, .. } = form::read(inbound, &arrival.head.headers, LOGIN_BYTES_MAX).await?;
        if !self.is_login_token(form.text("csrf")) {
            return Err(no_token());
        }
        let client = self.proxies.client(arrival.peer.ip(), &arrival.head.headers);
        let too_often =
            |seconds| Problem::too_often("too many wrong secrets came from this address", seconds);
        self.attempts.begin(client).map_err(too_often)?;
        let hash: [u8; 32] = Sha256::digest(form.text(self.site.secret).as_bytes()).into();
        let Some(who) = (self.site.recognise)(&self.services, &hash) else {
            tracing::info!(site = self.site.base, request_id = arrival.request_id.as_str(), peer = %arrival.peer, "a login was refused");
            let wrong = language.say(
                "No se pudo entrar: revisa lo que pegaste y vuelve a intentarlo.",
                "Could not log in: check what you pasted and try again.",
            );
            return self.login_page(language, arrival, &form, Some(wrong), 401);
        };
        self.attempts.succeeded(client);
        if let Some(partition) =
            (self.site.book)(&who).and_then(|book| self.services.callers.elsewhere_of(book))
        {
            return Ok(passing::elsewhere(partition, &arrival.request_id));
        }
        // A session of its own with every login: nobody can know its cookie before.
        if let Some(before) = self.cookie().find(&arrival.head.headers) {
            self.sessions.close(&before);
        }
        let cookie = cookies::fresh(self.services.callers.partition)?;
        self.sessions.open(&cookie, (self.site.owner)(&who), hash);
        tracing::info!(site = self.site.base, request_id = arrival.request_id.as_str(), peer = %arrival.peer, "somebody logged in");
        let next = form.filled("next").filter(|next| is_own(self.site.base, next));
        let to = next.map_or_else(|| language.link(&format!("{}/home", self.site.base)), str::to_owned);
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
        let [label, hint] =
            [self.site.label, self.site.hint].map(|[spanish, english]| language.say(spanish, english));
        let here = arrival.head.uri.path_and_query().map_or("", |here| here.as_str());
        let is_login = arrival.head.uri.path() == format!("{}/login", self.site.base);
        let next = if is_login { query.text("next") } else { here };
        let mut form =
            view::Form::new(format!("{}/login", self.site.base), "login", language.say("Entrar", "Log in"))
                .input(Input::new(self.site.secret, label).kind(Kind::Secret).hint(hint));
        if is_own(self.site.base, next) && arrival.head.method == Method::GET
            || is_login && is_own(self.site.base, next)
        {
            form = form.hidden("next", next);
        }
        form.error = error.map(str::to_owned);
        let mut page = Page::new("login", language.say("Entrar", "Log in")).with(form);
        page.code = code;
        page.status = error.map(|_| "error".to_owned());
        shell::write(
            &page,
            &self.site.guest(language, arrival),
            &Writing { language, csrf: &csrf, refresh: None },
        )
    }

    /// What a page is called, or where it stands: that of one payment is among payments.
    fn section<'v>(&self, visit: &'v Visit<'_, W>, current: &'v str) -> &'v str {
        let is_named = self.site.nav.iter().any(|(name, ..)| *name == current);
        if is_named { current } else { visit.part(0) }
    }

    fn shell(&self, visit: &Visit<'_, W>, current: &str) -> Shell {
        Shell {
            nav: self.site.nav(self.section(visit, current), visit.language),
            who: (self.site.who)(&visit.who, visit.language),
            banner: (self.site.banner)(&visit.who, visit.language).map(str::to_owned),
            search: Some(format!("{}/search", self.site.base)),
            sought: visit.query.text("q").to_owned(),
            class: self.site.base.trim_start_matches('/'),
            ..self.site.guest(visit.language, visit.arrival)
        }
    }
}

/// Without which the page is.
fn without(language: Language, partitions: &str) -> Block {
    let text = match language {
        Language::Spanish => format!("Falta lo de las particiones {partitions}: ahora no responden."),
        Language::English => {
            format!("What is of the partitions {partitions} is missing: they do not answer now.")
        }
    };
    Block::Note(Note::new(Tone::Warning, text))
}

/// A page that another process shows. What refuses it is no page, and is shown as every refusal is.
fn of_another(head: &Parts, reply: Reply) -> Result<Reply, Problem> {
    let refusal = (reply.status >= 400).then(|| serde_json::from_slice::<Value>(&reply.body).ok()).flatten();
    match refusal {
        None => Ok(reply),
        Some(_) if reply.status == 404 => Err(Problem::not_found()),
        Some(said) if said["error"] == "no_leader" || head.method == Method::GET => Err(Problem::no_leader()),
        Some(_) => Err(Problem::storage_unavailable()),
    }
}

/// The page at an address that was typed with a slash at its end.
pub fn without_slash(uri: &Uri) -> Reply {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    see(&format!("{}{query}", uri.path().trim_end_matches('/')))
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
