//! The fields that people write: documents, phones, accounts, references, dates, amounts,
//! addresses.
//!
//! What is taken, written again in clear, is taken as the same; and what shows it masked does not
//! show it whole.

use api::json::{self, Shape};
use api::value;
use domain::resources::rates::samples::Pair;
use domain::values::address::{Network, canonical};
use domain::values::ids::Id;
use domain::values::text::ExternalRef;
use domain::values::time::{Date, Timestamp};
use domain::values::venezuela::{AccountNumber, IdentityDocument, MobilePhone};

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(document) = IdentityDocument::parse(text) {
        assert_eq!(IdentityDocument::parse(&document.clear().to_string()), Ok(document));
        hides(document.clear(), format!("{document:?}"));
    }
    if let Ok(phone) = MobilePhone::parse(text) {
        assert_eq!(MobilePhone::parse(&phone.clear().to_string()), Ok(phone));
        hides(phone.clear(), format!("{phone:?}"));
    }
    if let Ok(account) = AccountNumber::parse(text, |_| true) {
        assert_eq!(account.clear().to_string(), text);
        hides(account.clear(), account.masked().to_string());
    }
    if let Ok(reference) = ExternalRef::parse(text) {
        assert_eq!(ExternalRef::parse(&reference).map(|again| again.to_string()), Ok(reference.to_string()));
    }
    if let Ok(date) = Date::parse(text) {
        assert_eq!(Date::parse(&date.to_string()), Ok(date));
    }
    if let Ok(at) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&at.to_string()), Ok(at));
    }
    if let Some(id) = Id::parse(text) {
        assert_eq!(Id::parse(&id.to_string()), Some(id));
    }
    if let Ok(pair) = Pair::parse(text) {
        assert_eq!(Pair::parse(pair.as_str()), Ok(pair));
    }
    for (_, network) in Network::NAMES {
        if network.check(text).is_ok() {
            assert_eq!(network.check(&canonical(text)), Ok(()), "the one text of an address is one");
        }
    }
    if let Some(minor) = value::amount(text) {
        let again = format!("{}.{:02}", minor / 100, minor % 100);
        assert!(minor == i64::MAX || again == text, "{text} is {again}");
    }
    let is_number =
        matches!(json::read(text), Ok(Shape::Scalar)) && text.ends_with(|c: char| c.is_ascii_digit());
    if is_number
        && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && let Ok(exact) = value::decimal(text)
    {
        let again = value::decimal(&exact.to_string());
        assert!(again.is_ok_and(|again| again == exact), "{text} is {exact}");
    }
}

fn hides(clear: impl std::fmt::Display, masked: String) {
    let clear = clear.to_string();
    assert!(!masked.contains(&clear), "what is masked is shown");
}
