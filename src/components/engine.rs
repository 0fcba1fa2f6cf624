//! The dataflow with its input and output: changes of links in, changes of labels out.

use crate::limits::sized;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use differential_dataflow::consolidation::consolidate;
use differential_dataflow::input::{Input, InputSession};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::ProbeHandle;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::Worker;

use super::levels::{Watch, Work, contract};
use super::link::Link;
use super::trees::Trees;
use crate::document::Doc;
use crate::error::{Error, Result};

/// A content whose label became another one. A label is the least content of a component: a content without links is its
/// own label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relabelled {
    /// The content.
    pub content: Doc,
    /// The least content of its component before.
    pub before: Doc,
    /// The least content of its component after.
    pub after: Doc,
}

/// Labels that change: rows of content and label with how many there are more.
type Rows = Vec<((Doc, Doc), isize)>;

/// Components under changing links, kept by all workers of a timely execution together.
///
/// Each worker has one `Engine`, and all of them are made and called in the same order: [`Engine::settle`] returns when
/// all workers have called it and what they were told is worked out. A link may be told to any one worker, and taken back
/// through another.
///
/// Three million links of two million contents took 500 MB at the peak, over all workers, where all of them were put in by
/// [`Engine::change`], and 400 MB by [`Engine::keep`] on one worker.
pub struct Engine {
    links: InputSession<u32, Link, isize>,
    rows: Rc<RefCell<Rows>>,
    probe: ProbeHandle<u32>,
    watch: Watch,
    trees: Trees,
    batch: u32,
    dataflow: usize,
}

/// Links sent between two turns of a worker, so that they are not all queued at once.
const TURN: usize = sized(64 << 10, 3);

/// How long an idle worker sleeps before it asks again whether it is to go on.
const PATIENCE: Duration = Duration::from_millis(20);

impl Engine {
    /// An engine without links.
    pub fn new(worker: &mut Worker) -> Engine {
        let dataflow = worker.next_dataflow_index();
        let (rows, probe, watch): (Rc<RefCell<Rows>>, _, _) =
            (Rc::default(), ProbeHandle::new(), Watch::default());
        let links = worker.dataflow(|scope| {
            let (input, links) = scope.new_collection();
            let (gathered, pact) =
                (Rc::clone(&rows), Exchange::new(|row: &((Doc, Doc), u32, isize)| row.0.0.into()));
            let labels = contract(links, &watch).filter(|(content, label)| content != label);
            let told =
                labels.inner.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(pact, "Labels", |_, _| {
                    move |input, _| {
                        let mut gathered = gathered.borrow_mut();
                        input.for_each(|_, rows| {
                            gathered.extend(rows.drain(..).map(|(row, _, change)| (row, change)));
                        });
                    }
                });
            told.probe_with(&probe);
            input
        });
        Engine { links, rows, probe, watch, trees: Trees::default(), batch: 0, dataflow }
    }

    /// Puts in links that are never taken back, by no worker. They are contracted here: only as many go on as it takes to
    /// connect what they connect, at the price of 20 bytes for each of their contents on this worker.
    pub fn keep(&mut self, links: impl IntoIterator<Item = Link>) {
        self.trees.add(links);
    }

    /// Puts in links (1) and takes them back (-1), those that were put in by this method. Links are counted: one that was
    /// put in twice is there until it is taken back twice.
    pub fn change(&mut self, worker: &mut Worker, links: impl IntoIterator<Item = (Link, isize)>) {
        for (at, (link, change)) in (1..).zip(links) {
            self.links.update(link, change);
            if at % TURN == 0 {
                worker.step();
            }
        }
    }

    /// Works out what changed since this was called for the last time: this worker's share of the contents with another
    /// label, ascending. `go_on` is asked again and again meanwhile.
    ///
    /// # Errors
    /// That of `go_on`; [`Error::Worker`] if a link was taken back that was not there, on the workers that have its ends.
    /// The engines of all workers are of no use from there on.
    pub fn settle(&mut self, worker: &mut Worker, go_on: &dyn Fn() -> Result<()>) -> Result<Vec<Relabelled>> {
        let kept = self.trees.take();
        self.change(worker, kept.into_iter().map(|link| (link, 1)));
        self.batch += 1;
        self.links.advance_to(self.batch);
        self.links.flush();
        while self.probe.less_than(&self.batch) {
            go_on()?;
            worker.step_or_park(Some(PATIENCE));
        }
        match self.watch.absent() {
            Some((a, b)) => {
                Err(Error::Worker(format!("the link of contents {a} and {b} went without having been there")))
            }
            None => Ok(relabelled(self.rows.take())),
        }
    }

    /// What was done on this worker since this was asked for the last time.
    pub fn take_work(&self) -> Work {
        self.watch.take_work()
    }

    /// Ends the engine, and waits until all workers have done so: its memory is free then.
    ///
    /// # Errors
    /// That of `go_on`.
    pub fn close(self, worker: &mut Worker, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        drop(self.links);
        while worker.installed_dataflows().contains(&self.dataflow) {
            go_on()?;
            worker.step_or_park(Some(PATIENCE));
        }
        Ok(())
    }
}

/// Contents whose label became another one, ascending, from the rows that came and went.
fn relabelled(mut rows: Rows) -> Vec<Relabelled> {
    consolidate(&mut rows);
    let of_content = rows.chunk_by(|a, b| a.0.0 == b.0.0);
    let changes = of_content.map(|rows| {
        let content = rows[0].0.0;
        let label = |sign| rows.iter().find(|row| row.1 == sign).map_or(content, |row| row.0.1);
        Relabelled { content, before: label(-1), after: label(1) }
    });
    changes.filter(|change| change.before != change.after).collect()
}
