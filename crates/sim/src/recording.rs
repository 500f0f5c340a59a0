//! What a run produces: tables of plain columns, and the summary.

use longfat_units::parameter::Text;

use crate::summary::Summary;

/// All the results of a finished run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The averages of the measured interval, as in `summary.json`.
    pub summary: Summary,
    /// The tables, in this order: `flows`, `links`, `transfers`, `flow_series`, `link_series`, `limits`, and
    /// where flows have applications `exchanges`. The series and `limits` are empty (their columns are not) when the run
    /// did not record.
    pub tables: Vec<Table>,
}

/// A table: named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// Its name: the stem of its file.
    pub name: &'static str,
    /// Names and values.
    pub columns: Vec<(Text, Column)>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Real numbers; NaN where there is no value.
    Real(Vec<f64>),
    /// Counts.
    Count(Vec<u64>),
    /// Words from a short list: an index for each row, and the list.
    Word(Vec<u32>, Vec<String>),
}

impl Table {
    /// The table of this name with these columns, which are of equal length.
    pub fn new(
        name: &'static str,
        columns: impl IntoIterator<Item = (impl Into<Text>, Column)>,
    ) -> Self {
        let named = columns.into_iter().map(|(name, column)| (name.into(), column));
        Self { name, columns: named.collect() }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}

impl Column {
    /// How many values it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Word(indices, _) => indices.len(),
        }
    }

    /// Has it no values?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Recording {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
