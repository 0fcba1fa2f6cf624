"""All pairs at or above a threshold by the obvious way: an inverted index of all shingles, and a count for each pair."""
import array
import collections
from fractions import Fraction

from texts import shingles


def exact_pairs(texts, threshold):
    """Pairs of rows, the earlier first, with their Jaccard similarity as a fraction; of equal sets each pair, too."""
    sets = [shingles(text) for text in texts]
    holders, found = collections.defaultdict(lambda: array.array("I")), {}
    for row, own in enumerate(sets):
        shared = collections.Counter()
        for shingle in own:
            shared.update(holders[shingle])
            holders[shingle].append(row)
        for other, common in shared.items():
            alike = Fraction(common, len(own) + len(sets[other]) - common)
            if alike >= threshold:
                found[(other, row)] = alike
    return found
