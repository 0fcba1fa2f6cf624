//! Manifests: whatever one says, a collection answers, or says what is wrong with it.

use std::sync::Arc;

use crate::collection::{Bench, ask, folder, good, put, write};
use crate::json::{body, change, sealed};
use crate::storage::{Simulated, Storage};
use crate::take;

const START: &str = "alike collection, format ";

thread_local! {
    /// Reused from input to input.
    static BENCH: Bench = Bench::new();
}

/// The first byte says how the rest becomes a manifest: as it is; as JSON behind a good first line; or as changes of that of a
/// good collection, whose other files are there. The second one says whether the manifest before it is.
pub fn manifest(mut data: &[u8]) {
    let [how, before] = take(&mut data);
    let name = good().iter().map(|(name, _)| name).filter(|name| name.starts_with("manifest-")).max();
    let name = name.expect("a manifest");
    let simulated = match how % 3 {
        0 => manifest_of(data.to_vec()),
        1 => manifest_of(sealed(START, data)),
        _ => {
            let simulated = folder(good());
            let mut value = body(&simulated.contents(name).expect("a file"));
            change(&mut value, &mut data);
            put(&simulated, name, &sealed(START, value.to_string().as_bytes()));
            simulated
        }
    };
    if before & 1 != 0 {
        for other in simulated.names().expect("names") {
            if other.starts_with("manifest-") && other != *name {
                simulated.remove(&other).expect("removed");
            }
        }
    }
    let storage: Arc<dyn Storage> = Arc::new(simulated);
    let whole = ask(&storage);
    BENCH.with(|bench| write(&storage, bench, whole));
}

/// A folder with a manifest alone.
fn manifest_of(bytes: Vec<u8>) -> Simulated {
    folder(&vec![("manifest-00000000".to_owned(), bytes)])
}
