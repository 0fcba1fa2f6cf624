//! Who contracts links: union-find in one process, or all workers of all processes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::components::{Relabelled, Touched, components_of, relabel};
use crate::error::Result;
use crate::flow::distributed::execute::on_all;
use crate::peers::Peers;
use crate::progress::Progress;

/// How components are kept right while links come and go. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Components {
    /// By union-find and searches in lock-step, in one process: nothing is faster while what a load touches fits there.
    #[default]
    Forest,
    /// As a differential-dataflow collection over the workers of all processes.
    Differential,
}

/// All workers, as far as they contract links.
#[derive(Clone)]
pub struct Contractor {
    /// Worker threads of this process, at least 1.
    pub workers: usize,
    /// The other processes, which [`assist_contraction`].
    pub peers: Option<Arc<Peers>>,
    /// How it is stopped.
    pub progress: Arc<Progress>,
}

impl Contractor {
    /// All contents whose label, the least content of their component, is another one after a change, ascending.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`]; [`crate::error::Error::Worker`] if a link goes that was not there;
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`] if another process has ended.
    pub fn contract(&self, touched: Touched) -> Result<Vec<Relabelled>> {
        let progress = Arc::clone(&self.progress);
        let go_on = move || progress.check();
        match &self.peers {
            None => components_of(self.workers, touched, go_on),
            Some(peers) => together(peers, self.workers, touched, go_on),
        }
    }
}

/// Takes part in a contraction of process 0.
///
/// # Errors
/// Those of [`Contractor::contract`].
pub fn assist_contraction(peers: &Peers, workers: usize, progress: &Arc<Progress>) -> Result<()> {
    let progress = Arc::clone(progress);
    together(peers, workers, Touched::default(), move || progress.check()).map(drop)
}

/// Contracts on the workers of all processes. What process 0 has is shared out among its workers; links find theirs from
/// there.
fn together(
    peers: &Peers,
    workers: usize,
    touched: Touched,
    go_on: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> Result<Vec<Relabelled>> {
    let shares = Arc::new(Mutex::new(touched.cut(workers)));
    let mesh = peers.share();
    let changes = on_all(peers, workers, move |worker| {
        let share = shares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let go_on = || mesh.check().and_then(|()| go_on());
        relabel(worker, share.unwrap_or_default(), &go_on).map(|(changes, _)| changes)
    })?;
    let rows: Vec<[u32; 3]> =
        changes.into_iter().flatten().map(|row| [row.content, row.before, row.after]).collect();
    let all = peers.gather(&rows)?.concat();
    let row = |[content, before, after]: [u32; 3]| Relabelled { content, before, after };
    let mut all: Vec<Relabelled> = all.into_iter().map(row).collect();
    all.sort_unstable();
    Ok(all)
}
