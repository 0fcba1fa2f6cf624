//! Archives: a record is a member, and a member is a document if a file of that kind is one.

mod member;
mod tar;
mod zip;

pub(super) use member::{MemberFormats, MemberKind};
pub(super) use tar::{CODE as TAR_CODE, Tar, recognise as recognise_tar};
pub use zip::ZipSource;
pub(super) use zip::{CODE as ZIP_CODE, Zip, recognise as recognise_zip};
