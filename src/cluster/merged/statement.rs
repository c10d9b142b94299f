//! The platform's statement as the sum of its parts. Days of a part that ended earlier, as clocks differ, go on with
//! its last balance.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const DATE: &str = "date";
const OPENING: &str = "opening";
const CLOSING: &str = "closing";

#[derive(Deserialize, Serialize)]
pub struct Statement {
    currency: String,
    timezone: String,
    days: Vec<Map<String, Value>>,
}

/// None if a part is not like the others, or says nothing of its balance.
pub fn sum(parts: Vec<Statement>) -> Option<Statement> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next()?;
    for part in parts {
        if part.currency != sum.currency || part.timezone != sum.timezone {
            return None;
        }
        let (mut longer, mut shorter) = (sum.days, part.days);
        if longer.len() < shorter.len() {
            std::mem::swap(&mut longer, &mut shorter);
        }
        let balance = shorter.last().and_then(|last| last.get(CLOSING)).cloned();
        for (nth, day) in longer.iter_mut().enumerate() {
            match shorter.get(nth) {
                Some(other) => add(day, other)?,
                None => {
                    let balance = balance.clone()?;
                    let still = [DATE, OPENING, CLOSING].map(|name| {
                        let value = if name == DATE { day.get(DATE).cloned() } else { Some(balance.clone()) };
                        (name.to_owned(), value.unwrap_or_default())
                    });
                    add(day, &Map::from_iter(still))?;
                }
            }
        }
        sum.days = longer;
    }
    Some(sum)
}

/// Adds what another day of the same date has; what that does not have is 0.
fn add(day: &mut Map<String, Value>, other: &Map<String, Value>) -> Option<()> {
    if day.get(DATE) != other.get(DATE) || other.keys().any(|name| !day.contains_key(name)) {
        return None;
    }
    for (name, value) in day.iter_mut().filter(|(name, _)| *name != DATE) {
        let Some(more) = other.get(name) else { continue };
        *value = match (&*value, more) {
            (Value::String(one), Value::String(more)) => {
                let (one, more): (Decimal, Decimal) = (one.parse().ok()?, more.parse().ok()?);
                let mut sum = one.checked_add(more)?;
                sum.rescale(one.scale());
                if sum.is_zero() {
                    sum.set_sign_positive(true);
                }
                Value::String(sum.to_string())
            }
            (one, more) => one.as_u64()?.checked_add(more.as_u64()?)?.into(),
        };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn day(date: &str, [opening, fees, closing]: [&str; 3], movements: u64) -> Value {
        json!({ "date": date, "opening": opening, "fees": fees, "closing": closing, "movements": movements })
    }

    fn part(days: &[Value]) -> Statement {
        let part = json!({ "currency": "VES", "timezone": "America/Caracas", "days": days });
        serde_json::from_value(part).expect("a statement")
    }

    fn days(parts: Vec<Statement>) -> Option<Value> {
        sum(parts).map(|sum| json!(sum.days))
    }

    #[test]
    fn days_are_added_column_by_column() {
        let one = || {
            part(&[
                day("2026-11-21", ["0.00", "1.50", "1.50"], 2),
                day("2026-11-22", ["1.50", "-0.50", "1.00"], 1),
            ])
        };
        let other = part(&[
            day("2026-11-21", ["9.00", "0.25", "9.25"], 1),
            day("2026-11-22", ["9.25", "0.50", "9.75"], 4),
        ]);
        let both = [
            day("2026-11-21", ["9.00", "1.75", "10.75"], 3),
            day("2026-11-22", ["10.75", "0.00", "10.75"], 5),
        ];
        assert_eq!(days(vec![one(), other]), Some(json!(both)));
        assert_eq!(days(vec![one()]), days(vec![one()]));
        let pesos = part(&[day("2026-11-21", ["0", "-5", "-5"], 1)]);
        let more = part(&[day("2026-11-21", ["1", "3", "4"], 1)]);
        assert_eq!(days(vec![pesos, more]), Some(json!([day("2026-11-21", ["1", "-2", "-1"], 2)])));
    }

    #[test]
    fn a_part_that_ended_earlier_keeps_its_balance() {
        let long = || {
            part(&[
                day("2026-11-21", ["0.00", "1.00", "1.00"], 1),
                day("2026-11-22", ["1.00", "1.00", "2.00"], 1),
            ])
        };
        let short = || part(&[day("2026-11-21", ["5.00", "0.00", "5.00"], 0)]);
        let both = json!([
            day("2026-11-21", ["5.00", "1.00", "6.00"], 1),
            day("2026-11-22", ["6.00", "1.00", "7.00"], 1)
        ]);
        assert_eq!(days(vec![long(), short()]), Some(both.clone()));
        assert_eq!(days(vec![short(), long()]), Some(both));
        assert_eq!(days(vec![long(), part(&[])]), None, "its balance is not known");
        assert_eq!(days(vec![part(&[]), part(&[])]), Some(json!([])));
        assert_eq!(days(vec![]), None);
    }

    #[test]
    fn what_is_not_alike_is_no_sum() {
        let one = || part(&[day("2026-11-21", ["0.00", "1.00", "1.00"], 1)]);
        let other_day = part(&[day("2026-11-20", ["0.00", "1.00", "1.00"], 1)]);
        assert_eq!(days(vec![one(), other_day]), None);
        let mut other_currency = one();
        other_currency.currency = "COP".to_owned();
        assert_eq!(days(vec![one(), other_currency]), None);
        let mut more = day("2026-11-21", ["0.00", "1.00", "1.00"], 1);
        more["tips"] = json!("1.00");
        assert_eq!(days(vec![one(), part(&[more])]), None);
    }
}
