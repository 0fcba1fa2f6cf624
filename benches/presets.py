#!/usr/bin/env python3
"""Labelled documents that the presets for kinds of text are chosen on: NAME.jsonl and NAME.tsv for each kind.

What the labels are follows from what is known of the documents, never from their similarity:

sections   sections of terms of service and privacy policies (Open Terms Archive, a history of changes): the first and the
           last version of a section, known by document and heading, are duplicates; sections of one document are not
titles     titles of papers in DBLP and ACM, pairs judged by people (PyPI: the sdist of py-entitymatching 0.4.2)
code       source files of releases of Python packages (PyPI: wheels): one path in several releases is one file
qa         questions with their answers in FAQs of releases (PyPI: sdists): one question of one project is one entry
mail       real messages (the test corpora of notmuch 0.37), each also forwarded, sent through a list and wrapped anew

usage: presets.py OUT KIND=SOURCE...    SOURCE is the history, the sdist, the folder of wheels or of sdists, the tarball
"""

import csv
import email
import email.policy
import io
import json
import re
import sys
import tarfile
import textwrap
import zipfile
from pathlib import Path

# Shorter texts have no shingle of several words.
LEAST_WORDS = 8


def words(text):
    return len(re.findall(r"\w+", text))


def write(out, kind, documents, labels, heading):
    with open(out / f"{kind}.jsonl", "w") as file:
        for name, text in documents:
            file.write(json.dumps({"id": name, "text": text}) + "\n")
    with open(out / f"{kind}.tsv", "w") as file:
        file.write("\t".join(heading) + "\n")
        for row in labels:
            file.write("\t".join(map(str, row)) + "\n")
    print(f"{kind}: {len(documents)} documents, {len(labels)} labels", file=sys.stderr)


def clusters(out, kind, versions):
    """Versions are (cluster, release, text): documents of one cluster are duplicates, equal texts are one document. Equal
    texts of two clusters make them one: what is a copy is no matter of opinion."""
    parent, texts = {}, {}

    def find(cluster):
        while parent.setdefault(cluster, cluster) != cluster:
            cluster = parent[cluster]
        return cluster

    for cluster, release, text in versions:
        if words(text) >= LEAST_WORDS:
            _, owner = texts.setdefault(text, (f"{cluster}@{release}", cluster))
            parent[find(cluster)] = find(owner)
    kept = [(name, text, find(cluster)) for text, (name, cluster) in texts.items()]
    labels = [(name, cluster) for name, _, cluster in kept]
    write(out, kind, [(name, text) for name, text, _ in kept], labels, ("id", "cluster"))


def clean(name):
    return re.sub(r"\s+", " ", name).strip()


def headed(text):
    """Sections of Markdown: (heading, text)."""
    lines, heading, body = text.split("\n"), None, []
    for line, below in zip(lines, lines[1:] + [""]):
        mark = re.match(r"#{1,6} +(.+)", line)
        under = re.fullmatch(r"(=|-){3,}\s*", below) and line.strip()
        if mark or under:
            if heading:
                yield heading, "\n".join(body)
            heading, body = clean(mark.group(1) if mark else line), []
        elif not re.fullmatch(r"(=|-){3,}\s*", line):
            body.append(line)
    if heading:
        yield heading, "\n".join(body)


def sections(out, source):
    """Sections of 20 to 400 words of the first 100 documents that still have them. The first and the last version of one
    are duplicates, and two sections of the last snapshot of a document are not. Of sections of two documents nobody knows:
    companies copy, also themselves."""
    history = {}
    with open(source) as file:
        for line in file:
            event = json.loads(line)
            if event.get("text"):
                history.setdefault(event["doc"], []).append((event["seq"], event["text"]))
    documents, labels = [], []
    for doc in sorted(history)[:100]:
        versions = {}
        for seq, text in sorted(history[doc]):
            found = list(headed(text))
            names = [heading for heading, _ in found]
            for heading, body in found:
                # A heading that comes twice names no section.
                if names.count(heading) == 1 and 20 <= words(body) <= 400:
                    versions.setdefault(heading, []).append((seq, body))
        last = {}
        for heading, bodies in versions.items():
            # Two headings of one snapshot are two sections; one that came later may be another's new name.
            if bodies[-1][0] != seq:
                continue
            ends = [(f"{doc}#{heading}@{when}", body) for when, body in (bodies[0], bodies[-1])]
            # What differs in layout alone is found by whatever method.
            if re.findall(r"\w+", ends[0][1]) != re.findall(r"\w+", ends[1][1]):
                documents.append(ends[0])
                labels.append((ends[0][0], ends[1][0], 1))
            documents.append(ends[1])
            # Two headings over one text are one section.
            if ends[1][1] not in last.values():
                labels += [(other, ends[1][0], 0) for other in last]
                last[ends[1][0]] = ends[1][1]
    write(out, "sections", documents, labels, ("id_a", "id_b", "grade"))


