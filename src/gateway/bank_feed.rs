//! The feed of the catalogue of banks: asked over HTTP, read strictly where it matters.

use crate::fetch::{FetchError, Fetcher};
use domain::resources::banks::{Listed, NAME_CHARACTERS, Service, logo_url};
use domain::values::venezuela::BankCode;
use hyper::{HeaderMap, Method};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::time::Duration;

const BANKS_MAX: usize = 1_000;
const TIMEOUT: Duration = Duration::from_secs(15);

pub struct BankFeed {
    url: String,
    fetcher: Fetcher,
}

impl BankFeed {
    pub fn new(url: &str) -> Result<BankFeed, FetchError> {
        Ok(BankFeed { url: url.to_owned(), fetcher: Fetcher::new(TIMEOUT)? })
    }

    pub async fn ask(&self) -> Result<Vec<Listed>, String> {
        let text = self.fetcher.ask(Method::GET, &self.url, HeaderMap::new(), String::new()).await;
        read(&text.map_err(|error| error.to_string())?)
    }
}

/// A bank as a feed writes it. Members and services that we do not know are of no use to us and do
/// no harm.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    code: String,
    name: String,
    services: Vec<String>,
    logo_url: Option<String>,
}

/// Reads the banks in a feed's answer, all or nothing: a feed with one bad entry is not believed
/// about the others.
pub fn read(text: &str) -> Result<Vec<Listed>, String> {
    let entries: Vec<Entry> =
        serde_json::from_str(text).map_err(|error| format!("is no list of banks: {error}"))?;
    if entries.is_empty() || entries.len() > BANKS_MAX {
        return Err(format!("lists {} banks", entries.len()));
    }
    let mut codes = BTreeSet::new();
    let mut listed = Vec::with_capacity(entries.len());
    for (n, entry) in entries.into_iter().enumerate() {
        let bad = |what: String| format!("[{n}].{what}");
        let code = BankCode::parse(&entry.code).map_err(|why| bad(format!("code {why}")))?;
        if !codes.insert(code) {
            return Err(bad("code is there twice".into()));
        }
        let name = entry.name.trim().to_owned();
        if !NAME_CHARACTERS.contains(&name.chars().count()) {
            return Err(bad("name must have 1 to 120 characters".into()));
        }
        let logo_url = entry
            .logo_url
            .filter(|url| !url.is_empty())
            .map(|url| logo_url(&url))
            .transpose()
            .map_err(|why| bad(format!("logoUrl {why}")))?;
        listed.push(Listed {
            code,
            name,
            services: entry.services.iter().filter_map(|code| Service::from_name(code)).collect(),
            logo_url,
        });
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_believed_whole_or_not_at_all() {
        let good = r#"[{"code":"0102","name":" BDV ","services":["C2P","NEW"],"logoUrl":null,"rif":"G1"},{"code":"0134","name":"Banesco","services":[]}]"#;
        let listed = read(good).expect("a feed");
        assert_eq!(listed.len(), 2);
        assert_eq!(
            (listed[0].name.as_str(), listed[0].services.iter().collect::<Vec<_>>()),
            ("BDV", vec![Service::C2p])
        );
        for bad in [
            "",
            "{}",
            "[]",
            "null",
            "<html>",
            r#"[{"code":"102","name":"x","services":[]}]"#,
            r#"[{"code":"0102","name":"","services":[]}]"#,
            r#"[{"code":"0102","name":"x"}]"#,
            r#"[{"code":102,"name":"x","services":[]}]"#,
            r#"[{"code":"0102","name":"x","services":"C2P"}]"#,
            r#"[{"code":"0102","name":"x","services":[],"logoUrl":"javascript:alert(1)"}]"#,
            r#"[{"code":"0102","name":"x","services":[]},{"code":"0102","name":"y","services":[]}]"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
