//! What a server of objects does with what is written to it, as S3 does: uploads in parts that nobody sees before they are complete,
//! and what may go wrong with them.

use std::collections::BTreeMap;

use super::server::{Answer, Request};

/// What goes wrong with what is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WriteFault {
    /// So many requests of every kind are answered by this status, and then none.
    Status(u16, usize),
    /// Parts are answered by this status.
    Parts(u16),
    /// After so many were completed, completing is answered by this status.
    CompletedAfter(usize, u16),
    /// The same, and nothing can be removed.
    StuckAfter(usize, u16),
    /// After so many parts none is ever answered.
    SilentAfter(usize),
    /// While parts arrive, somebody else writes an object of this name.
    Appears(&'static str),
}

/// Uploads, and what was done.
#[derive(Default)]
pub(super) struct Uploads {
    pub(super) fault: Option<WriteFault>,
    pub(super) parts: usize,
    begun: BTreeMap<String, (String, BTreeMap<usize, Vec<u8>>)>,
    made: usize,
    completed: usize,
}

impl Uploads {
    /// How many are neither complete nor given up.
    pub(super) fn open(&self) -> usize {
        self.begun.len()
    }

    /// Has this go wrong from now on.
    pub(super) fn begin(&mut self, fault: WriteFault) {
        (self.fault, self.completed) = (Some(fault), 0);
    }

    /// The status that this request is answered by whatever it asks.
    fn status(&mut self, request: &Request) -> Option<u16> {
        let is_part = request.query.contains_key("partNumber");
        let completes = request.method == "POST" && request.query.contains_key("uploadId");
        let removes = request.query.contains_key("delete");
        match self.fault.as_mut()? {
            WriteFault::Status(status, times) if *times > 0 => {
                *times -= 1;
                Some(*status)
            }
            WriteFault::Parts(status) if is_part => Some(*status),
            WriteFault::CompletedAfter(times, status) if completes && self.completed >= *times => {
                Some(*status)
            }
            WriteFault::StuckAfter(times, status) if (completes && self.completed >= *times) || removes => {
                Some(*status)
            }
            _ => None,
        }
    }
}

/// Answers a request that writes; `None` if there is never an answer.
pub(super) fn write(
    request: &Request,
    objects: &mut BTreeMap<String, Vec<u8>>,
    uploads: &mut Uploads,
) -> Option<Answer> {
    if let Some(status) = uploads.status(request) {
        return Some(Answer::of(status, "", "<Error><Code>SlowDown</Code></Error>"));
    }
    let of = |name: &str| request.query.get(name).cloned();
    let xml = |body: String| Some(Answer::of(200, "Content-Type: application/xml\r\n", body));
    match (&*request.method, of("uploadId"), of("partNumber")) {
        ("POST", None, None) if request.query.contains_key("uploads") => {
            uploads.made += 1;
            let id = format!("upload-{}", uploads.made);
            uploads.begun.insert(id.clone(), (request.path.clone(), BTreeMap::new()));
            xml(format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        ("PUT", Some(id), Some(part)) => {
            uploads.parts += 1;
            match uploads.fault {
                Some(WriteFault::SilentAfter(parts)) if uploads.parts > parts => return None,
                Some(WriteFault::Appears(name)) => {
                    drop(objects.insert(name.to_owned(), b"precious".to_vec()));
                }
                _ => {}
            }
            let Some((_, parts)) = uploads.begun.get_mut(&id) else { return Some(Answer::of(404, "", "")) };
            parts.insert(part.parse().unwrap(), request.body.clone());
            Some(Answer::of(200, &format!("ETag: \"{part}\"\r\n"), ""))
        }
        ("POST", Some(id), None) => {
            let Some((name, parts)) = uploads.begun.remove(&id) else { return Some(Answer::of(404, "", "")) };
            let named = String::from_utf8_lossy(&request.body).matches("<PartNumber>").count();
            assert!(named == parts.len() && named > 0 && parts.keys().copied().eq(1..=named), "{name}");
            objects.insert(name, parts.into_values().collect::<Vec<_>>().concat());
            uploads.completed += 1;
            xml("<CompleteMultipartUploadResult><ETag>\"x\"</ETag></CompleteMultipartUploadResult>"
                .to_owned())
        }
        ("DELETE", Some(id), None) => {
            uploads.begun.remove(&id);
            Some(Answer::of(204, "", ""))
        }
        ("POST", None, None) if request.query.contains_key("delete") => {
            let body = String::from_utf8(request.body.clone()).unwrap();
            let keys =
                body.split("<Key>").skip(1).map(|rest| rest.split_once("</Key>").unwrap().0.to_owned());
            let mut told = String::new();
            for key in keys {
                objects.remove(&format!(
                    "{}/{}",
                    request.path.trim_end_matches('/'),
                    key.replace("&amp;", "&")
                ));
                told += &format!("<Deleted><Key>{key}</Key></Deleted>");
            }
            xml(format!("<DeleteResult>{told}</DeleteResult>"))
        }
        _ => Some(Answer::of(400, "", "")),
    }
}
