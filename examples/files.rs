//! Files without their near-duplicates: `cargo run --example files -- crawl/ /tmp/clean`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use alike::Dedup;
use alike::error::{Error, Result};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, out] = arguments.as_slice() else {
        return Err(Error::config("name an input and a folder to be made"));
    };
    let found = Dedup::preset("web")?.files([input])?;
    let summary = found.summary()?;
    found.write(out)?;
    println!("removed {} of {} documents; the others are in {out}/kept", summary.removed, summary.documents);
    Ok(())
}
