//! Files of labels: what is read is in the file, in order, and is the same when it is written and read again.

use std::path::Path;

use alike::error::Error;
use alike::evaluate::{Form, LabelOptions, LabelRows, Labels};

use crate::take;

/// The first bytes say what is said of the file beside itself; the rest is the file, faults in its UTF-8 replaced.
pub fn labels(mut data: &[u8]) {
    let [form, more] = take(&mut data);
    let form = [None, Some(Form::Pairs), Some(Form::Clusters), Some(Form::Marks)][usize::from(form % 4)];
    let wish = LabelOptions {
        form,
        column: (more & 1 != 0).then(|| if more & 2 != 0 { "label" } else { "x" }.to_owned()),
        duplicate: if more & 4 != 0 { vec!["yes".to_owned()] } else { Vec::new() },
    };
    let text = String::from_utf8_lossy(data);
    match Labels::parse(Path::new("labels.tsv"), &text, &wish) {
        Ok(labels) => check(&labels, &text, form),
        Err(error) => {
            assert!(matches!(error, Error::Input { .. } | Error::Config(_)));
            assert!(error.to_string().contains("labels.tsv"), "{error}");
        }
    }
}

fn check(labels: &Labels, text: &str, form: Option<Form>) {
    assert!(form.is_none_or(|form| form == labels.form()));
    let (heading, rows): (&str, Vec<Vec<&str>>) = match &labels.rows {
        LabelRows::Pairs(pairs) => {
            let row = |(a, b, is): &'_ (String, String, bool)| (a.clone(), b.clone(), *is);
            assert_eq!(pairs.iter().map(row).collect::<Vec<_>>(), *pairs);
            ("id_a\tid_b\tgrade", pairs.iter().map(|(a, b, is)| vec![&**a, &**b, grade(*is)]).collect())
        }
        LabelRows::Clusters(clusters) => {
            ("id\tcluster", clusters.iter().map(|(id, label)| vec![&**id, &**label]).collect())
        }
        LabelRows::Marks(marks) => {
            ("id\tmark", marks.iter().map(|(id, is)| vec![&**id, grade(*is)]).collect())
        }
    };
    assert_eq!(rows.len(), labels.lines.len());
    assert!(labels.lines.is_sorted_by(|a, b| a < b));
    assert!(labels.lines.last().is_none_or(|last| *last <= 1 + text.matches('\n').count() as u64));
    assert!(rows.iter().flatten().all(|field| !field.is_empty()), "{rows:?}");
    // Objects can hold what no column can.
    let plain = |field: &&str| field.trim() == *field && !field.contains(['\t', '\n', '\r']);
    if rows.is_empty() || !rows.iter().flatten().all(plain) {
        return;
    }
    let lines: Vec<String> = rows.iter().map(|row| row.join("\t") + "\n").collect();
    let written = format!("{heading}\n{}", lines.concat());
    let read = Labels::parse(Path::new("again.tsv"), &written, &LabelOptions::default()).expect("read again");
    assert_eq!(read.rows, labels.rows, "{written:?}");
}

fn grade(is: bool) -> &'static str {
    if is { "1" } else { "0" }
}
