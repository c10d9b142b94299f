//! The page at `/`: what answers here, where it is described, and a first call to paste.

use askama::Template;

#[derive(Template)]
#[template(path = "home.html", config = "src/http/documents/askama.toml")]
struct Home<'a> {
    base_url: &'a str,
    demo_key: Option<&'a str>,
}

/// Clients reach the server at `base_url`. `demo_key` is a test key that may be shown to whoever
/// asks; without one the page says where keys come from.
pub fn page(base_url: &str, demo_key: Option<&str>) -> Result<Vec<u8>, askama::Error> {
    Home { base_url, demo_key }.render().map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_only_where_there_is_one_to_show() {
        let text =
            |key| String::from_utf8(page("http://127.0.0.1:8080", key).expect("a page")).expect("UTF-8");
        assert!(text(Some("pk_test_demo")).contains("/v1/balance -H 'x-api-key: pk_test_demo'"));
        assert!(text(None).contains("tenant create") && text(None).contains("pk_test_…"));
        assert!(!text(Some("<b>")).contains("<b>"));
    }
}
