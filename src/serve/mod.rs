//! A collection over HTTP: what it holds, and what is done to it, for programs on this machine and others. An output of `dedup`
//! in the same way, as far as it has the same.
//!
//! A request goes through [`http`] (who may ask, for what, how much at a time), is answered from one commit of [`state`] as a
//! [`pages::ServedPage`], which is data and knows no HTTP, and leaves as JSON, or for browsers as [`html`]. Whatever waits for a disk does so on threads whose
//! number is bounded. Nobody can make the server hold more than the limits of [`ServeOptions`] say, or keep others out.

mod html;
mod http;
mod index;
mod options;
mod pages;
mod state;

pub use self::http::routes::{Access, ROUTES, Route};
pub use self::http::server::HttpServer;
pub use self::options::{AccessToken, ServeOptions};
pub use self::state::{run::ServedInputs, served::ServeWhat};

/// The description of the routes, in OpenAPI 3.1.
pub const OPENAPI: &str = include_str!("openapi.json");
