//! What the Python module `alike` has in Rust: rows from and to any library by the Arrow PyCapsule interface, and shingles.
//! Everything else is done by the program `alike`, which `python/alike` runs.

// pyo3's macros convert errors that are `PyErr` already.
#![allow(clippy::useless_conversion)]

mod lists;
mod reader;
mod rows;
mod send;
mod sets;
mod split;

use pyo3::prelude::*;

/// The module `alike._alike`.
#[pymodule]
fn _alike(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<rows::Rows>()?;
    module.add_function(wrap_pyfunction!(send::write_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(send::write_json_lines, module)?)?;
    module.add_function(wrap_pyfunction!(sets::shingles, module)?)?;
    module.add_function(wrap_pyfunction!(sets::resemblance, module)?)?;
    Ok(())
}
