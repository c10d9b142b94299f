//! Conditions on the past: comparisons of members that the API shows, with `not`, `and`, `or` and parentheses. A
//! condition is read from text here, and is true, false or unknown of what was shown: a comparison with a member that
//! is null, or not there, is unknown, as in SQL.
//!
//! ```text
//! condition  = all ("or" all)*
//! all        = one ("and" one)*
//! one        = "not" one | "(" condition ")" | operand operator operand
//! operator   = "<" | "<=" | ">" | ">=" | "=" | "!="
//! operand    = a member | a number | a text in ' or "
//! ```

use api::members::{self, Subject};
use domain::values::time::Timestamp;
use rust_decimal::Decimal;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

const CHARS_MAX: usize = 4_096;
/// As many as have their truths in one word, with two bits each.
const COMPARISONS_MAX: usize = 32;
const DEPTH_MAX: usize = 64;

/// The truths of comparisons, by their places; those of which nothing is known are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Truths(u64);

impl Truths {
    fn set(&mut self, place: usize, truth: Option<bool>) {
        let bits = truth.map_or(0, |truth| 1 + u64::from(truth));
        self.0 = self.0 & !(3 << (2 * place)) | bits << (2 * place);
    }

    fn get(self, place: usize) -> Option<bool> {
        match self.0 >> (2 * place) & 3 {
            0 => None,
            bits => Some(bits == 2),
        }
    }

    /// Of different comparisons.
    pub fn and_of(self, others: Truths) -> Truths {
        Truths(self.0 | others.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    is: Is,
    comparisons: Vec<Comparison>,
    /// The members that comparisons name, once each.
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub subject: Subject,
    pub name: &'static str,
    /// Of a balance, which of the three shows it.
    pub place: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Is {
    Any(Vec<Is>),
    All(Vec<Is>),
    Not(Box<Is>),
    Compared(usize),
}

#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    subject: Subject,
    left: Operand,
    operator: Operator,
    right: Operand,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    /// The place of the member among those of the condition.
    Member(usize),
    Number(Decimal),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// Two characters before one, as one is the other's beginning.
const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

impl Operator {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
        }
    }
}

impl Condition {
    pub fn parse(text: &str) -> Result<Condition, String> {
        if text.chars().count() > CHARS_MAX {
            return Err(format!("a condition has at most {CHARS_MAX} characters"));
        }
        let mut parser =
            Parser { tokens: tokens(text)?, at: 0, depth: 0, comparisons: Vec::new(), members: Vec::new() };
        let is = parser.any()?;
        match parser.peek() {
            (_, Token::End) => {
                let Parser { comparisons, members, .. } = parser;
                Ok(Condition { is, comparisons, members })
            }
            (position, token) => Err(format!("position {position}: {token} where the condition could end")),
        }
    }

