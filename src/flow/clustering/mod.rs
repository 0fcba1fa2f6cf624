//! From links to clusters: who represents each, and how the texts of a cluster relate.

mod at_hand;
pub mod by_size;
mod candidate_links;
mod conservative;
mod earlier_candidates;
pub mod form_clusters;
mod graph;
mod hot_links;
mod node_lists;
mod one_to_many;
pub mod raised;
pub mod relate;
mod transitive;
mod unmeasured;
