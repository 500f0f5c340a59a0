//! Results as bytes: a head in JSON, then the columns.
//!
//! ```text
//!     4 bytes     length of the head, little-endian
//!     the head    {"summary": …, "tables": [{"name": …, "rows": 500, "columns": [{"name": …, "kind": …}, …]}, …]},
//!                 padded with spaces so that what follows begins at a multiple of 8
//!     columns     in the order of the head, each beginning at a multiple of 8:
//!                 kind "number"  a 64-bit floating-point number for each row, little-endian, NaN where there is none
//!                 kind "word"    a 32-bit index for each row, into the `words` of the head
//! ```
//!
//! Counts are numbers too: they stay far below 2⁵³, up to which each has its own.

use longfat_sim::{Column, Table};
use serde::Serialize;

/// Columns begin at multiples of this, which is what typed arrays ask for.
const ALIGNMENT: usize = 8;
const LENGTH: usize = size_of::<u32>();

#[derive(Serialize)]
struct Head<'a, Summary> {
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a Summary>,
    tables: Vec<TableHead<'a>>,
}

#[derive(Serialize)]
struct TableHead<'a> {
    name: &'a str,
    rows: usize,
    columns: Vec<ColumnHead<'a>>,
}

#[derive(Serialize)]
struct ColumnHead<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a [String]>,
}

/// The bytes of these tables, with a summary where there is one.
pub(crate) fn frame<Summary: Serialize>(summary: Option<&Summary>, tables: &[Table]) -> Vec<u8> {
    let head = Head { summary, tables: tables.iter().map(table_head).collect() };
    let mut bytes = vec![0; LENGTH];
    serde_json::to_writer(&mut bytes, &head).expect("a head is plain data");
    pad(&mut bytes, b' ');
    let length = u32::try_from(bytes.len() - LENGTH).expect("a head is far smaller than 4 GB");
    bytes[..LENGTH].copy_from_slice(&length.to_le_bytes());
    for (_, column) in tables.iter().flat_map(|table| &table.columns) {
        match column {
            Column::Real(values) => {
                bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            Column::Count(values) => {
                bytes.extend(values.iter().flat_map(|value| (*value as f64).to_le_bytes()));
            }
            Column::Word(indices, _) => {
                bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
            }
            _ => unreachable!("the simulator has no other columns"),
        }
        pad(&mut bytes, 0);
    }
    bytes
}

fn pad(bytes: &mut Vec<u8>, with: u8) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), with);
}

fn table_head(table: &Table) -> TableHead<'_> {
    let columns = table.columns.iter().map(|(name, column)| {
        let (kind, words) = match column {
            Column::Word(_, words) => ("word", Some(words.as_slice())),
            _ => ("number", None),
        };
        ColumnHead { name, kind, words }
    });
    TableHead { name: table.name, rows: table.rows(), columns: columns.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_lie_where_the_head_says() {
        let table = Table::new(
            "small",
            [
                ("who", Column::Word(vec![1, 0, 1], vec!["a".to_owned(), "b".to_owned()])),
                ("what", Column::Real(vec![0.5, f64::NAN, -2.0])),
                ("how_many", Column::Count(vec![7, 8, 1 << 52])),
            ],
        );
        let bytes = frame(Some(&"told"), &[table]);
        let head = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
        let told: serde_json::Value =
            serde_json::from_slice(&bytes[4..4 + head]).expect("spaces after JSON are JSON");
        assert_eq!(
            told,
            serde_json::json!({"summary": "told", "tables": [{"name": "small", "rows": 3, "columns": [
                {"name": "who", "kind": "word", "words": ["a", "b"]},
                {"name": "what", "kind": "number"},
                {"name": "how_many", "kind": "number"},
            ]}]})
        );
        // Three indices of four bytes, padded to sixteen; then three numbers of eight bytes, twice.
        let columns = &bytes[4 + head..];
        assert_eq!((4 + head) % ALIGNMENT, 0);
        assert_eq!(columns.len(), 16 + 24 + 24);
        assert_eq!(columns[..16], [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let number =
            |at: usize| f64::from_le_bytes(columns[at..at + 8].try_into().expect("eight bytes"));
        assert_eq!((number(16), number(32)), (0.5, -2.0));
        assert!(number(24).is_nan());
        assert_eq!((number(40), number(56)), (7.0, 4_503_599_627_370_496.0));
    }
}
