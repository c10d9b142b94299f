//! The skeleton of a page: its tags with the names of their attributes, as a browser finds them.
//! What somebody wrote may change what stands in it, and never the skeleton.

use super::{Language, Shell};
use domain::platform::settings;
use proptest::prelude::*;
use proptest::sample::select;

const PARTS: [&str; 24] = [
    "<",
    ">",
    "\"",
    "'",
    "&",
    "=",
    "/",
    "`",
    " ",
    "\n",
    "\t",
    "\u{0}",
    "<script>",
    "</p>",
    "<!--",
    "-->",
    "]]>",
    " onload=",
    "javascript:",
    "&lt;",
    "&#60;",
    "\u{202e}",
    "\u{ff1c}",
    "ñ",
];

/// Texts that somebody may have written, so many of them.
pub(super) fn texts(count: usize) -> impl Strategy<Value = Vec<String>> {
    let text = proptest::collection::vec(select(&PARTS[..]), 0..8).prop_map(|parts| parts.concat());
    proptest::collection::vec(text, count)
}

/// Texts of the same lengths in harmless characters.
pub(super) fn harmless(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| "x".repeat(text.len())).collect()
}

/// The parts around a page's subject, with a shop of this name.
pub(super) fn shell(shop: &str) -> Shell {
    Shell {
        shop: shop.to_owned(),
        about: settings::Shop {
            name: None,
            rif: Some(shop.to_owned()),
            logo: Some(shop.to_owned()),
            email: Some(shop.to_owned()),
            phone: Some(shop.to_owned()),
            pago_movil: None,
        },
        test_mode: true,
        refreshes: true,
        other_language: format!("?lang={shop}"),
        embedded: true,
        ..Shell::new(Language::English, shop.to_owned())
    }
}

/// Tags, comments and names of attributes, in their order.
pub(super) fn skeleton(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        let is_tag = rest.starts_with(|first: char| first.is_ascii_alphabetic() || "/!?".contains(first));
        if !is_tag {
            continue;
        }
        let end = rest.find(|next: char| next.is_ascii_whitespace() || next == '>').unwrap_or(rest.len());
        found.push(format!("<{}", &rest[..end]));
        rest = &rest[end..];
        loop {
            rest = rest.trim_start_matches(|next: char| next.is_ascii_whitespace() || next == '/');
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            let is_end = |next: char| next.is_ascii_whitespace() || "=>/".contains(next);
            // An equals sign at the front belongs to the name.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..].find(is_end).map_or(rest.len(), |end| first + end);
            found.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
            let Some(value) = rest.strip_prefix('=') else { continue };
            let value = value.trim_start();
            rest = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).map_or("", |(_, after)| after),
                _ => {
                    let end = value.find(|next: char| next.is_ascii_whitespace() || next == '>');
                    &value[end.unwrap_or(value.len())..]
                }
            };
        }
    }
    found
}

#[test]
fn the_skeleton_is_what_a_browser_sees() {
    assert_eq!(
        skeleton("<p class=\"a>b\" hidden>1 < 2 &lt;b></p><!--x--><input value=c onload='d'>"),
        ["<p", "class", "hidden", "</p", "<!--x--", "<input", "value", "onload"]
    );
}
