//! Answers to changes by the keys that clients gave them: whoever asks again gets the same answer, and nothing is done twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::StatusCode;

use crate::serve::http::answer::{HttpAnswer, HttpError};

/// Answers that are remembered; the oldest is forgotten first.
const MOST: usize = 4096;

/// What is known of a key.
#[derive(Clone, Debug)]
struct KnownKey {
    /// Digest of what was asked for.
    digest: u128,
    /// The answer; `None` while it is worked out.
    answer: Option<HttpAnswer>,
}

/// The keys.
#[derive(Debug, Default)]
pub struct Remembered(Mutex<Keys>);

#[derive(Debug, Default)]
struct Keys {
    known: HashMap<String, KnownKey>,
    /// Those that are answered, the oldest first.
    order: VecDeque<String>,
}

impl Remembered {
    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins what was asked for under a key, or gives the answer that there is.
    ///
    /// # Errors
    /// 409 while it is worked out, 422 if something else was asked for under this key.
    pub fn begin(&self, key: &str, digest: u128) -> Result<Option<HttpAnswer>, HttpError> {
        let mut keys = self.lock();
        match keys.known.get(key) {
            Some(known) if known.digest != digest => Err(HttpError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "this Idempotency-Key was used for something else; take a new one",
            )),
            Some(KnownKey { answer: Some(answer), .. }) => Ok(Some(answer.clone())),
            Some(KnownKey { answer: None, .. }) => {
                let busy = HttpError::new(
                    StatusCode::CONFLICT,
                    "what this Idempotency-Key stands for is under way; ask again",
                );
                Err(HttpError { retry_after: Some(1), ..busy })
            }
            None => {
                keys.known.insert(key.to_owned(), KnownKey { digest, answer: None });
                Ok(None)
            }
        }
    }

    /// Remembers an answer; `None` forgets the key, so that it can be tried again.
    pub fn finish(&self, key: &str, answer: Option<&HttpAnswer>) {
        let mut keys = self.lock();
        let Some(answer) = answer else {
            keys.known.remove(key);
            return;
        };
        let Some(known) = keys.known.get_mut(key) else { return };
        known.answer = Some(answer.clone());
        keys.order.push_back(key.to_owned());
        if keys.order.len() > MOST
            && let Some(oldest) = keys.order.pop_front()
        {
            keys.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_answered_once() {
        let remembered = Remembered::default();
        let answer = HttpAnswer::text(StatusCode::OK, "done");
        assert!(remembered.begin("a", 1).expect("new").is_none());
        let status = |digest| remembered.begin("a", digest).map_err(|error| error.status.as_u16());
        assert_eq!((status(1).unwrap_err(), status(2).unwrap_err()), (409, 422));
        remembered.finish("a", Some(&answer));
        assert_eq!(status(1).expect("answered").expect("an answer").body, answer.body);
        assert_eq!(status(2).unwrap_err(), 422);
        assert!(remembered.begin("b", 1).expect("new").is_none());
        remembered.finish("b", None);
        assert!(remembered.begin("b", 2).expect("new again").is_none());
        for n in 0..MOST {
            let key = format!("k{n}");
            assert!(remembered.begin(&key, 0).expect("new").is_none());
            remembered.finish(&key, Some(&answer));
        }
        assert!(remembered.begin("a", 2).expect("forgotten").is_none());
    }
}
