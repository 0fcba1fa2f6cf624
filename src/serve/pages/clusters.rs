//! Clusters by the page, and one of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::collection::{ClusterBrief, ClusterId, ClusterOrder, DividedCluster, Explanation, MemberView};
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::Query;
use crate::serve::state::commit::ServedCommit;
use crate::serve::state::verdicts::{PairVerdict, VerdictFile};
use crate::threshold::Threshold;

/// A page of clusters.
#[derive(Debug, Serialize)]
pub struct ClustersPage {
    /// Number of the commit.
    pub commit: u64,
    /// Clusters of the size that was asked for, on all pages.
    pub total: usize,
    /// Those of this page.
    pub clusters: Vec<ClusterBrief>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

impl ClustersPage {
    /// The page that was asked for.
    ///
    /// # Errors
    /// 400, and those of the collection.
    pub fn read(commit: &ServedCommit, query: &Query) -> Result<ClustersPage, HttpError> {
        let least = query.parsed("min-size")?.unwrap_or(0);
        let order = match query.get("sort") {
            Some("looseness") => return ClustersPage::loosest(commit, least, query),
            None | Some("size") => ClusterOrder::Size,
            Some("newest") => ClusterOrder::Newest,
            Some(other) => {
                let what = format!("parameter \"sort\" is size, newest or looseness, and not {other:?}");
                return Err(HttpError::bad(what));
            }
        };
        let (page, next) = commit.clusters().page(order, least, query.parsed("after")?, query.limit()?);
        Ok(ClustersPage {
            commit: commit.number(),
            total: commit.clusters().count(least),
            clusters: commit.snapshot().cluster_briefs(&page)?,
            next: next.map(|mark| mark.to_string()),
        })
    }

    /// The page of clusters of a size or more, the loosest first.
    fn loosest(commit: &ServedCommit, least: u64, query: &Query) -> Result<ClustersPage, HttpError> {
        let (after, limit) = (query.parsed("after")?, query.limit()?);
        let (page, next) = commit.looseness()?.page(commit.clusters(), least, after, limit);
        let (page, scores): (Vec<_>, Vec<_>) = page.into_iter().unzip();
        let mut clusters = commit.snapshot().cluster_briefs(&page)?;
        clusters.iter_mut().zip(scores).for_each(|(brief, least)| brief.least = least);
        let (total, next) = (commit.clusters().count(least), next.map(|mark| mark.to_string()));
        Ok(ClustersPage { commit: commit.number(), total, clusters, next })
    }
}

/// A cluster with a page of its members.
#[derive(Debug, Serialize)]
pub struct ClusterPage {
    /// Number of the commit.
    pub commit: u64,
    /// The cluster, without its members.
    #[serde(flatten)]
    pub cluster: ClusterBrief,
    /// Members of this page, ascending by id.
    pub members: Vec<MemberView>,
    /// Why the member that was asked for is with the representative, which comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Explanation>,
    /// The threshold of the collection, if the cluster can be taken apart at higher ones.
    pub threshold: Option<Threshold>,
    /// The last verdicts on members and the representative, by the ids of members, if verdicts are taken.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, PairVerdict>,
    /// What it falls into at the threshold that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<DividedCluster>,
    /// What the next page is asked for with, as `after`, if there is one.
    pub next: Option<String>,
}

impl ClusterPage {
    /// The page of the cluster of a number.
    ///
    /// # Errors
    /// 400, 404, and those of the collection.
    pub fn read(
        commit: &ServedCommit,
        number: &str,
        query: &Query,
        progress: &Progress,
    ) -> Result<ClusterPage, HttpError> {
        let number: ClusterId = number.parse().map_err(HttpError::bad)?;
        let Some(found) = commit.clusters().get(number) else {
            return Err(HttpError::missing(
                "there is no such cluster now; /changes may tell what became of it",
            ));
        };
        let snapshot = commit.snapshot();
        let (members, more) = snapshot.members_of(found, query.get("after"), query.limit()?, progress)?;
        let brief = snapshot.cluster_briefs(std::slice::from_ref(found))?.pop();
        let next = members.last().filter(|_| more).map(|last| last.document.id.clone());
        let cluster = brief.ok_or_else(|| HttpError::missing("there is no such cluster now"))?;
        let compared = match query.get("member") {
            Some(member) => compared(commit, &cluster, member, progress)?,
            None => None,
        };
        let threshold = snapshot.lowest_threshold(found);
        let asked: Option<Threshold> = query.parsed("threshold")?;
        let divided = asked.map(|asked| snapshot.divided(found, asked, progress)).transpose()?;
        let commit = commit.number();
        let verdicts = BTreeMap::new();
        Ok(ClusterPage { commit, cluster, members, compared, threshold, verdicts, divided, next })
    }

    /// Adds what was said of its members last.
    pub fn judge(&mut self, verdicts: &VerdictFile) {
        let ids = self.members.iter().map(|member| member.document.id.as_str());
        self.verdicts = verdicts.last_of(&self.cluster.representative, ids);
    }
}

/// Why a member is with the representative of its cluster; nothing is to be said of that itself.
fn compared(
    commit: &ServedCommit,
    cluster: &ClusterBrief,
    member: &str,
    progress: &Progress,
) -> Result<Option<Explanation>, HttpError> {
    let snapshot = commit.snapshot();
    let found = snapshot.documents_of(&[member.to_owned()])?.into_iter().flatten().next();
    if found.is_none_or(|found| found.cluster != Some(cluster.cluster)) {
        return Err(HttpError::missing(format!("there is no member {member:?} in this cluster")));
    }
    if member == cluster.representative {
        return Ok(None);
    }
    Ok(Some(snapshot.explain(&cluster.representative, Some(member), progress)?))
}
