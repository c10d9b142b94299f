//! The members in which two JSON objects differ, with personal data masked: whoever may read the
//! audit need not see whom a payout went to.

use crate::json::{self, Member, Shape};
use crate::writer::text;

/// Members that name people. Their values are masked wherever they stand.
const PERSONAL: [&str; 10] = [
    "phone",
    "identification",
    "contactPhone",
    "contactEmail",
    "holderName",
    "debtorId",
    "debtorCellPhone",
    "documentNumber",
    "accountNumber",
    "destination",
];

/// The least characters that are hidden where others of the same value are shown.
const HIDDEN: usize = 3;

/// The changed members on both sides; all of them of what is new.
pub fn difference(before: Option<&[u8]>, after: Option<&[u8]>) -> (Option<String>, Option<String>) {
    let object = |json: Option<&[u8]>| json.and_then(|json| String::from_utf8(json.to_vec()).ok());
    match (object(before), object(after)) {
        (Some(before), Some(after)) => {
            let (was, is) = changed(&before, &after);
            (was.map(|text| masked(&text)), is.map(|text| masked(&text)))
        }
        (before, after) => (before.map(|text| masked(&text)), after.map(|text| masked(&text))),
    }
}

/// The members in which two objects differ, as they are in each; none where nothing differs.
fn changed(before: &str, after: &str) -> (Option<String>, Option<String>) {
    let (Ok(Shape::Object(before)), Ok(Shape::Object(after))) = (json::read(before), json::read(after))
    else {
        return (Some(before.to_owned()), Some(after.to_owned()));
    };
    let value = |members: &[Member<'_>], name: &str| {
        members.iter().find(|member| member.name == name).map(|member| member.value.to_owned())
    };
    let added = after.iter().filter(|member| value(&before, &member.name).is_none());
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for member in before.iter().chain(added) {
        let null = || "null".to_owned();
        let old = value(&before, &member.name).unwrap_or_else(null);
        let new = value(&after, &member.name).unwrap_or_else(null);
        if old == new {
            continue;
        }
        let both = |one: &str, other: &str| {
            matches!((json::read(one), json::read(other)), (Ok(Shape::Object(_)), Ok(Shape::Object(_))))
        };
        let (old, new) = match both(&old, &new) {
            true => {
                let (old, new) = changed(&old, &new);
                (old.unwrap_or_else(null), new.unwrap_or_else(null))
            }
            false => (old, new),
        };
        was.push(named(&member.name, &old));
        is.push(named(&member.name, &new));
    }
    let object = |members: Vec<String>| (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")));
    (object(was), object(is))
}

/// A JSON text with what names people masked.
pub fn masked(json: &str) -> String {
    match json::read(json) {
        Ok(Shape::Object(members)) => {
            let of = |member: &Member<'_>| match PERSONAL.contains(&&*member.name) {
                true => named(&member.name, &masked_value(&member.name, member.value)),
                false => named(&member.name, &masked(member.value)),
            };
            format!("{{{}}}", members.iter().map(of).collect::<Vec<_>>().join(","))
        }
        Ok(Shape::List(items)) => {
            format!("[{}]", items.into_iter().map(masked).collect::<Vec<_>>().join(","))
        }
        Ok(Shape::Scalar) | Err(_) => json.to_owned(),
    }
}

/// A value as the tenants' API masks its like; one that is masked already stays.
fn masked_value(name: &str, value: &str) -> String {
    if !value.starts_with('"') || value.contains("***") || value.contains('…') {
        return value.to_owned();
    }
    let clear = json::decode_string(value);
    let characters: Vec<char> = clear.chars().collect();
    let (from, to) = match name {
        "phone" | "contactPhone" | "debtorCellPhone" => (4, 4),
        "identification" | "debtorId" => (1, 3),
        _ => (0, 3),
    };
    if characters.len() < from + to + HIDDEN {
        return quoted("***");
    }
    let part = |range: std::ops::Range<usize>| characters[range].iter().collect::<String>();
    quoted(&format!("{}***{}", part(0..from), part(characters.len() - to..characters.len())))
}

fn named(name: &str, value: &str) -> String {
    format!("{}:{value}", quoted(name))
}

fn quoted(plain: &str) -> String {
    String::from_utf8(text(plain)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn differ(before: &str, after: &str, was: &str, is: &str) {
        let (one, other) = difference(Some(before.as_bytes()), Some(after.as_bytes()));
        assert_eq!((one.unwrap_or_default().as_str(), other.unwrap_or_default().as_str()), (was, is));
    }

    #[test]
    fn only_what_changed_is_there_at_every_depth() {
        differ(
            r#"{"a":1,"fees":{"c2p":{"percent":"1.00","fixed":"0"},"vpos":{"percent":"2"}},"list":[1]}"#,
            r#"{"a":1,"fees":{"c2p":{"percent":"1.25","fixed":"0"},"vpos":{"percent":"2"}},
                "list":[1,2],"new":true}"#,
            r#"{"fees":{"c2p":{"percent":"1.00"}},"list":[1],"new":null}"#,
            r#"{"fees":{"c2p":{"percent":"1.25"}},"list":[1,2],"new":true}"#,
        );
        differ(r#"{"a":1}"#, r#"{"a":1}"#, "", "");
        differ(r#"{"a":null}"#, r#"{"a":{"b":1}}"#, r#"{"a":null}"#, r#"{"a":{"b":1}}"#);
    }

    #[test]
    fn what_is_new_has_nothing_before_it() {
        let (before, after) = difference(None, Some(br#"{"a":"x"}"#));
        assert_eq!((before, after.as_deref()), (None, Some(r#"{"a":"x"}"#)));
    }

    #[test]
    fn people_are_masked_wherever_they_stand() {
        assert_eq!(
            masked(
                r#"{"to":[{"phone":"04141234567","holderName":"Ana"}],"documentNumber":"***678",
                "phone":null}"#
            ),
            r#"{"to":[{"phone":"0414***4567","holderName":"***"}],"documentNumber":"***678","phone":null}"#
        );
    }
}
