//! What a cluster of a finished run falls into at a higher threshold.

use std::collections::{BTreeMap, BTreeSet};

use super::FinishedQuestions;
use super::members::no_cluster;
use crate::collection::{DividedCluster, WholeCluster, falls_apart};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::output::{FinishedCluster, FinishedDocument, FinishedMember};
use crate::sketcher::Digest;
use crate::threshold::Threshold;

/// The threshold of a run, if a cluster of it can be taken apart at higher ones: not where what is protected is measured in another way, or
/// where texts are not at hand.
pub fn lowest_threshold(config: &Config, cluster: &FinishedCluster) -> Option<Threshold> {
    let at_hand = |member: &FinishedMember| member.place.as_ref().is_none_or(|place| place.at.is_at_hand());
    let plain = cluster.representative.set.is_none() && cluster.members().all(at_hand);
    (plain && falls_apart(config) && WholeCluster::is_small(cluster.size)).then_some(config.threshold)
}

impl FinishedQuestions<'_> {
    /// What a cluster falls into at a threshold.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such cluster, if it cannot be taken apart, or if the threshold is below that of the run; those of
    /// [`FinishedQuestions::explain`].
    pub fn divided(&self, number: u64, threshold: Threshold) -> Result<DividedCluster> {
        let mut clusters = self.run().clusters(&BTreeSet::from([number]), self.progress)?;
        let cluster = clusters.remove(&number).ok_or_else(|| no_cluster(&number.to_string()))?;
        let own = &self.run().config;
        let Some(lowest) = lowest_threshold(own, &cluster) else {
            return Err(Error::config(
                "this cluster is not taken apart: it is too large, texts of it are not at hand, or the method has no threshold; \
                 `alike report OUT --out FILE --from T` says what each threshold removes",
            ));
        };
        if threshold.is_below(lowest) {
            return Err(Error::config(format!("{threshold} is below {lowest}, the threshold of the run")));
        }
        let config = Config { threshold, ..own.clone() };
        let documents = self.documents_of(&cluster)?;
        let (mut sketcher, mut texts) = (self.sketcher(), BTreeMap::<Digest, usize>::new());
        let (mut sets, mut rows) = (Vec::new(), Vec::new());
        let mut room = WholeCluster::room(documents.len());
        for document in &documents {
            self.progress.check()?;
            let text = document.text.as_deref().unwrap_or_default();
            let Some(digest) = sketcher.read(text, document.day) else { continue };
            let words = sketcher.words();
            let known = texts.len();
            let place = *texts.entry(digest).or_insert(known);
            if place == sets.len() {
                let too_long =
                    || Error::config("the texts of this cluster are too long to be taken apart here");
                room = room.checked_sub(words.len()).ok_or_else(too_long)?;
                sets.push(words.to_vec());
            }
            rows.push((place, document.name().into_owned()));
        }
        WholeCluster { sets, documents: rows }.divided(&config, self.progress)
    }

    /// All documents of a cluster with their texts, in the order in which they are kept.
    fn documents_of(&self, cluster: &FinishedCluster) -> Result<Vec<FinishedDocument>> {
        let (mut ids, mut places) = (BTreeSet::new(), BTreeMap::new());
        for member in cluster.members() {
            match member.place.clone().or_else(|| self.run().place(&member.name)) {
                Some(place) => drop(places.insert(place, true)),
                None => drop(ids.insert(member.name.to_string())),
            }
        }
        let mut found = self.find.find(&ids, &places, self.progress)?;
        found.retain(|document| {
            places.contains_key(&document.place) || ids.contains(document.name().as_str())
        });
        if found.len() as u64 != cluster.size || found.iter().any(|document| document.text.is_none()) {
            return Err(Error::config(
                "not all documents of this cluster are found in the inputs by what lists say of them",
            ));
        }
        let keep = &self.run().config.cluster.keep;
        found.sort_by(|a, b| a.decided(b, keep).1);
        Ok(found)
    }
}
