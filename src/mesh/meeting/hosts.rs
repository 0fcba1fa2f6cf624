//! The addresses of the processes of a job, as people write them: `host:port`, one for each process.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// The form of an address.
const FORM: &str = "expected host:port, like node1:2101 or [fd00::1]:2101";

/// The addresses of a hosts file, one a line; what comes after `#` says nothing. `place` is the file in messages.
///
/// # Errors
/// [`Error::Config`], with the line.
pub fn addresses_of_file(place: &str, text: &str) -> Result<Vec<String>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    addresses_of((1..).zip(lines).map(|(line, text)| (format!("{place}:{line}"), text)))
}

/// The addresses of a list with commas between them. `place` is the list in messages.
///
/// # Errors
/// [`Error::Config`].
pub fn addresses_of_list(place: &str, text: &str) -> Result<Vec<String>> {
    addresses_of(text.split(',').map(|part| (place.to_owned(), part)))
}

/// The addresses of `lines`, each with its place. Blank ones are passed over.
fn addresses_of<'a>(lines: impl Iterator<Item = (String, &'a str)>) -> Result<Vec<String>> {
    let mut places: HashMap<String, String> = HashMap::new();
    let mut addresses = Vec::new();
    for (place, line) in lines.map(|(place, line)| (place, line.trim())).filter(|(_, line)| !line.is_empty())
    {
        split_address(line).map_err(|what| Error::config(format!("{place}: {line}: {what}")))?;
        if let Some(first) = places.insert(line.to_ascii_lowercase(), place.clone()) {
            return Err(Error::config(format!(
                "{place}: {line} stands at {first} already; each process needs an address of its own, and those of one \
                 host differ in the port"
            )));
        }
        addresses.push(line.to_owned());
    }
    Ok(addresses)
}

/// The host and the port of an address, brackets around an IPv6 address taken away.
///
/// # Errors
/// What is wrong with it.
pub fn split_address(address: &str) -> std::result::Result<(&str, u16), &'static str> {
    let (host, port) = split_any_address(address)?;
    if port > 0 { Ok((host, port)) } else { Err(FORM) }
}

/// The same, for an address that may have the port 0.
///
/// # Errors
/// What is wrong with it.
pub fn split_any_address(address: &str) -> std::result::Result<(&str, u16), &'static str> {
    let (host, digits) =
        address.rsplit_once(':').ok_or("has no port; expected host:port, like node1:2101")?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let ours = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let good = match bare {
        Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
        // Were the first a dash, a program that is given the host would take it for an option.
        None => !host.is_empty() && !host.starts_with('-') && host.chars().all(ours),
    };
    match digits.parse() {
        Ok(port) if good && !digits.starts_with('+') => Ok((bare.unwrap_or(host), port)),
        _ => Err(FORM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        let split = split_address;
        assert_eq!(split("node-1.x_y:2101"), Ok(("node-1.x_y", 2101)));
        assert_eq!(split("[fd00::1]:80"), Ok(("fd00::1", 80)));
        assert_eq!(split("10.0.0.1:80"), Ok(("10.0.0.1", 80)));
        assert!(split("[fd00::1]").is_err() && split("[x]:1").is_err() && split("a:+1").is_err());
        assert!(split("a:0").is_err() && split_any_address("a:0") == Ok(("a", 0)));
    }
}
