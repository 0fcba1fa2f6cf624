//! How the processes of a job meet: hellos, who is admitted, and the sockets that come of it.

pub(in crate::mesh) mod arrivals;
pub(in crate::mesh) mod call;
pub(in crate::mesh) mod hello;
pub(in crate::mesh) mod hosts;
pub(in crate::mesh) mod key_agreement;
pub(in crate::mesh) mod listener;
pub(in crate::mesh) mod membership;
pub(in crate::mesh) mod rendezvous;
pub(in crate::mesh) mod secret;
pub(in crate::mesh) mod socket;
