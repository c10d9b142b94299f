//! A list is a row per item, an object a row per member. Cells of a list are cut to the terminal's
//! width, values of an object go on in the next line. Numbers and the order of the members are the
//! API's.

use crate::cli::client::scalar;
use comfy_table::{ContentArrangement, Table};
use serde_json::{Map, Value};

/// Members of an object that still fit into the row that it is in.
const FEW: usize = 2;

/// What is neither list nor object is shown as it is, and of a page how to get the next one.
pub fn readable(answer: &str, width: Option<usize>) -> String {
    let members = match serde_json::from_str(answer) {
        Ok(Value::Array(items)) => return list(&items, width),
        Ok(Value::Object(members)) => members,
        _ => return answer.to_owned(),
    };
    if let Some(Value::Array(items)) = members.get("items").or(members.get("days")) {
        let list = list(items, width);
        return match members.get("nextCursor").map(scalar) {
            Some(next) if !next.is_empty() => format!("{list}\nthere are more: --all, or --cursor {next}"),
            _ => list,
        };
    }
    let mut table = table(width);
    let mut rows = Vec::new();
    flatten("", &members, &mut rows);
    for (name, value) in rows {
        table.add_row([name, value]);
    }
    table.to_string()
}

fn list(items: &[Value], width: Option<usize>) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    let mut columns: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for item in items {
        let Value::Object(members) = item else {
            return items.iter().map(scalar).collect::<Vec<_>>().join("\n");
        };
        let cells: Vec<(String, String)> = members.iter().flat_map(cells).collect();
        for (name, _) in &cells {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        rows.push(cells);
    }
    let text = |row: &[(String, String)], column: &String| {
        row.iter().find(|(name, _)| name == column).map(|(_, cell)| cell.clone()).unwrap_or_default()
    };
    let natural: Vec<usize> = columns
        .iter()
        .map(|column| {
            let cells = rows.iter().map(|row| text(row, column).chars().count());
            cells.chain([column.chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let widths = width.map_or_else(|| natural.clone(), |room| fit(&natural, room));
    let mut table = table(None);
    let shown = || columns.iter().zip(&widths);
    table.set_header(shown().map(|(column, width)| elide(column, *width)));
    for row in &rows {
        table.add_row(shown().map(|(column, width)| elide(&text(row, column), *width)));
    }
    match columns.len() - widths.len() {
        0 => table.to_string(),
        more => format!("{table}\n{more} columns more: --wide"),
    }
}

/// One, or one for each of the few members of its own, with dotted names.
fn cells((name, value): (&String, &Value)) -> Vec<(String, String)> {
    if let Some(cell) = cell(value) {
        return vec![(name.clone(), cell)];
    }
    let Value::Object(inner) = value else { return Vec::new() };
    let dotted = inner.iter().map(|(of, value)| Some((format!("{name}.{of}"), cell(value)?)));
    dotted.collect::<Option<Vec<_>>>().filter(|cells| cells.len() <= FEW).unwrap_or_default()
}

/// A scalar, or a list of scalars.
fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) if !items.iter().any(|item| item.is_array() || item.is_object()) => {
            Some(items.iter().map(scalar).collect::<Vec<_>>().join(", "))
        }
        Value::Array(_) | Value::Object(_) => None,
        value => Some(scalar(value)),
    }
}

/// Parts of parts have dotted names.
fn flatten(before: &str, members: &Map<String, Value>, rows: &mut Vec<(String, String)>) {
    for (name, value) in members {
        let name = format!("{before}{name}");
        match (cell(value), value) {
            (Some(cell), _) => rows.push((name, cell)),
            (None, Value::Object(inner)) => flatten(&format!("{name}."), inner, rows),
            (None, value) => rows.push((name, value.to_string())),
        }
    }
}

pub fn table(width: Option<usize>) -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width.and_then(|width| u16::try_from(width).ok()) {
        table.set_width(width);
    }
    table
}

const LEAST: usize = 8;
const BESIDE: usize = 3;

fn fit(natural: &[usize], room: usize) -> Vec<usize> {
    for shown in (1..=natural.len()).rev() {
        let columns = &natural[..shown];
        let room = room.saturating_sub(BESIDE * shown + 1);
        let cut = |most: usize| columns.iter().map(|width| (*width).min(most)).sum::<usize>();
        let widest = columns.iter().copied().max().unwrap_or(0);
        let least = if shown == 1 { 1 } else { LEAST.min(widest) };
        if let Some(most) = (least..=widest).rev().find(|most| cut(*most) <= room) {
            return columns.iter().map(|width| (*width).min(most)).collect();
        }
    }
    natural.first().map(|_| vec![1]).unwrap_or_default()
}

fn elide(text: &str, most: usize) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(answer: &str) -> Vec<String> {
        let shown = readable(answer, None);
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
        let page = concat!(
            r#"{"items":[{"z":"1","a":10.50,"list":["x","y"],"deep":{"b":1,"c":{}},"who":{"id":"7","#,
            r#""name":"Ana"}},{"z":"2","more":true}],"nextCursor":"abc"}"#,
        );
        assert_eq!(
            lines(page),
            [
                "z|a|list|who.id|who.name|more",
                "1|10.50|x, y|7|Ana",
                "2|true",
                "there are more: --all, or --cursor abc"
            ]
        );
        assert_eq!(readable(r#"{"items":[],"nextCursor":null}"#, None), "none");
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let id = "01930a4b-5c6d-7e8f-9012-3456789a0000";
        let items: Vec<String> =
            (0..3).map(|n| format!(r#"{{"a":"{id}","b":"{id}","c":"{id}","d":{n}}}"#)).collect();
        let page = format!(r#"{{"items":[{}],"nextCursor":null}}"#, items.join(","));
        for width in [30, 60, 90, 130] {
            let shown = readable(&page, Some(width));
            let longest = shown.lines().map(|line| line.chars().count()).max();
            assert!(longest.is_some_and(|longest| longest <= width), "{width}\n{shown}");
            assert_eq!(shown.contains("--wide"), width < 60, "{width}\n{shown}");
        }
        assert!(readable(&page, None).contains(&format!("{id} ")));
        let object = format!(r#"{{"about":"{}"}}"#, "word ".repeat(40));
        assert!(readable(&object, Some(40)).lines().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn an_object_is_a_row_per_member() {
        assert_eq!(
            lines(r#"{"z":null,"log":{"bytes":12,"deep":{"x":"y"}},"list":[{"a":1}]}"#),
            ["z", "log.bytes|12", "log.deep.x|y", "list|[{\"a\":1}]"]
        );
    }

    #[test]
    fn the_widest_are_cut_first_and_the_last_left_out() {
        assert_eq!(fit(&[5, 10, 3], 80), [5, 10, 3]);
        assert_eq!(fit(&[36, 10, 36], 60), [20, 10, 20]);
        assert_eq!(fit(&[36, 36, 36, 36], 40), [10, 10, 10]);
        assert_eq!(fit(&[36, 36], 12), [8]);
        assert_eq!((fit(&[36], 3), fit(&[], 3)), (vec![1], vec![]));
        for room in 10..200 {
            let widths = fit(&[36, 12, 8, 40, 22, 5], room);
            assert!(widths.iter().sum::<usize>() + BESIDE * widths.len() < room, "{room}");
        }
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!((elide("abc", 3), elide("abcd", 3)), ("abc".to_owned(), "ab…".to_owned()));
        assert_eq!(elide("ñandú\nx", 9), "ñandú x");
    }
}
