//! Faults: which call meets which, as rules in JSON.
//!
//! Promises: rules are checked when they are set, so that a mistyped one is refused and not
//! ignored; they are read from the first to the last, a call counts in each rule that it matches,
//! and the first that fires is the call's only fault. It must not know what a bank does with a
//! call.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::Mutex;

/// The faults that a bank can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The bank acts at once and answers after `ms`.
    Late,
    /// The bank acts after `ms`, also when its caller has hung up.
    ActsLate,
    /// The bank neither acts nor answers.
    SilentBefore,
    /// The bank acts and does not answer.
    SilentAfter,
    /// The bank closes the connection and does not act.
    DropBefore,
    /// The bank acts and closes the connection.
    DropAfter,
    /// The bank acts and sends its answer twice.
    Twice,
    /// The bank acts and answers with what is no JSON.
    Garbage,
    /// The bank acts and answers with what is no HTTP.
    Noise,
    /// The bank acts and closes the connection in the middle of its answer.
    Cut,
    /// The bank acts and sends its answer byte by byte, `ms` after each.
    Drip,
    /// The bank refuses the caller's credentials.
    Unauthorized,
    /// The bank answers `status` (503) without a code.
    Error,
    /// The bank answers `status` (200) and `body`.
    Answer,
    /// The bank acts and answers with the members in `set` changed.
    Alter,
    /// The bank acts and answers the contrary.
    Contradict,
    /// The bank acts and answers in Latin-1.
    #[serde(rename = "latin1")]
    Latin1,
    /// The bank acts and answers behind a byte-order mark.
    Bom,
    /// The bank acts and answers with raw line ends and zeros in its texts.
    RawControls,
    /// The bank acts and answers with two codes, of which the second is its own.
    TwoCodes,
    /// The bank acts and answers with the id and the reference of its answer before to such a call.
    Repeat,
    /// The bank acts and answers, and closes the connection `ms` later without having said so.
    Close,
}

/// The faults that calls of the bank itself can have.
const OF_WHAT_IS_SENT: [Kind; 6] =
    [Kind::Late, Kind::SilentBefore, Kind::Twice, Kind::Garbage, Kind::Unauthorized, Kind::Alter];

/// A rule, as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    fault: Kind,
    operation: Option<String>,
    path: Option<String>,
    #[serde(default, rename = "match")]
    matching: Map<String, Value>,
    #[serde(default)]
    skip: u64,
    first: Option<u64>,
    every: Option<u64>,
    ms: Option<u64>,
    status: Option<u16>,
    body: Option<Value>,
    #[serde(default)]
    set: Map<String, Value>,
    #[serde(default)]
    acted: bool,
}

/// A fault that applies to a call.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The fault.
    pub kind: Kind,
    /// The pause of `late`, `acts_late`, `drip` and `close`.
    pub pause: Duration,
    /// The status of `error` and `answer`.
    pub status: u16,
    /// The body of `answer`.
    pub body: Value,
    /// Whether the bank acts before `unauthorized`, `error` and `answer`.
    pub acted: bool,
    set: Map<String, Value>,
}

struct Counted {
    rule: Rule,
    written: Value,
    seen: u64,
    fired: u64,
}

/// The rules in force.
pub struct Faults {
    rules: Mutex<Vec<Counted>>,
    operations: &'static [&'static str],
    sent: &'static [&'static str],
}

