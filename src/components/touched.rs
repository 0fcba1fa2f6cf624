//! What a load needs of an engine: the components that it touches before and after.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::vec::Broadcast;
use timely::dataflow::operators::{Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::engine::{Engine, Relabelled};
use super::levels::Work;
use super::link::{Link, ordered};
use crate::error::{Error, Result};

/// A worker's share of what a load does to components. Which worker has what makes no difference to the answer; where a
/// worker has links that hang together, fewer of them are exchanged.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The links, as they were, of every component of which a content is in the lists below.
    pub links: Vec<Link>,
    /// Links that come.
    pub insertions: Vec<Link>,
    /// Links that go, each as often as it was there.
    pub removals: Vec<Link>,
}

impl Touched {
    /// Cuts into as many shares. Neighbours in the lists mostly stay together: tables have links in the order of their
    /// contents.
    pub fn cut(mut self, shares: usize) -> Vec<Touched> {
        let part = |list: &mut Vec<Link>, left: usize| list.split_off(list.len() - list.len() / left);
        let one = |left| Touched {
            links: part(&mut self.links, left),
            insertions: part(&mut self.insertions, left),
            removals: part(&mut self.removals, left),
        };
        (1..=shares).rev().map(one).collect()
    }
}

/// The contents whose label, the least content of their component, is another one after a load: this worker's share of
/// them, ascending, and what this worker did for the change alone. All workers call it, each with its own share; between
/// them they have each link once. `go_on` is asked again and again meanwhile.
///
/// Links that stay are contracted where they are. Each worker receives all links that go, to know which of its own are
/// among them: these and those that come again after going are exchanged as they are.
///
/// # Errors
/// That of `go_on`; [`Error::Worker`] if a link goes that was not there.
pub fn relabel(
    worker: &mut Worker,
    touched: Touched,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<(Vec<Relabelled>, Work)> {
    let Touched { links, insertions, removals } = touched;
    let mut gone = everywhere(worker, &removals, go_on)?;
    gone.iter_mut().for_each(|link| *link = ordered(*link));
    gone.sort_unstable();
    let goes = |link: &Link| gone.binary_search(&ordered(*link)).is_ok();
    let put = |link: Link| (link, 1);
    let mut engine = Engine::new(worker);
    engine.change(worker, links.iter().copied().filter(goes).map(put));
    engine.keep(links.into_iter().filter(|link| !goes(link)));
    // Labels as they were: only what becomes of them is asked for.
    engine.settle(worker, go_on)?;
    engine.take_work();
    engine.change(worker, insertions.iter().copied().filter(goes).map(put));
    engine.keep(insertions.into_iter().filter(|link| !goes(link)));
    engine.change(worker, removals.into_iter().map(|link| (link, -1)));
    let changes = engine.settle(worker, go_on)?;
    let work = engine.take_work();
    engine.close(worker, go_on)?;
    Ok((changes, work))
}

/// How long an idle worker sleeps before it asks again whether it is to go on.
const PATIENCE: Duration = Duration::from_millis(20);

/// The links of all workers, in any order.
fn everywhere(worker: &mut Worker, links: &[Link], go_on: &dyn Fn() -> Result<()>) -> Result<Vec<Link>> {
    let all: Rc<RefCell<Vec<Link>>> = Rc::default();
    let (probe, told) = (ProbeHandle::new(), Rc::clone(&all));
    let mut input = InputHandle::<u32, CapacityContainerBuilder<Vec<Link>>>::new_with_builder();
    worker.dataflow(|scope| {
        let links = input.to_stream(scope).broadcast();
        links.inspect_batch(move |_, links| told.borrow_mut().extend(links)).probe_with(&probe);
    });
    input.send_batch(&mut links.to_vec());
    input.close();
    while !probe.done() {
        go_on()?;
        worker.step_or_park(Some(PATIENCE));
    }
    Ok(all.take())
}

/// [`relabel`] with so many workers in this process: all contents whose label is another one, ascending.
///
/// # Errors
/// Those of [`relabel`], and [`Error::Worker`] if a worker ended with a panic or could not be started.
pub fn components_of(
    workers: usize,
    touched: Touched,
    go_on: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> Result<Vec<Relabelled>> {
    let config = match workers {
        1 => timely::Config::thread(),
        workers => timely::Config::process(workers),
    };
    let shares = Arc::new(Mutex::new(touched.cut(workers)));
    let guards = timely::execute(config, move |worker| {
        let share = shares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        relabel(worker, share.unwrap_or_default(), &go_on)
    });
    let mut changes = Vec::new();
    for share in guards.map_err(Error::Worker)?.join() {
        let (mut of_worker, _) = share.map_err(Error::Worker)??;
        changes.append(&mut of_worker);
    }
    changes.sort_unstable();
    Ok(changes)
}
