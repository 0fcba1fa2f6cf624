//! A collection over HTTP: every route against the command that says the same, changes, limits, and clients that mean harm.

mod changes;
mod client;
mod finding;
mod hostile;
mod html;
mod html_hostile;
mod looseness;
mod markup;
mod openapi;
mod output;
mod pages;
mod titles;
mod verdicts;
