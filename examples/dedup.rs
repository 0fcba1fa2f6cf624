//! Near-duplicates of a few texts in memory: `cargo run --example dedup`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use alike::Dedup;
use alike::error::Result;

fn main() -> Result<()> {
    let texts = [
        "The committee met on Tuesday and adopted the budget for the coming year without a vote.",
        "The clocks were striking thirteen on a bright cold day in April.",
        "The committee met on Tuesday, and adopted the budget for the coming year without any vote.",
    ];
    let found = Dedup::new().ngram(2).threshold("0.6")?.texts(texts)?;
    for duplicate in &found.duplicates {
        let resemblance = duplicate.resemblance.unwrap_or_default();
        println!("text {} resembles text {} ({resemblance:.2})", duplicate.text, duplicate.kept);
    }
    println!("kept: {:?}", found.kept);
    Ok(())
}
