//! A job that several processes share.

mod endpoint;
pub(crate) mod job;
pub(crate) mod launch;
mod metrics;
pub(crate) mod processes;
mod profile;
pub(crate) mod secret;
