//! The server: it accepts, hands on, watches for newer commits, and ends in order.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::checks::{CheckRequest, answered_checks};
use super::connections::Connections;
use super::handle::Desk;
use super::measured::ServerMetrics;
use crate::error::{Error, Result};
use crate::limits::MAX_HEAD_BYTES;
use crate::progress::Progress;
use crate::serve::options::ServeOptions;
use crate::serve::state::served::{ServeWhat, Served};
use crate::serve::state::threads::Threads;
use crate::serve::state::together::QuestionQueue;

/// How long the head of a request may take, and how long a connection may be idle between two.
const HEAD: Duration = Duration::from_secs(10);
/// How often a newer commit is looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is looked whether the server should end.
const STOPPED: Duration = Duration::from_millis(50);
/// How long requests have to end when the server does.
const GRACE: Duration = Duration::from_secs(10);
/// How long nobody is let in when the system lets nobody in, or all are being served.
const REST: Duration = Duration::from_millis(20);

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    desk: Arc<Desk>,
    runtime: Runtime,
}

impl HttpServer {
    /// Opens what is to be served, and listens. `progress` ends the server when it is stopped.
    ///
    /// # Errors
    /// Those of [`crate::collection::Snapshot::open`], or of the lists of an output; [`Error::Io`] if nobody can listen there.
    pub fn open(what: ServeWhat, options: ServeOptions, progress: &Arc<Progress>) -> Result<HttpServer> {
        let place = options.listen.first().map(ToString::to_string).unwrap_or_default();
        let failed = |e| Error::io(Path::new(&place), "listen at", e);
        let listener = TcpListener::bind(options.listen.as_slice()).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let (workers, connections) = (options.workers, Arc::new(Connections::new(options.connections)));
        let served = Arc::new(Served::open(what, options, progress)?);
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers.clamp(1, 4))
            .max_blocking_threads(Threads::most(workers))
            .thread_name("serve")
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed)?;
        let checks = QuestionQueue::new(workers, |requests: Vec<CheckRequest>, progress: &Progress| {
            answered_checks(&requests, progress)
        });
        let (measured, checks) = (ServerMetrics::default(), Arc::new(checks));
        let desk = Arc::new(Desk { served, connections, measured, checks });
        Ok(HttpServer { listener, address, desk, runtime })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `progress` is stopped, and then whoever was asking. A change that is not done by then is given up.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn run(self, progress: &Arc<Progress>) -> Result<()> {
        let HttpServer { listener, address, desk, runtime } = self;
        let served = runtime.block_on(async {
            let failed = |e| Error::io(Path::new(&address.to_string()), "listen at", e);
            let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
            let watch = tokio::spawn(watch(Arc::clone(&desk.served)));
            let graceful = GracefulShutdown::new();
            accept(&listener, &desk, &graceful, progress).await;
            watch.abort();
            drop(listener);
            // Who does not end by then is cut off.
            let _ = timeout(GRACE, graceful.shutdown()).await;
            Ok(())
        });
        // A change that is under way is given up, and nothing is left of it.
        desk.served.changes.stop();
        runtime.shutdown_timeout(GRACE);
        served
    }
}

/// Looks for newer commits.
async fn watch(served: Arc<Served>) {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let served = Arc::clone(&served);
        // One that panics leaves what is served as it is.
        let _ = tokio::task::spawn_blocking(move || served.refresh()).await;
    }
}

/// Lets in who comes.
async fn accept(
    listener: &tokio::net::TcpListener,
    desk: &Arc<Desk>,
    graceful: &GracefulShutdown,
    progress: &Progress,
) {
    let mut swept = Instant::now();
    while !progress.stopped() {
        if swept.elapsed() > LOOK {
            desk.connections.sweep();
            swept = Instant::now();
        }
        let stream = match timeout(STOPPED, listener.accept()).await {
            Ok(Ok((stream, _))) => stream,
            // Somebody who has gone already, or too many files are open.
            Ok(Err(_)) => {
                sleep(REST).await;
                continue;
            }
            Err(_) => continue,
        };
        serve(stream, desk, graceful, progress).await;
    }
}

/// Serves a connection on a task of its own, as soon as there is room for it.
async fn serve(stream: TcpStream, desk: &Arc<Desk>, graceful: &GracefulShutdown, progress: &Progress) {
    let place = loop {
        match desk.connections.admit() {
            Some(place) => break place,
            None if progress.stopped() => return,
            None => sleep(REST).await,
        }
    };
    // Answers are written whole: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let number = place.number();
    let (answering, waiting) = (Arc::clone(desk), Arc::clone(&place.waiting));
    let service = service_fn(move |request: Request<Incoming>| {
        let (desk, waiting) = (Arc::clone(&answering), Arc::clone(&waiting));
        async move { desk.answer(&waiting, request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    let task = tokio::spawn(async move {
        // What a client does wrong on its connection ends that, and nothing else.
        let _ = connection.await;
        drop(place);
    });
    desk.connections.served_by(number, task.abort_handle());
}
