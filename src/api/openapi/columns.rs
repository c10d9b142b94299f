//! The tables of lists, derived from what is described: an answer that has its rows in one member
//! can be read as CSV, and the members of a row are the columns ([`crate::csv`]).

use super::operation::Operation;
use super::schema::{Kind, Schema};
use crate::csv::{Column, DAYS, ITEMS, RowsAt, Table};

/// The most objects inside each other that become columns; what is deeper is one cell of JSON.
const DEPTH_MAX: usize = 6;
/// The beginnings of patterns that only numbers match.
const NUMBERS: [&str; 2] = [r#""^(0|[1-9]"#, r#""^-?(0|[1-9]"#];

type Find<'a> = &'a dyn Fn(&str) -> Option<Schema>;

/// The table of an operation whose answer is a list.
pub fn table(operation: &Operation, find: Find<'_>) -> Option<Table> {
    let answer = operation.answers.iter().find(|answer| answer.status == 200)?;
    let schema = resolved(answer.schema.as_ref()?, find)?;
    let (row, rows, pages) = match &schema.kind {
        // With a filter for one item, the answer is the item.
        Kind::AnyOf(schemas) => {
            let (row, name, pages) = schemas.iter().find_map(|schema| listed(&resolved(schema, find)?))?;
            (row, RowsAt::MemberOrAnswer(name), pages)
        }
        Kind::Type("array") => (*schema.items?, RowsAt::Answer, false),
        _ => {
            let (row, name, pages) = listed(&schema)?;
            (row, RowsAt::Member(name), pages)
        }
    };
    let mut columns = Vec::new();
    collect(&row, &mut Vec::new(), find, &mut columns);
    columns.retain(|column| !operation.absent.contains(&column.name.as_str()));
    Some(Table::new(columns, rows, pages))
}

/// The rows of an answer that is a list, the member that has them, and whether they come in pages.
fn listed(schema: &Schema) -> Option<(Schema, &'static str, bool)> {
    let names: Vec<&str> = schema.members.iter().map(|member| member.name).collect();
    let rows = match names.as_slice() {
        [ITEMS] | [ITEMS, "nextCursor"] => ITEMS,
        names if names.contains(&DAYS) => DAYS,
        _ => return None,
    };
    let list = schema.members.iter().find(|member| member.name == rows)?;
    Some((list.schema.items.as_deref()?.clone(), rows, names.contains(&"nextCursor")))
}

fn resolved(schema: &Schema, find: Find<'_>) -> Option<Schema> {
    match &schema.kind {
        Kind::Named(name) => resolved(&find(name)?, find),
        _ => Some(schema.clone()),
    }
}

/// Adds the columns of what stands at `path` in a row.
fn collect(schema: &Schema, path: &mut Vec<&'static str>, find: Find<'_>, columns: &mut Vec<Column>) {
    let Some(schema) = resolved(schema, find) else { return };
    match &schema.kind {
        Kind::AnyOf(schemas) => schemas.iter().for_each(|schema| collect(schema, path, find, columns)),
        Kind::Type("object") if !schema.members.is_empty() && path.len() < DEPTH_MAX => {
            for member in &schema.members {
                path.push(member.name);
                collect(&member.schema, path, find, columns);
                path.pop();
            }
        }
        _ => {
            let (name, is_number) = (path.join("."), is_number(&schema));
            match columns.iter_mut().find(|column| column.name == name) {
                Some(known) => known.is_number &= is_number,
                None => columns.push(Column { name, is_number }),
            }
        }
    }
}

/// Whether every value is a number, or a text whose pattern only numbers match, such as an amount.
fn is_number(schema: &Schema) -> bool {
    let pattern = schema.known_fact("pattern").and_then(|json| std::str::from_utf8(json).ok());
    matches!(schema.kind, Kind::Type("number" | "integer" | "boolean"))
        || pattern.is_some_and(|pattern| NUMBERS.iter().any(|number| pattern.starts_with(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::operation::summary;
    use crate::openapi::schema::{any_of, boolean, list, named, object, text};
    use crate::openapi::values::{page, signed_ves};

    fn found(name: &str) -> Option<Schema> {
        let bank = || object().member("code", text()).optional("amount", signed_ves());
        match name {
            "Bank" => Some(bank()),
            "Row" => Some(
                object()
                    .member("id", text())
                    .member("amount", signed_ves())
                    .member("bank", named("Bank").or_null())
                    .member("to", any_of([named("Bank"), object().member("phone", text())]))
                    .member("open", boolean())
                    .member("tags", list(text()))
                    .member("anything", object()),
            ),
            "Page" => Some(page("Row")),
            _ => None,
        }
    }

    #[test]
    fn members_of_a_row_are_columns_and_nested_ones_have_dots() {
        let table = table(&summary("").answers(200, "Page", ""), &found).expect("a list");
        let headings: Vec<&str> = table.headings().collect();
        assert_eq!(
            headings,
            [
                "id",
                "amount",
                "bank.code",
                "bank.amount",
                "to.code",
                "to.amount",
                "to.phone",
                "open",
                "tags",
                "anything"
            ]
        );
        assert!(table.pages);
        let rows = br#"{"items":[{"id":"-1","amount":"-1.00"}],"nextCursor":null}"#;
        let text = table.rows(rows, crate::csv::Separator::Comma).expect("a page").text;
        assert_eq!(text, "'-1,-1.00,,,,,,,,\r\n");
    }

    #[test]
    fn what_is_no_list_is_no_table() {
        for schema in [
            text(),
            named("Row"),
            named("Nobody"),
            object().member("items", list(named("Row"))).member("status", text()),
        ] {
            assert_eq!(table(&summary("").answers_with(200, schema, ""), &found), None);
        }
        assert_eq!(table(&summary("").answers_nothing(204, ""), &found), None);
    }
}
