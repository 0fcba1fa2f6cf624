//! Archives: a record is a member, and a member is a document if a file of that kind is one.

mod apart;
mod member;
mod rewritten;
mod tar;
mod zip;

pub(super) use member::{MemberFormats, MemberKind};
pub use rewritten::{MemberFate, NewContent};
pub use tar::rewrite_tar;
pub(super) use tar::{CODE as TAR_CODE, Tar, recognise as recognise_tar};
pub use zip::ZipSource;
pub(super) use zip::{CODE as ZIP_CODE, Zip, recognise as recognise_zip};
