//! Requests and answers: connections, who may ask, routes, bodies, errors.

mod accept;
pub(in crate::serve) mod answer;
pub(in crate::serve) mod body;
mod change;
mod checks;
mod connections;
mod guard;
mod handle;
mod measured;
pub(in crate::serve) mod query;
mod rendered;
pub(in crate::serve) mod routes;
pub(in crate::serve) mod server;
mod verdict;
