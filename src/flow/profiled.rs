//! Times of operators, from what timely logs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use timely::logging::{ParkEvent, StartStop, TimelyEvent, TimelyEventBuilder};
use timely::worker::Worker;

use crate::flow::context::RunContext;
use crate::progress::Stage;
use crate::progress::profile::{OUTSIDE, PARKED, Profile, Spent, Times};

/// The name under which timely looks for a logger of its own events.
const LOG: &str = "timely";

/// A worker whose operators are timed.
pub struct Timed {
    profile: Arc<Profile>,
    log: Rc<RefCell<Log>>,
    begun: Instant,
}

impl Timed {
    /// Has timely log what a worker does, if a profile is wanted. Before its first dataflow: one that is there already logs
    /// nothing.
    pub fn new(worker: &Worker, context: &Arc<RunContext>) -> Option<Timed> {
        let profile = Arc::clone(context.status.progress.profile()?);
        let (begun, origin) = (Instant::now(), worker.timer()?);
        let log = Rc::new(RefCell::new(Log::default()));
        let (writes, of) = (Rc::clone(&log), Arc::clone(context));
        let action = move |_: &Duration, events: &mut Option<Vec<(Duration, TimelyEvent)>>| {
            let mut log = writes.borrow_mut();
            if let Some(events) = events {
                let stages = of.status.stages_entered();
                events.drain(..).for_each(|(time, event)| log.take(origin + time, event, &stages));
            }
        };
        worker.log_register()?.insert::<TimelyEventBuilder, _>(LOG, action);
        Some(Timed { profile, log, begun })
    }

    /// Adds what the worker has taken to the profile.
    pub fn finish(self, worker: &Worker, context: &RunContext) {
        if let Some(mut register) = worker.log_register() {
            register.flush();
            register.remove(LOG);
        }
        let mut log = self.log.take();
        let stages = context.status.stages_entered();
        for (stage, time) in within(&stages, self.begun, Instant::now()) {
            let known = log.covered.get(&stage).copied().unwrap_or_default();
            let spent = Spent { time: time.saturating_sub(known), activations: 0 };
            log.times.entry((stage, OUTSIDE.to_owned())).or_default().add(spent);
        }
        self.profile.add(log.times);
    }
}

/// What was read from the events of a worker.
#[derive(Debug, Default)]
struct Log {
    /// Names of operators, by number.
    names: BTreeMap<usize, String>,
    /// What has begun and not ended: an operator, or none where the worker is parked; since when; and the time of what has
    /// begun and ended within it.
    open: Vec<(Option<usize>, Instant, Duration)>,
    /// What was spent.
    times: Times,
    /// The time of everything that was within nothing else, by stage.
    covered: BTreeMap<Stage, Duration>,
}

impl Log {
    /// Takes an event.
    fn take(&mut self, at: Instant, event: TimelyEvent, stages: &[(Stage, Instant)]) {
        match event {
            TimelyEvent::Operates(operator) => {
                self.names.insert(operator.id, operator.name);
            }
            TimelyEvent::Schedule(event) if event.start_stop == StartStop::Start => {
                self.open.push((Some(event.id), at, Duration::ZERO));
            }
            TimelyEvent::Park(ParkEvent::Park(_)) => self.open.push((None, at, Duration::ZERO)),
            TimelyEvent::Schedule(_) | TimelyEvent::Park(_) => self.end(at, stages),
            _ => {}
        }
    }

    /// Ends what was begun last.
    fn end(&mut self, at: Instant, stages: &[(Stage, Instant)]) {
        let Some((operator, begun, within)) = self.open.pop() else { return };
        let time = at.saturating_duration_since(begun);
        let entered = stages.iter().rev().find(|(_, entered)| *entered <= begun);
        let stage = entered.map_or(Stage::Open, |(stage, _)| *stage);
        match self.open.last_mut() {
            Some((_, _, within)) => *within += time,
            None => *self.covered.entry(stage).or_default() += time,
        }
        let name = match operator {
            Some(id) => self.names.get(&id).map_or("(no name)", String::as_str),
            None => PARKED,
        };
        let spent = Spent { time: time.saturating_sub(within), activations: 1 };
        self.times.entry((stage, name.to_owned())).or_default().add(spent);
    }
}

/// How much of a stretch of time lay in each of the stages, which were entered one after the other.
fn within(stages: &[(Stage, Instant)], from: Instant, to: Instant) -> BTreeMap<Stage, Duration> {
    let mut times = BTreeMap::new();
    let ends = stages.iter().skip(1).map(|(_, entered)| *entered).chain([to]);
    for ((stage, entered), end) in stages.iter().zip(ends) {
        let time = end.min(to).saturating_duration_since((*entered).max(from));
        if !time.is_zero() {
            *times.entry(*stage).or_default() += time;
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use timely::logging::{OperatesEvent, ScheduleEvent};

    use super::*;

    #[test]
    fn time_is_that_of_the_innermost_and_of_the_stage_it_began_in() {
        let origin = Instant::now();
        let at = |millis| origin + Duration::from_millis(millis);
        let stages = [(Stage::Read, at(0)), (Stage::Collide, at(100))];
        let mut log = Log::default();
        let named = |id, name: &str| {
            TimelyEvent::Operates(OperatesEvent { id, addr: vec![id], name: name.to_owned() })
        };
        let (start, stop) = (ScheduleEvent::start, ScheduleEvent::stop);
        let events = [
            (0, named(1, "Dataflow")),
            (0, named(2, "Count")),
            (10, TimelyEvent::Schedule(start(1))),
            (20, TimelyEvent::Schedule(start(2))),
            (50, TimelyEvent::Schedule(stop(2))),
            (55, TimelyEvent::Schedule(stop(1))),
            (60, TimelyEvent::Park(ParkEvent::Park(None))),
            (90, TimelyEvent::Park(ParkEvent::Unpark)),
            (95, TimelyEvent::Schedule(start(2))),
            (105, TimelyEvent::Schedule(stop(2))),
            (110, TimelyEvent::Schedule(start(9))),
            (111, TimelyEvent::Schedule(stop(9))),
            // The end of something that began before anybody listened.
            (112, TimelyEvent::Schedule(stop(9))),
        ];
        events.into_iter().for_each(|(millis, event)| log.take(at(millis), event, &stages));
        let spent: Vec<_> = log
            .times
            .iter()
            .map(|((stage, name), spent)| (*stage, name.as_str(), spent.time.as_millis(), spent.activations))
            .collect();
        let expected = [
            (Stage::Read, PARKED, 30, 1),
            (Stage::Read, "Count", 40, 2),
            (Stage::Read, "Dataflow", 15, 1),
            (Stage::Collide, "(no name)", 1, 1),
        ];
        assert_eq!(spent, expected);
        let covered: Vec<_> = log.covered.iter().map(|(stage, time)| (*stage, time.as_millis())).collect();
        assert_eq!(covered, [(Stage::Read, 85), (Stage::Collide, 1)]);
        let spread: Vec<_> = within(&stages, at(40), at(130)).into_iter().collect();
        let expected = [(Stage::Read, 60), (Stage::Collide, 30)];
        assert_eq!(spread, expected.map(|(stage, millis)| (stage, Duration::from_millis(millis))));
        assert_eq!(within(&stages, at(40), at(60)).len(), 1);
    }
}
