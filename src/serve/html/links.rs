//! Addresses within the server: whatever they name is percent-encoded.

use crate::collection::ClusterNumber;
use crate::serve::http::query::Query;

/// Bytes as they stand in an address. Letters, digits and four signs stand for themselves.
pub(super) fn encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            safe.push(char::from(byte));
        } else {
            safe.push_str(&format!("%{byte:02X}"));
        }
    }
    safe
}

/// An address with parameters.
pub(super) fn address<'a>(path: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut address = path.to_owned();
    for (at, (name, value)) in parameters.into_iter().enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        address.push_str(&format!("{}={}", encoded(name), encoded(value)));
    }
    address
}

/// The address that was asked for, with some parameters changed, or left out where they have no value.
pub(super) fn changed(path: &str, query: &Query, changes: &[(&str, Option<&str>)]) -> String {
    let is_changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
    let stay = query.pairs().filter(|(name, _)| !is_changed(name));
    let new = changes.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
    address(path, stay.chain(new))
}

/// Where a document is.
pub(super) fn of_document(id: &str) -> String {
    // Browsers take these for steps upwards, however they are encoded.
    if ["", ".", ".."].contains(&id) {
        return address("/document", [("id", id)]);
    }
    let mut path = encoded(id);
    // At the end of a path this asks for JSON.
    if path.ends_with(".json") {
        path.replace_range(path.len() - ".json".len().., "%2Ejson");
    }
    format!("/documents/{path}")
}

/// Where a cluster is.
pub(super) fn of_cluster(cluster: impl Into<ClusterNumber>) -> String {
    format!("/clusters/{}", cluster.into())
}

/// Where two documents are compared.
pub(super) fn of_pair(a: &str, b: &str) -> String {
    address("/compare", [("a", a), ("b", b)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_acts_on_an_address() {
        assert_eq!(of_document("a/b?c=d&e#f \"<%"), "/documents/a%2Fb%3Fc%3Dd%26e%23f%20%22%3C%25");
        assert_eq!(of_document("a.json"), "/documents/a%2Ejson");
        assert_eq!(of_document(".."), "/document?id=..");
        assert_eq!(of_document("../.."), "/documents/..%2F..");
        assert_eq!(of_document("\u{4e2d}\0"), "/documents/%E4%B8%AD%00");
        assert_eq!(of_pair("a&b=c", "d"), "/compare?a=a%26b%3Dc&b=d");
        let query = Query::parse(Some("sort=newest&after=3%3A1.1&limit=7"), &["sort", "after", "limit"]);
        let query = query.expect("a query");
        assert_eq!(
            changed("/clusters", &query, &[("after", None), ("sort", Some("size"))]),
            "/clusters?limit=7&sort=size"
        );
    }
}
