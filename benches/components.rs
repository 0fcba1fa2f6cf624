//! Components in bulk and after changes: union-find in one thread against what all workers keep together. Prints a table.
//!
//! `cargo bench -p alike-benches --bench components [-- LINKS...]`. Every row of the table comes from a process of its own,
//! and its peak of the memory is above what the links themselves take there. Three ways are compared:
//!
//! - `forest`: union-find; after changes, union-find again over the components that are touched;
//! - `load`: the same lists given to `relabel`, which contracts what stays before it exchanges anything;
//! - `standing`: an `Engine` that holds all links from the first to the last step, any of which may go.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs};

use alike::components::Forest;
use alike::components::{Engine, Link, Relabelled, Touched, Work, relabel};
use alike_benches::Numbers;
use timely::worker::Worker;

/// About `count` links: a component of up to 200,000 contents made of chains, chains of up to 5,000 for a tenth of the
/// links, and clusters of 2 to 8 for the rest, in which half of all pairs are linked. Contents are numbered at random.
fn graph(count: usize, numbers: &mut Numbers) -> Vec<Link> {
    let (mut links, giant) = (Vec::with_capacity(count), (count / 10).min(200_000));
    for content in 1..giant {
        let joint = content % 5000 == 0;
        links.push((if joint { numbers.below(content) } else { content - 1 }, content));
    }
    let (mut next, length) = (giant, 5000.min(count / 10));
    while links.len() < giant + count / 10 {
        links.extend((next + 1..next + length).map(|content| (content - 1, content)));
        next += length;
    }
    while links.len() < count {
        let members = 2 + numbers.below(7);
        for a in next..next + members {
            links.extend((next..a).filter(|b| *b == next || numbers.below(2) == 0).map(|b| (b, a)));
        }
        next += members;
    }
    let mut order: Vec<u32> = (0..next as u32).collect();
    (1..next).for_each(|at| order.swap(at, numbers.below(at + 1)));
    links.into_iter().map(|(a, b)| (order[a], order[b])).collect()
}

/// What is done one after the other, each with the links of all components that it touches.
fn plan(count: usize) -> Vec<(String, Touched)> {
    let mut numbers = Numbers::new(count as u64);
    let mut links = graph(count, &mut numbers);
    let mut contents = 1 + links.iter().map(|(a, b)| *a.max(b)).max().expect("links");
    let bulk = Touched { insertions: links.clone(), ..Touched::default() };
    let mut steps = vec![("bulk".to_owned(), bulk)];
    for changes in [10, 1000, 100_000].into_iter().filter(|changes| changes * 2 < count) {
        // Most new links come with a new content; one in ten joins two components.
        let insertions: Vec<Link> = (0..changes)
            .map(|at| {
                contents += 1;
                let old = numbers.below(contents as usize - 1) as u32;
                (if at % 10 == 0 { numbers.below(contents as usize - 1) as u32 } else { contents - 1 }, old)
            })
            .collect();
        steps.push((format!("+{changes}"), touched(&links, contents, insertions.clone(), Vec::new())));
        links.extend(insertions);
        let removals: Vec<Link> =
            (0..changes).map(|_| links.swap_remove(numbers.below(links.len()))).collect();
        let mut before = links.clone();
        before.extend(&removals);
        steps.push((format!("-{changes}"), touched(&before, contents, Vec::new(), removals)));
    }
    steps
}

/// A change with the links of all components that it touches.
fn touched(links: &[Link], contents: u32, insertions: Vec<Link>, removals: Vec<Link>) -> Touched {
    let mut forest = forest(contents as usize, links);
    let mut met = vec![false; contents as usize];
    for content in insertions.iter().chain(&removals).flat_map(|(a, b)| [*a, *b]) {
        met[forest.find(content) as usize] = true;
    }
    let links = links.iter().copied().filter(|(a, _)| met[forest.find(*a) as usize]).collect();
    Touched { links, insertions, removals }
}

fn forest(contents: usize, links: &[Link]) -> Forest {
    let mut forest = Forest::new(contents);
    for (a, b) in links {
        forest.union(*a, *b);
    }
    forest
}

/// What a step took.
struct Measured {
    seconds: f64,
    work: Work,
    changes: Vec<Relabelled>,
    peak: u64,
}

/// Measures a step; the peak of the memory is that of the process since the last one began.
fn measured(step: impl FnOnce() -> (Vec<Relabelled>, Work)) -> Measured {
    let start = Instant::now();
    let (changes, work) = step();
    Measured { seconds: start.elapsed().as_secs_f64(), work, changes, peak: memory("VmHWM") }
}