impl Faults {
    /// No rules, for a bank with these operations.
    pub fn new(operations: &'static [&'static str], sent: &'static [&'static str]) -> Faults {
        Faults { rules: Mutex::default(), operations, sent }
    }

    /// Puts these rules in place of those in force: `{"faults": [...]}`.
    ///
    /// # Errors
    /// What is wrong with which rule; those in force stay.
    pub async fn replace(&self, written: &Value) -> Result<(), String> {
        let members = written.as_object().filter(|members| members.len() == 1);
        let rules = members.and_then(|members| members.get("faults")?.as_array());
        let rules = rules.ok_or_else(|| "expected {\"faults\": [...]}".to_owned())?;
        let checked = |(at, written): (usize, &Value)| {
            let rule = serde_json::from_value(written.clone()).map_err(|error| error.to_string());
            let rule = rule.and_then(|rule| self.check(rule));
            rule.map(|rule| Counted { rule, written: written.clone(), seen: 0, fired: 0 })
                .map_err(|problem| format!("faults[{at}]: {problem}"))
        };
        *self.rules.lock().await = rules.iter().enumerate().map(checked).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn check(&self, rule: Rule) -> Result<Rule, String> {
        let operation = rule.operation.as_deref();
        let is_sent = operation.is_some_and(|name| self.sent.contains(&name));
        let is_known = operation.is_none_or(|name| is_sent || self.operations.contains(&name));
        let counts = [("first", rule.first), ("every", rule.every)];
        let needs_ms = matches!(rule.fault, Kind::Late | Kind::ActsLate | Kind::Drip | Kind::Close);
        match () {
            () if !is_known => {
                Err(format!("operation is none of {}, {}", self.operations.join(", "), self.sent.join(", ")))
            }
            () if is_sent && !OF_WHAT_IS_SENT.contains(&rule.fault) => {
                Err("what the bank sends by itself cannot have this fault".to_owned())
            }
            () if needs_ms && rule.ms.is_none() => Err("ms is missing".to_owned()),
            () if rule.fault == Kind::Answer && rule.body.is_none() => Err("body is missing".to_owned()),
            () if rule.fault == Kind::Alter && rule.set.is_empty() => Err("set is missing".to_owned()),
            () if rule.status.is_some_and(|status| !(200..600).contains(&status)) => {
                Err("status is none of 200 to 599".to_owned())
            }
            () => match counts.iter().find(|(_, count)| *count == Some(0)) {
                Some((name, _)) => Err(format!("{name} counts from 1")),
                None => Ok(rule),
            },
        }
    }

    /// Draws the fault of a call, which is counted.
    pub async fn draw(&self, operation: &str, path: &str, fields: &Value) -> Option<Fault> {
        let is_sent = self.sent.contains(&operation);
        let mut rules = self.rules.lock().await;
        for counted in
            rules.iter_mut().filter(|counted| counted.rule.matches(operation, path, fields, is_sent))
        {
            counted.seen += 1;
            if counted.rule.fires(counted.seen) {
                counted.fired += 1;
                return Some(counted.rule.fault());
            }
        }
        None
    }

    /// The rules with how many calls each has seen, and on how many it fired.
    pub async fn shown(&self) -> Value {
        let rules = self.rules.lock().await;
        let shown = |counted: &Counted| {
            let mut rule = counted.written.clone();
            rule["seen"] = json!(counted.seen);
            rule["fired"] = json!(counted.fired);
            rule
        };
        json!({"faults": rules.iter().map(shown).collect::<Vec<_>>()})
    }
}

impl Rule {
    /// A rule without an operation is about what the gateway asks, not about what the bank sends.
    fn matches(&self, operation: &str, path: &str, fields: &Value, is_sent: bool) -> bool {
        let operation_fits = self.operation.as_ref().map_or(!is_sent, |name| name == operation);
        let path_fits = self.path.as_ref().is_none_or(|wanted| wanted == path);
        let member_fits = |(name, wanted): (&String, &Value)| member(fields, name) == Some(wanted);
        operation_fits && path_fits && self.matching.iter().all(member_fits)
    }

    fn fires(&self, seen: u64) -> bool {
        let Some(nth) = seen.checked_sub(self.skip).filter(|nth| *nth > 0) else { return false };
        self.first.is_none_or(|first| nth <= first) && self.every.is_none_or(|every| nth % every == 0)
    }

    fn fault(&self) -> Fault {
        Fault {
            kind: self.fault,
            pause: Duration::from_millis(self.ms.unwrap_or_default()),
            status: self.status.unwrap_or(if self.fault == Kind::Error { 503 } else { 200 }),
            body: self.body.clone().unwrap_or_default(),
            acted: self.acted,
            set: self.set.clone(),
        }
    }
}

impl Fault {
    /// Whether the bank does what it was asked.
    pub fn acts(&self) -> bool {
        match self.kind {
            Kind::SilentBefore | Kind::DropBefore => false,
            Kind::Unauthorized | Kind::Error | Kind::Answer => self.acted,
            _ => true,
        }
    }

