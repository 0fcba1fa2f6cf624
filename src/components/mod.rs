//! Connected components of links: union-find in one process ([`Forest`]), or a differential-dataflow collection over all
//! workers, for cluster tables that no single process holds.
//!
//! [`contract`] is the dataflow: from links, which come and go, to the label of every linked content, which is the least
//! content of its component. [`Engine`] is the dataflow with its input and its output: it takes changes of links and tells
//! whose label became another. [`relabel`] and [`components_of`] are what a load needs: the links of the components that
//! it touches and what changes of them go in, the new labels come out.
//!
//! The answer is a function of the links alone: it equals union-find over them from scratch, for any number of workers,
//! any way of sharing the links out, and any history that led to them.

mod engine;
mod forest;
mod levels;
mod link;
#[cfg(test)]
mod tests;
mod touched;
mod trees;

pub use engine::{Engine, Relabelled};
pub use forest::Forest;
pub use levels::{Watch, Work, contract};
pub use link::Link;
pub use touched::{Touched, components_of, relabel};
