//! An excerpt of a conversation; a line connects a tool call with its result.

use seamline::outline::OutlineBlock;

use super::excerpt::{Head, Mark, Row};
use super::style::{self, Paint};
use crate::screen;

/// The columns of the line that connects a call and its result.
const JOINT_COLUMNS: usize = 4;
const ROLE_COLUMNS: usize = 9;
/// The fewest columns for the text of a block.
const TEXT_COLUMNS_MIN: usize = 12;

/// Draws the rows, one line each, at most `width` columns wide.
pub(crate) fn draw(rows: &[Row<'_>], paint: Paint, columns_max: usize) -> Vec<String> {
    let layout = Layout::of(rows, columns_max);
    let joints = joints(rows);
    rows.iter()
        .zip(joints)
        .map(|(row, joint)| {
            let line = format!("{} {}", paint.paint(joint), layout.line(row));
            line.trim_end().to_owned()
        })
        .collect()
}

/// The columns of an excerpt.
struct Layout {
    index: usize,
    kind: usize,
    text: usize,
}

impl Layout {
    fn of(rows: &[Row<'_>], columns_max: usize) -> Self {
        let index = rows.iter().filter_map(head).map(|head| head.index).max();
        let index = index.map_or(1, |index| index.to_string().len());
        let kind = rows.iter().map(|row| kind(row).len()).max().unwrap_or(0);
        // The separators take five columns.
        let used = JOINT_COLUMNS + index + ROLE_COLUMNS + kind + 5;
        Self { index, kind, text: columns_max.saturating_sub(used).max(TEXT_COLUMNS_MIN) }
    }

    fn line(&self, row: &Row<'_>) -> String {
        let (index, role) = match head(row) {
            Some(head) => (head.index.to_string(), head.role),
            None => (String::new(), ""),
        };
        let start = format!(
            "{} {}",
            style::FAINT.paint(&format!("{index:>0$}", self.index)),
            style::STRONG.paint(&format!("{role:<ROLE_COLUMNS$}")),
        );
        let kind = format!("{:<1$}", kind(row), self.kind);
        match row {
            Row::Block { block, .. } => {
                let paint = style::kind(block.kind.as_str());
                format!("{start}  {} {}", paint.paint(&kind), said(block, self.text))
            }
            Row::Empty { .. } => format!("{start}  {}", style::FAINT.paint("empty")),
            Row::Gap { what, .. } => format!("{start}  {}", style::FAINT.paint(&format!("⋮ {what}"))),
            Row::Missing { text, .. } => {
                let text = screen::printable(text).into_owned();
                let text = format!("{kind} {}", screen::cut(&text, self.text));
                format!("{start}  {}", style::FAINT.paint(&text))
            }
        }
    }
}

/// The id of a block, unless the name of its tool is shown instead.
pub(crate) fn own_id(block: &OutlineBlock) -> Option<&str> {
    block.id.as_deref().filter(|_| block.id != block.name)
}

/// The names of a block, then its text.
pub(crate) fn said(block: &OutlineBlock, columns_max: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    let names = [
        (block.name.as_deref(), style::STRONG),
        (own_id(block), style::FAINT),
        (Some(block.preview.as_str()), style::PLAIN),
    ];
    for (text, paint) in names {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            continue;
        };
        let room = columns_max.saturating_sub(used);
        if room < 2 {
            break;
        }
        let text = screen::printable(text);
        let text = screen::cut(&text, room);
        if used > 0 {
            line.push(' ');
        }
        line += &paint.paint(&text);
        used += screen::columns(&text) + 1;
    }
    if used == 0 {
        return style::FAINT.paint("empty");
    }
    line
}

fn head(row: &Row<'_>) -> Option<Head> {
    match row {
        Row::Block { head, .. } | Row::Gap { head, .. } => *head,
        Row::Empty { head, .. } => Some(*head),
        Row::Missing { .. } => None,
    }
}

fn kind(row: &Row<'_>) -> &'static str {
    match row {
        Row::Block { block, .. } => block.kind.as_str(),
        Row::Missing { kind, .. } => kind,
        Row::Empty { .. } | Row::Gap { .. } => "",
    }
}

fn is_joined(row: &Row<'_>) -> bool {
    match row {
        Row::Block { mark, .. } | Row::Empty { mark, .. } => *mark != Mark::None,
        Row::Missing { .. } => true,
        Row::Gap { .. } => false,
    }
}

/// For each row, its part of the line that connects a call and its result.
fn joints(rows: &[Row<'_>]) -> Vec<&'static str> {
    let first = rows.iter().position(is_joined);
    let last = rows.iter().rposition(is_joined);
    let (Some(first), Some(last)) = (first, last) else {
        return vec!["    "; rows.len()];
    };
    let piece = |(position, row): (usize, &Row<'_>)| {
        let is_joined = is_joined(row);
        let end = match row {
            Row::Missing { .. } => End::Missing,
            Row::Block { mark, .. } | Row::Empty { mark, .. } if *mark == Mark::Primary => End::Primary,
            _ => End::Plain,
        };
        match position {
            _ if position < first || position > last => "    ",
            _ if first == last => "───▸",
            _ if position == first => end.pick(["╭───", "╭──▸", "╭──✗"]),
            _ if position == last => end.pick(["╰───", "╰──▸", "╰──✗"]),
            _ if is_joined => end.pick(["├───", "├──▸", "├──✗"]),
            _ => "│   ",
        }
    };
    rows.iter().enumerate().map(piece).collect()
}

/// The end of a part of the line.
#[derive(Clone, Copy)]
enum End {
    Plain,
    Primary,
    Missing,
}

impl End {
    fn pick(self, [plain, primary, missing]: [&'static str; 3]) -> &'static str {
        match self {
            Self::Plain => plain,
            Self::Primary => primary,
            Self::Missing => missing,
        }
    }
}