    /// The name of its kind, as rules have it.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Late => "late",
            Kind::ActsLate => "acts_late",
            Kind::SilentBefore => "silent_before",
            Kind::SilentAfter => "silent_after",
            Kind::DropBefore => "drop_before",
            Kind::DropAfter => "drop_after",
            Kind::Twice => "twice",
            Kind::Garbage => "garbage",
            Kind::Noise => "noise",
            Kind::Cut => "cut",
            Kind::Drip => "drip",
            Kind::Unauthorized => "unauthorized",
            Kind::Error => "error",
            Kind::Answer => "answer",
            Kind::Alter => "alter",
            Kind::Contradict => "contradict",
            Kind::Latin1 => "latin1",
            Kind::Bom => "bom",
            Kind::RawControls => "raw_controls",
            Kind::TwoCodes => "two_codes",
            Kind::Repeat => "repeat",
            Kind::Close => "close",
        }
    }

    /// Changes members of a body: names with dots lead into it, null takes a member away.
    pub fn alter(&self, body: &mut Value) {
        for (path, new) in &self.set {
            let (holder, name) = path.rsplit_once('.').unwrap_or(("", path));
            let names = holder.split('.').filter(|name| !name.is_empty());
            let holder = names.fold(&mut *body, |value, name| &mut value[name]);
            match (holder.as_object_mut(), new.is_null()) {
                (Some(members), true) => drop(members.shift_remove(name)),
                (Some(members), false) => drop(members.insert(name.to_owned(), new.clone())),
                (None, _) => {}
            }
        }
    }
}

/// A member of a body by its path with dots.
fn member<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(body, |value, name| value.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults() -> Faults {
        Faults::new(&["MBc2p", "MBbcv"], &["R4notifica"])
    }

    #[tokio::test]
    async fn rules_fire_by_count_and_by_member() {
        let faults = faults();
        let rules = json!({"faults": [
            {"fault": "silent_after", "operation": "MBc2p", "match": {"a.b": "1"}, "first": 1},
            {"fault": "drop_before", "operation": "MBc2p", "skip": 1, "every": 2},
        ]});
        faults.replace(&rules).await.expect("rules");
        let mut drawn = Vec::new();
        for b in ["1", "1", "2", "1", "2"] {
            drawn.push(
                faults.draw("MBc2p", "/MBc2p", &json!({"a": {"b": b}})).await.map(|fault| fault.name()),
            );
        }
        // The second rule counts the calls that the first one lets pass, and skips one of them.
        assert_eq!(drawn, [Some("silent_after"), None, None, Some("drop_before"), None]);
        assert!(faults.draw("MBbcv", "/MBbcv", &json!({})).await.is_none());
        assert_eq!(faults.shown().await["faults"][0]["seen"], json!(3));
    }

    #[tokio::test]
    async fn what_is_sent_meets_only_rules_that_name_it() {
        let faults = faults();
        faults.replace(&json!({"faults": [{"fault": "twice"}]})).await.expect("rules");
        assert!(faults.draw("R4notifica", "", &json!({})).await.is_none());
        assert!(faults.draw("MBbcv", "", &json!({})).await.is_some());
    }

    #[tokio::test]
    async fn mistyped_rules_are_refused_and_those_in_force_stay() {
        let faults = faults();
        faults.replace(&json!({"faults": [{"fault": "twice"}]})).await.expect("rules");
        for bad in [
            json!([]),
            json!({"faults": [{"fault": "tired"}]}),
            json!({"faults": [{"fault": "late"}]}),
            json!({"faults": [{"fault": "twice", "operation": "MBc2P"}]}),
            json!({"faults": [{"fault": "twice", "first": 0}]}),
            json!({"faults": [{"fault": "twice", "often": 2}]}),
            json!({"faults": [{"fault": "cut", "operation": "R4notifica"}]}),
            json!({"faults": [{"fault": "answer"}]}),
            json!({"faults": [{"fault": "close"}]}),
        ] {
            faults.replace(&bad).await.expect_err(&bad.to_string());
        }
        assert_eq!(faults.shown().await["faults"][0]["fault"], json!("twice"));
    }

    #[test]
    fn members_are_changed_and_taken_away() {
        let rule: Rule = serde_json::from_value(
            json!({"fault": "alter", "set": {"data.amount": 1, "reference": null, "x": 2}}),
        )
        .expect("a rule");
        let mut body = json!({"data": {"amount": 5, "id": "a"}, "reference": "r"});
        rule.fault().alter(&mut body);
        assert_eq!(body, json!({"data": {"amount": 1, "id": "a"}, "x": 2}));
    }
}
