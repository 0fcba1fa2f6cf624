//! The description of the routes against the routes, and against what they answer.

use std::collections::BTreeSet;

use alike::serve::{Access, OPENAPI, ROUTES};
use serde_json::{Value, json};

use super::client::Server;
use super::pages::made;
use crate::support::texts::{line, words};

pub(super) fn description() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

#[test]
fn every_route_is_described_and_no_other() {
    let described = description();
    let mut found = BTreeSet::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            found.insert((path.clone(), method.to_uppercase()));
            assert!(operation["summary"].is_string(), "{path}");
            let braces = path.contains('{');
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            assert_eq!(parameters.iter().any(|parameter| parameter["in"] == "path"), braces, "{path}");
            let route = ROUTES.iter().find(|route| route.path == path).unwrap();
            let secured = match route.access {
                Access::Token => json!([{"token": []}]),
                Access::TokenIfAny => json!([{"token": []}, {}]),
                Access::Open | Access::Read => Value::Null,
            };
            assert_eq!(operation["security"], secured, "{path}");
        }
    }
    let routes: BTreeSet<(String, String)> =
        ROUTES.iter().map(|route| (route.path.to_owned(), route.method.to_owned())).collect();
    assert_eq!(found, routes);
}

/// Whether a value has all that a schema requires of an object.
fn has_required(described: &Value, schema: &Value, value: &Value) -> bool {
    let named = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let schema = named.map_or(schema, |name| &described["components"]["schemas"][name]);
    schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .all(|name| value.get(name.as_str().unwrap()).is_some())
}

/// Whether a value is as a schema says: of its types, with what is required, and with nothing that is not described.
pub(super) fn check(described: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = &described["components"]["schemas"][name.rsplit('/').next().unwrap()];
        assert!(schema.is_object(), "{place}: {name} is not described");
        return check(described, schema, value, place);
    }
    if let Some(either) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let fits = |schema: &&Value| match value.is_null() {
            true => schema["type"] == "null",
            false => schema["type"] != "null" && has_required(described, schema, value),
        };
        let schema = either.iter().find(fits).unwrap_or_else(|| panic!("{place}: {value} is none of these"));
        return check(described, schema, value, place);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().map(|kind| kind.as_str().unwrap()).collect(),
        kind => vec![kind.as_str().unwrap()],
    };
    let number = kind == "integer" && types.contains(&"number");
    assert!(types.contains(&kind) || number, "{place}: {value} is none of {types:?}");
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(described, &schema["items"], item, &format!("{place}[{at}]"));
    }
    let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(object.contains_key(name.as_str().unwrap()), "{place} lacks {name}");
    }
    for (name, value) in object {
        match properties.get(name) {
            Some(schema) => check(described, schema, value, &format!("{place}.{name}")),
            None => assert_eq!(schema["additionalProperties"], true, "{place}.{name} is not described"),
        }
    }
}

#[test]
fn answers_are_as_they_are_described() {
    let dir = made("--store-text");
    let server = Server::with_token(&dir, "--verdicts v.jsonl");
    let described = description();
    assert_eq!(server.json("/openapi.json"), described);
    let cluster = server.json("/clusters?limit=2")["clusters"][0]["cluster"].as_str().unwrap().to_owned();
    let mut seen = BTreeSet::new();
    let mut compare = |route: &str, method: &str, reply: &Value| {
        let schema =
            &described["paths"][route][method]["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{route}");
        check(&described, schema, reply, route);
        seen.insert(route.to_owned());
    };
    for (route, path) in [
        ("/", "/"),
        ("/clusters", "/clusters?limit=2"),
        ("/clusters", "/clusters?sort=looseness"),
        ("/clusters/{number}", &*format!("/clusters/{cluster}")),
        ("/clusters/{number}", &*format!("/clusters/{cluster}?member=f11-5&threshold=0.9")),
        ("/documents", "/documents?limit=3"),
        ("/documents/{id}", "/documents/f3-1?text=yes"),
        ("/document", "/document?id=..&text=yes"),
        ("/compare", "/compare?a=f3-1&b=f3-2"),
        ("/changes", "/changes"),
        ("/openapi.json", "/openapi.json"),
    ] {
        compare(route, "get", &server.json(path));
    }
    for asked in [json!({"text": words(3000, 60)}), json!({"texts": ["", words(3000, 60)]})] {
        compare("/check", "post", &server.post("/check", &asked).status(200).json());
    }
    let judged = server.change("/verdicts?a=f3-1&b=f3-2", "application/json", br#"{"verdict":"unsure"}"#);
    compare("/verdicts", "post", &judged.status(200).json());
    compare("/compare", "get", &server.json("/compare?a=f3-1&b=f3-2"));
    let loaded = server.change("/load", "application/x-ndjson", line("new", &words(3000, 60)).as_bytes());
    compare("/load", "post", &loaded.status(200).json());
    let deleted = server.change("/delete", "application/json", br#"{"ids":["new","nobody"]}"#);
    compare("/delete", "post", &deleted.status(200).json());
    let text = ["/metrics", "/healthz", "/readyz", "/static/{name}"];
    for route in ROUTES {
        assert!(seen.contains(route.path) || text.contains(&route.path), "{} was not tried", route.path);
    }
    let error = server.get("/nothing").status(404).json();
    check(&described, &json!({"$ref": "#/components/schemas/Error"}), &error, "error");
}

/// Every parameter that a page takes is described, and no other.
#[test]
fn parameters_are_those_that_are_described() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let described = description();
    for (route, path) in [
        ("/", "/"),
        ("/clusters", "/clusters"),
        ("/clusters/{number}", "/clusters/1.1"),
        ("/documents", "/documents"),
        ("/documents/{id}", "/documents/f1-0"),
        ("/document", "/document"),
        ("/static/{name}", "/static/style.css"),
        ("/compare", "/compare"),
        ("/changes", "/changes"),
    ] {
        let parameters =
            described["paths"][route]["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let named: Vec<&str> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let refused = server.get(&format!("{path}?nonsense=1")).status(400).message();
        let taken = refused.split("it takes ").nth(1).unwrap();
        let taken: Vec<&str> = taken.split(", ").filter(|name| *name != "none").collect();
        assert_eq!(taken, named, "{route}");
    }
}
