//! Members of gzip files and streams of bzip2 files, decoded one behind the other.
#![expect(clippy::disallowed_types, reason = "decoders are bounded by who reads them")]

mod gzip;
mod member;

pub(in crate::read) use self::gzip::{Damage, GzipMembers, PassedOver};
pub use self::member::PackedMember;
pub(super) use self::member::{BZIP2, first_byte, member_decoder};
