//! Which document of a cluster is kept: criteria in the order they are asked, as they are written and read.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which member of a cluster is kept: the first criterion that tells two documents apart decides, and position decides where none
/// does. Written `first`, `last`, `longest`, `shortest`, `field:NAME:max` or `field:NAME:min`, or several of them with commas
/// between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Keep {
    criteria: Vec<Criterion>,
}

/// What two documents of a cluster are compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The first in document order.
    First,
    /// The last in document order.
    Last,
    /// The one whose text has the most bytes.
    Longest,
    /// The one whose text has the fewest bytes.
    Shortest,
    /// The one with the greatest (or least) value of a field; documents without the field come last.
    /// Numbers compare as numbers, strings as strings, numbers before strings.
    Field {
        /// Path of the field.
        name: String,
        /// Greatest rather than least.
        max: bool,
    },
}

impl Keep {
    /// Some criteria, the one that decides first, if each of them can decide something.
    ///
    /// # Errors
    /// Why they make no policy, for people.
    pub fn of(criteria: Vec<Criterion>) -> Result<Keep, String> {
        if criteria.is_empty() {
            return Err(format!("keep policy without a criterion: expected {EXPECTED}"));
        }
        for (at, later) in criteria.iter().enumerate().skip(1) {
            let earlier = &criteria[..at];
            if let Some(position) = earlier.iter().find(|earlier| earlier.is_position()) {
                return Err(format!(
                    "keep policy: {position} tells any two documents apart, so {later} behind it decides nothing; put {position} at the end"
                ));
            }
            if let Some(same) = earlier.iter().find(|earlier| earlier.compares_what(later)) {
                return Err(format!(
                    "keep policy: {later} compares what {same} before it has compared, and decides nothing; leave it out"
                ));
            }
            if let (Some(first), Criterion::Field { .. }) =
                (earlier.iter().find(|earlier| matches!(earlier, Criterion::Field { .. })), later)
            {
                return Err(format!(
                    "keep policy: {first} and {later} are two fields, and one is read of each document; leave one of them out, or \
                     write both into one field of the records"
                ));
            }
        }
        Ok(Keep { criteria })
    }

