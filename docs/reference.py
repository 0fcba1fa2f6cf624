#!/usr/bin/env python3
"""Makes the pages of the book that are reference of HTTP and of Python, out of src/serve/openapi.json and of the docstrings.

`docs/reference.py` writes docs/src/reference/http.md and docs/src/reference/python.md. `docs/reference.py --check` writes nothing,
and ends with 1 if a page is not what it would write. The first line of a page has the sum of what it is made of, which
tests/reference.rs compares without Python.
"""
import ast, json, pathlib, re, sys

root = pathlib.Path(__file__).resolve().parent.parent
OPENAPI = root / "src/serve/openapi.json"
MODULE = root / "python/alike"
SETS = root / "python/src/sets.rs"
MADE = "<!-- made by docs/reference.py of {what}; sum {sum:016x} -->\n"


def checksum(paths):
    """FNV-1a of all bytes of some files, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in b"".join(path.read_bytes() for path in paths):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


# HTTP

def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def kind(schema):
    """The type of a value in a word or two, with a link where it has a section of its own."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if either := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(kind(one) for one in either)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "array" in types and "items" in schema:
        types = [f"array of {kind(schema['items'])}" if one == "array" else one for one in types]
    said = " or ".join(types)
    if "enum" in schema:
        said += ": " + ", ".join(f"`{value}`" for value in schema["enum"])
    return said


def members(schema, before=""):
    """The rows of the members of an object, and of objects within."""
    required = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        path = before + name
        always = "always" if name in required else "not always"
        yield f"| `{path}` | {cell(kind(member))} | {always} | {cell(member.get('description', ''))} |"
        inner = next((one for one in member.get("oneOf", []) if "properties" in one), member)
        if "items" in inner:
            inner, path = inner["items"], path + "[]"
        if "properties" in inner:
            yield from members(inner, path + ".")


def operation(path, method, told):
    yield f"### {method.upper()} {path}\n"
    yield told["summary"] + "." + (" " + told["description"] if "description" in told else "")
    if "security" in told:
        free = {} in told["security"]
        yield "\nIt takes the token" + (", if the server has one." if free else ".")
    if told.get("parameters"):
        yield "\n| parameter | in | type | |\n|---|---|---|---|"
        for one in told["parameters"]:
            schema = one["schema"]
            said = kind(schema)
            bounds = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to")) if key in schema]
            said += "".join(f", {bound}" for bound in bounds)
            said += f"; `{schema['default']}`" if "default" in schema else ""
            needed = " It must be given." if one.get("required") and one["in"] != "path" else ""
            yield f"| `{one['name']}` | {one['in']} | {cell(said)} | {cell(one.get('description', ''))}{needed} |"
    if "requestBody" in told:
        yield "\n| body | |\n|---|---|"
        for media, content in told["requestBody"]["content"].items():
            schema = content.get("schema", {})
            what = kind(schema) if "$ref" in schema or "type" in schema else "bytes"
            yield f"| `{media}` | {cell(what)}{'. ' + cell(schema['description']) if 'description' in schema else ''} |"
    yield "\n| status | answer |\n|---|---|"
    for status, answer in told["responses"].items():
        said = []
        for media, content in answer.get("content", {}).items():
            schema = content.get("schema", {})
            if media == "application/json" and ("$ref" in schema or "anyOf" in schema):
                said.append(kind(schema))
            elif media not in ("application/json",):
                said.append(f"`{media}`")
        yield f"| {status} | {cell(answer['description'])} {cell(', '.join(said))} |".replace("  ", " ")
    yield ""


def http():
    told = json.loads(OPENAPI.read_text())
    out = [MADE.format(what="src/serve/openapi.json", sum=checksum([OPENAPI]))]
    out.append("# HTTP\n")
    out.append(
        "`alike serve` answers all of this. [How to serve](../how-to/serve.md) says what it is for. The server itself has "
        "the description at `/openapi.json`.\n"
    )
    out.append(told["info"]["description"] + "\n")
    out.append("## Paths\n")
    for path, methods in told["paths"].items():
        for method, one in methods.items():
            out.extend(operation(path, method, one))
    out.append("## Objects\n")
    for name, schema in told["components"]["schemas"].items():
        out.append(f"### {name}\n")
        if "description" in schema:
            out.append(schema["description"] + "\n")
        out.append("| member | type | there | |\n|---|---|---|---|")
        out.extend(members(schema))
        if schema.get("additionalProperties"):
            out.append("\nThere may be more members.")
        out.append("")
    return "\n".join(out).rstrip() + "\n"


