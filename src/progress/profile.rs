//! Where the time of the workers goes: seconds and activations of each operator in each stage.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::stage::Stage;

/// What workers do while no operator works: they read, tokenise, sketch and look candidates up.
pub const OUTSIDE: &str = "(outside operators)";
/// What workers do while there is nothing to do: they wait for each other.
pub const PARKED: &str = "(parked)";

/// What something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The time, that of other operators within it not included.
    pub time: Duration,
    /// How many times it was begun.
    pub activations: u64,
}

impl Spent {
    /// Adds to it.
    pub fn add(&mut self, other: Spent) {
        self.time += other.time;
        self.activations += other.activations;
    }
}

/// What all operators took, by stage and name.
pub type Times = BTreeMap<(Stage, String), Spent>;

/// What the operators of all workers of a process took, over all runs of the dataflow of its job. A run that is asked for
/// one has timely log what it does; others cost nothing.
#[derive(Debug, Default)]
pub struct Profile {
    times: Mutex<Times>,
}

/// A line of a profile.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ProfileRow {
    /// The stage in which the time was spent.
    pub stage: Stage,
    /// The operator, or [`OUTSIDE`] or [`PARKED`].
    pub operator: String,
    /// Seconds, those of all workers added up.
    pub seconds: f64,
    /// How many times it was begun; 0 for what is [`OUTSIDE`].
    pub activations: u64,
}

impl Profile {
    /// Adds what a worker has taken.
    pub fn add(&self, times: Times) {
        let mut all = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, spent) in times {
            all.entry(place).or_default().add(spent);
        }
    }

    /// What was taken so far: by stage, and in it what took longest first.
    pub fn rows(&self) -> Vec<ProfileRow> {
        let all = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |((stage, operator), spent): (&(Stage, String), &Spent)| ProfileRow {
            stage: *stage,
            operator: operator.clone(),
            seconds: spent.time.as_secs_f64(),
            activations: spent.activations,
        };
        let mut rows: Vec<ProfileRow> = all.iter().map(row).collect();
        rows.sort_by(|a, b| a.stage.cmp(&b.stage).then(b.seconds.total_cmp(&a.seconds)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_added_up_and_the_longest_stands_first() {
        let profile = Profile::default();
        let spent = |millis, activations| Spent { time: Duration::from_millis(millis), activations };
        for _ in 0..2 {
            let times = [
                ((Stage::Verify, "Verify".to_owned()), spent(10, 1)),
                ((Stage::Read, "Collide".to_owned()), spent(500, 3)),
                ((Stage::Read, OUTSIDE.to_owned()), spent(1000, 0)),
            ];
            profile.add(Times::from(times));
        }
        let rows = profile.rows();
        let told: Vec<_> =
            rows.iter().map(|row| (row.stage, row.operator.as_str(), row.activations)).collect();
        let expected = [(Stage::Read, OUTSIDE, 0), (Stage::Read, "Collide", 6), (Stage::Verify, "Verify", 2)];
        assert_eq!(told, expected);
        assert!((rows[0].seconds - 2.0).abs() < 1e-9);
    }
}