    pub fn is_about(&self, subject: Subject) -> bool {
        self.members.iter().any(|member| member.subject == subject)
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The truths of the comparisons about a subject, from the values of the condition's members.
    pub fn truths(&self, subject: Subject, values: &[Option<Cow<'_, str>>]) -> Truths {
        let mut truths = Truths::default();
        for (place, comparison) in self.comparisons.iter().enumerate() {
            if comparison.subject == subject {
                truths.set(place, comparison.truth(values));
            }
        }
        truths
    }

    pub fn holds(&self, truths: Truths) -> bool {
        self.is.truth(truths) == Some(true)
    }
}

impl Is {
    fn truth(&self, truths: Truths) -> Option<bool> {
        // What decides first; else what is unknown; else the contrary.
        let joined = |parts: &[Is], decides: bool| {
            let mut is_known = true;
            for part in parts {
                match part.truth(truths) {
                    Some(truth) if truth == decides => return Some(decides),
                    Some(_) => {}
                    None => is_known = false,
                }
            }
            is_known.then_some(!decides)
        };
        match self {
            Is::Any(parts) => joined(parts, true),
            Is::All(parts) => joined(parts, false),
            Is::Not(part) => part.truth(truths).map(|truth| !truth),
            Is::Compared(place) => truths.get(*place),
        }
    }
}

impl Comparison {
    fn truth(&self, values: &[Option<Cow<'_, str>>]) -> Option<bool> {
        let value = |place: &usize| values.get(*place)?.as_deref();
        let order = match (&self.left, &self.right) {
            (Operand::Member(left), Operand::Member(right)) => likes(value(left)?, value(right)?),
            (Operand::Member(left), right) => right.order(value(left)?)?.reverse(),
            (left, Operand::Member(right)) => left.order(value(right)?)?,
            // The parser makes none.
            _ => return None,
        };
        Some(self.operator.holds(order))
    }
}

impl Operand {
    /// How this, which is no member, is to a value. A number is compared with numbers alone.
    fn order(&self, value: &str) -> Option<Ordering> {
        match self {
            Operand::Number(number) => Some(number.cmp(&decimal(value)?)),
            Operand::Text(text) => Some(texts(text, value)),
            Operand::Member(_) => None,
        }
    }
}

/// Of amounts as numbers, which may have other decimals.
fn likes(left: &str, right: &str) -> Ordering {
    match (decimal(left), decimal(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => texts(left, right),
    }
}

/// Of times as instants: they may have no milliseconds, or another zone.
fn texts(left: &str, right: &str) -> Ordering {
    match (Timestamp::parse(left), Timestamp::parse(right)) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(right),
    }
}

fn decimal(text: &str) -> Option<Decimal> {
    Decimal::from_str(text).ok()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Number(Decimal),
    Text(String),
    Operator(Operator),
    Open,
    Close,
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => f.write_str(word),
            Token::Number(number) => write!(f, "{number}"),
            Token::Text(text) => write!(f, "{text:?}"),
            Token::Operator(operator) => {
                let known = OPERATORS.iter().find(|(_, known)| known == operator);
                f.write_str(known.map_or("", |(sign, _)| sign))
            }
            Token::Open => f.write_str("("),
            Token::Close => f.write_str(")"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Each with its position, from 1.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let position = text[..text.len() - rest.len()].chars().count() + 1;
        let until = |is: fn(char) -> bool| rest.find(|letter| !is(letter)).unwrap_or(rest.len());
        let (token, bytes) = match first {
            first if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '\'' | '"' => {
                let inside = &rest[1..];
                let end = inside.find(first);
                let end = end.ok_or_else(|| format!("position {position}: a text that does not end"))?;
                (Token::Text(inside[..end].to_owned()), end + 2)
            }
            first if first.is_ascii_alphabetic() || first == '_' => {
                let end = until(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter));
                (Token::Word(rest[..end].to_owned()), end)
            }
            first if first.is_ascii_digit() || "-+.".contains(first) => {
                let end = until(|letter| letter.is_ascii_alphanumeric() || "-+._".contains(letter));
                let written = &rest[..end];
                let is_plain = written
                    .strip_prefix('-')
                    .unwrap_or(written)
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.');
                let number = decimal(written).filter(|_| is_plain);
                let number = number.ok_or_else(|| format!("position {position}: {written} is no number"))?;
                (Token::Number(number), end)
            }
            _ => match OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                Some((sign, operator)) => (Token::Operator(*operator), sign.len()),
                None => return Err(format!("position {position}: {first:?} is not understood")),
            },
        };
        tokens.push((position, token));
        rest = &rest[bytes..];
    }
    tokens.push((text.chars().count() + 1, Token::End));
    Ok(tokens)
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    comparisons: Vec<Comparison>,
    members: Vec<Member>,
}

impl Parser {
    fn peek(&self) -> (usize, &Token) {
        // The last one is the end, and is never passed.
        let (position, token) = &self.tokens[self.at.min(self.tokens.len() - 1)];
        (*position, token)
    }

