//! Every state of some worlds, and the flaws that are found there. What may happen three times may happen twice: no
//! world is a part of another one.

use super::*;
use stateright::{Checker, HasDiscoveries};
use std::time::Instant;

const NOTHING: World = World {
    attempts: 3,
    kills: 0,
    power_cuts: 0,
    stolen_locks: 0,
    reads: 0,
    losses: 0,
    works: &[Work::Load, Work::LoadOfEpochs, Work::Compact, Work::Abandon],
    followers: 0,
    older: 1,
    flaw: None,
};

/// Where each writer leads a follower.
const FOLLOWED: World = World {
    works: &[Work::Load, Work::LoadOfEpochs, Work::Compact, Work::Gather, Work::Abandon],
    followers: 1,
    ..NOTHING
};

/// Where one of them loses the lock. Nothing protects the second commit of somebody who has no lock any more.
const LATE: World = World { works: NOTHING.works, stolen_locks: 1, ..FOLLOWED };

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Nothing goes wrong.
fn check(world: World) {
    let began = Instant::now();
    let checked = world.checker().threads(threads()).spawn_bfs().join();
    let (states, deep) = (checked.unique_state_count(), checked.max_depth());
    println!("{world:?}: {states} states, {deep} steps deep, {:.1} s", began.elapsed().as_secs_f64());
    checked.assert_properties();
}

/// Something goes wrong with a flaw.
fn find(flaw: Flaw, world: World) {
    let began = Instant::now();
    let world = World { flaw: Some(flaw), ..world };
    let checker = world.checker().threads(threads()).finish_when(HasDiscoveries::AnyFailures);
    let checked = checker.spawn_bfs().join();
    let must = world.properties().into_iter().filter(|of| of.expectation.discovery_is_failure());
    let broken: Vec<(&str, usize)> =
        must.filter_map(|of| Some((of.name, checked.discovery(of.name)?.into_actions().len()))).collect();
    let (states, seconds) = (checked.unique_state_count(), began.elapsed().as_secs_f64());
    println!("{flaw:?}: {states} states, {seconds:.1} s; broken after so many steps: {broken:?}");
    assert!(!broken.is_empty(), "{flaw:?} is not found");
}

#[test]
fn killed_writers_and_power_cuts() {
    check(World { kills: 1, power_cuts: 2, reads: 1, ..NOTHING });
    check(World { attempts: 4, kills: 2, ..NOTHING });
}

#[test]
fn a_writer_that_has_lost_the_lock() {
    check(World { stolen_locks: 1, ..NOTHING });
    check(World { attempts: 2, stolen_locks: 1, kills: 1, reads: 1, ..NOTHING });
}

#[test]
fn a_lost_lock_and_a_power_cut() {
    check(World { attempts: 2, stolen_locks: 1, power_cuts: 1, ..NOTHING });
}

#[test]
fn a_lost_manifest() {
    check(World { kills: 1, power_cuts: 1, losses: 1, reads: 1, ..NOTHING });
}

#[test]
fn killed_leaders_and_followers_and_power_cuts_of_either_machine() {
    check(World { kills: 2, power_cuts: 1, ..FOLLOWED });
    check(World { power_cuts: 2, ..FOLLOWED });
    check(World { attempts: 2, kills: 2, power_cuts: 2, ..FOLLOWED });
    check(World { attempts: 4, kills: 1, ..FOLLOWED });
}

#[test]
fn two_followers_that_share_a_folder() {
    check(World { attempts: 2, kills: 1, power_cuts: 1, followers: 2, ..FOLLOWED });
}

#[test]
fn a_leader_that_has_lost_the_lock() {
    check(World { kills: 1, ..LATE });
    check(World { power_cuts: 1, ..LATE });
    check(World { attempts: 2, kills: 1, followers: 2, ..LATE });
}

/// Where two commits before the last one stay.
#[test]
fn commits_that_stay() {
    let kept = World { older: 2, ..NOTHING };
    check(World { kills: 1, power_cuts: 1, reads: 1, ..kept });
    check(World { kills: 1, stolen_locks: 1, ..kept });
    check(World { attempts: 2, power_cuts: 1, stolen_locks: 1, ..kept });
    let followed = World { older: 2, ..FOLLOWED };
    check(World { kills: 1, power_cuts: 1, ..followed });
    check(World { older: 2, ..LATE });
    find(Flaw::ForgetsOlder, followed);
    find(Flaw::RemovesOlder, kept);
}

#[test]
fn flaws_of_followers_are_found() {
    let cut = World { power_cuts: 1, ..FOLLOWED };
    let killed = World { kills: 1, ..FOLLOWED };
    find(Flaw::UnsyncedRun, cut);
    find(Flaw::UnsyncedNames, cut);
    find(Flaw::UnsyncedFolder, World { kills: 1, ..cut });
    find(Flaw::NamedEarly, cut);
    find(Flaw::ForgetsCommitBefore, FOLLOWED);
    find(Flaw::ForgetsCheckpoint, killed);
    find(Flaw::TidiesUnacknowledged, cut);
    find(Flaw::TidiesWithoutAsking, killed);
    find(Flaw::TidiesAll, LATE);
    find(Flaw::BeginsEarly, World { followers: 2, ..FOLLOWED });
    find(Flaw::NamesWithoutJob, World { kills: 2, ..FOLLOWED });
}

#[test]
fn flaws_of_writers_are_found() {
    let cut = World { power_cuts: 1, ..NOTHING };
    find(Flaw::OpensWithoutSync, World { kills: 1, ..cut });
    find(Flaw::AbandonsAtOnce, World { kills: 1, ..cut });
    find(Flaw::LinksUnsynced, cut);
    find(Flaw::NoSecondLook, World { stolen_locks: 1, ..NOTHING });
    find(Flaw::SharedUnfinishedName, World { stolen_locks: 1, ..cut });
}
