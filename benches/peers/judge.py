"""The truth as classes of equal texts and pairs of classes, and how an answer fares against it."""
import array
import collections


class Truth:
    """Which documents resemble each other, from pairs `(earlier, later, similarity)`.

    Documents of similarity 1 are one class: whatever resembles one of them resembles all, so pairs of their first ones are
    enough to know all pairs.
    """

    def __init__(self, count, pairs):
        self.count = count
        of = list(range(count))

        def root(row):
            while of[row] != row:
                of[row] = of[of[row]]
                row = of[row]
            return row

        others = array.array("I")
        for a, b, similarity in pairs:
            if similarity == 1:
                a, b = sorted((root(a), root(b)))
                of[b] = a
            else:
                others.extend((a, b))
        self.of = array.array("I", (root(row) for row in range(count)))
        self.size = collections.Counter(self.of)
        self.near = collections.defaultdict(set)
        for a, b in zip(others[::2], others[1::2]):
            a, b = self.of[a], self.of[b]
            self.near[a].add(b)
            self.near[b].add(a)
        self.pairs = sum(size * (size - 1) // 2 for size in self.size.values())
        self.pairs += sum(self.size[a] * self.size[b] for a, near in self.near.items() for b in near if a < b)

    def holds(self, a, b):
        a, b = self.of[a], self.of[b]
        return a == b or b in self.near.get(a, ())

    def has_partner(self, row):
        return self.size[self.of[row]] > 1 or self.of[row] in self.near

    def judge_pairs(self, pairs):
        right = sum(map(self.holds, pairs[::2], pairs[1::2]))
        return right, len(pairs) // 2

    def judge_removal(self, removed):
        """How many kept documents still resemble an earlier kept one, and how many removed ones resemble no kept one."""
        first = {}
        for row in range(self.count):
            if not removed[row]:
                first.setdefault(self.of[row], row)
        left = lost = 0
        for row in range(self.count):
            own = self.of[row]
            kept = [first[near] for near in (own, *self.near.get(own, ())) if near in first]
            if removed[row]:
                lost += not kept
            else:
                left += min(kept) < row
        return left, lost


def keep_first(count, pairs):
    """Which documents go if the first stays and each goes that is a pair with one that stays."""
    removed = bytearray(count)
    # The pairs come in order of their later documents, so the earlier one is decided.
    for earlier, later in zip(pairs[::2], pairs[1::2]):
        if not removed[earlier]:
            removed[later] = 1
    return removed
