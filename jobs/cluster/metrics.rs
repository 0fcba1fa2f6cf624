//! What others may know of a process while it works: its metrics, and that it lives.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use alike::error::{Error, Result};
use alike::mesh::{Contact, Mesh};
use alike::metrics::{Metric, MetricKind, MetricsPage};
use alike::progress::{Progress, Stage};
use alike::system_memory::{peak_memory, resident_memory};

use crate::cluster::endpoint::{Answer, listen, listen_addresses, serve};

/// What is measured of a process, from its start to its end.
pub(crate) struct ProcessMetrics {
    command: &'static str,
    process: usize,
    begun: Instant,
    now: Mutex<Now>,
}

/// Whom to ask.
#[derive(Default)]
struct Now {
    progress: Option<Arc<Progress>>,
    workers: usize,
    peers: KnownPeers,
}

/// The other processes.
#[derive(Default)]
enum KnownPeers {
    #[default]
    None,
    Met(Weak<Mesh>),
    /// As they were when the job was over.
    Left(Vec<Contact>),
}

impl ProcessMetrics {
    /// Process `process` of a command, which has just begun.
    pub(crate) fn new(command: &'static str, process: usize) -> Arc<ProcessMetrics> {
        Arc::new(ProcessMetrics { command, process, begun: Instant::now(), now: Mutex::default() })
    }

    /// Answers at `address` from now on; where it listens, if that was left to the system.
    pub(crate) fn open(
        self: &Arc<ProcessMetrics>,
        address: &str,
        above: usize,
    ) -> Result<Option<SocketAddr>> {
        let wrong = |what: &str| Error::config(format!("--metrics {address}: {what}"));
        let found = listen_addresses("--metrics", address, above)?;
        let port = found[0].port();
        let failed = |e: std::io::Error| {
            wrong(&format!("cannot listen at port {port} ({e}); take another one, or 0 for any that is free"))
        };
        let (listener, listens) = listen(&found).map_err(failed)?;
        let told = Arc::clone(self);
        serve(listener, Box::new(move |path| told.answer(path))).map_err(failed)?;
        Ok((port == 0).then_some(listens))
    }

    /// The job is under way.
    pub(crate) fn begin(&self, progress: &Arc<Progress>, workers: usize) {
        let mut now = self.now();
        (now.progress, now.workers) = (Some(Arc::clone(progress)), workers);
    }

    /// The others are there.
    pub(crate) fn meet(&self, mesh: &Arc<Mesh>) {
        self.now().peers = KnownPeers::Met(Arc::downgrade(mesh));
    }

    /// The others are asked no more.
    pub(crate) fn leave(&self, mesh: &Mesh) {
        self.now().peers = KnownPeers::Left(mesh.contacts());
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, path: &str) -> Answer {
        match path {
            "/metrics" => Answer {
                status: "200 OK",
                content: "text/plain; version=0.0.4; charset=utf-8",
                body: self.page().text(),
            },
            "/healthz" => Answer::text("200 OK", "ok"),
            _ => Answer::text("404 Not Found", "expected /metrics or /healthz"),
        }
    }

    /// All values as they are.
    fn page(&self) -> MetricsPage {
        let process = self.process.to_string();
        let mut page = MetricsPage::new(&[("process", &process), ("command", self.command)]);
        page.add(Metric::Info, &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        page.add(Metric::Uptime, &[], self.begun.elapsed().as_secs_f64());
        for (metric, bytes) in
            [(Metric::MemoryResident, resident_memory()), (Metric::MemoryPeak, peak_memory())]
        {
            bytes.into_iter().for_each(|bytes| page.add(metric, &[], bytes as f64));
        }
        let now = self.now();
        page.add(Metric::Workers, &[], now.workers as f64);
        now.progress.iter().for_each(|progress| of_run(&mut page, progress));
        let contacts = match &now.peers {
            KnownPeers::None => Vec::new(),
            KnownPeers::Met(mesh) => mesh.upgrade().map(|mesh| mesh.contacts()).unwrap_or_default(),
            KnownPeers::Left(contacts) => contacts.clone(),
        };
        of_peers(&mut page, &contacts);
        page
    }
}

/// What a run counts.
fn of_run(page: &mut MetricsPage, progress: &Progress) {
    let labelled = [Metric::StageSeconds, Metric::WireSent, Metric::WireReceived];
    for metric in Metric::ALL {
        if metric.kind() == MetricKind::Counter && !labelled.contains(metric) {
            page.add(*metric, &[], progress.metrics().get(*metric) as f64);
        }
    }
    let (present, done, work) = progress.now();
    page.add(Metric::StageDone, &[], done as f64);
    page.add(Metric::StageWork, &[], work as f64);
    for (stage, seconds) in Stage::ALL.iter().zip(progress.stage_seconds()) {
        let labels = [("stage", stage.name())];
        page.add(Metric::StageSeconds, &labels, seconds);
        page.add(Metric::Stage, &labels, f64::from(u8::from(*stage == present)));
    }
}

fn of_peers(page: &mut MetricsPage, contacts: &[Contact]) {
    let alive = contacts.iter().filter(|contact| contact.alive).count();
    page.add(Metric::Peers, &[], contacts.len() as f64);
    page.add(Metric::PeersAlive, &[], alive as f64);
    for Contact { process, traffic, silence, .. } in contacts {
        let peer = process.to_string();
        for (channel, sent, received) in [
            ("data", traffic.data_sent, traffic.data_received),
            ("control", traffic.control_sent, traffic.control_received),
        ] {
            let labels = [("peer", peer.as_str()), ("channel", channel)];
            page.add(Metric::WireSent, &labels, sent as f64);
            page.add(Metric::WireReceived, &labels, received as f64);
        }
        let silence = silence.iter().map(std::time::Duration::as_secs_f64);
        silence.for_each(|seconds| page.add(Metric::PeerSilence, &[("peer", &peer)], seconds));
    }
}
