//! Which fields of the records are observed.

use crate::error::{Error, Result};
use crate::read::{FieldPath, Input, OBSERVED_FIELDS};

/// Fields that are observed where records have them, without being asked for.
const USUAL: [&str; 2] = ["language", "lang"];

/// What is observed of the records of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Fields whose values are counted: at most [`OBSERVED_FIELDS`].
    pub fields: Vec<FieldPath>,
    /// Whether these were asked for, so that one that no record has is worth a word.
    pub asked: bool,
}

impl Observation {
    /// What is observed for a report that was asked for by these fields. If by none: the date and the field to compare within, if
    /// there are such, and a field that languages usually stand in.
    ///
    /// # Errors
    /// [`Error::Config`], with the name of the option, of too many fields or a name that no field can have.
    pub fn new(option: &str, by: &[String], input: &Input) -> Result<Observation> {
        let asked = !by.is_empty();
        let within = if input.is_within_files() { "" } else { &input.within_field };
        let usual = [&*input.date_field, within].into_iter().chain(USUAL);
        let names: Vec<&str> = if asked { by.iter().map(String::as_str).collect() } else { usual.collect() };
        let mut fields: Vec<FieldPath> = Vec::new();
        for name in names.into_iter().filter(|name| asked || !name.is_empty()) {
            if fields.iter().all(|field| field.as_str() != name) {
                let path = FieldPath::parse(name);
                fields.push(path.map_err(|why| Error::config(format!("{option}: {why}")))?);
            }
        }
        if fields.len() > OBSERVED_FIELDS {
            return Err(Error::config(format!(
                "{option}: {} fields; a report is by {OBSERVED_FIELDS} fields at most, so make two reports",
                fields.len()
            )));
        }
        Ok(Observation { fields, asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_observed_unless_something_is_asked_for() {
        let names = |by: &[&str], input: &Input| {
            let by: Vec<String> = by.iter().map(|name| (*name).to_owned()).collect();
            let observation = Observation::new("--report-by", &by, input).map_err(|why| why.to_string())?;
            Ok::<_, String>(
                observation.fields.iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>(),
            )
        };
        let usual = Input::default();
        assert_eq!(names(&[], &usual).expect("fields"), USUAL);
        let dated = Input { date_field: "meta.date".into(), within_field: "lang".into(), ..Input::default() };
        assert_eq!(names(&[], &dated).expect("fields"), ["meta.date", "lang", "language"]);
        let files = Input { within_field: ":file".into(), ..Input::default() };
        assert_eq!(names(&[], &files).expect("fields"), USUAL);
        assert_eq!(names(&["a", "b.c", "a"], &dated).expect("fields"), ["a", "b.c"]);
        for wrong in [&["a", "b", "c", "d", "e"][..], &[""], &["a..b"]] {
            assert!(names(wrong, &usual).is_err_and(|why| why.starts_with("--report-by")), "{wrong:?}");
        }
    }
}
