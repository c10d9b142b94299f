//! What a site has of its own: who may log in with what, which pages there are, and what a visit of
//! one of them knows.

use crate::cluster::questions::ShownBy;
use crate::gateway::services::Services;
use crate::http::listen::Arrival;
use crate::http::respond::{self, Reply};
use crate::language::Language;
use crate::pages::form;
use crate::pages::inside::{ApiResult, Inside, Refused, with_query};
use crate::pages::shell::{self, Shell};
use crate::pages::show::{self, Gender};
use crate::pages::view::{Block, Code, Form, Input, Kind, Link, Note, Page, Table, Tone, Writing};
use crate::pages::words::words;
use api::problem::Problem;
use bytes::Bytes;
use domain::values::ids::Id;
use hyper::Method;
use hyper::header::HeaderName;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

pub enum Shown {
    Page(Page),
    See(String),
    Raw(Reply),
}

type Answering<'v, T> = Pin<Box<dyn Future<Output = T> + Send + 'v>>;
pub type Show<W> = for<'v, 'a> fn(&'v Visit<'a, W>) -> Answering<'v, Result<Page, Refused>>;
pub type Act<W> = for<'v, 'a> fn(&'v Visit<'a, W>) -> Answering<'v, Result<Shown, Problem>>;

/// What answers at an address of a site. Whatever is asked by POST is an act: it takes the token of its session.
pub enum PageRow<W: 'static> {
    File,
    LogIn,
    LogOut,
    Show(Show<W>),
    Answer(Act<W>),
    /// There is no such page; whoever is not logged in does not learn that.
    Nothing,
}