# Python

def prose(text):
    """A docstring as it stands on a page: examples are blocks of code."""
    out, code = [], False
    for line in text.strip().splitlines():
        example = line.startswith((">>>", "..."))
        if example and not code:
            out += ["", "```python"] if out and out[-1] else ["```python"]
            code = True
        elif code and not line.strip():
            out += ["```"]
            code = False
        out.append(line)
    if code:
        out.append("```")
    return "\n".join(out)


def clean(docstring):
    import inspect
    return inspect.cleandoc(docstring)


def signature(name, function, own=False):
    arguments = function.args
    if own and arguments.args and arguments.args[0].arg == "self":
        arguments.args = arguments.args[1:]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{name}({ast.unparse(arguments)}){returns}"


def is_property(function):
    return any(ast.unparse(one) == "property" for one in function.decorator_list)


def entry(level, name, node, text, shown=None):
    yield f"{'#' * level} {name}\n"
    if shown:
        yield f"```python\n{shown}\n```\n"
    yield prose(clean(text)) + "\n"


def of_class(name, node):
    made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    bases = [ast.unparse(base) for base in node.bases]
    shown = f"class {name}({', '.join(bases)})" if bases else None
    if name == "Collection" and made:
        shown = signature(name, made, True)
    yield from entry(2, name, node, ast.get_docstring(node), shown)
    for one in node.body:
        if not isinstance(one, ast.FunctionDef) or one.name.startswith("_") or not ast.get_docstring(one):
            continue
        if is_property(one):
            shown = f"{one.name}: {ast.unparse(one.returns)}"
        else:
            shown = signature(one.name, one, True)
        yield from entry(3, f"{name}.{one.name}", one, ast.get_docstring(one), shown)


def rust_doc(function):
    """The documentation of a function that is in Rust."""
    lines = SETS.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"pub fn {function}("))
    at -= 1
    while lines[at].startswith("#["):
        at -= 1
    end = at + 1
    while lines[at].startswith("///"):
        at -= 1
    return "\n".join(line[3:].removeprefix(" ") for line in lines[at + 1 : end])


def python_sources():
    return sorted(MODULE.glob("*.py")) + [MODULE / "_alike.pyi", SETS]


def python():
    front = ast.parse((MODULE / "__init__.py").read_text())
    names = next(ast.literal_eval(one.value) for one in front.body if isinstance(one, ast.Assign))
    homes = {
        alias.name: one.module
        for one in front.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    out = [MADE.format(what="the docstrings in python/alike and python/src/sets.rs", sum=checksum(python_sources()))]
    out.append("# Python\n")
    out.append("All names of the module `alike`. [Use it from Python](../how-to/use-from-python.md) has recipes.\n")
    out.append(prose(clean(ast.get_docstring(front))) + "\n")
    for name in sorted((name for name in names if name != "__version__"), key=lambda name: (name[0].isupper(), name)):
        home = homes[name]
        suffix = "pyi" if home == "_alike" else "py"
        tree = ast.parse((MODULE / f"{home}.{suffix}").read_text())
        node = next(one for one in tree.body if getattr(one, "name", None) == name)
        if isinstance(node, ast.ClassDef):
            out.extend(of_class(name, node))
        else:
            text = rust_doc(name) if home == "_alike" else ast.get_docstring(node)
            out.extend(entry(2, name, node, text, signature(name, node)))
    return "\n".join(out).rstrip() + "\n"


def main():
    pages = {root / "docs/src/reference/http.md": http(), root / "docs/src/reference/python.md": python()}
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(root)} is not what docs/reference.py makes of its definitions; run it")
        sys.exit(bool(stale))
    for path in stale:
        path.write_text(pages[path])
        print(f"{path.relative_to(root)} is written")


main()
