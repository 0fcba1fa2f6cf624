//! Hellos between both sides of it, and what is none.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::channel::Channel;
use super::meeting::arrivals::Arrivals;
use super::meeting::call::{Called, Identity};
use super::meeting::hello::{
    self, HELLO_BYTES, Hello, LAST_BYTES, PREFIX_BYTES, Purpose, REPLY_BYTES, Reply, Verdict,
};
use super::meeting::key_agreement::{Agreeing, KeyMessage, NO_MESSAGE};
use super::meeting::listener::Listener;
use super::meeting::secret::Key;
use super::{Membership, Secret};

/// Process 1 of 3, listening.
struct Door {
    identity: Arc<Identity>,
    arrivals: Arc<Arrivals>,
    lines: Arc<Mutex<Vec<String>>>,
    _listener: Listener,
}

fn membership(host: &str, process: usize) -> Membership {
    Membership {
        hosts: vec!["first:1".into(), host.into(), "third:3".into()],
        process,
        listen: None,
        workers: 2,
        secret: Some(Secret::new(b"a secret of some length").expect("long")),
        encrypted: true,
        job: 5,
        join_timeout: Duration::from_secs(5),
        peer_timeout: Duration::from_secs(5),
    }
}

impl Door {
    fn open() -> Door {
        let socket = TcpListener::bind("127.0.0.1:0").expect("bound");
        let host = socket.local_addr().expect("an address").to_string();
        let identity = Arc::new(Identity::new(&membership(&host, 1)).expect("an identity"));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let say = move |line: &str| kept.lock().expect("lines").push(line.to_string());
        let arrivals = Arc::new(Arrivals::new(1, 3, Box::new(say)));
        let listener = Listener::open(socket, Arc::clone(&identity), Arc::clone(&arrivals));
        Door { identity, arrivals, lines, _listener: listener.expect("an open door") }
    }

    fn host(&self) -> &str {
        &self.identity.hosts[1]
    }

    /// Process 2 of the same job.
    fn caller(&self) -> Identity {
        Identity::new(&membership(self.host(), 2)).expect("an identity")
    }

    /// Lines said, waiting for at least one.
    fn said(&self) -> Vec<String> {
        let until = Instant::now() + Duration::from_secs(5);
        while self.lines.lock().expect("lines").is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::mem::take(&mut *self.lines.lock().expect("lines"))
    }
}

fn called(identity: &Identity, purpose: Purpose) -> Result<Channel, String> {
    match identity.call(1, purpose, &|| false).expect("random numbers") {
        Called::Met(channel, _) => Ok(channel),
        Called::Later(why) => Err(format!("later: {why}")),
        Called::Refused(why) => Err(why),
    }
}

#[test]
fn both_sides_say_what_differs() {
    let door = Door::open();
    let secret = |bytes: &[u8]| Key::new(Some(&Secret::new(bytes).expect("long")));
    let mut cases = Vec::new();
    let mut case = |change: &dyn Fn(&mut Identity), theirs: &str, mine: &str| {
        let mut caller = door.caller();
        change(&mut caller);
        cases.push((caller, theirs.to_string(), mine.to_string()));
    };
    case(&|c| c.terms.version = "9.9".into(), "it is alike 9.9 (protocol 3), this one ", "it is alike 0.");
    case(&|c| c.terms.protocol = 77, "(protocol 77), this one ", "(protocol 3), this one ");
    case(
        &|c| c.terms.workers = 9,
        "it runs as 3 processes x 9 workers, this one as 3 x 2",
        "it runs as 3 processes x 2 workers, this one as 3 x 9",
    );
    case(
        &|c| c.terms.encrypted = false,
        "it does not encrypt what it sends, this one encrypts",
        "it encrypts what it sends, this one does not",
    );
    case(&|c| c.terms.job = 6, "it was given another command", "it was given another command");
    case(&|c| c.process = 1, "which process is which", "which process is which");
    case(&|c| c.process = 3, "which process is which", "which process is which");
    case(&|c| c.process = u32::MAX, "which process is which", "which process is which");
    case(&|c| c.key = secret(b"another secret, as long"), "another secret", "another secret");
    // Each line is said once: this one claims another number.
    case(&|c| (c.key, c.process) = (Key::new(None), 7), "process 7 at 127.0.0.1", "another secret");
    for (caller, theirs, mine) in cases {
        let why = called(&caller, Purpose::Control).expect_err("it was let in");
        assert!(why.contains(&mine) && !why.starts_with("later"), "{why}");
        let said = door.said();
        assert!(said.len() == 1 && said[0].contains(&theirs), "{said:?} should have {theirs}");
    }
    assert!(door.arrivals.book().control[2].is_none());
    assert!(called(&door.caller(), Purpose::Control).is_ok());
}

