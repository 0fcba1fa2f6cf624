//! Equal canonical text only.

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique};
use crate::error::Result;
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;

/// The method of equal texts. It has no parameters, no keys and no pairs.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

impl Technique for Exact {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        None
    }

    fn description(&self, _: &Settings<'_>) -> Description {
        Description {
            unit: "text".to_owned(),
            rule: "equal".to_owned(),
            sentence: "equal canonical text".to_owned(),
            decides: "an equal text decides".to_owned(),
        }
    }

    fn sketcher(&self, _: &Settings<'_>, _: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        Box::new(NoSketch)
    }
}

/// The sketcher of [`Exact`]: it looks at nothing.
struct NoSketch;

impl MethodSketcher for NoSketch {}
