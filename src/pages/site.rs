//! The parts of its pages that a site has of its own: who may log in with what, which pages there
//! are, and what a visit of one of them knows.

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

/// The answer of a page.
pub enum Shown {
    Page(Page),
    /// Another page, whose address is this: what was done was done.
    See(String),
    /// A file, or what else is no page.
    Raw(Reply),
}

impl From<Page> for Shown {
    fn from(page: Page) -> Shown {
        Shown::Page(page)
    }
}

/// Pages behind a login.
pub trait Site: Send + Sync + 'static {
    /// The API that the pages are made of, which answers everything that is no page, too.
    type Api: Answer;
    /// Whoever is logged in.
    type Who: Clone + Send + Sync;

    /// The path of the pages.
    const BASE: &'static str;
    /// The name of the cookie, without its prefix.
    const COOKIE: &'static str;
    /// The name of the field with the secret.
    const SECRET: &'static str;
    /// The paths of the pages below the base, as the router writes them; of acts too.
    const PATHS: &'static [(Method, &'static str)] = &[
        (Method::GET, "/:page"),
        (Method::GET, "/:page/:id"),
        (Method::POST, "/:page"),
        (Method::POST, "/:page/:id"),
        (Method::POST, "/:page/:id/:act"),
    ];
    /// The largest form.
    const FORM_BYTES_MAX: usize;

    /// The server's parts.
    fn services(&self) -> &Services;

    /// The API behind the pages.
    fn api(&self) -> &Self::Api;

    /// A check of every request, before anything else of it is looked at.
    fn guard(&self, _: &Arrival) -> Result<(), Problem> {
        Ok(())
    }

    /// Whoever has the key or token with this hash, if it opens anything now.
    fn recognise(&self, hash: &[u8; 32]) -> Option<Self::Who>;

    /// Whose the sessions of whoever is logged in are: the account, or the operator.
    fn owner(&self, who: &Self::Who) -> Id;

    /// The name of the site.
    fn brand(&self, language: Language) -> String;

    /// The words of the login: the label of its field, and a help.
    fn login(&self, language: Language) -> (String, String);

    /// The line under the name: whoever is logged in.
    fn who(&self, who: &Self::Who, language: Language) -> String;

    /// A warning above every page.
    fn banner(&self, who: &Self::Who, language: Language) -> Option<String>;

    /// The links to the pages, with the name of each.
    fn nav(&self, who: &Self::Who, language: Language) -> Vec<(&'static str, Link)>;

    /// The page with this path below the base; its parts are given one by one.
    fn show(&self, visit: &Visit<'_, Self>) -> impl Future<Output = Result<Shown, Problem>> + Send;

    /// Does what a form asks, and shows what came of it.
    fn act(&self, visit: &Visit<'_, Self>, sent: Sent)
    -> impl Future<Output = Result<Shown, Problem>> + Send;
}

/// A request of somebody who is logged in.
pub struct Visit<'a, S: Site + ?Sized> {
    /// Whoever is logged in.
    pub who: S::Who,
    pub language: Language,
    /// The parts of the path below the base.
    pub path: Vec<String>,
    /// The parameters of the address.
    pub query: Form,
    /// The API as the visitor may call it.
    pub inside: Inside<'a, S::Api>,
    /// The head of the request.
    pub arrival: &'a Arrival,
    /// The token of the session's forms.
    pub csrf: String,
    /// The public URL of this server, without a slash at the end.
    pub base_url: String,
}

impl<S: Site + ?Sized> Visit<'_, S> {
    /// A part of the path below the base; empty where there is none.
    pub fn part(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    /// The values that parts of a page are written with.
    pub fn writing(&self) -> Writing<'_> {
        Writing { language: self.language, csrf: &self.csrf }
    }

    /// Whichever of two texts is in the page's language.
    pub fn say(&self, spanish: &'static str, english: &'static str) -> &'static str {
        self.language.say(spanish, english)
    }
}
