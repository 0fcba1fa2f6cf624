//! Archives: a record is a member, and a member is a document if a file of that kind is one.

mod member;
mod tar;

pub(super) use member::{MemberFormats, MemberKind};
pub(super) use tar::{CODE as TAR_CODE, Tar, recognise as recognise_tar};
