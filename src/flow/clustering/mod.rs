//! From links to clusters: who represents each, and how the texts of a cluster relate.

mod at_hand;
pub mod by_size;
mod conservative;
pub mod form_clusters;
mod graph;
mod hot_links;
pub mod raised;
pub mod relate;
mod transitive;
