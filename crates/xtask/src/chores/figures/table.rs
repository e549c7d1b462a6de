//! A table of figures, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// One table: a title, column names and rows.
#[derive(Debug)]
pub(super) struct Table {
    /// The title; also the table's name in JSON.
    pub(super) title: &'static str,
    /// The names of the columns after the first.
    pub(super) columns: Vec<&'static str>,
    /// The rows in printing order.
    pub(super) rows: Vec<Row>,
    /// A sentence that says how the figures are counted.
    pub(super) note: &'static str,
}

/// One row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The text of the first column.
    pub(super) name: String,
    /// One figure per column.
    pub(super) figures: Vec<Figure>,
}

/// One cell of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Count(u64),
    Text(String),
    /// The figure does not apply or could not be measured.
    Absent,
}

impl Row {
    /// A row of counts.
    pub(super) fn counts(name: impl Into<String>, counts: &[usize]) -> Self {
        Self { name: name.into(), figures: counts.iter().map(|count| Figure::Count(*count as u64)).collect() }
    }

    /// A row with one text.
    pub(super) fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), figures: vec![Figure::Text(text.into())] }
    }
}

impl Figure {
    fn shown(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Text(text) => text.clone(),
            Self::Absent => "–".to_owned(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Count(count) => json!(count),
            Self::Text(text) => json!(text),
            Self::Absent => Value::Null,
        }
    }
}

/// A last row with the sum of every column of counts.
pub(super) fn total(rows: &[Row]) -> Row {
    let width = rows.first().map_or(0, |row| row.figures.len());
    let sum = |column: usize| rows.iter().map(|row| count(&row.figures[column])).sum();
    Row { name: "total".to_owned(), figures: (0..width).map(|column| Figure::Count(sum(column))).collect() }
}

fn count(figure: &Figure) -> u64 {
    match figure {
        Figure::Count(count) => *count,
        Figure::Text(_) | Figure::Absent => 0,
    }
}

/// The tables for a terminal.
pub(super) fn text(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "== {}\n   {}", table.title, table.note);
        let mut lines = vec![header(table)];
        lines.extend(table.rows.iter().map(cells));
        let widths = widths(&lines);
        for line in lines {
            let _ = writeln!(out, "   {}", aligned(&line, &widths));
        }
        out.push('\n');
    }
    out
}

/// The tables as one JSON object: title to rows, each row an object.
pub(super) fn json(tables: &[Table]) -> Value {
    let row = |table: &Table, row: &Row| {
        let mut object = Map::from_iter([("name".to_owned(), json!(row.name))]);
        for (column, figure) in table.columns.iter().zip(&row.figures) {
            object.insert((*column).to_owned(), figure.value());
        }
        Value::Object(object)
    };
    let rows = |table: &Table| table.rows.iter().map(|entry| row(table, entry)).collect::<Vec<_>>();
    let figures: Map<String, Value> =
        tables.iter().map(|table| (table.title.to_owned(), Value::Array(rows(table)))).collect();
    json!({"version": 1, "figures": figures})
}

fn header(table: &Table) -> Vec<String> {
    std::iter::once("").chain(table.columns.iter().copied()).map(str::to_owned).collect()
}

fn cells(row: &Row) -> Vec<String> {
    std::iter::once(row.name.clone()).chain(row.figures.iter().map(Figure::shown)).collect()
}

fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    (0..columns).map(|column| width(column).unwrap_or_default()).collect()
}

/// The first cell to the left, all others to the right.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let _ = if index == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut rows = vec![Row::counts("model", &[5, 10]), Row::counts("seamline", &[7, 200])];
        rows.push(total(&rows));
        Table { title: "lines", columns: vec!["code", "total"], rows, note: "Counted by hand." }
    }

    #[test]
    fn columns_of_the_text_are_aligned() {
        let expected = "== lines\n   Counted by hand.\n             code  total\n   model        5     10\n   \
                        seamline     7    200\n   total       12    210\n\n";
        assert_eq!(text(&[table()]), expected);
    }

    #[test]
    fn json_has_an_object_per_row() {
        let printed = json(&[table()]);
        assert_eq!(printed["figures"]["lines"][1], json!({"name": "seamline", "code": 7, "total": 200}));
    }
}
