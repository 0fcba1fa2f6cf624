//! A job that several processes share.

pub(crate) mod endpoint;
pub(crate) mod job;
pub(crate) mod launch;
mod metrics;
pub(crate) mod processes;
mod profile;
pub(crate) mod secret;