    /// The criteria, the one that decides first.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// The path of the field whose value is compared, if one is.
    pub fn field(&self) -> Option<&str> {
        self.criteria.iter().find_map(|criterion| match criterion {
            Criterion::Field { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether lengths of texts are compared.
    pub fn compares_lengths(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Longest | Criterion::Shortest))
    }

    /// Whether the first document in document order is kept, whatever the documents are.
    pub fn is_first(&self) -> bool {
        self.criteria == [Criterion::First]
    }

    /// Orders two documents, the one to keep first. `position` is their document order; `lengths` orders them by the lengths of
    /// their texts, the shorter one first, and `values` by the field, the greater first or the lesser.
    pub fn order(
        &self,
        position: Ordering,
        lengths: impl Fn() -> Ordering,
        values: impl Fn(bool) -> Ordering,
    ) -> Ordering {
        self.decide(position, lengths, values).1
    }

    /// Orders two documents as [`Keep::order`] does, and says which criterion did: none if only position was left.
    pub fn decide(
        &self,
        position: Ordering,
        lengths: impl Fn() -> Ordering,
        values: impl Fn(bool) -> Ordering,
    ) -> (Option<&Criterion>, Ordering) {
        let by = |criterion: &Criterion| match criterion {
            Criterion::First => position,
            Criterion::Last => position.reverse(),
            Criterion::Longest => lengths().reverse(),
            Criterion::Shortest => lengths(),
            Criterion::Field { max, .. } => values(*max),
        };
        let mut orders = self.criteria.iter().map(|criterion| (Some(criterion), by(criterion)));
        orders.find(|(_, order)| order.is_ne()).unwrap_or((None, position))
    }
}

impl Default for Keep {
    fn default() -> Keep {
        Keep::from(Criterion::First)
    }
}

impl From<Criterion> for Keep {
    fn from(criterion: Criterion) -> Keep {
        Keep { criteria: vec![criterion] }
    }
}

impl Criterion {
    /// Whether it tells any two documents apart.
    fn is_position(&self) -> bool {
        matches!(self, Criterion::First | Criterion::Last)
    }

    /// Whether both compare the same of documents.
    fn compares_what(&self, other: &Criterion) -> bool {
        match (self, other) {
            (Criterion::Longest | Criterion::Shortest, Criterion::Longest | Criterion::Shortest) => true,
            (Criterion::Field { name: one, .. }, Criterion::Field { name: another, .. }) => one == another,
            _ => false,
        }
    }
}

/// What a policy may be made of.
const EXPECTED: &str = "first, last, longest, shortest, field:NAME:max or field:NAME:min, or several of them with commas between";

impl FromStr for Keep {
    type Err = String;

    /// A comma may also stand in the name of a field: what begins with `field:` ends where `:max` or `:min` does.
    fn from_str(text: &str) -> Result<Keep, String> {
        let (mut criteria, mut rest) = (Vec::new(), text);
        loop {
            let ends = rest.match_indices(',').map(|(at, _)| at).chain([rest.len()]);
            let mut parsed = ends.map(|end| (end, rest[..end].parse::<Criterion>()));
            let is_field = rest.starts_with("field:");
            let found = match is_field {
                true => parsed.find(|(_, criterion)| criterion.is_ok()),
                false => parsed.next(),
            };
            let Some((end, Ok(criterion))) = found else {
                return Err(format!("keep policy {text:?}: expected {EXPECTED}"));
            };
            criteria.push(criterion);
            match rest.get(end + 1..) {
                Some(behind) => rest = behind,
                None => return Keep::of(criteria),
            }
        }
    }
}

impl FromStr for Criterion {
    type Err = ();

    /// `field:NAME:max` is split at its first and its last colon, since a name may hold colons and dots of its own.
    fn from_str(text: &str) -> Result<Criterion, ()> {
        match text {
            "first" => return Ok(Criterion::First),
            "last" => return Ok(Criterion::Last),
            "longest" => return Ok(Criterion::Longest),
            "shortest" => return Ok(Criterion::Shortest),
            _ => {}
        }
        let (name, end) = text.strip_prefix("field:").and_then(|rest| rest.rsplit_once(':')).ok_or(())?;
        let max = end == "max";
        match !name.is_empty() && (max || end == "min") {
            true => Ok(Criterion::Field { name: name.to_owned(), max }),
            false => Err(()),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::First => f.write_str("first"),
            Criterion::Last => f.write_str("last"),
            Criterion::Longest => f.write_str("longest"),
            Criterion::Shortest => f.write_str("shortest"),
            Criterion::Field { name, max } => {
                write!(f, "field:{name}:{}", if *max { "max" } else { "min" })
            }
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, criterion) in self.criteria.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{criterion}")?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Keep {
    type Error = String;

    fn try_from(text: String) -> Result<Keep, String> {
        text.parse()
    }
}

impl From<Keep> for String {
    fn from(keep: Keep) -> String {
        keep.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, max: bool) -> Criterion {
        Criterion::Field { name: name.into(), max }
    }

    #[test]
    fn reads_what_it_writes() {
        let names = ["date", "meta.date", "dc:date", "a:b.c:d", "max", ":", "x:max", "a,b", "first,last"];
        let fields = names.iter().flat_map(|name| [true, false].map(|max| field(name, max)));
        let lengths = [Criterion::Longest, Criterion::Shortest];
        for value in fields {
            for length in lengths.clone() {
                for end in [Criterion::First, Criterion::Last] {
                    let mut criteria = vec![value.clone(), length.clone(), end];
                    while !criteria.is_empty() {
                        let keep = Keep::of(criteria.clone()).expect("a policy");
                        assert_eq!(keep.to_string().parse(), Ok(keep.clone()), "{keep}");
                        criteria.pop();
                    }
                    let keep = Keep::of(vec![length.clone(), value.clone()]).expect("a policy");
                    assert_eq!(keep.to_string().parse(), Ok(keep.clone()), "{keep}");
                }
            }
        }
    }

    #[test]
    fn splits_at_the_first_and_the_last_colon() {
        let keep = "field:dc:date.issued:min".parse();
        assert_eq!(keep, Ok(Keep::from(field("dc:date.issued", false))));
    }

    #[test]
    fn refuses_what_is_no_policy() {
        for wrong in [
            "",
            "First",
            "field",
            "field:",
            "field:max",
            "field::max",
            "field:date",
            "field:date:most",
            ",",
            "longest,",
            ",first",
            "longest,,first",
            "longest,most",
            "field:date:most,first",
            "longest first",
        ] {
            let message = wrong.parse::<Keep>().expect_err(wrong);
            assert!(message.contains("field:NAME:max"), "{message}");
        }
    }

    #[test]
    fn refuses_what_decides_nothing() {
        let message = |text: &str| text.parse::<Keep>().expect_err(text);
        assert!(message("first,longest").contains("longest behind it decides nothing; put first at the end"));
        assert!(message("longest,last,field:a:max").contains("put last at the end"));
        assert!(message("longest,shortest").contains("shortest compares what longest before it"));
        assert!(message("field:a:max,field:a:min").contains("field:a:min compares what field:a:max"));
        assert!(message("field:a:max,longest,field:b:max").contains("are two fields"));
        assert!(Keep::of(Vec::new()).is_err());
    }

    #[test]
    fn the_first_criterion_that_tells_documents_apart_decides() {
        use Ordering::{Equal, Greater, Less};
        let order = |keep: &str, length: Ordering, value: Ordering| {
            keep.parse::<Keep>().expect(keep).order(Less, || length, |_| value)
        };
        assert_eq!(order("longest,field:a:max", Less, Less), Greater);
        assert_eq!(order("longest,field:a:max", Equal, Greater), Greater);
        assert_eq!(order("field:a:max,shortest,last", Equal, Less), Less);
        assert_eq!(order("field:a:max,shortest,last", Equal, Equal), Greater);
        assert_eq!(order("field:a:max,shortest", Equal, Equal), Less);
        assert_eq!(order("longest", Equal, Less), Less);
    }
}
