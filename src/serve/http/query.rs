//! What stands behind the question mark, and percent signs.

use std::fmt::Display;
use std::str::FromStr;

use http::StatusCode;

use super::answer::HttpError;

/// Most results of a page.
pub(in crate::serve) const MOST_RESULTS: usize = 1000;
/// Results of a page, if nobody says.
const RESULTS: usize = 100;

/// The parameters of a request, each once.
#[derive(Debug, Default)]
pub(in crate::serve) struct Query(Vec<(String, String)>);

/// Bytes behind percent signs, and blanks behind plus signs where these are a form.
pub(super) fn decoded(text: &str, form: bool) -> Result<String, HttpError> {
    let wrong = || HttpError::bad("the address has a percent sign that is no byte of UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
                (high * 16 + low) as u8
            }
            b'+' if form => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// A field of a form that was sent, and another one that may be left out or empty. Browsers make line breaks two characters.
///
/// # Errors
/// 400.
pub(super) fn form_fields(
    bytes: &[u8],
    name: &str,
    other: &str,
) -> Result<(String, Option<String>), HttpError> {
    let wrong = || HttpError::bad(format!("expected a form with the field {name:?}"));
    let form = std::str::from_utf8(bytes).map_err(|_| wrong())?;
    let query = Query::parse(Some(form), &[name, other])?;
    let field = query.get(name).ok_or_else(wrong)?.replace("\r\n", "\n");
    Ok((field, query.get(other).filter(|value| !value.is_empty()).map(str::to_owned)))
}

impl Query {
    /// The parameters, of which only those of a list are known.
    ///
    /// # Errors
    /// 400.
    pub(in crate::serve) fn parse(text: Option<&str>, known: &[&str]) -> Result<Query, HttpError> {
        let mut found: Vec<(String, String)> = Vec::new();
        for part in text.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name, true)?, decoded(value, true)?);
            if !known.contains(&name.as_str()) {
                let known = match known {
                    [] => "it takes none".to_owned(),
                    known => format!("it takes {}", known.join(", ")),
                };
                return Err(HttpError::bad(format!("there is no parameter {name:?} here; {known}")));
            }
            if found.iter().any(|(other, _)| *other == name) {
                return Err(HttpError::bad(format!("parameter {name:?} is given twice")));
            }
            found.push((name, value));
        }
        Ok(Query(found))
    }

    /// The value of a parameter.
    pub(in crate::serve) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All of them, in their order.
    pub(in crate::serve) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a parameter that has to be given.
    ///
    /// # Errors
    /// 400.
    pub(in crate::serve) fn needed(&self, name: &str) -> Result<&str, HttpError> {
        self.get(name).ok_or_else(|| HttpError::bad(format!("parameter {name:?} is missing")))
    }

    /// The value of a parameter as what it should be.
    ///
    /// # Errors
    /// 400.
    pub(in crate::serve) fn parsed<T: FromStr<Err: Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, HttpError> {
        let parse = |value: &str| {
            value.parse().map_err(|why| HttpError::bad(format!("parameter {name:?}, {value:?}: {why}")))
        };
        self.get(name).map(parse).transpose()
    }

    /// Results of a page.
    ///
    /// # Errors
    /// 400.
    pub(in crate::serve) fn limit(&self) -> Result<usize, HttpError> {
        match self.parsed("limit")? {
            None => Ok(RESULTS),
            Some(limit) if (1..=MOST_RESULTS).contains(&limit) => Ok(limit),
            Some(_) => Err(HttpError::new(
                StatusCode::BAD_REQUEST,
                format!("parameter \"limit\" is from 1 to {MOST_RESULTS}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_or_refused() {
        let known = ["a", "limit"];
        let query = Query::parse(Some("a=x%26+%E4%B8%AD&limit=7"), &known).expect("good");
        assert_eq!((query.get("a"), query.limit().expect("good")), (Some("x& \u{4e2d}"), 7));
        assert_eq!(Query::parse(None, &known).expect("good").limit().expect("good"), RESULTS);
        for wrong in ["b=1", "a=1&a=2", "a=%zz", "a=%f", "a=%ff"] {
            assert!(Query::parse(Some(wrong), &known).is_err(), "{wrong}");
        }
        for wrong in ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit="] {
            assert!(Query::parse(Some(wrong), &known).expect("parameters").limit().is_err(), "{wrong}");
        }
    }
}
