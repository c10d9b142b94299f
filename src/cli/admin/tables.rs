//! Answers of the API as tables for people: a list is a row per item, an object a row per member.
//! Numbers and the order of the members are the API's.

use super::client::scalar;
use api::json::{self, Member, Shape};
use comfy_table::{ContentArrangement, Table};

/// A table of an answer; what is neither list nor object is shown as it is.
pub fn readable(answer: &str) -> String {
    match json::read(answer) {
        Ok(Shape::List(items)) => list(&items),
        Ok(Shape::Object(members)) => page(&members).unwrap_or_else(|| object(&members)),
        _ => answer.to_owned(),
    }
}

/// A page of a list, with how to get the next, or the days of a statement.
fn page(members: &[Member<'_>]) -> Option<String> {
    let items = members.iter().find(|member| matches!(&*member.name, "items" | "days"))?;
    let Ok(Shape::List(items)) = json::read(items.value) else { return None };
    let next = members
        .iter()
        .find(|member| member.name == "nextCursor")
        .map(|member| scalar(member.value))
        .filter(|next| !next.is_empty());
    let more = next.map(|next| format!("\nthere are more: --cursor {next}")).unwrap_or_default();
    Some(format!("{}{more}", list(&items)))
}

/// A row per item. What has parts of its own does not fit into a row; asking for one item shows it.
fn list(items: &[&str]) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    let mut columns: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for item in items {
        let Ok(Shape::Object(members)) = json::read(item) else {
            return items.iter().map(|item| scalar(item)).collect::<Vec<_>>().join("\n");
        };
        let cells: Vec<(String, String)> = members
            .iter()
            .filter_map(|member| Some((member.name.to_string(), cell(member.value)?)))
            .collect();
        for (name, _) in &cells {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        rows.push(cells);
    }
    let mut table = table();
    table.set_header(&columns);
    for row in rows {
        table.add_row(columns.iter().map(|column| {
            row.iter().find(|(name, _)| name == column).map(|(_, cell)| cell.clone()).unwrap_or_default()
        }));
    }
    table.to_string()
}

/// The text of a table's cell, if the value fits into one: a scalar, or a list of scalars.
fn cell(value: &str) -> Option<String> {
    match json::read(value).ok()? {
        Shape::Scalar => Some(scalar(value)),
        Shape::List(items) if items.iter().all(|item| matches!(json::read(item), Ok(Shape::Scalar))) => {
            Some(items.iter().map(|item| scalar(item)).collect::<Vec<_>>().join(", "))
        }
        Shape::List(_) | Shape::Object(_) => None,
    }
}

/// A row per member; parts of parts have dotted names.
fn object(members: &[Member<'_>]) -> String {
    let mut table = table();
    let mut rows = Vec::new();
    flatten("", members, &mut rows);
    for (name, value) in rows {
        table.add_row([name, value]);
    }
    table.to_string()
}

fn flatten(before: &str, members: &[Member<'_>], rows: &mut Vec<(String, String)>) {
    for member in members {
        let name = format!("{before}{}", member.name);
        match (cell(member.value), json::read(member.value)) {
            (Some(cell), _) => rows.push((name, cell)),
            (None, Ok(Shape::Object(inner))) => flatten(&format!("{name}."), &inner, rows),
            (None, _) => rows.push((name, member.value.to_owned())),
        }
    }
}

fn table() -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(answer: &str) -> Vec<String> {
        let shown = readable(answer);
        let bare = |line: &str| {
            line.split(['│', '┆'])
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect::<Vec<_>>()
                .join("|")
        };
        shown.lines().filter(|line| !line.starts_with(['┌', '└', '╞', '├', '╰', '╭'])).map(bare).collect()
    }

    #[test]
    fn a_page_is_a_row_per_item_in_the_order_of_the_api() {
        let page = r#"{"items":[{"z":"1","a":10.50,"list":["x","y"],"deep":{"b":1}},{"z":"2","more":true}],"nextCursor":"abc"}"#;
        assert_eq!(lines(page), ["z|a|list|more", "1|10.50|x, y", "2|true", "there are more: --cursor abc"]);
        assert_eq!(readable(r#"{"items":[],"nextCursor":null}"#), "none");
    }

    #[test]
    fn an_object_is_a_row_per_member() {
        assert_eq!(
            lines(r#"{"z":null,"log":{"bytes":12,"deep":{"x":"y"}},"list":[{"a":1}]}"#),
            ["z", "log.bytes|12", "log.deep.x|y", "list|[{\"a\":1}]"]
        );
    }
}
