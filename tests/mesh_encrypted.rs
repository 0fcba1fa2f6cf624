//! Somebody between two processes, who reads, changes, repeats or cuts what they send.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::Error;
use alike::mesh::{Membership, Mesh};

use crate::support::meeting::{free, join, member};

/// What is done with some bytes of a connection: they are changed in place, and the answer says whether it goes on.
type Meddle = Arc<dyn Fn(usize, &mut Vec<u8>) -> bool + Send + Sync>;

/// Stands between process 1 and process 0, and meddles with what the former sends: connection 0 is for control, 1 for data.
/// What it has seen of each connection, both ways.
fn between(target: String, meddle: Meddle) -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    thread::spawn(move || {
        let mut connections = 0;
        for near in listener.incoming() {
            let (near, connection) = (near.unwrap(), connections);
            // Process 0 may not listen yet: process 1 calls again.
            let Ok(far) = TcpStream::connect(&target) else { continue };
            connections += 1;
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let (meddle, there, back) = (Arc::clone(&meddle), Arc::clone(&kept), Arc::clone(&kept));
            thread::spawn(move || pass(near, far, &there, |bytes| meddle(connection, bytes)));
            thread::spawn(move || pass(far_too, near_too, &back, |_| true));
        }
    });
    (address, seen)
}

fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    seen: &Mutex<Vec<u8>>,
    meddle: impl Fn(&mut Vec<u8>) -> bool,
) {
    let mut some = vec![0; 1 << 16];
    while let Ok(bytes @ 1..) = from.read(&mut some) {
        let mut passed = some[..bytes].to_vec();
        seen.lock().unwrap().extend_from_slice(&passed);
        let goes_on = meddle(&mut passed);
        if to.write_all(&passed).is_err() || !goes_on {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Processes 0 and 1 with somebody between them: what each makes of `work`, and what was seen.
fn meddled<T: Send>(
    encrypted: bool,
    meddle: impl Fn(usize, &mut Vec<u8>) -> bool + Send + Sync + 'static,
    work: impl Fn(&Mesh) -> T + Sync,
) -> ([T; 2], Vec<u8>) {
    let hosts = free(2);
    let (address, seen) = between(hosts[0].clone(), Arc::new(meddle));
    let timeout = Duration::from_secs(3);
    let own =
        |hosts: &[String], process| Membership { encrypted, peer_timeout: timeout, ..member(hosts, process) };
    let members = [own(&hosts, 0), own(&[address, hosts[1].clone()], 1)];
    let ends = thread::scope(|scope| {
        let start = |member| scope.spawn(|| work(&join(member).0.unwrap()));
        members.map(start).map(|thread| thread.join().unwrap())
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (ends, seen)
}

const WORDS: &[u8] = b"words that nobody else should read";

/// Sends the words through the control connection and through a data socket, both ways, and reads what comes.
fn talk(mesh: &Mesh) -> (Vec<u8>, Vec<u8>) {
    let other = 1 - mesh.process();
    mesh.send(other, 1, WORDS.to_vec()).unwrap();
    let message = mesh.receive(other, 1).unwrap();
    let mut wire = mesh.sockets(0).unwrap().swap_remove(other).unwrap();
    let many = WORDS.repeat(9999);
    let mut received = vec![0; many.len()];
    thread::scope(|scope| {
        let mut sending =
            timely::communication::allocator::zero_copy::stream::Stream::try_clone(&wire).unwrap();
        let many = &many;
        scope.spawn(move || sending.write_all(many).unwrap());
        wire.read_exact(&mut received).unwrap();
    });
    mesh.end(0);
    mesh.leave().unwrap();
    (message, received)
}

#[test]
fn nobody_between_can_read_what_is_encrypted() {
    for encrypted in [true, false] {
        let (ends, seen) = meddled(encrypted, |_, _| true, talk);
        for (message, received) in ends {
            assert!(message == WORDS && received == WORDS.repeat(9999));
        }
        // The words of the plain job are there to be read: the search finds what it looks for.
        assert_eq!(seen.windows(WORDS.len()).any(|some| some == WORDS), !encrypted);
    }
}

/// Waits for a loss, having sent much.
fn awaits_loss(mesh: &Mesh) -> (usize, Error) {
    let other = 1 - mesh.process();
    mesh.send(other, 1, vec![7; 9999]).unwrap();
    let Ok(mut wires) = mesh.sockets(0) else {
        return (mesh.process(), mesh.check().expect_err("a loss"));
    };
    let (begun, mut wire) = (Instant::now(), wires.swap_remove(other).unwrap());
    thread::scope(|scope| {
        scope.spawn(|| {
            // Either may fail, once the run is over.
            let _ = wire.write_all(&[7; 9999]);
            let _ = wire.read_to_end(&mut Vec::new());
        });
        while mesh.check().is_ok() && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(20));
        }
        mesh.end(0);
        mesh.cut(0);
    });
    (mesh.process(), mesh.check().expect_err("a loss"))
}

#[test]
#[cfg_attr(alike_tiny, ignore = "tells the hello from what follows by its length")]
fn what_is_changed_on_the_way_is_noticed() {
    // The bytes of a hello are over after a few hundred; what comes then is much.
    for connection in [0, 1] {
        let changed = move |at: usize, bytes: &mut Vec<u8>| {
            if at == connection && bytes.len() > 1000 {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            true
        };
        let (ends, _) = meddled(true, changed, awaits_loss);
        let said = ends.map(|(process, error)| format!("{process} {error}"));
        assert!(said[0].contains("changed on the way"), "{said:?}");
    }
}

#[test]
fn data_that_is_cut_is_noticed_though_the_control_connection_stands() {
    for encrypted in [true, false] {
        let cut = |at: usize, bytes: &mut Vec<u8>| {
            let goes_on = at != 1 || bytes.len() < 1000;
            bytes.truncate(if goes_on { bytes.len() } else { 900 });
            goes_on
        };
        let (ends, _) = meddled(encrypted, cut, awaits_loss);
        let said = ends.map(|(process, error)| format!("{process} {error}"));
        assert!(said.iter().any(|said| said.contains("a connection for data")), "{said:?}");
    }
}
