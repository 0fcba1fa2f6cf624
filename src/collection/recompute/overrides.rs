//! What may be asked of stored documents in place of the collection's own configuration.

use crate::config::{Clustering, Config, Keep, Method};
use crate::error::{Error, Result};
use crate::threshold::Threshold;

/// Another threshold, keep policy or clustering than those of the collection; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryOverrides {
    /// Least resemblance (or containment), at or over the collection's.
    pub threshold: Option<Threshold>,
    /// Which document of a cluster stands for it.
    pub keep: Option<Keep>,
    /// How pairs become clusters.
    pub clustering: Option<Clustering>,
}

/// The configuration of a collection with overrides laid over it.
///
/// # Errors
/// [`Error::Config`] if the method has no threshold, if the threshold is below the collection's, or if what the keep
/// policy compares is not stored.
pub fn overridden(config: &Config, overrides: &QueryOverrides) -> Result<Config> {
    let mut overridden = config.clone();
    if let Some(threshold) = overrides.threshold {
        check_threshold(config, threshold)?;
        overridden.threshold = threshold;
    }
    if let Some(keep) = &overrides.keep {
        check_keep(&config.cluster.keep, keep)?;
        overridden.cluster.keep = keep.clone();
    }
    if let Some(clustering) = overrides.clustering {
        overridden.cluster.clustering = clustering;
    }
    Ok(overridden)
}

/// Only where a threshold decides can another one be asked for, and then a higher one: the clusters at a higher one are
/// parts of those that the collection has.
fn check_threshold(config: &Config, threshold: Threshold) -> Result<()> {
    let message = match config.method {
        Method::Exact => {
            "the collection has method exact, which has no threshold: its documents have equal texts or are nothing to \
             each other; leave the threshold out"
                .to_owned()
        }
        method if !config.has_threshold() => format!(
            "the collection has method {method} without verify, which has no threshold; leave the threshold out"
        ),
        _ if threshold.is_below(config.threshold) => format!(
            "threshold {threshold}: the collection was made for {}, and tells of that and higher ones, whose clusters are \
             parts of its own; choose one of these, or load the documents into a collection with the lower threshold",
            config.threshold
        ),
        _ => return Ok(()),
    };
    Err(Error::Config(message))
}

/// Of each document the bytes of its text are stored, and of its fields the one that the collection's policy compares;
/// either end of an order may be kept.
fn check_keep(stored: &Keep, asked: &Keep) -> Result<()> {
    let possible = asked.field().is_none() || asked.field() == stored.field();
    if possible {
        return Ok(());
    }
    Err(Error::config(format!(
        "keep policy {asked}: of fields the collection stores only what its own policy, {stored}, compares; choose that \
         one, first, last, longest or shortest, or several of them, or make a collection with the other policy"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Criterion, Verify};

    fn config(method: Method, verify: bool, keep: &str) -> Config {
        let mut config = Config { method, ..Config::default() };
        config.verify = if verify { Verify::Resemblance } else { Verify::None };
        config.cluster.keep = keep.parse().expect("a policy");
        config
    }

    fn raised(method: Method, verify: bool, threshold: &str) -> Result<Config> {
        let threshold = Some(threshold.parse().expect("a threshold"));
        overridden(
            &config(method, verify, "first"),
            &QueryOverrides { threshold, ..QueryOverrides::default() },
        )
    }

    #[test]
    fn thresholds_may_rise_where_there_are_any() {
        for (method, verify) in [(Method::Join, false), (Method::Minhash, true), (Method::Shingles, false)] {
            for higher in ["0.8", "0.800001", "1"] {
                let config = raised(method, verify, higher).expect("higher");
                assert_eq!(config.threshold, higher.parse().expect("a threshold"));
            }
            let lower = raised(method, verify, "0.799999").expect_err("lower").to_string();
            assert!(lower.contains("0.799999") && lower.contains("0.8,"), "{lower}");
        }
        for (method, verify) in [(Method::Exact, false), (Method::Minhash, false)] {
            let none = raised(method, verify, "0.9").expect_err("no threshold").to_string();
            assert!(none.contains("has no threshold"), "{none}");
        }
    }

    #[test]
    fn policies_need_what_they_compare() {
        let policies = [
            "first",
            "last",
            "longest",
            "shortest,last",
            "field:date:max",
            "longest,field:date:min",
            "field:x:max",
        ];
        let possible = |stored: &str| -> Vec<&str> {
            let asked = |keep: &&&str| {
                let keep = Some(keep.parse().expect("a policy"));
                overridden(
                    &config(Method::Join, false, stored),
                    &QueryOverrides { keep, ..QueryOverrides::default() },
                )
                .is_ok()
            };
            policies.iter().filter(asked).copied().collect()
        };
        assert_eq!(possible("first"), policies[..4]);
        assert_eq!(possible("shortest"), policies[..4]);
        assert_eq!(possible("field:date:min"), policies[..6]);
        assert_eq!(possible("shortest,field:date:min,last"), policies[..6]);
    }

    #[test]
    fn what_is_not_chosen_stays() {
        let config = config(Method::Join, false, "longest");
        assert_eq!(overridden(&config, &QueryOverrides::default()).expect("nothing chosen"), config);
        let overrides =
            QueryOverrides { clustering: Some(Clustering::Transitive), ..QueryOverrides::default() };
        let chosen = overridden(&config, &overrides).expect("a clustering");
        assert_eq!(
            (chosen.cluster.clustering, chosen.cluster.keep),
            (Clustering::Transitive, Criterion::Longest.into())
        );
    }
}
