#!/usr/bin/env python3
"""Words a sentence of README.md, ARCHITECTURE.md, CONTRIBUTING.md and the book; ends with 1 where the mean is above 20."""
import pathlib, re, sys

root = pathlib.Path(__file__).resolve().parent.parent
papers = [root / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(root.glob("docs/src/**/*.md"))
means = {}
for paper in papers:
    text = re.sub(r"(?ms)^```.*?^```$|^\|.*?$|^ {4}.*?$|^#.*?$|<!--.*?-->", "\n\n", paper.read_text())
    sentences = [s for s in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.) ", text) if len(s.split()) > 2]
    means[paper] = sum(len(s.split()) for s in sentences) / max(1, len(sentences))
    print(f"{means[paper]:5.1f} words a sentence, {len(sentences):4} sentences: {paper.relative_to(root)}")
sys.exit(max(means.values()) > 20)
