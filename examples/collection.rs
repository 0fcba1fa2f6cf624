//! A collection that changes, and the clusters that follow: `cargo run --example collection`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use alike::Collection;
use alike::error::{Error, Result};

fn main() -> Result<()> {
    let folder =
        tempfile::tempdir().map_err(|error| Error::io(&std::env::temp_dir(), "create a folder in", error))?;
    let archive = Collection::at(folder.path().join("archive"));
    let monday = "The river rose by two metres overnight and the old bridge was closed to all traffic.";
    let tuesday = "The river rose by two metres overnight, and the old bridge was closed to all traffic!";
    archive
        .load([("monday", monday), ("weather", "Rain in the north, sun in the south, wind on the coast.")])?;
    let report = archive.load([("tuesday", tuesday)])?;
    println!("{} documents, {} cluster", report.documents, report.clusters);
    for cluster in archive.clusters()? {
        println!("cluster {}: {}", cluster.cluster, cluster.members.join(", "));
    }
    for document in archive.check(monday)? {
        println!("monday's text resembles {}", document.id);
    }
    archive.delete(["monday"])?;
    println!("after the deletion: {} clusters", archive.clusters()?.len());
    Ok(())
}