#[test]
fn a_number_belongs_to_one_process_until_it_goes() {
    let door = Door::open();
    let (first, second) = (door.caller(), door.caller());
    let held = called(&first, Purpose::Control).expect("let in");
    let why = called(&second, Purpose::Control).expect_err("twice");
    assert!(why.contains("another process with the same number"), "{why}");
    // One that missed the last word comes again; one that has gone leaves its place.
    let again = called(&first, Purpose::Control).expect("let in again");
    drop((held, again));
    assert!(called(&second, Purpose::Control).is_ok());
    // Data belongs to a job that is under way, and to the process that came to it.
    assert!(called(&second, Purpose::Data(0)).expect_err("early").starts_with("later"));
    let lives = vec![door.identity.life, door.identity.life, second.life];
    door.arrivals.book().lives = Some(lives);
    assert!(called(&second, Purpose::Control).expect_err("late").starts_with("later"));
    assert!(called(&first, Purpose::Data(0)).expect_err("other").starts_with("later"));
    assert!(called(&second, Purpose::Data(0)).is_ok() && called(&second, Purpose::Data(1)).is_ok());
    assert!(called(&second, Purpose::Data(2)).expect_err("far ahead").starts_with("later"));
}

/// The hello of `caller`, spoken by hand with this part of a key; returns what it said.
fn speak(door: &Door, caller: &Identity, key: KeyMessage) -> (Vec<u8>, Vec<u8>, Option<Verdict>) {
    let (life, nonce) = (caller.life, [7; 16]);
    let (terms, from) = (caller.terms.clone(), caller.process);
    let hello = Hello { terms, from, to: 1, purpose: Purpose::Control, life, nonce, key }.encode();
    let mut stream = TcpStream::connect(door.host()).expect("connected");
    stream.write_all(&hello).expect("said");
    let (mut reply, mut word) = ([0; REPLY_BYTES], [0; LAST_BYTES]);
    stream.read_exact(&mut reply).expect("a reply");
    let (said, recognised) = Reply::decode(&reply, &hello, &caller.key).expect("a reply");
    assert!(recognised && said.verdict == Verdict::Welcome);
    let proof = hello::proof(true, &[&hello, &reply], &caller.key);
    stream.write_all(&proof).expect("said");
    let word = stream
        .read_exact(&mut word)
        .ok()
        .and_then(|()| hello::read_word(&word, &[&hello, &reply, &proof], &caller.key));
    (hello, proof, word)
}

#[test]
fn what_was_recorded_proves_nothing() {
    let door = Door::open();
    let caller = door.caller();
    let (_, _, word) = speak(&door, &caller, NO_MESSAGE);
    assert_eq!(word, None, "nobody who knows the secret can do without encryption");
    assert!(door.said()[0].contains("another secret") && door.arrivals.strangers() == 1);
    let (_, key) = Agreeing::begin(&caller.key).expect("random numbers");
    let (hello, proof, word) = speak(&door, &caller, key);
    assert_eq!(word, Some(Verdict::Welcome));
    assert!(door.arrivals.book().control[2].take().is_some());
    let mut stream = TcpStream::connect(door.host()).expect("connected");
    stream.write_all(&[hello, proof].concat()).expect("said");
    let mut all = Vec::new();
    // The connection is ended by the listener, with or without an error on this side.
    let _ = stream.read_to_end(&mut all);
    assert_eq!(all.len(), REPLY_BYTES, "there is no last word");
    assert!(door.arrivals.book().control[2].is_none());
    // The line was said already, and each is said once.
    assert_eq!(door.arrivals.strangers(), 1);
}

/// What something answers to a hello.
type Answer<'a> = &'a (dyn Fn(&[u8]) -> Vec<u8> + Sync);

