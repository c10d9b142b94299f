//! What a site has of its own: who may log in with what, which pages there are, and what a visit of
//! one of them knows.

use crate::gateway::services::Services;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::Reply;
use crate::pages::form::Form;
use crate::pages::inside::Inside;
use crate::pages::language::Language;
use crate::pages::upload::Sent;
use crate::pages::view::{Link, Page, Writing};
use api::problem::Problem;
use domain::values::ids::Id;
use hyper::Method;

pub enum Shown {
    Page(Page),
    /// Done; another page has this address.
    See(String),
    /// A file, or what else is no page.
    Raw(Reply),
}

impl From<Page> for Shown {
    fn from(page: Page) -> Shown {
        Shown::Page(page)
    }
}

pub trait Site: Send + Sync + 'static {
    /// Answers everything that is no page, too.
    type Api: Answer;
    type Who: Clone + Send + Sync;

    const BASE: &'static str;
    /// Without its prefix.
    const COOKIE: &'static str;
    const SECRET: &'static str;
    /// Below the base, as the router writes them; of acts too.
    const PATHS: &'static [(Method, &'static str)] = &[
        (Method::GET, "/:page"),
        (Method::GET, "/:page/:id"),
        (Method::POST, "/:page"),
        (Method::POST, "/:page/:id"),
        (Method::POST, "/:page/:id/:act"),
    ];
    const FORM_BYTES_MAX: usize;

    fn services(&self) -> &Services;

    fn api(&self) -> &Self::Api;

    /// Before anything else of a request is looked at.
    fn guard(&self, _: &Arrival) -> Result<(), Problem> {
        Ok(())
    }

    /// If the key or token with this hash opens anything now.
    fn recognise(&self, hash: &[u8; 32]) -> Option<Self::Who>;

    /// The account, or the operator, that sessions belong to.
    fn owner(&self, who: &Self::Who) -> Id;

    fn brand(&self, language: Language) -> String;

    /// The label of the field, and a help.
    fn login(&self, language: Language) -> (String, String);

    /// Under the name.
    fn who(&self, who: &Self::Who, language: Language) -> String;

    /// Above every page.
    fn banner(&self, who: &Self::Who, language: Language) -> Option<String>;

    fn nav(&self, who: &Self::Who, language: Language) -> Vec<(&'static str, Link)>;

    /// The path's parts below the base are given one by one.
    fn show(&self, visit: &Visit<'_, Self>) -> impl Future<Output = Result<Shown, Problem>> + Send;

    fn act(&self, visit: &Visit<'_, Self>, sent: Sent)
    -> impl Future<Output = Result<Shown, Problem>> + Send;
}

pub struct Visit<'a, S: Site + ?Sized> {
    pub who: S::Who,
    pub language: Language,
    pub path: Vec<String>,
    pub query: Form,
    /// As the visitor may call it.
    pub inside: Inside<'a, S::Api>,
    pub arrival: &'a Arrival,
    /// Of the session's forms.
    pub csrf: String,
    /// Without a slash at the end.
    pub base_url: String,
}

impl<S: Site + ?Sized> Visit<'_, S> {
    /// Empty where there is none.
    pub fn part(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    pub fn writing(&self) -> Writing<'_> {
        Writing { language: self.language, csrf: &self.csrf }
    }

    pub fn say(&self, spanish: &'static str, english: &'static str) -> &'static str {
        self.language.say(spanish, english)
    }
}
