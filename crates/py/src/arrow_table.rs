//! Tables: the columns of a recording, handed over through the Arrow C interface.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use longfat_sim::Column;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name that the Arrow C interface gives to a capsule with a stream in it.
const STREAM: &CStr = c"arrow_array_stream";

/// A table of a recording. It speaks the Arrow C stream interface, which data frames read without a copy.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct ArrowTable {
    batch: RecordBatch,
}

#[pymethods]
impl ArrowTable {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The table as an Arrow C stream. A requested schema is a hint that the interface lets us ignore.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }
}

impl ArrowTable {
    /// Hands the columns over to Arrow: counts without a copy, absent numbers (NaN) as nulls.
    pub(crate) fn new(table: longfat_sim::Table) -> PyResult<Self> {
        let broken = |error: ArrowError| PyValueError::new_err(error.to_string());
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, column) in table.columns {
            // Numbers may be absent in one run and not in the next; the schema is the same for both.
            let nullable = matches!(column, Column::Real(_));
            let array = array(column).map_err(broken)?;
            fields.push(Field::new(name, array.data_type().clone(), nullable));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(broken)?;
        Ok(Self { batch })
    }

    /// Another handle to the same table.
    pub(crate) fn share(&self) -> Self {
        Self { batch: self.batch.clone() }
    }
}

fn array(column: Column) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Real(values) if values.iter().any(|value| value.is_nan()) => Arc::new(
            values
                .into_iter()
                .map(|value| (!value.is_nan()).then_some(value))
                .collect::<Float64Array>(),
        ),
        Column::Real(values) => Arc::new(Float64Array::from(values)),
        Column::Count(values) => Arc::new(UInt64Array::from(values)),
        Column::Word(indices, words) => Arc::new(DictionaryArray::<UInt32Type>::try_new(
            UInt32Array::from(indices),
            Arc::new(StringArray::from(words)),
        )?),
        _ => return Err(ArrowError::NotYetImplemented("a new kind of column".into())),
    })
}
