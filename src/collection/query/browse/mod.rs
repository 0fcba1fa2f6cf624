//! Looking at a commit by the page: some of its clusters, members or documents at a time, for whoever asks many times.

mod clusters;
mod divided;
mod ids;
mod looseness;
mod members;
mod titles;

pub use clusters::{ClusterBrief, ClusterIndex, ClusterOrder, IndexedCluster, PageMark};
pub use divided::{ClusterPart, DividedCluster, WholeCluster, falls_apart};
pub use ids::IdIndex;
pub use looseness::{LooseMark, LoosenessIndex};
pub use members::MemberView;
pub use titles::StoredTitle;