#[test]
fn what_listens_and_is_no_process_is_called_again() {
    let recorded = {
        let door = Door::open();
        let mut stream = TcpStream::connect(door.host()).expect("connected");
        let caller = door.caller();
        let (terms, life) = (caller.terms.clone(), caller.life);
        let purpose = Purpose::Control;
        stream
            .write_all(
                &Hello { terms, from: 2, to: 1, purpose, life, nonce: [1; 16], key: NO_MESSAGE }.encode(),
            )
            .expect("said");
        let mut reply = [0; REPLY_BYTES];
        stream.read_exact(&mut reply).expect("a reply");
        reply.to_vec()
    };
    let echo = |hello: &[u8]| hello.to_vec();
    let http =
        |_: &[u8]| b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec();
    let answers: [(Answer<'_>, bool); 4] =
        [(&echo, true), (&http, true), (&|_| Vec::new(), true), (&|_| recorded.clone(), false)];
    for (answer, again) in answers {
        let socket = TcpListener::bind("127.0.0.1:0").expect("bound");
        let host = socket.local_addr().expect("an address").to_string();
        let caller = Identity::new(&membership(&host, 2)).expect("an identity");
        let why = std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = socket.accept().expect("a caller");
                let mut hello = [0; HELLO_BYTES];
                stream.read_exact(&mut hello).expect("a hello");
                stream.write_all(&answer(&hello)).expect("answered");
            });
            called(&caller, Purpose::Control).expect_err("a stranger is no process")
        });
        assert_eq!(why.starts_with("later"), again, "{why}");
    }
}

#[test]
fn many_strangers_leave_room_for_a_process() {
    let door = Door::open();
    let silent: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(door.host()).expect("connected")).collect();
    let held = called(&door.caller(), Purpose::Control).expect("let in");
    let garbage =
        [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".as_slice(), &[0; PREFIX_BYTES], b"alike-hi", &[255; 500]];
    for (stream, bytes) in silent.iter().zip(garbage.iter().cycle()) {
        // Those that were pushed out already cannot take it.
        let _ = (&mut &*stream).write_all(bytes);
    }
    assert!(called(&door.caller(), Purpose::Control).expect_err("twice").contains("same number"));
    drop((silent, held));
    let until = Instant::now() + Duration::from_secs(5);
    let mut strangers = 0;
    while strangers < 300 && Instant::now() < until {
        strangers += door.arrivals.strangers();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(strangers, 300);
    assert_eq!(door.said().len(), 1, "no line for a stranger");
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200), magic in 0_usize..3) {
        let mut bytes = bytes;
        let magic: &[u8] = [b"".as_slice(), b"alike-hi", b"alike-re"][magic];
        bytes.splice(..magic.len().min(bytes.len()), magic.iter().copied());
        let key = Key::new(None);
        if let Some(hello) = Hello::decode(&bytes) {
            prop_assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        }
        prop_assert!(Reply::decode(&bytes, b"hello", &key).is_none_or(|(_, holds)| !holds));
        prop_assert!(!hello::proof_holds(&bytes, &[b"hello"], &key));
        prop_assert!(hello::read_word(&bytes, &[b"hello"], &key).is_none());
    }

    #[test]
    fn every_bit_of_a_hello_counts(bit in 0..HELLO_BYTES * 8, workers: u32, job: u128, round: u64) {
        let key = Key::new(Some(&Secret::new(b"a secret of some length").expect("long")));
        let mut identity = Identity::new(&membership("a:1", 2)).expect("an identity");
        (identity.terms.workers, identity.terms.job) = (workers, job);
        let (terms, life) = (identity.terms.clone(), identity.life);
        let purpose = if round == u64::MAX { Purpose::Control } else { Purpose::Data(round) };
        let hello = Hello { terms: terms.clone(), from: 2, to: 1, purpose, life, nonce: [3; 16], key: [5; 48] };
        let bytes = hello.encode();
        prop_assert_eq!(bytes.len(), HELLO_BYTES);
        prop_assert_eq!(Hello::decode(&bytes), Some(hello));
        let reply = Reply { terms, process: 1, verdict: Verdict::Welcome, life, nonce: [4; 16], key: [6; 48] };
        let reply_bytes = reply.encode(&bytes, &key);
        prop_assert_eq!(reply_bytes.len(), REPLY_BYTES);
        prop_assert_eq!(Reply::decode(&reply_bytes, &bytes, &key), Some((reply, true)));
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Reply::decode(&reply_bytes, &changed, &key).is_some_and(|(_, holds)| !holds));
        let proof = hello::proof(true, &[&bytes, &reply_bytes], &key);
        prop_assert!(hello::proof_holds(&proof, &[&bytes, &reply_bytes], &key));
        prop_assert!(!hello::proof_holds(&proof, &[&changed, &reply_bytes], &key));
        prop_assert!(hello::read_word(&proof, &[&bytes, &reply_bytes], &key).is_none());
    }
}
