//! Which form an answer has: a page for people, or data for programs.

use http::HeaderMap;
use http::header::ACCEPT;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// JSON.
    Data,
    /// HTML.
    Page,
}

/// How much a client wants something: the weight it gives, and by how exact a name. What it does not name it does not want.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Wanted {
    weight: f32,
    exactness: u8,
}

impl AnswerForm {
    /// The form that a client asks for: a page only if it wants one more than data.
    pub(super) fn asked(headers: &HeaderMap) -> AnswerForm {
        let accepted: Vec<&str> =
            headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let accepted = accepted.join(",");
        let (page, data) = (wanted(&accepted, "text", "html"), wanted(&accepted, "application", "json"));
        if page.exactness > 0 && page.weight > 0.0 && page > data {
            AnswerForm::Page
        } else {
            AnswerForm::Data
        }
    }
}

/// How much a media type is wanted. The most exact name counts.
fn wanted(accepted: &str, kind: &str, form: &str) -> Wanted {
    let mut found = Wanted::default();
    let mut named = None;
    for range in accepted.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let Some((of, what)) = parts.next().and_then(|name| name.split_once('/')) else { continue };
        let exactness = match (of.eq_ignore_ascii_case(kind), what.eq_ignore_ascii_case(form), of, what) {
            (true, true, ..) => 2,
            (true, _, _, "*") => 1,
            (_, _, "*", "*") => 0,
            _ => continue,
        };
        let given = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = given.map_or(1.0, |weight| weight.parse().unwrap_or(0.0));
        if named.is_none_or(|known| exactness > known) {
            named = Some(exactness);
            found = Wanted { weight, exactness };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_for_those_who_want_one() {
        let asked = |accept: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, http::HeaderValue::from_static(value));
            }
            AnswerForm::asked(&headers)
        };
        for page in [
            // Firefox, Chrome, and others.
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"][..],
            &[
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
            ],
            &["text/html"],
            &["TEXT/HTML"],
            &["text/html, */*"],
            &["text/*"],
            &["application/json;q=0.5, text/html;q=0.6"],
            &["application/json;q=0.5", "text/html"],
        ] {
            assert_eq!(asked(page), AnswerForm::Page, "{page:?}");
        }
        for data in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/json"],
            &["application/json, text/html"],
            &["application/json, text/html;q=0.9"],
            &["text/html;q=0"],
            &["text/html;q=0.5, */*"],
            &["text/html;q=x"],
            &["image/png"],
            &["html"],
            &["application/*, text/*;q=0.1"],
        ] {
            assert_eq!(asked(data), AnswerForm::Data, "{data:?}");
        }
    }
}
