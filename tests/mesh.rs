//! Processes that meet and talk: here each is a mesh on a thread of its own, on ports of 127.0.0.1.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use alike::error::Error;
use alike::mesh::Membership;

use crate::support::meeting::{ORDERS, exchange, free, join, level, member, show, started, timed, together};

#[test]
fn mesh_processes_meet_and_take_each_number_once() {
    let taken = together(4, |mesh| {
        let numbers = thread::scope(|scope| {
            let take = || (0..50).map(|_| mesh.take(9).unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        mesh.leave().unwrap();
        numbers
    });
    let all: Vec<u64> = taken.into_iter().flatten().collect();
    let distinct: BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!((all.len(), distinct.len(), distinct.last()), (800, 800, Some(&799)));
}

#[test]
fn mesh_gathers_broadcasts_and_sends_in_order() {
    let heard = together(3, |mesh| {
        let own = mesh.process();
        let gathered = mesh.gather(vec![own as u8; own]).unwrap();
        let told = mesh.broadcast(vec![10 + own as u8]).unwrap();
        let next = (own + 1) % 3;
        for number in 0..100_u8 {
            mesh.send(next, u32::from(number % 2), vec![number]).unwrap();
        }
        let before = (own + 2) % 3;
        let received =
            [1, 0].map(|topic| (0..50).map(|_| mesh.receive(before, topic).unwrap()[0]).collect::<Vec<_>>());
        assert_eq!(mesh.try_receive(before, 0).unwrap(), None);
        mesh.leave().unwrap();
        (gathered, told, received)
    });
    for (process, (gathered, told, received)) in heard.into_iter().enumerate() {
        let all = vec![vec![], vec![1], vec![2, 2]];
        assert_eq!(gathered, if process == 0 { all } else { vec![] });
        assert_eq!(told, [10]);
        let halves = [1, 0].map(|first| (first..100).step_by(2).collect::<Vec<u8>>());
        assert_eq!(received, halves);
    }
}

#[test]
fn mesh_one_process_alone_can_do_everything() {
    let (mesh, lines) = join(member(&["nowhere.invalid:1".to_string()], 0));
    let mesh = mesh.unwrap();
    assert_eq!((mesh.take(1).unwrap(), mesh.take(1).unwrap(), mesh.take(2).unwrap()), (0, 1, 0));
    assert_eq!(mesh.gather(vec![1]).unwrap(), [[1]]);
    assert_eq!(mesh.broadcast(vec![1]).unwrap(), [1]);
    mesh.send(0, 3, vec![4]).unwrap();
    assert_eq!(mesh.receive(0, 3).unwrap(), [4]);
    assert!(mesh.sockets(0).unwrap()[0].is_none());
    mesh.leave().unwrap();
    assert!(lines.lock().unwrap().is_empty());
}

#[test]
fn mesh_sockets_carry_runs_of_the_dataflow() {
    let rounds = together(3, |mesh| {
        let rounds: Vec<_> = (0..4).map(|round| exchange(&mesh, round, 1000 * (round + 1))).collect();
        let traffic = mesh.traffic();
        assert!(traffic.data_sent > 0 && traffic.data_received > 0 && traffic.control_sent > 0);
        mesh.cut(3);
        mesh.leave().unwrap();
        (rounds, traffic)
    });
    let sent: u64 = rounds.iter().map(|(_, traffic)| traffic.data_sent).sum();
    let received: u64 = rounds.iter().map(|(_, traffic)| traffic.data_received).sum();
    assert_eq!(sent, received);
    for round in 0..4 {
        let mut all: Vec<u64> = rounds.iter().flat_map(|(rounds, _)| rounds[round].clone()).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..1000 * (round as u64 + 1)).flat_map(|number| [number; 6]).collect();
        assert_eq!(all, expected);
    }
}

#[test]
fn mesh_wrong_shape_is_refused_on_both_sides() {
    let hosts = free(2);
    thread::scope(|scope| {
        let first = Membership { join_timeout: Duration::from_secs(2), ..member(&hosts, 0) };
        let first = scope.spawn(move || join(first));
        let wrong = Membership { workers: 3, ..member(&hosts, 1) };
        let (refused, _) = join(wrong);
        let Err(Error::Join { refused: true, what }) = refused else { panic!("it was let in") };
        let expected = format!(
            "process 0 ({}) refuses this process: it runs as 2 processes x 2 workers, this one as 2 x 3",
            hosts[0]
        );
        assert_eq!(what, expected);
        let (alone, lines) = first.join().unwrap();
        let Err(Error::Join { refused: false, what }) = alone else { panic!("nobody came") };
        let line =
            "a process 1 at 127.0.0.1 was refused: it runs as 2 processes x 3 workers, this one as 2 x 2";
        assert!(what.contains(line), "{what}");
        assert!(lines.lock().unwrap().iter().any(|said| said == line));
    });
}

#[test]
fn mesh_processes_meet_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let hosts = free(3);
        let starts = (0..3).map(|at| (at as f64 * 0.15, member(&hosts, order[at]))).collect();
        let said = started(starts, |mesh, lines| {
            mesh.unwrap().leave().unwrap();
            lines
        });
        assert_eq!(said.concat(), Vec::<String>::new(), "nobody waited long");
    }
}