def titles(out, source):
    """Pairs of titles that people judged to be of one paper or not."""
    documents, labels = {}, []
    with tarfile.open(source) as archive:
        for end, columns in [
            ("datasets/dblp_acm_demo_labels.csv", ("ltable.id", "rtable.id", "ltable.title", "rtable.title", "gold")),
            ("datasets/labeled_data_demo.csv", ("ltable_id", "rtable_id", "ltable_title", "rtable_title", "label")),
        ]:
            member = next(
                name for name in archive.getnames() if name.endswith(end) and "/end-to-end/" not in name
            )
            rows = csv.DictReader(io.TextIOWrapper(archive.extractfile(member), "utf-8", errors="replace"))
            for row in rows:
                left, right, first, second, grade = (row[column] for column in columns)
                left, right = f"dblp:{left}", f"acm:{right}"
                documents[left], documents[right] = first, second
                labels.append((left, right, grade))
    write(out, "titles", list(documents.items()), labels, ("id_a", "id_b", "grade"))


def release(path):
    """Name and version of a wheel or an sdist."""
    return re.match(r"(.+?)-(\d[^-]*?)(?:\.tar\.gz|-.*)?$", path.name).groups()


def code(folder):
    for path in sorted(Path(folder).glob("*.whl")):
        package, version = release(path)
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    yield f"{package.lower()}/{name}", version, archive.read(name).decode("utf-8", "replace")


def questions(text):
    """Entries of an FAQ in reStructuredText: a line that is underlined, and what stands below it."""
    lines, heading, body = text.split("\n"), None, []
    for line, below in zip(lines, lines[1:] + [""]):
        if line.strip() and re.fullmatch(r"([=\-~^\"'.*+#])\1{3,}\s*", below):
            if heading:
                yield heading, "\n".join(body)
            heading, body = clean(line), []
        elif not re.fullmatch(r"([=\-~^\"'.*+#])\1{3,}\s*", line):
            body.append(line)
    if heading:
        yield heading, "\n".join(body)


def qa(folder):
    for path in sorted(Path(folder).glob("*.tar.gz")):
        project, version = release(path)
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if re.search(r"/(docs?|build)/(.*/)?faq(/[^/]*)?\.(rst|txt)$|/docs/faq/[^/]*\.txt$", member.name):
                    text = archive.extractfile(member).read().decode("utf-8", "replace")
                    for heading, body in questions(text):
                        yield f"{project.lower()}#{heading}", version, f"{heading}\n\n{body}"


def body_of(message):
    part = message.get_body(("plain",))
    return part.get_content() if part else ""


def mail(source):
    """Messages of different ids are different, whatever they quote; copies of one message are duplicates."""
    with tarfile.open(source) as archive:
        for member in archive.getmembers():
            if not member.isfile() or not re.search(r"/corpora/(default|lkml)/", member.name):
                continue
            try:
                message = email.message_from_bytes(
                    archive.extractfile(member).read(), policy=email.policy.default
                )
                text, name = body_of(message), message["message-id"]
                keys = [key for key in ("From", "Date", "Subject", "To") if message[key]]
                head = "".join(f"{key}: {message[key]}\n" for key in keys)
            except (LookupError, UnicodeError, AttributeError, KeyError):
                continue
            if not name or words(text) < 30:
                continue
            name = name.strip()
            footer = "_" * 47 + "\ndevel mailing list\ndevel@lists.example.org\nhttp://lists.example.org/mailman/listinfo/devel\n"
            quoted = "".join(f"> {line}\n" for line in text.splitlines())
            wrapped = "\n\n".join(textwrap.fill(part, 60) for part in re.split(r"\n\s*\n", text))
            yield name, "sent", text
            yield name, "forwarded", f"FYI\n\n---------- Forwarded message ----------\n{head}\n{text}"
            yield name, "list", f"{text}\n{footer}"
            yield name, "quoted", f"Resending, as it seems to have been lost.\n\n{quoted}"
            yield name, "wrapped", wrapped


# By what their source gives: labelled pairs, or versions of clusters.
PAIRS = {"sections": sections, "titles": titles}
KINDS = {"code": code, "qa": qa, "mail": mail}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for argument in sys.argv[2:]:
        kind, _, source = argument.partition("=")
        if kind in PAIRS:
            PAIRS[kind](out, source)
        elif kind in KINDS:
            clusters(out, kind, KINDS[kind](source))
        else:
            sys.exit(f"no kind is called {kind!r}; there are {', '.join({**PAIRS, **KINDS})}")


if __name__ == "__main__":
    main()