/// Union-find over all links, whose contents are numbered without gaps.
fn in_bulk(links: &[Link]) -> (Vec<Relabelled>, Work) {
    let contents = 1 + links.iter().map(|(a, b)| *a.max(b)).max().expect("links");
    let mut forest = forest(contents as usize, links);
    let changes =
        (0..contents).map(|content| Relabelled { content, before: content, after: forest.find(content) });
    (changes.filter(|change| change.before != change.after).collect(), Work::default())
}

/// Union-find over the links of the touched components before and after.
fn by_forest(step: &Touched) -> (Vec<Relabelled>, Work) {
    if step.links.is_empty() {
        return in_bulk(&step.insertions);
    }
    let lists = [&step.links, &step.insertions];
    let mut contents: Vec<u32> = lists.into_iter().flatten().flat_map(|(a, b)| [*a, *b]).collect();
    contents.sort_unstable();
    contents.dedup();
    let dense = |list: &[Link]| -> Vec<Link> {
        let number = |content: &u32| contents.binary_search(content).expect("a content that was met") as u32;
        list.iter().map(|(a, b)| (number(a), number(b))).collect()
    };
    let mut links = dense(&step.links);
    let mut before = forest(contents.len(), &links);
    let mut gone = dense(&step.removals);
    gone.sort_unstable();
    // Equal links are as good as one here: the plan has hardly any.
    links.retain(|link| gone.binary_search(link).is_err());
    links.extend(dense(&step.insertions));
    let mut after = forest(contents.len(), &links);
    let changes = (0..contents.len() as u32).filter_map(|at| {
        let (before, after) = (before.find(at), after.find(at));
        let content = |at: u32| contents[at as usize];
        (before != after).then(|| Relabelled {
            content: content(at),
            before: content(before),
            after: content(after),
        })
    });
    (changes.collect(), Work::default())
}

/// This worker's stretch of a list.
fn share<'l>(list: &'l [Link], worker: &Worker) -> &'l [Link] {
    let end = |part: usize| list.len() * part / worker.peers();
    &list[end(worker.index())..end(worker.index() + 1)]
}

/// The steps of a plan on any timely worker, each by itself.
fn by_load(worker: &mut Worker, plan: &[(String, Touched)]) -> Vec<Measured> {
    let one = |(_, step): &(String, Touched)| {
        let [links, insertions, removals] =
            [&step.links, &step.insertions, &step.removals].map(|list| share(list, worker).to_vec());
        let mine = Touched { links, insertions, removals };
        measured(|| relabel(worker, mine, &|| Ok(())).expect("relabelled"))
    };
    plan.iter().map(one).collect()
}

/// The steps of a plan on any timely worker, one after the other in one engine.
fn standing(worker: &mut Worker, plan: &[(String, Touched)]) -> Vec<Measured> {
    let mut engine = Engine::new(worker);
    let mut one = |(_, step): &(String, Touched)| {
        measured(|| {
            engine.change(worker, share(&step.insertions, worker).iter().map(|link| (*link, 1)));
            engine.change(worker, share(&step.removals, worker).iter().map(|link| (*link, -1)));
            (engine.settle(worker, &|| Ok(())).expect("settled"), engine.take_work())
        })
    };
    plan.iter().map(&mut one).collect()
}

/// A figure of the memory of this process, in kB.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// A digest of changes that does not depend on their order, so that those of several processes can be added up.
fn digest(changes: &[Relabelled]) -> u64 {
    let mixed = |&Relabelled { content, before, after }: &Relabelled| {
        let mut mix = Numbers::new(u64::from(content) << 32 ^ u64::from(before) << 16 ^ u64::from(after));
        (mix.below(usize::MAX) as u64).wrapping_add(u64::from(content))
    };
    changes.iter().map(mixed).fold(0, u64::wrapping_add)
}

