//! Questions about runs of `dedup` that have ended, answered from their lists and their inputs: why documents are together, or
//! are not, and what a cluster looks like.

mod compare;
#[cfg(feature = "serve")]
mod divided;
mod explain;
mod members;
#[cfg(feature = "serve")]
mod outside;

#[cfg(feature = "serve")]
pub use divided::lowest_threshold;
pub use members::{ClusterMembers, MemberAsked, MemberPage};
#[cfg(feature = "serve")]
pub use outside::NearestOutside;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::output::{FinishedCluster, FinishedDocument, FinishedFind, FinishedRun, MOST_OF_ID, PlaceInFile};
use crate::printable::counted;
use crate::progress::Progress;

/// Documents that are named where many have one id.
const NAMED: usize = 10;

/// Who answers questions about a finished run.
pub struct FinishedQuestions<'a> {
    /// The run and its inputs.
    pub find: FinishedFind<'a>,
    /// Told how far it is, and asked whether to stop.
    pub progress: &'a Progress,
}

impl FinishedQuestions<'_> {
    fn run(&self) -> &FinishedRun {
        self.find.run
    }

    /// The one document of these that was asked for by its id, or else by `FILE:LINE`.
    fn chosen<'d>(&self, asked: &str, documents: &'d [FinishedDocument]) -> Result<&'d FinishedDocument> {
        let of_id: Vec<&FinishedDocument> =
            documents.iter().filter(|document| document.id.as_deref() == Some(asked)).collect();
        let place = self.run().place(asked);
        let at = |place: &PlaceInFile| documents.iter().find(|document| document.place == *place);
        let in_inputs: Vec<&&FinishedDocument> =
            of_id.iter().filter(|document| document.place.at.is_at_hand()).collect();
        match (&of_id[..], place.as_ref().and_then(at)) {
            ([one], _) => Ok(one),
            // A new version of a protected document often has its id.
            (_, _) if in_inputs.len() == 1 => Ok(in_inputs[0]),
            ([], Some(document)) => Ok(document),
            ([], None) => {
                let record = &self.run().record;
                let lost = match (record.has_stream(), record.against.iter().any(|set| set.collection)) {
                    (true, _) => "; of what came from standard input only documents of clusters are known",
                    (false, true) => {
                        "; `alike explain COLLECTION` asks a protected collection for its own documents"
                    }
                    (false, false) => "",
                };
                Err(Error::NoDocument { asked: asked.to_owned(), advice: lost })
            }
            (many, _) => {
                let named: Vec<String> =
                    many.iter().take(NAMED).map(|document| document.place.to_string()).collect();
                let more = if many.len() > NAMED { ", ..." } else { "" };
                let at_least = if many.len() >= MOST_OF_ID { " or more" } else { "" };
                Err(Error::config(format!(
                    "{}{at_least} have the id {asked:?}: {}{more}; name one of them by that",
                    counted(many.len() as u64, "document"),
                    named.join(", ")
                )))
            }
        }
    }

    /// The clusters that documents may be in which are asked for like this.
    fn clusters_of(&self, asked: &BTreeSet<String>) -> Result<BTreeMap<u64, FinishedCluster>> {
        let places = asked.iter().filter_map(|asked| self.run().place(asked)).collect();
        self.run().clusters_with(asked, &places, self.progress)
    }
}

/// The cluster among these that a document is in.
fn cluster_of<'c>(
    clusters: &'c BTreeMap<u64, FinishedCluster>,
    document: &FinishedDocument,
) -> Option<&'c FinishedCluster> {
    let name = document.name();
    clusters.values().find(|cluster| {
        cluster.members().any(|member| match &member.place {
            Some(place) => *place == document.place,
            None => *member.name == *name,
        })
    })
}