#[test]
fn mesh_a_late_process_is_awaited_and_named() {
    let hosts = free(3);
    let starts = [0.0, 2.6, 0.0].into_iter().enumerate().map(|(p, at)| (at, member(&hosts, p))).collect();
    let said = started(starts, |mesh, lines| {
        mesh.unwrap().leave().unwrap();
        lines
    });
    let late = format!("process 1 ({})", hosts[1]);
    assert_eq!(said[0], [format!("waiting for {late}")]);
    assert!(said[2].len() == 1 && said[2][0].starts_with(&format!("waiting for {late}: ")), "{:?}", said[2]);
}

#[test]
fn mesh_says_who_did_not_come() {
    let hosts = free(4);
    let short = |process| Membership { join_timeout: Duration::from_secs(1), ..member(&hosts, process) };
    let begun = Instant::now();
    let ended = started(vec![(0.0, short(0)), (0.0, short(2))], |mesh, _| mesh.err().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    for error in ended {
        let Error::Join { refused: false, what } = error else { panic!("{error}") };
        for missing in [1, 3] {
            assert!(what.contains(&format!("process {missing} ({})", hosts[missing])), "{what}");
        }
    }
}

#[test]
fn mesh_a_process_may_start_again_while_others_are_awaited() {
    let hosts = free(3);
    let first = Membership { join_timeout: Duration::from_millis(600), ..member(&hosts, 1) };
    let starts =
        vec![(0.0, member(&hosts, 0)), (0.0, first), (1.0, member(&hosts, 1)), (1.5, member(&hosts, 2))];
    let met = started(starts, |mesh, _| mesh.map(|mesh| mesh.leave().unwrap()).is_ok());
    assert_eq!(met, [true, false, true, true]);
}

#[test]
fn mesh_a_taken_address_is_an_error_of_this_process() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = vec![held.local_addr().unwrap().to_string(), free(1).remove(0)];
    let short = Membership { join_timeout: Duration::from_millis(300), ..member(&hosts, 0) };
    let Err(Error::Join { refused: true, what }) = join(short).0 else { panic!("it listens") };
    assert!(what.starts_with(&format!("cannot listen on {}: ", hosts[0])), "{what}");
}

#[test]
fn mesh_long_messages_cross_while_others_are_counted() {
    const LENGTH: usize = 50 << 20;
    let hosts = free(2);
    let short =
        |process| (0.0, Membership { peer_timeout: Duration::from_secs(2), ..member(&hosts, process) });
    let ended = started(vec![short(0), short(1)], |mesh, _| {
        let mesh = mesh.unwrap();
        let (own, other) = (mesh.process(), 1 - mesh.process());
        let bytes = |seed: usize| (0..LENGTH).map(|at| (at / 7 + seed) as u8).collect::<Vec<_>>();
        for round in 0..3 {
            mesh.send(other, 1, bytes(own + round)).unwrap();
            mesh.send(other, 2, vec![round as u8]).unwrap();
        }
        // Urgent words pass between the pieces.
        let (seconds, _) = timed(|| mesh.take(1).unwrap());
        for round in 0..3 {
            assert!(mesh.receive(other, 1).unwrap() == bytes(other + round));
            assert_eq!(mesh.receive(other, 2).unwrap(), [round as u8]);
        }
        mesh.leave().unwrap();
        assert!(mesh.traffic().control_sent > 3 * LENGTH as u64);
        seconds
    });
    show(&format!("a number beside 150 MB: {ended:?} s"));
    assert!(ended[1] < 2.0, "{ended:?}");
}

/// No test: what a child does.
#[test]
fn mesh_child() {
    let Some(orders) = std::env::var_os(ORDERS) else { return };
    let orders = orders.into_string().unwrap();
    let [process, hosts, work] = orders.split('|').collect::<Vec<_>>()[..] else { panic!("{orders}") };
    let hosts: Vec<String> = hosts.split(',').map(str::to_string).collect();
    let mesh = join(member(&hosts, process.parse().unwrap())).0.unwrap();
    match work {
        "leave" => mesh.leave().unwrap(),
        awaited => {
            level(&mesh);
            let error = mesh.receive(0, 1).unwrap_err().to_string();
            assert!(error.contains(awaited), "{error}");
        }
    }
}
