//! The frozen tables of a run that brings none: a rarity table of a sample of its inputs, and its lexicon.

use std::sync::Arc;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::flow::intake::sample::sample_rarity;
use crate::lexicon::Lexicon;
use crate::method::FrozenTables;
use crate::peers::Peers;
use crate::read::{Fields, Source};
use crate::simd::Simd;
use crate::sketch::Rarity;

/// What tables are made of.
pub struct TableInputs<'a> {
    /// The inputs, in document order.
    pub sources: &'a [Source],
    /// Where in a record its text and its other fields are.
    pub fields: &'a Arc<Fields>,
    /// What decides which tables there are.
    pub config: &'a Config,
    /// The lexicon, in process 0.
    pub lexicon: Option<Arc<Lexicon>>,
    /// Whether keys are taken in the order of how common they are.
    pub rarity: bool,
    /// Vector instructions to use.
    pub simd: Simd,
    /// Threads that sample the inputs.
    pub workers: usize,
    /// About as many bytes of text there is room to sample.
    pub most: u64,
}

/// The tables of a run: process 0 makes them, for all.
pub fn make_tables(inputs: TableInputs<'_>, peers: Option<&Peers>) -> Result<FrozenTables> {
    let (config, wanted) = (inputs.config, inputs.rarity);
    let Some(mesh) = peers.map(Peers::mesh) else { return make_here(inputs) };
    let (rarity, lexicon) = match mesh.process() {
        0 => make_here(inputs)?.to_bytes(wanted),
        _ => Default::default(),
    };
    let rarity = match wanted {
        true => Rarity::of_bytes(&mesh.broadcast(rarity)?)
            .ok_or_else(|| Error::Worker("process 0 sent no table of common shingles".into()))?,
        false => Rarity::default(),
    };
    let lexicon = if config.needs_lexicon() { mesh.broadcast(lexicon)? } else { lexicon };
    FrozenTables::of_parts(rarity, lexicon)
}

fn make_here(inputs: TableInputs<'_>) -> Result<FrozenTables> {
    let TableInputs { sources, fields, config, lexicon, rarity, simd, workers, most } = inputs;
    let mut frozen_tables = FrozenTables { lexicon, ..FrozenTables::default() };
    // Without the lexicon that it needs, a run of any document is refused.
    let ready = frozen_tables.lexicon.is_some() || !config.needs_lexicon();
    if rarity && ready {
        let rarity =
            sample_rarity(sources, fields, config, frozen_tables.lexicon.as_ref(), simd, workers, most)?;
        frozen_tables.rarity = Arc::new(rarity);
    }
    Ok(frozen_tables)
}
