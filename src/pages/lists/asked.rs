//! What the address of a list asks for, as the API has it: days of people are instants there, and amounts as they
//! are typed are plain ones.

use super::Described;
use crate::pages::inside::with_query;
use crate::pages::site::Visit;
use domain::values::time::{Date, Timestamp, Zone};

/// Parameters of the operators' lists that say whose things are meant.
const WHOSE: [&str; 2] = ["tenantId", "mode"];

pub struct Asked {
    /// The page's own.
    pub path: String,
    /// As they were typed.
    typed: Vec<(String, String)>,
    /// As the API reads them.
    filters: Vec<(&'static str, String)>,
    columns: Vec<String>,
    /// What cannot be read, and why.
    pub faults: Vec<(String, String)>,
    /// By anything but whether it is live.
    pub is_filtered: bool,
    /// By something of the form.
    pub is_narrowed: bool,
}

impl Asked {
    pub fn read<W>(visit: &Visit<'_, W>, described: &Described) -> Asked {
        let (resource, query) = (described.resource, &visit.query);
        let path = format!("{}/{}", visit.site.base, resource.name);
        let mut filters: Vec<_> =
            resource.fixed.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let (mut typed, mut faults) = (Vec::new(), Vec::new());
        let mut fault = |name: &str, why| faults.push((name.to_owned(), why));
        let [from, to] = match described.takes("from") {
            true => days_asked(visit, resource.zone, &mut fault),
            false => [None, None],
        };
        for (name, _) in &described.filters {
            let text = query.text(name);
            if text.is_empty() {
                if *name == "mode" {
                    filters.push((name, "live".to_owned()));
                }
                continue;
            }
            typed.push(((*name).to_owned(), text.to_owned()));
            let value = match *name {
                "from" => from.map(|at| at.to_string()),
                "to" => to.map(|at| at.to_string()),
                "minAmount" | "maxAmount" => Some(visit.language.typed(text, 2)),
                "tenantId" => Some(visit.tenant_id(text)),
                _ => Some(text.to_owned()),
            };
            filters.extend(value.map(|value| (*name, value)));
        }
        let is_narrowing = |(name, _): &(String, String)| !matches!(&**name, "status" | "mode");
        Asked {
            path,
            is_filtered: typed.iter().any(|(name, _)| name != "mode"),
            is_narrowed: typed.iter().any(is_narrowing),
            typed,
            filters,
            columns: query.all("cols").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            faults,
        }
    }

    /// The address of the list in an API.
    pub fn of_api(&self, api: &str) -> String {
        let filters: Vec<_> = self.filters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        with_query(api, &filters)
    }

    /// The query of the list of one tenant key.
    pub fn of_list(&self) -> String {
        let filters = self.filters.iter().filter(|(name, _)| !WHOSE.contains(name));
        let filters: Vec<_> = filters.map(|(name, value)| (*name, value.as_str())).collect();
        with_query("?", &filters).trim_start_matches(['?', '&']).to_owned()
    }

    /// Whether others are asked for than the list's own, which its form sends too.
    pub fn names_columns(&self, described: &Described) -> bool {
        let (asked, own) = (self.columns(described), described.own_columns());
        asked.len() != own.len() || asked.iter().any(|name| !own.contains(name))
    }

    pub fn filters_by_status(&self) -> bool {
        self.typed.iter().any(|(name, _)| name == "status")
    }

    pub fn names_one(&self) -> bool {
        self.filters.iter().any(|(name, _)| *name == "externalRef")
    }

    /// This page's address with some of it changed; what is changed to nothing is left out.
    pub fn here(&self, changes: &[(&str, &str)]) -> String {
        let is_kept = |name: &str| !changes.iter().any(|(changed, _)| *changed == name);
        let typed = self.typed.iter().filter(|(name, _)| is_kept(name));
        let mut pairs: Vec<_> = typed.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if is_kept("cols") {
            pairs.extend(self.columns.iter().map(|name| ("cols", name.as_str())));
        }
        pairs.extend(changes);
        with_query(&self.path, &pairs)
    }

    /// The columns that are shown: those that the address names, or the list's own.
    pub fn columns<'a>(&self, described: &'a Described) -> Vec<&'a str> {
        let named = described.columns.iter().map(String::as_str);
        let chosen: Vec<_> = named.filter(|name| self.columns.iter().any(|each| each == name)).collect();
        if !chosen.is_empty() {
            return chosen;
        }
        described.own_columns()
    }
}

/// The days between which the address asks for, `from` and `to`; `fault` hears what cannot be read, and why.
pub fn days_asked<W>(
    visit: &Visit<'_, W>,
    zone: Zone,
    fault: &mut dyn FnMut(&'static str, String),
) -> [Option<Timestamp>; 2] {
    let days = ["from", "to"].map(|name| {
        let text = visit.query.filled(name)?;
        let at = instant(text, zone, name == "to");
        if at.is_none() {
            let why = visit.say(
                "Escribe el día con año, mes y día, por ejemplo 2026-11-30.",
                "Write the day as year, month and day, such as 2026-11-30.",
            );
            fault(name, why.to_owned());
        }
        at
    });
    if let [Some(from), Some(to)] = days
        && from >= to
    {
        let why = visit.say("Es anterior a «Desde». Cámbialos.", "It is before \"From\". Change them.");
        fault("to", why.to_owned());
    }
    days
}

/// The beginning of a day, or its end; an instant as the API writes it stays one.
fn instant(text: &str, zone: Zone, is_end: bool) -> Option<Timestamp> {
    match Date::parse(text) {
        Ok(day) => Some(day.plus_days(i32::from(is_end)).start_in(zone)),
        Err(_) => Timestamp::parse(text).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_where_the_next_one_begins() {
        let at = |is_end| instant("2026-11-30", Zone::Caracas, is_end).map(|at| at.to_string());
        assert_eq!(at(false).as_deref(), Some("2026-11-30T04:00:00.000Z"));
        assert_eq!(at(true).as_deref(), Some("2026-12-01T04:00:00.000Z"));
        assert_eq!(instant("30/11/2026", Zone::Caracas, false), None);
        assert!(instant("2026-11-30T00:00:00Z", Zone::Caracas, true).is_some());
    }
}
