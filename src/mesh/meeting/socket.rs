//! Addresses, and the options of connections.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limits::{BIND_MILLIS, CONNECT_MILLIS};

/// Listens on `host` and on nothing else. A name that is not known yet is asked for until `deadline`, an address that
/// is taken or not this machine's is tried for a while: whoever had it may be ending.
pub(in crate::mesh) fn listen(host: &str, deadline: Instant, say: &dyn Fn(&str)) -> Result<TcpListener> {
    let begun = Instant::now();
    let taken_until = deadline.min(begun + Duration::from_millis(BIND_MILLIS));
    let mut said = false;
    loop {
        let (error, until) = match addresses(host) {
            Err(error) => (error, deadline),
            Ok(addresses) => match TcpListener::bind(&addresses[..]) {
                Ok(listener) => return Ok(listener),
                Err(error) => (error, taken_until),
            },
        };
        if Instant::now() >= until {
            let text = format!(
                "cannot listen on {host}: {error}; the line of the hosts file that has this process's number must \
                 be an address of this machine that no other program uses, or --listen must name one"
            );
            return Err(Error::Join { refused: true, what: text });
        }
        if !said && begun.elapsed() > Duration::from_secs(2) {
            say(&format!("cannot listen on {host} yet: {error}"));
            said = true;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Connects to `host`, trying each address of its name.
pub(in crate::mesh) fn connect(host: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses(host)? {
        match TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MILLIS)) {
            // On one machine a socket whose own port is the one it calls is connected to itself.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {
                failure = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn addresses(host: &str) -> io::Result<Vec<SocketAddr>> {
    let addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(addresses)
}

/// Makes a connection blocking, undelayed, and known to the system as lost when the other side has not answered for
/// `timeout`.
pub(in crate::mesh) fn prepare(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    stream.set_nodelay(true)?;
    notice_loss(stream, timeout)
}

/// Probes an idle connection, and gives unanswered bytes up after `timeout`.
#[cfg(target_os = "linux")]
fn notice_loss(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    use rustix::net::sockopt;

    // The system counts in whole seconds here, from 1.
    let probe = Duration::from_secs((timeout.as_secs() / 4).max(1));
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, probe)?;
    sockopt::set_tcp_keepintvl(stream, probe)?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
    Ok(sockopt::set_tcp_user_timeout(stream, millis)?)
}

/// Elsewhere the heartbeats of the control connection alone notice a loss.
#[cfg(not(target_os = "linux"))]
fn notice_loss(_stream: &TcpStream, _timeout: Duration) -> io::Result<()> {
    Ok(())
}

/// Whether the other side of a connection on which nothing is read yet still holds it.
pub(in crate::mesh) fn is_open(stream: &TcpStream) -> bool {
    let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let open = match peeked {
        Ok(bytes) => bytes > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).is_ok() && open
}
