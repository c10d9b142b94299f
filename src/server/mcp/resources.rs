//! What agents read: the guides in both languages, a page for each error code, the magic values of test mode, and the
//! settings of the account that the key is of.

use crate::guides::{LANGUAGES, addressed, documents};
use api::codes::{self, Code, Tongue};
use api::endpoint::Caller;
use api::tenants;
use api::writer::{Object, text};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

pub(super) const SETTINGS: &str = "pasarela://settings";
const TEST_VALUES: &str = "pasarela://test-values";
const GUIDES: &str = "pasarela://docs/";
const ERRORS: &str = "pasarela://errors/";
/// The guide that has the magic values.
const TESTING: &str = "testing";
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

pub(super) fn all() -> Vec<Resource> {
    let settings = Resource::new(SETTINGS, "settings")
        .with_title("This account's settings: fees, limits, and what the key may do")
        .with_mime_type(JSON);
    let values = Resource::new(TEST_VALUES, "test-values")
        .with_title("The magic values of test mode")
        .with_mime_type(MARKDOWN);
    let guides = LANGUAGES.into_iter().flat_map(|language| {
        documents(language).map(move |(name, document)| {
            let title = document.lines().next().unwrap_or_default().trim_start_matches("# ");
            let name = format!("{}/{name}", language.code());
            Resource::new(format!("{GUIDES}{name}"), name).with_title(title).with_mime_type(MARKDOWN)
        })
    });
    [settings, values].into_iter().chain(guides).collect()
}

pub(super) fn errors() -> ResourceTemplate {
    ResourceTemplate::new(format!("{ERRORS}{{error}}"), "error")
        .with_title("What an error code means, and what to do next")
        .with_description("`error` is the member `error` of a refusal, such as insufficient_balance.")
        .with_mime_type(MARKDOWN)
}

/// Callers reach the server at `known_url`; empty where nobody knows it.
pub(super) fn read(uri: &str, caller: &Caller, known_url: &str) -> Option<ReadResourceResult> {
    let guide = |language, name| guide(language, name).map(|document| addressed(known_url, document));
    let code = |name: &str| codes::all().chain(codes::of_banks()).find(|code| code.name == name);
    let (media, text) = match uri {
        SETTINGS => (JSON, settings(caller)),
        TEST_VALUES => (MARKDOWN, guide("en", TESTING)?),
        _ => match (uri.strip_prefix(ERRORS), uri.strip_prefix(GUIDES).and_then(|name| name.split_once('/')))
        {
            (Some(name), _) => (MARKDOWN, error(code(name)?)),
            (None, Some((language, name))) => (MARKDOWN, guide(language, name)?),
            (None, None) => return None,
        },
    };
    Some(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(media)]))
}

fn guide(language: &str, name: &str) -> Option<&'static str> {
    let language = LANGUAGES.into_iter().find(|known| known.code() == language)?;
    documents(language).find(|(known, _)| *known == name).map(|(_, document)| document)
}

fn settings(caller: &Caller) -> String {
    let shown = Object::reopened(tenants::show(&caller.tenant))
        .boolean("livemode", caller.livemode())
        .list("scopes", caller.key.scopes.iter().map(|scope| text(scope.name())));
    String::from_utf8_lossy(&shown.end()).into_owned()
}

fn error(code: &Code) -> String {
    let statuses: Vec<String> = code.statuses.iter().map(u16::to_string).collect();
    let status = match statuses.is_empty() {
        true => String::new(),
        false => format!("Status {}.\n\n", statuses.join(", ")),
    };
    let [en, es] = [Tongue::English, Tongue::Spanish].map(|tongue| tongue.of(code));
    format!(
        "# {}\n\n{status}- Meaning: {}.\n- Next step: {}.\n- Significado: {}.\n- Qué hacer: {}.\n",
        code.name, en.meaning, en.next, es.meaning, es.next
    )
}