    fn take(&mut self) -> (usize, Token) {
        let (position, token) = self.peek();
        let token = token.clone();
        self.at += 1;
        (position, token)
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = matches!(self.peek().1, Token::Word(next) if next.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Result<Is, String> {
        let first = self.all()?;
        let mut parts = vec![first];
        while self.takes("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Is::Any(parts) })
    }

    fn all(&mut self) -> Result<Is, String> {
        let first = self.one()?;
        let mut parts = vec![first];
        while self.takes("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Is::All(parts) })
    }

    fn one(&mut self) -> Result<Is, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("position {}: nested more than {DEPTH_MAX} deep", self.peek().0));
        }
        let is = if self.takes("not") {
            Is::Not(Box::new(self.one()?))
        } else if *self.peek().1 == Token::Open {
            self.at += 1;
            let is = self.any()?;
            match self.take() {
                (_, Token::Close) => is,
                (position, token) => return Err(format!("position {position}: {token} where ) is expected")),
            }
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(is)
    }

    fn comparison(&mut self) -> Result<Is, String> {
        let begins = self.peek().0;
        let left = self.operand()?;
        let operator = match self.take() {
            (_, Token::Operator(operator)) => operator,
            (position, token) => {
                return Err(format!("position {position}: {token} where one of < <= > >= = != is expected"));
            }
        };
        let right = self.operand()?;
        let subject = |operand: &Operand| match operand {
            Operand::Member(place) => Some(self.members[*place].subject),
            Operand::Number(_) | Operand::Text(_) => None,
        };
        let subject = match (subject(&left), subject(&right)) {
            (None, None) => return Err(format!("position {begins}: a comparison without a member")),
            (Some(left), Some(right)) if left != right => {
                return Err(format!("position {begins}: members of two things are not compared"));
            }
            (left, right) => left.or(right).unwrap_or(Subject::Balance),
        };
        if let (Operand::Member(place), Operand::Text(text)) | (Operand::Text(text), Operand::Member(place)) =
            (&left, &right)
            && members::is_amount(self.members[*place].name)
            && decimal(text).is_none()
        {
            let name = self.members[*place].name;
            return Err(format!("position {begins}: {name} is an amount, and {text:?} is a text"));
        }
        if self.comparisons.len() == COMPARISONS_MAX {
            return Err(format!("position {begins}: more than {COMPARISONS_MAX} comparisons"));
        }
        self.comparisons.push(Comparison { subject, left, operator, right });
        Ok(Is::Compared(self.comparisons.len() - 1))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        match self.take() {
            (_, Token::Number(number)) => Ok(Operand::Number(number)),
            (_, Token::Text(text)) => Ok(Operand::Text(text)),
            (_, Token::Word(word)) if ["true", "false"].contains(&&*word) => Ok(Operand::Text(word)),
            (position, Token::Word(word)) if !["and", "or", "not"].contains(&&*word.to_ascii_lowercase()) => {
                let (subject, name, place) = members::find(&word).map_err(|nearest| {
                    format!("position {position}: there is no member {word}; the nearest is {nearest}")
                })?;
                let member = Member { subject, name, place };
                let known = self.members.iter().position(|known| *known == member);
                Ok(Operand::Member(known.unwrap_or_else(|| {
                    self.members.push(member);
                    self.members.len() - 1
                })))
            }
            (position, token) => {
                Err(format!("position {position}: {token} where a member, a number or a text is expected"))
            }
        }
    }
}

/// The values of members of an object that was shown, each as text at the place of its name, beside those that are
/// there already; none of those that are null or not there.
pub fn pick<'v>(
    shown: &'v [u8],
    place_of: &dyn Fn(&str) -> Option<usize>,
    values: &mut [Option<Cow<'v, str>>],
) {
    // What this program writes is an object.
    let _ = serde_json::Deserializer::from_slice(shown).deserialize_map(Picking { place_of, values });
}

struct Picking<'a, 'v> {
    place_of: &'a dyn Fn(&str) -> Option<usize>,
    values: &'a mut [Option<Cow<'v, str>>],
}

impl<'v> Visitor<'v> for Picking<'_, 'v> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'v>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<&str>()? {
            let Some(place) = (self.place_of)(name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            self.values[place] = as_text(map.next_value::<&RawValue>()?.get());
        }
        Ok(())
    }
}

fn as_text(json: &str) -> Option<Cow<'_, str>> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        Some(_) => serde_json::from_str(json).ok().map(Cow::Owned),
        None if json == "null" => None,
        None => Some(Cow::Borrowed(json)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a condition says of a balance with these members.
    fn said(condition: &str, shown: &str) -> Option<bool> {
        let condition = Condition::parse(condition).unwrap_or_else(|why| panic!("{condition}: {why}"));
        let mut values = vec![None; condition.members().len()];
        let place_of = |name: &str| condition.members().iter().position(|member| member.name == name);
        pick(shown.as_bytes(), &place_of, &mut values);
        condition.is.truth(condition.truths(Subject::Balance, &values))
    }

    const SHOWN: &str = r#"{"availableVes":"-1.50","heldVes":"20.00","ledgerNetVes":"20","nextReleaseAt":"2026-11-22T02:13:04.000Z","convertedVes":null,"list":[1],"balanceHoldHours":24,"livemode":false}"#;

    #[test]
    fn comparisons_are_of_numbers_times_and_texts() {
        for (condition, expected) in [
            ("availableVes < 0", Some(true)),
            ("availableVes >= -1.5", Some(true)),
            ("0 > availableVes", Some(true)),
            ("availableVes = -1.500", Some(true)),
            ("availableVes = '-1.5'", Some(false)),
            ("availableVes = \"-1.50\"", Some(true)),
            ("heldVes = ledgerNetVes", Some(true)),
            ("heldVes != 20", Some(false)),
            ("balanceHoldHours <= 24", Some(true)),
            ("livemode = 'false'", Some(true)),
            ("livemode = true", Some(false)),
            ("nextReleaseAt = '2026-11-22T02:13:04Z'", Some(true)),
            ("nextReleaseAt > '2026-11-21T23:00:00-04:00'", Some(false)),
            ("nextReleaseAt < 5", None),
            ("convertedVes = 0", None),
            ("convertedVes != 0", None),
            ("not convertedVes = 0", None),
            ("convertedVes = 0 or heldVes = 20", Some(true)),
            ("convertedVes = 0 and heldVes = 21", Some(false)),
        ] {
            assert_eq!(said(condition, SHOWN), expected, "{condition}");
        }
    }

    #[test]
    fn not_is_before_and_and_and_before_or() {
        let (yes, no) = ("heldVes = 20", "heldVes = 21");
        for (condition, expected) in [
            (format!("{yes} or {yes} and {no}"), true),
            (format!("({yes} or {yes}) and {no}"), false),
            (format!("not {no} and {no}"), false),
            (format!("not ({no} and {no})"), true),
            (format!("NOT NOT {yes} AND NOT {no}"), true),
            (format!("(({yes}))"), true),
        ] {
            assert_eq!(said(&condition, SHOWN), Some(expected), "{condition}");
        }
    }

    #[test]
    fn mistakes_say_where_they_are() {
        for (condition, expected) in [
            ("", "position 1: the end where a member"),
            ("availableVes", "position 13: the end where one of < <= > >= = !="),
            ("availableVes <", "position 15: the end where a member"),
            ("availableVes < 0 or", "position 20: the end where a member"),
            ("availableVes < 0 heldVes > 1", "position 18: heldVes where the condition could end"),
            ("(availableVes < 0", "position 18: the end where ) is expected"),
            ("availableVes < 0)", "position 17: ) where the condition could end"),
            ("availableVes == 0", "position 15: = where a member"),
            ("availableVes < 'x", "position 16: a text that does not end"),
            ("availableVes < 1.2.3", "position 16: 1.2.3 is no number"),
            ("availableVes & 1", "position 14: '&' is not understood"),
            ("availableVes < 'abc'", "position 1: availableVes is an amount, and \"abc\" is a text"),
            ("heldVes > 1 and 'five' = payment.vesAmount", "position 17: vesAmount is an amount"),
            ("1 < 2", "position 1: a comparison without a member"),
            ("heldVes < payment.vesAmount", "position 1: members of two things"),
            ("availabelVes < 0", "position 1: there is no member availabelVes; the nearest is availableVes"),
            (
                "not payment.staus = 'x'",
                "position 5: there is no member payment.staus; the nearest is payment.status",
            ),
        ] {
            let said = Condition::parse(condition).expect_err(condition);
            assert!(said.starts_with(expected), "{condition}: {said}");
        }
        let deep = format!("{}heldVes = 1{}", "(".repeat(100), ")".repeat(100));
        assert!(Condition::parse(&deep).expect_err("deep").contains("nested"));
        let many = vec!["heldVes = 1"; 33].join(" or ");
        assert!(Condition::parse(&many).expect_err("many").contains("more than 32"));
    }

    /// A condition as it is written, and what it says of the members `heldVes` = 20 and `convertedVes` = null.
    fn written() -> impl Strategy<Value = (String, Option<bool>)> {
        let leaf = prop_oneof![
            (18..23_i64).prop_map(|n| (format!("heldVes < {n}"), Some(20 < n))),
            (18..23_i64).prop_map(|n| (format!("{n} >= heldVes"), Some(n >= 20))),
            (18..23_i64).prop_map(|n| (format!("convertedVes = {n}"), None)),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let all = |parts: &[(String, Option<bool>)]| {
                let truths: Vec<Option<bool>> = parts.iter().map(|(_, truth)| *truth).collect();
                if truths.contains(&Some(false)) {
                    Some(false)
                } else {
                    truths.iter().copied().collect::<Option<Vec<_>>>().map(|_| true)
                }
            };
            let joined = |parts: &[(String, Option<bool>)], word: &str| {
                parts.iter().map(|(text, _)| format!("({text})")).collect::<Vec<_>>().join(word)
            };
            let negated = |parts: &[(String, Option<bool>)]| -> Vec<(String, Option<bool>)> {
                parts.iter().map(|(text, truth)| (text.clone(), truth.map(|truth| !truth))).collect()
            };
            let parts = proptest::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                inner.prop_map(|(text, truth)| (format!("not ({text})"), truth.map(|truth| !truth))),
                parts.clone().prop_map(move |parts| (joined(&parts, " and "), all(&parts))),
                parts.prop_map(move |parts| (
                    joined(&parts, " or "),
                    all(&negated(&parts)).map(|truth| !truth)
                )),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_condition_says_what_its_parts_say((text, expected) in written()) {
            prop_assert_eq!(said(&text, r#"{"heldVes":"20.00","convertedVes":null}"#), expected, "{}", text);
        }

        #[test]
        fn no_text_is_too_odd(text in ".{0,60}", piece in "[a-z<>=!()'\" .0-9-]{0,60}") {
            let _ = (Condition::parse(&text), Condition::parse(&piece), Condition::parse(&format!("heldVes = 1 {piece}")));
        }
    }
}
