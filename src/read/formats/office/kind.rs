//! The kinds of packages that are read.

/// A kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats) enum Office {
    /// Word.
    Docx,
    /// OpenDocument texts.
    Odt,
    /// Books.
    Epub,
}
