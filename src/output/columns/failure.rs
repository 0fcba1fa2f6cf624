//! What goes wrong with columns, and what people are told of it.

use std::io;
use std::path::Path;

use parquet::errors::ParquetError;

use crate::error::Error;
use crate::read::{ParquetSource, Source};

/// What went wrong with a file or in it.
pub(super) enum Failure {
    /// Something that is known for what it is.
    Known(Error),
    /// Something that reading or writing columns says.
    Columns(ParquetError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Known(error)
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Failure {
        Failure::Columns(error)
    }
}

impl Failure {
    /// The error for people: what the system says is about the file being written, as what is read was read before.
    pub(super) fn told(self, source: &Source, target: &Path) -> Error {
        match self {
            Failure::Known(error) => error,
            Failure::Columns(ParquetError::External(error)) => match error.downcast::<io::Error>() {
                Ok(error) if error.raw_os_error().is_some() => Error::io(target, "write", *error),
                Ok(error) => ParquetSource::failed(source, ParquetError::External(error)),
                Err(error) => ParquetSource::failed(source, ParquetError::External(error)),
            },
            Failure::Columns(error) => ParquetSource::failed(source, error),
        }
    }
}
