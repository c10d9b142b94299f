//! How the server is, of several partitions: counts add up, and of ages and alarms the worst is shown. What is the same
//! everywhere, or the platform's, is the first one's.

use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug)]
enum Rule {
    Sum,
    /// Numbers, instants and booleans; null is least.
    Most,
    Least,
    /// From zero, to either side.
    Farthest,
    /// This word, if anybody says it.
    Alarm(&'static str),
}

use Rule::{Alarm, Farthest, Least, Most, Sum};

#[rustfmt::skip]
const RULES: &[(&str, Rule)] = &[
    ("walSeq", Sum), ("snapshotSeq", Sum), ("snapshotAgeSeconds", Most), ("underWay", Sum),
    ("actors.books", Sum), ("actors.entities", Sum),
    ("rails.duplicateCalls", Sum),
    ("rails.networks.nonce", Most), ("rails.networks.head", Most), ("rails.networks.lagSeconds", Most),
    ("rails.networks.scannedBlock", Least), ("rails.networks.waiting", Sum), ("rails.networks.inFlight", Sum),
    ("rails.networks.doubtful", Sum),
    ("rails.live.circuit", Alarm("open")), ("rails.live.isSilent", Most), ("rails.live.calls", Sum),
    ("rails.live.errors", Sum), ("rails.live.p50Ms", Most), ("rails.live.p99Ms", Most),
    ("rails.live.lastOkAt", Most), ("rails.live.unresolved", Sum),
    ("log.records", Sum), ("log.snapshots", Sum), ("log.batches", Sum), ("log.bytes", Sum), ("log.syncMs", Sum),
    ("log.lastSyncUs", Most), ("log.lastBatchRecords", Most), ("log.lastBatchBytes", Most),
    ("log.pendingRecords", Sum), ("log.pendingBytes", Sum),
    ("selfCheck.books", Sum), ("selfCheck.breaches", Sum), ("selfCheck.ageSeconds", Most),
    ("disk.freeBytes", Least), ("disk.reserveBytes", Most),
    ("rates.written", Sum), ("rates.lost", Sum),
    ("clock.stepMs", Farthest),
    ("outbound", Alarm("past")),
];

/// What tells one item of a list from another.
const ITEMS: [(&str, &[&str]); 5] = [
    ("haltedBooks", &["tenantKey"]),
    ("rails.networks", &["network", "wallet"]),
    ("rails.live", &["name"]),
    ("rates.feeds", &["pair", "source", "side", "method"]),
    ("rates.pins", &["pair", "source", "side", "method"]),
];

/// `parts` in the order of their partitions.
pub fn together(parts: Vec<Value>) -> Value {
    merged("", parts)
}

fn merged(path: &str, parts: Vec<Value>) -> Value {
    match parts.first() {
        Some(Value::Object(_)) => object(path, &parts),
        Some(Value::Array(_)) => list(path, parts),
        _ => leaf(path, parts),
    }
}

fn object(path: &str, parts: &[Value]) -> Value {
    let members = parts.iter().filter_map(Value::as_object).flat_map(Map::keys);
    let mut merged_members = Map::new();
    for name in members {
        if !merged_members.contains_key(name) {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let of_it = parts.iter().filter_map(|part| part.get(name).cloned()).collect();
            merged_members.insert(name.clone(), merged(&below, of_it));
        }
    }
    Value::Object(merged_members)
}

fn list(path: &str, parts: Vec<Value>) -> Value {
    let names = ITEMS.iter().find(|(known, _)| *known == path).map_or(&[][..], |(_, names)| names);
    let key = |item: &Value| match item {
        Value::Object(_) => names.iter().map(|name| item[*name].clone()).collect(),
        other => vec![other.clone()],
    };
    let items = parts.into_iter().filter_map(|part| match part {
        Value::Array(items) => Some(items),
        _ => None,
    });
    let mut groups: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
    for item in items.flatten() {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, alike)) => alike.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups.into_iter().map(|(_, alike)| merged(path, alike)).collect()
}

fn leaf(path: &str, parts: Vec<Value>) -> Value {
    let rule = RULES.iter().find(|(known, _)| *known == path).map(|(_, rule)| *rule);
    let word = |word: &str| parts.iter().any(|part| part == word).then(|| Value::from(word));
    let found = match rule {
        Some(Sum) => Some(parts.iter().filter_map(Value::as_u64).fold(0, u64::saturating_add).into()),
        Some(Farthest) => parts.iter().max_by_key(|part| part.as_i64().map(i64::unsigned_abs)).cloned(),
        Some(Most) => parts.iter().max_by_key(|&part| place(part)).cloned(),
        Some(Least) => parts.iter().filter(|part| !part.is_null()).min_by_key(|&part| place(part)).cloned(),
        Some(Alarm(alarm)) => word(alarm),
        None => None,
    };
    found.unwrap_or_else(|| {
        let first = parts.iter().position(|part| !part.is_null()).unwrap_or_default();
        parts.into_iter().nth(first).unwrap_or_default()
    })
}

