//! Which document of a cluster is kept before another, and the criterion that says so.

use serde::Serialize;

use crate::collection::tables::Tables;
use crate::collection::tables::clusters::{documents_of, places_of};
use crate::collection::tables::components::components;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::member::{Member, decided, keep_order};
use crate::collection::tables::rows::ClusterKey;
use crate::config::{Criterion, Keep};
use crate::document::DocumentName;
use crate::error::Result;
use crate::flow::stored_value;
use crate::read::{Value, exact_integer};

/// Two documents of a cluster in the order of the keep policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preference {
    /// The one that is kept before the other.
    pub kept: DocumentName<'static>,
    /// The other.
    pub before: DocumentName<'static>,
    /// The policy, as `--keep` writes it.
    pub keep: String,
    /// The criterion of the policy that tells the two apart; `None` if all of them find the two equal, and position decides.
    pub criterion: Option<String>,
    /// What was compared of the one that is kept, and of the other.
    pub compared: [Compared; 2],
}

/// What a criterion compares of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Compared {
    /// Bytes of its text.
    Bytes(u64),
    /// A number in the field of the policy.
    Number(f64),
    /// One that is no double.
    Integer(i128),
    /// A string in the field of the policy.
    Text(String),
    /// The load that first brought its id; documents of one load are in the order of their ids.
    Load(u32),
    /// Where it stands in the inputs of a run.
    Place {
        /// The file, as it was named.
        file: String,
        /// The line in it, from 1.
        line: u64,
    },
    /// It has no value in the field of the policy.
    Missing,
}

impl Compared {
    /// The number of a [`Value`].
    pub fn number(floor: f64, above: u16) -> Compared {
        exact_integer(floor, above).map_or(Compared::Number(floor), Compared::Integer)
    }

    fn of(criterion: Option<&Criterion>, member: &Member) -> Compared {
        let document = &member.document;
        match criterion {
            Some(Criterion::Longest | Criterion::Shortest) => Compared::Bytes(document.text_bytes),
            Some(Criterion::Field { .. }) => match stored_value(document.worth, &member.value) {
                Some(Value::Number(floor, above)) => Compared::number(floor, above),
                Some(Value::Text(text)) => Compared::Text(text),
                None => Compared::Missing,
            },
            Some(Criterion::First | Criterion::Last) | None => Compared::Load(document.loads.0),
        }
    }
}

/// Which of two documents is kept before the other.
pub(super) fn preference(
    tables: &Tables,
    keep: &Keep,
    a: &Document,
    b: &Document,
) -> Result<Option<Preference>> {
    let mut ids = [a.id, b.id];
    ids.sort_unstable();
    let named = stored_documents(tables, &ids)?;
    Ok(named.get(&a.id).zip(named.get(&b.id)).map(|(a, b)| preferred(keep, a, b)))
}

/// What the representative of the cluster at a place is kept before: the document that would be the next to stand for it.
pub(super) fn next_best(
    tables: &Tables,
    keep: &Keep,
    representative: &Member,
    at: &ClusterKey,
) -> Result<Option<Preference>> {
    let component = components(tables, &[at.component].into())?;
    let contents: Vec<_> = component.values().flatten().copied().collect();
    let places = places_of(tables, &contents)?;
    let mut documents = documents_of(tables, &component, |content| places.get(&content).copied())?;
    let mut ids = documents.remove(at).unwrap_or_default();
    ids.sort_unstable();
    ids.retain(|id| *id != representative.document.id);
    let others = stored_documents(tables, &ids)?;
    let next = others.values().min_by(|a, b| keep_order(keep, a, b));
    Ok(next.map(|next| preferred(keep, representative, next)))
}

fn preferred(keep: &Keep, a: &Member, b: &Member) -> Preference {
    let (criterion, order) = decided(keep, a, b);
    let [kept, before] = if order.is_le() { [a, b] } else { [b, a] };
    Preference {
        kept: kept.name.clone().into(),
        before: before.name.clone().into(),
        keep: keep.to_string(),
        criterion: criterion.map(Criterion::to_string),
        compared: [kept, before].map(|member| Compared::of(criterion, member)),
    }
}
