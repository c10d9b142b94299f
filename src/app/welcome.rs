//! The greeting of a person who started the server in a terminal, once it is ready: where it
//! answers, what to open, what to paste. A service's log gets the line `ready` instead.

use crate::config::{Config, LogFormat, TOKEN_FILE};
use std::fmt::Write as _;
use std::io::IsTerminal as _;

pub fn is_watched(config: &Config) -> bool {
    config.log.format != LogFormat::Json && std::io::stderr().is_terminal()
}

pub fn lines(config: &Config, admin: &str) -> String {
    let api = config.server.base_url();
    let file = config.storage.path.join(TOKEN_FILE);
    let token = if config.admin.token.is_none() && file.exists() {
        format!("   (their token is in {}, where `pasarela admin` finds it)", file.display())
    } else {
        String::new()
    };
    let mut text = String::new();
    let rows = [
        ("API", format!("{api}   (open it for a first look, {api}/docs for guides and the reference)")),
        ("operators", format!("{admin}/docs{token}")),
        ("data", config.storage.path.display().to_string()),
    ];
    text.push_str("\nPasarela is ready.\n\n");
    for (name, what) in rows {
        let _ = writeln!(text, "  {name:<10} {what}");
    }
    if let Some(key) = config.demo_key() {
        let _ = write!(
            text,
            "\nIn another terminal, a balance, and a thousand bolívares to play with:\n\n  curl -s \
             {api}/v1/balance -H 'x-api-key: {key}'\n  \
             curl -s {api}/v1/test/fund -H 'x-api-key: {key}' -H 'content-type: application/json' -d \
             '{{\"currency\":\"VES\",\"amount\":\"1000.00\"}}'\n\n\
             README.md, \"Try it\", goes on from a collection to a payout.\n"
        );
    }
    text.push_str("Ctrl-C stops it.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_key_is_shown_with_calls_to_paste() {
        let with = Config::parse("[[bootstrap.tenants]]\nname = \"demo\"\ntest_key = \"pk_test_demo\"", [])
            .expect("a configuration");
        let shown = lines(&with, "http://127.0.0.1:9090");
        assert!(
            shown.contains("curl -s http://127.0.0.1:8080/v1/balance -H 'x-api-key: pk_test_demo'"),
            "{shown}"
        );
        assert!(
            shown.contains("http://127.0.0.1:8080/docs") && shown.contains("http://127.0.0.1:9090/docs"),
            "{shown}"
        );
        assert!(!lines(&Config::parse("", []).expect("a configuration"), "").contains("curl"));
    }
}
