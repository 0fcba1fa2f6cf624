//! Texts held against the collection.

use serde::{Deserialize, Serialize};

use crate::collection::{AskedText, Resembled};
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;
use crate::serve::http::query::MOST_RESULTS;
use crate::serve::state::commit::ServedCommit;

/// Most texts of a request.
const MOST_TEXTS: usize = 1000;
/// Texts that are looked up together.
const TOGETHER: usize = 64;
/// Most documents that an answer names, of all texts.
const MOST_NAMED: usize = 10 * MOST_RESULTS;

/// A text, or several of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckAsked {
    text: Option<String>,
    texts: Option<Vec<String>>,
    /// The value of the field that documents must share, of all these texts.
    within: Option<ValueAsked>,
}

/// A value as records may have it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ValueAsked {
    Text(String),
    Number(serde_json::Number),
}

impl ValueAsked {
    /// As it is spelt.
    fn spelt(&self) -> String {
        match self {
            ValueAsked::Text(text) => text.clone(),
            ValueAsked::Number(number) => number.to_string(),
        }
    }
}

impl CheckAsked {
    /// One text, with its value of the field that documents must share, if it has one.
    pub fn one(text: String, within: Option<String>) -> CheckAsked {
        CheckAsked { text: Some(text), texts: None, within: within.map(ValueAsked::Text) }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// What a text resembles.
#[derive(Debug, Serialize)]
pub struct CheckedAnswer {
    /// The documents: those of the same text first, then the closest.
    pub resembles: Vec<Resembled>,
    /// Documents behind these, which are not listed.
    #[serde(skip_serializing_if = "is_none")]
    pub not_listed: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// What texts resemble.
#[derive(Debug, Serialize)]
pub struct CheckPage {
    /// Number of the commit.
    pub commit: u64,
    /// The field that documents must share, and the value of the texts, if documents are compared so.
    #[serde(skip)]
    pub within: Option<(String, String)>,
    /// What the one text resembles.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub one: Option<CheckedAnswer>,
    /// What each of several texts resembles, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts: Option<Vec<CheckedAnswer>>,
}

/// Holds what was asked for against a commit.
///
/// # Errors
/// 400, 422, and those of the collection.
pub fn check(commit: &ServedCommit, asked: &CheckAsked, progress: &Progress) -> Result<CheckPage, HttpError> {
    let texts = match (&asked.text, &asked.texts) {
        (Some(text), None) => std::slice::from_ref(text),
        (None, Some(texts)) => texts.as_slice(),
        _ => {
            return Err(HttpError::bad(
                "expected either \"text\", a string, or \"texts\", an array of strings",
            ));
        }
    };
    check_within(commit, asked)?;
    if texts.len() > MOST_TEXTS {
        let what = format!("{} texts are more than {MOST_TEXTS}; send them in parts", texts.len());
        return Err(HttpError::new(http::StatusCode::UNPROCESSABLE_ENTITY, what));
    }
    let within = asked.within.as_ref().map(ValueAsked::spelt);
    let within = within.as_deref();
    let mut answers: Vec<CheckedAnswer> = Vec::with_capacity(texts.len());
    let mut room = MOST_NAMED;
    for texts in texts.chunks(TOGETHER) {
        let texts: Vec<AskedText<'_>> =
            texts.iter().map(|text| AskedText { text, within, ..AskedText::default() }).collect();
        commit.with_checker(|checker| {
            checker.check_each(&texts, progress, &mut |resembles| {
                answers.push(listed(resembles, &mut room));
                Ok(())
            })
        })?;
    }
    let page = empty_page(commit, within);
    Ok(match asked.text {
        Some(_) => CheckPage { one: answers.pop(), ..page },
        None => CheckPage { texts: Some(answers), ..page },
    })
}

/// Holds texts against a commit that each come alone, in their order.
///
/// # Errors
/// As [`check`] has them of any of the texts.
pub fn check_together(
    commit: &ServedCommit,
    asked: &[&CheckAsked],
    progress: &Progress,
) -> Result<Vec<CheckPage>, HttpError> {
    asked.iter().try_for_each(|asked| check_within(commit, asked))?;
    let within: Vec<Option<String>> =
        asked.iter().map(|asked| asked.within.as_ref().map(ValueAsked::spelt)).collect();
    let texts = asked.iter().zip(&within).map(|(asked, within)| AskedText {
        text: asked.text().unwrap_or_default(),
        within: within.as_deref(),
        ..AskedText::default()
    });
    let texts: Vec<AskedText<'_>> = texts.collect();
    let mut answers: Vec<CheckedAnswer> = Vec::with_capacity(texts.len());
    commit.with_checker(|checker| {
        checker.check_each(&texts, progress, &mut |resembles| {
            answers.push(listed(resembles, &mut { MOST_NAMED }));
            Ok(())
        })
    })?;
    let pages = answers.into_iter().zip(&within);
    let pages =
        pages.map(|(one, within)| CheckPage { one: Some(one), ..empty_page(commit, within.as_deref()) });
    Ok(pages.collect())
}

/// Refuses a value of a field where documents are not compared by any.
fn check_within(commit: &ServedCommit, asked: &CheckAsked) -> Result<(), HttpError> {
    match asked.within.is_some() && commit.snapshot().manifest().config.input.within_field.is_empty() {
        true => {
            Err(HttpError::bad("\"within\" is for collections that were made with --within; leave it out"))
        }
        false => Ok(()),
    }
}

/// As many documents as an answer has room for.
fn listed(mut resembles: Vec<Resembled>, room: &mut usize) -> CheckedAnswer {
    let all = resembles.len();
    resembles.truncate(MOST_RESULTS.min(*room));
    *room -= resembles.len();
    CheckedAnswer { not_listed: all - resembles.len(), resembles }
}

/// A page without answers.
fn empty_page(commit: &ServedCommit, within: Option<&str>) -> CheckPage {
    let field = &commit.snapshot().manifest().config.input.within_field;
    CheckPage {
        commit: commit.number(),
        within: (!field.is_empty()).then(|| (field.clone(), within.unwrap_or_default().to_owned())),
        one: None,
        texts: None,
    }
}