fn place(value: &Value) -> (Option<i64>, Option<bool>, Option<&str>) {
    (value.as_i64(), value.as_bool(), value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_add_up_and_the_worst_is_shown() {
        let one = json!({
            "walSeq": 10, "snapshotAgeSeconds": 5, "underWay": 1, "outbound": "open",
            "haltedBooks": [{ "tenantKey": 4, "why": "x" }],
            "rails": { "duplicateCalls": 0, "live": [
                { "name": "r4", "serves": ["C2P"], "circuit": "closed", "isSilent": false, "openCalls": ["a 1"],
                    "calls": 7, "p99Ms": null, "lastOkAt": null, "unresolved": 2 }] },
            "disk": { "freeBytes": 900 }, "clock": { "now": "2026-11-21T02:13:00.000Z", "stepMs": -90_000 },
            "rates": { "feeds": [{ "pair": "USD/VES", "source": "bcv", "side": null, "method": null, "failures": 3 }] },
        });
        let mut other = one.clone();
        other["walSeq"] = json!(4);
        other["snapshotAgeSeconds"] = json!(60);
        other["haltedBooks"] = json!([{ "tenantKey": 8, "why": "y" }]);
        other["rails"]["live"][0] = json!({
            "name": "r4", "serves": ["C2P"], "circuit": "open", "isSilent": true, "openCalls": ["a 1", "b 2"],
            "calls": 1, "p99Ms": 40, "lastOkAt": "2026-11-21T02:13:00.000Z", "unresolved": 1,
        });
        other["disk"]["freeBytes"] = json!(80);
        other["clock"]["stepMs"] = json!(70_000);
        other["outbound"] = json!("past");
        let both = together(vec![one.clone(), other]);
        assert_eq!(
            both,
            json!({
                "walSeq": 14, "snapshotAgeSeconds": 60, "underWay": 2, "outbound": "past",
                "haltedBooks": [{ "tenantKey": 4, "why": "x" }, { "tenantKey": 8, "why": "y" }],
                "rails": { "duplicateCalls": 0, "live": [
                    { "name": "r4", "serves": ["C2P"], "circuit": "open", "isSilent": true,
                        "openCalls": ["a 1", "b 2"], "calls": 8, "p99Ms": 40,
                        "lastOkAt": "2026-11-21T02:13:00.000Z", "unresolved": 3 }] },
                "disk": { "freeBytes": 80 },
                "clock": { "now": "2026-11-21T02:13:00.000Z", "stepMs": -90_000 },
                "rates": { "feeds": [
                    { "pair": "USD/VES", "source": "bcv", "side": null, "method": null, "failures": 3 }] },
            })
        );
        assert_eq!(together(vec![one.clone()]), one, "of one it is what that says");
    }

    /// A new figure needs a rule.
    #[test]
    fn every_figure_has_a_rule() {
        let description = std::fs::read("tests/golden/openapi-admin.json").expect("it is there");
        let description: Value = serde_json::from_slice(&description).expect("JSON");
        let schemas = &description["components"]["schemas"];
        let mut figures = Vec::new();
        gather(schemas, &schemas["Status"], "", &mut figures);
        // Prices are the platform's, and no two partitions have one account.
        const OF_FIRST: [&str; 5] = [
            "haltedBooks.tenantKey",
            "rates.feeds.ageSeconds",
            "rates.feeds.failures",
            "rates.feeds.failuresInARow",
            "rates.pins.price",
        ];
        figures.retain(|figure| !OF_FIRST.contains(&figure.as_str()));
        assert!(figures.len() > 30, "{figures:?}");
        let has_rule = |figure: &String| RULES.iter().any(|(known, _)| known == figure);
        let without: Vec<_> = figures.iter().filter(|figure| !has_rule(figure)).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    fn gather(schemas: &Value, of: &Value, path: &str, figures: &mut Vec<String>) {
        let named = of["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        let of = named.map_or(of, |name| &schemas[name]);
        for (name, member) in of["properties"].as_object().into_iter().flatten() {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            gather(schemas, member, &below, figures);
        }
        if !of["items"].is_null() {
            gather(schemas, &of["items"], path, figures);
        }
        let kind = of["type"].to_string();
        if kind.contains("integer") || kind.contains("number") || kind.contains("boolean") {
            figures.push(path.to_owned());
        }
    }
}
