//! Hosts files and lists of addresses: every address is one that can be split, and stands there once.

use std::collections::BTreeSet;

use alike::mesh::{addresses_of_file, addresses_of_list, split_address};

/// The bytes are a text, faults in its UTF-8 replaced: the lines of a file, and a list.
pub fn hosts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check(&text, addresses_of_file("hosts", &text), '\n');
    check(&text, addresses_of_list("list", &text), ',');
}

fn check(text: &str, found: alike::error::Result<Vec<String>>, between: char) {
    let place = if between == ',' { "list" } else { "hosts:" };
    let addresses = match found {
        Ok(addresses) => addresses,
        Err(error) => return assert!(error.to_string().contains(place), "{error}"),
    };
    let mut seen = BTreeSet::new();
    for address in &addresses {
        assert!(text.contains(address.as_str()));
        let (host, port) = split_address(address).unwrap_or_else(|what| panic!("{address:?}: {what}"));
        assert!(port > 0 && !host.is_empty() && !host.starts_with('-'), "{address:?}");
        assert!(host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c)), "{address:?}");
        assert!(seen.insert(address.to_ascii_lowercase()), "{address:?} twice");
    }
    let again: String = addresses.iter().map(|address| format!("{address}{between}")).collect();
    let again = match between {
        ',' => addresses_of_list("again", &again),
        _ => addresses_of_file("again", &again),
    };
    assert_eq!(again.expect("addresses"), addresses);
}