/// A row of a site: the path is below the site's, as the router writes it.
pub type FindShownBy = fn(&Services, &[String], &form::Form) -> Option<ShownBy>;
pub type SiteRow<W> = (Method, &'static str, PageRow<W>);

pub fn show<W>(path: &'static str, page: Show<W>) -> SiteRow<W> {
    (Method::GET, path, PageRow::Show(page))
}

pub fn act<W>(path: &'static str, act: Act<W>) -> SiteRow<W> {
    (Method::POST, path, PageRow::Answer(act))
}

pub fn answer<W>(path: &'static str, answer: Act<W>) -> SiteRow<W> {
    (Method::GET, path, PageRow::Answer(answer))
}

/// Rows of a site: a page, an act or what else is answered, its path, and the function.
macro_rules! site_rows {
    ($($kind:ident $path:literal => $($page:ident)::+;)*) => {
        vec![$($crate::pages::site::$kind($path, |visit| Box::pin($($page)::+(visit)))),*]
    };
}
pub(crate) use site_rows;

pub struct Site<W: 'static> {
    pub base: &'static str,
    pub cookie: &'static str,
    /// The field of the login: its name, its label and a help, in Spanish and English.
    pub secret: &'static str,
    pub label: [&'static str; 2],
    pub hint: [&'static str; 2],
    pub brand: [&'static str; 2],
    pub form_bytes_max: usize,
    pub nav: &'static [(&'static str, &'static str, &'static str)],
    /// If the key or token with this hash opens anything now.
    pub recognise: fn(&Services, &[u8; 32]) -> Option<W>,
    pub owner: fn(&W) -> Id,
    /// Whose account all of its pages are about, in one mode.
    pub book: fn(&W) -> Option<u64>,
    /// Of a site whose pages are of all partitions: by whom one is shown that needs the books of one, by its path and
    /// query.
    pub shown_by: Option<FindShownBy>,
    pub who: fn(&W, Language) -> String,
    pub banner: fn(&W, Language) -> Option<&'static str>,
    /// The page in the place of one that the API refused to the visitor.
    pub refused: fn(&Visit<'_, W>, &Refused) -> Result<Page, Problem>,
    /// What the address of the next page says was done, and the note for it, in Spanish and English.
    pub done: &'static [(&'static str, Tone, [&'static str; 2])],
}

impl<W> Site<W> {
    pub fn rows(
        &self,
        pages: Vec<SiteRow<W>>,
    ) -> impl Iterator<Item = (Method, &'static str, PageRow<W>)> + use<W> {
        let every = [
            (Method::GET, "/login", PageRow::LogIn),
            (Method::POST, "/login", PageRow::LogIn),
            (Method::POST, "/logout", PageRow::LogOut),
            (Method::GET, "/:page", PageRow::Nothing),
            (Method::GET, "/:page/:id", PageRow::Nothing),
            (Method::POST, "/:page", PageRow::Nothing),
            (Method::POST, "/:page/:id", PageRow::Nothing),
            (Method::POST, "/:page/:id/:act", PageRow::Nothing),
        ];
        let base = self.base;
        let mut rows: Vec<SiteRow<W>> = pages.into_iter().chain(every).collect();
        // What an address takes is answered after who asks: it is the login to whoever is not logged in.
        let mut others: Vec<SiteRow<W>> = Vec::new();
        for (method, path, _) in &rows {
            let other = if *method == Method::GET { Method::POST } else { Method::GET };
            let is_there = |row: &SiteRow<W>| row.0 == other && row.1 == *path;
            if !rows.iter().chain(&others).any(is_there) {
                others.push((other, path, PageRow::Nothing));
            }
        }
        rows.append(&mut others);
        let below = rows.into_iter().map(move |(method, path, row)| {
            let path: &'static str = Box::leak(format!("{base}{path}").into_boxed_str());
            (method, path, row)
        });
        [(Method::GET, "/page-assets/:file", PageRow::File)].into_iter().chain(below)
    }

    pub fn nav(&self, current: &str, language: Language) -> Vec<Link> {
        let link = |(name, spanish, english): &(&'static str, &'static str, &'static str)| {
            let link = Link::new(language.say(spanish, english), format!("{}/{name}", self.base));
            Link { is_current: *name == current, ..link }
        };
        self.nav.iter().map(link).collect()
    }

    pub fn guest(&self, language: Language, arrival: &Arrival) -> Shell {
        let [spanish, english] = self.brand;
        Shell::guest(language.say(spanish, english).to_owned(), self.base, language, arrival)
    }

    pub fn refused(&self, problem: &Problem, arrival: &Arrival) -> Reply {
        respond::log(problem, &arrival.request_id);
        let language = Language::from_code(form::Form::query(arrival.head.uri.query()).get("lang"));
        let page = shell::trouble(problem, arrival.request_id.as_str(), self.base, language);
        let reply = shell::write(
            &page,
            &self.guest(language, arrival),
            &Writing { language, csrf: "", refresh: None },
        );
        let reply = reply.unwrap_or_else(|unrendered| Reply::problem(&unrendered, &arrival.request_id));
        reply.with_problem_headers(problem)
    }
}

pub struct Visit<'a, W: 'static> {
    pub site: &'static Site<W>,
    pub who: W,
    pub services: &'a Arc<Services>,
    pub language: Language,
    pub path: Vec<String>,
    pub query: form::Form,
    pub form: form::Form,
    pub file: Option<Bytes>,
    pub inside: Inside<'a>,
    pub arrival: &'a Arrival,
    pub csrf: String,
}

/// From htmx: a page shows a part anew, or somebody types.
pub const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");

impl<W> Visit<'_, W> {
    /// Whether a script asks, for a part of the page.
    pub fn is_by_script(&self) -> bool {
        self.arrival.head.headers.contains_key(HX_REQUEST)
    }

    pub fn part(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    pub fn id(&self) -> &str {
        self.part(1)
    }

    pub fn writing(&self) -> Writing<'_> {
        // What answers a form stands at an address that nobody reads.
        let is_read = self.arrival.head.method == Method::GET;
        Writing { language: self.language, csrf: &self.csrf, refresh: is_read.then_some("") }
    }

    pub fn say(&self, spanish: &'static str, english: &'static str) -> &'static str {
        self.language.say(spanish, english)
    }

    /// The heads are divided by commas.
    pub fn table(&self, caption: [&str; 2], spanish: &str, english: &str) -> Table {
        let caption = self.language.say(caption[0], caption[1]);
        show::headed(self.language, caption, self.language.say(spanish, english).split(", "))
    }

    pub async fn post(&self, path: &str, body: &Value) -> ApiResult {
        self.inside.post(path, body, self.form.text("once")).await
    }

    /// What a form that was sent to this address had there; empty on a fresh one.
    pub fn typed(&self, to: &str, name: &str) -> &str {
        if self.arrival.head.uri.path() == to { self.form.text(name) } else { "" }
    }

    pub fn code(&self, field: &'static str, label: [&str; 2], text: impl Into<String>) -> Code {
        let label = self.language.say(label[0], label[1]).to_owned();
        Code { label, field, text: text.into(), copy: self.say("Copiar", "Copy") }
    }

    /// A page of a list of the API's by the filters that this page's address has, and the address of its next one,
    /// which is `here`.
    pub async fn list(
        &self,
        api: &str,
        here: &str,
        filters: &[&str],
        limit: &str,
    ) -> Result<(Value, Option<String>), Refused> {
        let tenant = self.tenant_id(self.query.text("tenantId"));
        let asked = filters.iter().map(|name| match *name {
            "tenantId" => (*name, tenant.as_str()),
            _ => (*name, self.query.text(name)),
        });
        let asked: Vec<_> = asked.collect();
        let page = [("limit", limit), ("cursor", self.query.text("cursor"))];
        let found = self.inside.get(&with_query(api, &[&asked[..], &page].concat())).await?;
        let next = found["nextCursor"].as_str();
        let next = next.map(|cursor| with_query(here, &[&asked[..], &[("cursor", cursor)]].concat()));
        Ok((found, next))
    }

    pub fn states(&self, gender: Gender, states: &[&str]) -> Input {
        let said = |word: &str| show::agreeing(self.language, gender, word.to_owned());
        let all = (String::new(), said(self.say("Todos", "All")));
        let states = states.iter().map(|state| ((*state).to_owned(), said(words(self.language, state))));
        let options = [all].into_iter().chain(states).collect();
        let input = Input::new("status", self.say("Estado", "State")).kind(Kind::Choice).options(options);
        input.value(self.query.text("status")).needed("")
    }

    pub fn filter(&self, here: &str, inputs: impl IntoIterator<Item = Input>) -> Form {
        let form = Form::query(here, "filter", self.say("Filtrar", "Filter"));
        inputs.into_iter().fold(form, Form::input)
    }

    pub fn sought(&self, name: &'static str, label: &str) -> Input {
        let typed = self.query.text(name);
        let value = if name == "tenantId" { self.tenant_name(typed) } else { typed.to_owned() };
        Input::new(name, label).value(value).needed("")
    }

    /// The only page that shows a new secret.
    pub fn secret(&self, page: Page, note: &str, code: Code) -> Page {
        Page { code: 201, ..page.with(Note::new(Tone::Good, note)).with(code) }
    }

    /// What follows an act, or the page of its form with what the API said against it.
    pub async fn acted(
        &self,
        outcome: ApiResult,
        then: impl FnOnce(&Value) -> Shown,
        page: impl Future<Output = Result<Page, Refused>>,
    ) -> Result<Shown, Problem> {
        match outcome {
            Ok(answer) => Ok(then(&answer)),
            Err(refused) => self.failed(page.await, &refused),
        }
    }

    /// A page, or what stands in its place where the API refused it.
    pub fn shown(&self, made: Result<Page, Refused>) -> Result<Shown, Problem> {
        made.or_else(|refused| (self.site.refused)(self, &refused)).map(Shown::Page)
    }

    pub fn failed(&self, made: Result<Page, Refused>, refused: &Refused) -> Result<Shown, Problem> {
        let bare = |_| Page::new("home", self.say("No se pudo hacer", "It could not be done"));
        let mut page = made.unwrap_or_else(bare);
        let mut refused = refused.clone();
        for block in &mut page.blocks {
            if let Block::Form(form) = block
                && form.is_sent_to(self.arrival.head.uri.path())
            {
                // What is wrong with a field is said at the field.
                refused.fields.retain(|(field, why)| {
                    let input = form.inputs.iter_mut().find(|input| input.name == *field);
                    input
                        .map(|input| input.error = show::sentence(&show::fault(self.language, why)))
                        .is_none()
                });
            }
        }
        Ok(Shown::Page(page.failed(refused.status, show::refusal(self.language, &refused))))
    }

    /// A note of what was done before this page, which its address names.
    pub fn done(&self) -> Option<Note> {
        let name = self.query.get("done")?;
        let (_, tone, [spanish, english]) = self.site.done.iter().find(|(known, ..)| *known == name)?;
        Some(Note::new(*tone, self.say(spanish, english)))
    }
}
