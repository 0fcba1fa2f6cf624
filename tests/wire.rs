//! What crosses between processes: all of it is recorded on its way, none of it is text, and the summary tells how much
//! it is.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::support::job::{Process, all, clashed, command};
use crate::support::local::States;
use crate::support::meeting::{free, show};
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, line};

const PROCESSES: usize = 3;

/// Letters of a word, of whatever case, that are not found by chance: of six such letters 90 MB of any bytes hold one of 19
/// pieces once in 2,500 runs, of eight once in ten million.
const PIECE: usize = 8;

/// The bytes of one direction of a connection.
type Recording = Arc<Mutex<Vec<u8>>>;

/// Ports in front of those of the processes, and all that passed through them.
struct Tap {
    fronts: Vec<String>,
    recordings: Arc<Mutex<Vec<Recording>>>,
}

impl Tap {
    fn new(hosts: &[String]) -> Tap {
        let recordings = Arc::<Mutex<Vec<Recording>>>::default();
        let front = |host: &String| {
            let (listener, host) = (TcpListener::bind("127.0.0.1:0").unwrap(), host.clone());
            let address = listener.local_addr().unwrap().to_string();
            let recordings = Arc::clone(&recordings);
            // It ends with the tests: nobody connects any more.
            thread::spawn(move || {
                for caller in listener.incoming().map_while(Result::ok) {
                    // One that is not there yet is called again.
                    let Ok(called) = TcpStream::connect(&host) else { continue };
                    // What is small passes at once, as it does without a tap.
                    for stream in [&caller, &called] {
                        stream.set_nodelay(true).unwrap();
                    }
                    for (from, to) in [(&caller, &called), (&called, &caller)] {
                        let recording = Recording::default();
                        recordings.lock().unwrap().push(Arc::clone(&recording));
                        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                        thread::spawn(move || pass(from, to, &recording));
                    }
                }
            });
            address
        };
        Tap { fronts: hosts.iter().map(front).collect(), recordings }
    }

    /// The addresses that process `own` is given: itself as it is, the others by their fronts.
    fn seen_by(&self, own: usize, hosts: &[String]) -> Vec<String> {
        let mut seen = self.fronts.clone();
        seen[own].clone_from(&hosts[own]);
        seen
    }

    /// All that has passed, connection by connection.
    fn passed(&self) -> Vec<Vec<u8>> {
        self.recordings.lock().unwrap().iter().map(|recording| recording.lock().unwrap().clone()).collect()
    }
}

/// Passes bytes on and keeps a copy, until there are no more.
fn pass(mut from: TcpStream, mut to: TcpStream, recording: &Recording) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        recording.lock().unwrap().extend(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn holds(bytes: &[u8], piece: &[u8]) -> bool {
    memchr::memmem::find(bytes, piece).is_some()
}

/// Runs a job with all connections tapped, and with each process on a machine of its own where the collection is called
/// `apart`: how process 0 ended, and what passed.
fn tapped(dir: &Dir, line: &str) -> (Ran, Vec<Vec<u8>>) {
    for _ in 0..4 {
        let hosts = free(PROCESSES);
        let tap = Tap::new(&hosts);
        // The tap may have got a port that was free for a process.
        let distinct =
            |index| tap.seen_by(index, &hosts).into_iter().collect::<BTreeSet<_>>().len() == PROCESSES;
        if !(0..PROCESSES).all(distinct) {
            continue;
        }
        let start = |index| {
            let seen = tap.seen_by(index, &hosts);
            // What is in one folder is not asked for.
            let command = match line.split(' ').nth(1) == Some("apart") {
                true => States::Apart.command(dir, &seen, index, line),
                false => command(dir, &seen, index, line),
            };
            Process::start(command, line)
        };
        let ended = all(&mut (0..PROCESSES).map(start).collect::<Vec<_>>());
        if clashed(&ended) {
            continue;
        }
        let mut ended = ended.into_iter().map(Ran::ok);
        return (ended.next().unwrap(), tap.passed());
    }
    panic!("alike {line}: the ports were taken four times");
}

/// Records whose texts all have the word, in families of near copies and of copies.
fn records(random: &mut Random, word: &str) -> String {
    let mut lines = String::new();
    for family in 0..300 {
        let mut words: Vec<String> = (0..60).map(|_| format!("w{}", random.below(1 << 20))).collect();
        words[random.below(60)] = word.to_owned();
        for member in 0..4 {
            lines += &line(&format!("d{family}-{member}"), &words.join(" "));
            if member > 0 {
                words[random.below(60)] = word.to_owned();
            }
        }
    }
    lines
}

#[test]
fn wire_carries_no_text() {
    let dir = Dir::new();
    let mut random = Random(29);
    let word: String = (0..24).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    dir.write("in.jsonl", records(&mut random, &word));
    dir.write("ids.txt", "d1-1\nd2-0\n");
    let text_bytes: usize = 300 * 4 * 60 * 8;
    for line in [
        "dedup in.jsonl --out out --pairs --method join",
        "dedup in.jsonl --out out --pairs --method minhash",
        "dedup in.jsonl --out out --pairs --method shingles",
        "dedup in.jsonl --out out --pairs --method exact",
        "load c in.jsonl --epoch 200K --store-text --clustering guarantee",
        "load c in.jsonl",
        "delete c --ids ids.txt",
        "recluster c --clustering transitive --threshold 0.9",
        "load apart in.jsonl --epoch 200K --store-text --clustering guarantee",
        "load apart in.jsonl",
        "delete apart --ids ids.txt",
        "recluster apart --clustering transitive --threshold 0.9",
        "compact apart",
        // Texts now lie in the same files as all else.
        "recluster apart --clustering guarantee --threshold 0.8",
        "load apart in.jsonl",
    ] {
        let workers = if line.starts_with("compact") { "" } else { " -w 1" };
        let (_, passed) = tapped(&dir, &format!("{line}{workers}"));
        let bytes: usize = passed.iter().map(Vec::len).sum();
        show(&format!("{line}: {bytes} bytes, about {:.3} a byte of text", bytes as f64 / text_bytes as f64));
        let lower: Vec<Vec<u8>> = passed.iter().map(|bytes| bytes.to_ascii_lowercase()).collect();
        for piece in word.as_bytes().windows(PIECE) {
            let found = lower.iter().any(|bytes| holds(bytes, piece));
            assert!(!found, "{line}: {} of the word {word} crossed", String::from_utf8_lossy(piece));
        }
        if line.starts_with("dedup") {
            // What is recorded is what there is: the name of the input is written, and the figure is true.
            assert!(passed.iter().any(|bytes| holds(bytes, b"in.jsonl")), "{line}");
            let summary = std::fs::read(dir.join("out/summary.json")).unwrap();
            let summary: Value = serde_json::from_slice(&summary).unwrap();
            assert_eq!(summary["processes"], PROCESSES);
            let told = summary["wire_bytes"].as_u64().unwrap() as usize;
            // Hellos, and what is said after the last run, are not in it.
            assert!(told <= bytes && bytes < told + 20_000, "{line}: {told} bytes told, {bytes} passed");
            std::fs::remove_dir_all(dir.join("out")).unwrap();
        }
    }
}
