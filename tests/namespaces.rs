//! Jobs across network namespaces: three hosts with addresses of their own, a switch between them, and cables that break.
//!
//! Needs `ip` and the rights of root.

use std::fs;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::job::{Process, all, command};
use crate::support::loads::{Seen, whole};
use crate::support::loss::{copy, texts, times_begun};
use crate::support::meeting::show;
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::texts::Random;

const HOSTS: usize = 3;

/// Where `ip` may be, since the PATH of a user does not always name it.
const PLACES: [&str; 3] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"];

/// A station that is not there.
const NOBODY: &str = "02:00:00:00:00:fe";

/// Hosts that reach each other through a switch; all are gone when this is dropped. Whatever runs there ends before.
struct Net {
    ip: &'static str,
    name: String,
}

impl Net {
    /// Three hosts.
    fn new() -> Net {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let ip = PLACES.into_iter().find(|place| fs::exists(place).unwrap_or(false)).expect("the program ip");
        let name = format!("alike-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let net = Net { ip, name };
        let made = net.try_ip(&format!("netns add {}", net.switch()));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        net.wire();
        net
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.name)
    }

    fn host(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    /// The switch, the hosts, and a cable to each.
    fn wire(&self) {
        let switch = self.switch();
        self.ip(&format!("-n {switch} link add switch type bridge"));
        self.ip(&format!("-n {switch} link set switch up"));
        for host in 0..HOSTS {
            let space = self.host(host);
            self.ip(&format!("netns add {space}"));
            self.ip(&format!("-n {switch} link add port{host} type veth peer name cable netns {space}"));
            self.ip(&format!("-n {switch} link set port{host} master switch up"));
            self.ip(&format!("-n {space} addr add {}/24 dev cable", address(host)));
            self.ip(&format!("-n {space} link set cable up"));
            self.ip(&format!("-n {space} link set lo up"));
        }
    }

    fn try_ip(&self, line: &str) -> Output {
        Command::new(self.ip).args(line.split(' ')).output().unwrap()
    }

    #[track_caller]
    fn ip(&self, line: &str) {
        let output = self.try_ip(line);
        assert!(output.status.success(), "ip {line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// From now on nothing arrives that host `from` sends to host `to`; the other way stays open.
    fn cut(&self, from: usize, to: usize) {
        let to = address(to);
        self.ip(&format!(
            "-n {} neigh replace {to} lladdr {NOBODY} dev cable nud permanent",
            self.host(from)
        ));
    }

    /// Pulls the cable of a host at the switch.
    fn unplug(&self, host: usize) {
        self.ip(&format!("-n {} link set port{host} down", self.switch()));
    }

    /// Starts a process on each host.
    fn start(&self, dir: &Dir, line: &str) -> Vec<Process> {
        let hosts: Vec<String> = (0..HOSTS).map(|host| format!("{}:2101", address(host))).collect();
        let start = |host| {
            let plain = command(dir, &hosts, host, line);
            let mut within = Command::new(self.ip);
            within.args(["netns", "exec", &self.host(host)]).arg(plain.get_program()).args(plain.get_args());
            within
                .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
                .current_dir(dir.path());
            Process::start(within, line)
        };
        (0..HOSTS).map(start).collect()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        // A cable is gone with one of its ends.
        for host in 0..HOSTS {
            self.try_ip(&format!("netns del {}", self.host(host)));
        }
        self.try_ip(&format!("netns del {}", self.switch()));
    }
}

fn address(host: usize) -> String {
    format!("10.77.113.{}", host + 1)
}

fn input() -> Dir {
    let dir = Dir::new();
    dir.write("in.jsonl", texts(&mut Random(17), 0, 4000));
    dir
}

#[test]
#[ignore = "needs the rights of root and the program ip"]
fn namespaces_give_the_same_answer() {
    let net = Net::new();
    let dir = input();
    dir.alike("dedup in.jsonl --pairs --out want -w 1", None).ok();
    for ran in all(&mut net.start(&dir, "dedup in.jsonl --pairs --out out -w 2")) {
        ran.ok();
    }
    assert_same(&written(&dir.join("want")), &written(&dir.join("out")), "across namespaces");
    dir.alike("load one in.jsonl -w 1 -q", None).ok();
    for ran in all(&mut net.start(&dir, "load many in.jsonl --epoch 1M -w 1")) {
        ran.ok();
    }
    Seen::of(&dir, "one").assert_eq(&Seen::of(&dir, "many"), "across namespaces");
    whole(&dir, "many");
}

/// Cuts cables when a stage has begun: how all ended, within the timeout of 2 s and 3 s more.
fn cut_at(stage: &str, cut: impl Fn(&Net)) -> Vec<Ran> {
    let dir = input();
    dir.alike("load base in.jsonl -w 1 -q", None).ok();
    dir.write("more.jsonl", texts(&mut Random(18), 2000, 60_000));
    // A stage that is short may pass unseen, or be seen when the job has all but ended.
    (0..20)
        .find_map(|_| cut_once(&dir, stage, &cut))
        .unwrap_or_else(|| panic!("{stage} was never seen in time"))
}

/// The same, once: none when the stage was not seen before the job had committed.
fn cut_once(dir: &Dir, stage: &str, cut: impl Fn(&Net)) -> Option<Vec<Ran>> {
    let line = "load c more.jsonl --epoch 1M -w 1 --json-progress --peer-timeout 2";
    copy(dir, "base");
    let before = Seen::of(dir, "c");
    let net = Net::new();
    let mut processes = net.start(dir, line);
    while processes[0].at_work() && times_begun(&processes[0], stage) == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    cut(&net);
    let begun = Instant::now();
    let left = || Duration::from_secs(5).saturating_sub(begun.elapsed());
    let ended: Vec<Ran> = processes.iter_mut().map(|process| process.ended_within(left())).collect();
    // Process 0 commits.
    if ended[0].code == Some(0) {
        return None;
    }
    let ended = ended.into_iter().map(|ran| ran.code(5)).collect();
    show(&format!("cut at {stage}: after {:.2?}", begun.elapsed()));
    whole(dir, "c");
    before.assert_eq(&Seen::of(dir, "c"), "a job that was cut");
    // What is cut comes together again by another network.
    drop((processes, net));
    dir.alike(&format!("{} -q", line.split(" --json").next().unwrap()), None).ok();
    whole(dir, "c");
    Some(ended)
}

/// Whether a process says that one of some is lost, or that the others hold itself for lost.
fn names_one(ran: &Ran, some: &[usize]) -> bool {
    let itself = ran.stderr.contains("it takes this process for lost");
    itself
        || some.iter().any(|host| ran.stderr.contains(&format!("process {host} ({}:2101)", address(*host))))
}

#[test]
#[ignore = "needs the rights of root and the program ip"]
fn namespaces_cut_one_way() {
    for (stage, from, to) in [("read", 1, 2), ("verify", 2, 1), ("read", 0, 2), ("collide", 1, 0)] {
        let ended = cut_at(stage, |net| net.cut(from, to));
        for ran in ended {
            assert!(names_one(&ran, &[from, to]), "from {from} to {to}: {ran:?}");
        }
    }
}

#[test]
#[ignore = "needs the rights of root and the program ip"]
fn namespaces_cut_both_ways() {
    let between = |net: &Net| {
        net.cut(1, 2);
        net.cut(2, 1);
    };
    let ended = cut_at("read", between);
    assert!(ended.iter().all(|ran| names_one(ran, &[1, 2])), "{ended:?}");
    for host in [0, 2] {
        let ended = cut_at("verify", |net| net.unplug(host));
        for (index, ran) in ended.iter().enumerate().filter(|(index, _)| *index != host) {
            assert!(names_one(ran, &[host]), "without {host}, process {index}: {ran:?}");
        }
    }
}

#[test]
#[ignore = "needs the rights of root and the program ip"]
fn namespaces_cut_before_the_start() {
    let net = Net::new();
    let dir = input();
    net.cut(2, 1);
    let begun = Instant::now();
    let mut processes = net.start(&dir, "dedup in.jsonl --out out -w 1 --join-timeout 3");
    for process in &mut processes {
        let ran = process.ended_within(Duration::from_secs(10)).code(5);
        assert!(names_one(&ran, &[1, 2]), "{ran:?}");
    }
    show(&format!("cut before the start: after {:.2?}", begun.elapsed()));
    assert!(!dir.join("out").exists());
}
