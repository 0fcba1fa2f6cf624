//! Objects in stores and on web servers, taken as files: which there are, how large they are, and their bytes at a range.
//!
//! An [`ObjectUrl`] names one. [`look`] and [`list`] say what is there, with a *version*: every later read is of that
//! version or an error. An [`ObjectReader`] reads ahead of whoever reads on, and an [`ObjectSpool`] keeps what was read. An
//! [`Upload`] makes objects of files. Requests run on threads of their own, and whoever waits for one looks at a [`StopFlag`]
//! meanwhile. Without the feature `remote` every URL is refused.

mod spool;
mod state;
mod url;

#[cfg(not(feature = "remote"))]
mod absent;
#[cfg(feature = "remote")]
mod reader;
#[cfg(feature = "remote")]
mod requests;
#[cfg(feature = "remote")]
mod stores;
#[cfg(feature = "remote")]
mod trouble;
#[cfg(feature = "remote")]
mod upload;
#[cfg(feature = "remote")]
mod waiting;

#[cfg(not(feature = "remote"))]
pub use absent::{
    NoReader as ObjectReader, NoUpload as Upload, admit_output, configure, heads, list, look, traffic,
};
#[cfg(feature = "remote")]
pub use reader::{ObjectReader, heads};
#[cfg(feature = "remote")]
pub use requests::{list, look, traffic};
pub use spool::ObjectSpool;
pub use state::{Fetched, ListedObject, ObjectState, OutputObject, StopFlag};
#[cfg(feature = "remote")]
pub use stores::configure;
#[cfg(feature = "remote")]
pub use upload::{Upload, admit_output};
pub use url::ObjectUrl;