/// One way of doing it, in this process; prints for each step what it came to here.
fn run(way: &str, count: usize, workers: usize, process: usize, addresses: &[String]) {
    let plan = Arc::new(plan(count));
    // What making the plan took is not to be seen in the peak.
    drop(fs::write("/proc/self/clear_refs", "5"));
    let held = memory("VmRSS");
    let steps = Arc::clone(&plan);
    let mut config = match workers {
        1 => timely::Config::thread(),
        workers => timely::Config::process(workers),
    };
    if addresses.len() > 1 {
        let addresses = addresses.to_vec();
        config.communication = timely::CommunicationConfig::Cluster {
            threads: workers,
            process,
            addresses,
            report: false,
            zerocopy: false,
        };
    }
    let of_workers: Vec<Vec<Measured>> = match way {
        "forest" => vec![plan.iter().map(|(_, step)| measured(|| by_forest(step))).collect()],
        way => {
            let go = if way == "load" { by_load } else { standing };
            let guards = timely::execute(config, move |worker| go(worker, &steps)).expect("started");
            guards.join().into_iter().map(|told| told.expect("no panic")).collect()
        }
    };
    for at in 0..plan.len() {
        let all = || of_workers.iter().map(|told| &told[at]);
        let seconds = all().map(|told| told.seconds).fold(0.0, f64::max);
        let rounds = all().map(|told| told.work.rounds).max().unwrap_or(0);
        let rows: usize = all().map(|told| told.work.rows).sum();
        let peak = all().map(|told| told.peak.saturating_sub(held)).max().unwrap_or(0) / 1024;
        let changes: Vec<Relabelled> = all().flat_map(|told| told.changes.iter().copied()).collect();
        let (name, digest) = (&plan[at].0, digest(&changes));
        println!("{STEP}{name} {digest} {seconds} {rounds} {rows} {} {peak}", changes.len());
    }
}

/// What the lines begin with that tell of a step.
const STEP: &str = "step: ";

/// What a step came to in all processes.
#[derive(Default)]
struct Sum {
    digest: u64,
    seconds: f64,
    rounds: usize,
    rows: usize,
    changed: usize,
    peak: u64,
}

impl Sum {
    fn add(&mut self, told: &[&str]) {
        let [digest, seconds, rounds, rows, changed, peak] = told else { panic!("{told:?}") };
        self.digest = self.digest.wrapping_add(digest.parse().expect("a digest"));
        self.seconds = self.seconds.max(seconds.parse().expect("seconds"));
        self.rounds = self.rounds.max(rounds.parse().expect("a count"));
        self.rows += rows.parse::<usize>().expect("a count");
        self.changed += changed.parse::<usize>().expect("a count");
        self.peak = self.peak.max(peak.parse().expect("MB"));
    }
}

/// Runs one way in so many processes, and adds up what they tell of each step.
fn together(way: &str, count: usize, processes: usize, workers: usize) -> Vec<(String, Sum)> {
    let held: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let address = |port: &TcpListener| port.local_addr().expect("an address").to_string();
    let addresses: Vec<String> = held.iter().map(address).collect();
    drop(held);
    let this = env::current_exe().expect("this program");
    let start = |process: usize| {
        let mut command = Command::new(&this);
        command.args(["one", way, &count.to_string(), &workers.to_string(), &process.to_string()]);
        command.args(&addresses).stdout(Stdio::piped()).spawn().expect("started")
    };
    let children: Vec<Child> = (0..processes).map(start).collect();
    let mut steps: Vec<(String, Sum)> = Vec::new();
    for child in children {
        let told = child.wait_with_output().expect("an end");
        assert!(told.status.success(), "a process failed");
        // While they meet, processes print other lines.
        let lines = String::from_utf8_lossy(&told.stdout).into_owned();
        for (at, line) in lines.lines().filter_map(|line| line.strip_prefix(STEP)).enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            if at == steps.len() {
                steps.push((words[0].to_owned(), Sum::default()));
            }
            steps[at].1.add(&words[1..]);
        }
    }
    steps
}

/// Ways of doing it, with processes and workers of each.
const WAYS: [(&str, usize, usize); 9] = [
    ("forest", 1, 1),
    ("load", 1, 1),
    ("load", 1, 2),
    ("load", 2, 1),
    ("load", 4, 1),
    ("standing", 1, 1),
    ("standing", 1, 2),
    ("standing", 2, 1),
    ("standing", 4, 1),
];

fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    if let [one, way, count, workers, process, addresses @ ..] = given.as_slice()
        && one == "one"
    {
        let [count, workers, process] =
            [count, workers, process].map(|number| number.parse().expect("a count"));
        return run(way, count, workers, process, addresses);
    }
    let mut sizes: Vec<usize> = given.iter().filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 3_000_000];
    }
    println!(
        "| links | step | way | processes x workers | seconds | rounds | rows | labels changed | peak MB of a process so far |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for size in sizes {
        let mut digests: BTreeMap<String, u64> = BTreeMap::new();
        for (way, processes, workers) in WAYS {
            for (step, Sum { digest, seconds, rounds, rows, changed, peak }) in
                together(way, size, processes, workers)
            {
                let first = *digests.entry(step.clone()).or_insert(digest);
                assert_eq!(first, digest, "{way} tells something else of {step}");
                println!(
                    "| {size} | {step} | {way} | {processes} x {workers} | {seconds:.4} | {rounds} | {rows} | {changed} | {peak} |"
                );
            }
        }
    }
}
