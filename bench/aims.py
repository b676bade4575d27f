"""Where each aim stands, by the report. The aims themselves, and what limits them, are words of the page (page.md)."""

import ratios
from cells import LABELS, number


class Aims:
    def __init__(self, entries):
        self.entries = entries

    def ours(self, case, runtime="c"):
        return ratios.found(self.entries, case, runtime, "chordal")

    def change(self, change, runtime):
        """Ours by the way that is nearest to what peers do, and the peers."""
        for way in ratios.WAYS:
            case = f"{way}, {change}, binary"
            if ours := self.ours(case, runtime):
                return ours, list(ratios.peers(self.entries, case, ratios.BESIDE[runtime]))
        return None, []

    def against_best(self, changes, runtimes, names=None):
        """Each change in each runtime: how many times the best peer's time, or that of the peers named."""
        for runtime in runtimes:
            told = []
            for change in changes:
                ours, peers = self.change(change, runtime)
                peers = [peer for peer in peers if names is None or peer["system"] in names]
                if ours and peers:
                    best = min(peers, key=lambda peer: peer["median"])
                    told.append(f"{change} {ours['median'] / best['median']:.2f} of {best['system']}")
            if told:
                yield f"{LABELS[runtime]}: {', '.join(told)}"

    # ---- the aims ----

    def token(self):
        for name in ("token in place", "token committed"):
            entry = self.ours(f"value, {name}")
            if entry and entry["instructions"]:
                yield f"{name}: {number(entry['instructions'])} instructions"

    def field_and_removal(self):
        return self.against_best(["changed field", "removed item"], ["node", "wasm"])

    def python(self):
        return self.against_best(ratios.CHANGES, ["python"])

    def snapshot_c(self):
        for way, part, read in (("encode", "snapshot write", "write"), ("decode", "snapshot read", "read")):
            ours = self.ours(f"value, {part}, notes")
            chord = ratios.found(self.entries, f"snapshot {way}, 1,000 notes", "node", "@earendil-works/chord")
            yyjson = ratios.found(self.entries, f"value, json {read}, notes", "c", "limit: yyjson")
            if ours and chord:
                yield f"{way}: {chord['median'] / ours['median']:.1f} times faster than Chord v1"
            if ours and yyjson:
                yield f"{ours['median'] / yyjson['median']:.2f} of yyjson's {read}"

    def snapshot_node(self):
        for way, case in zip(("encode", "decode"), ratios.SNAPSHOT, strict=True):
            ours, others = self.ours(case, "node"), list(ratios.peers(self.entries, case, "node"))
            if ours and others:
                best = min(others, key=lambda peer: peer["median"])
                yield f"{way}: {ours['median'] / best['median']:.2f} of {best['system']}"

    def bytes(self):
        for change in ratios.CHANGES:
            case = f"commit to frame, {change}, binary"  # whole messages
            ours, peers = self.ours(case, "node"), list(ratios.peers(self.entries, case, "node"))
            if ours and peers:
                least = min(peers, key=lambda peer: peer["bytes"])
                yield f"{change}: {number(ours['bytes'])}, {least['system']} {number(least['bytes'])}"
        edits = [e for e in self.entries if e["case"].startswith("delta size") and e["system"] != "chordal"]
        cases = list(dict.fromkeys(e["case"] for e in edits))
        larger = [
            case.removeprefix("delta size, ")
            for case in cases
            if self.ours(case)["bytes"] > min(e["bytes"] for e in edits if e["case"] == case)
        ]
        if cases:
            yield f"of {len(cases)} edits, smallest in all but {', '.join(larger) or 'none'}"

    def further_hold(self):
        for runtime, label in LABELS.items():
            if entry := self.ours("bytes kept per further hold, 1,000 notes", runtime):
                yield f"{label}: {number(entry['median'])} B"
        entry = self.ours("bytes kept per further hold, 1,000 notes")
        if entry:
            yield f"{number(entry['counts']['first on its link'])} B for the first on a link, in C"

    def page_token(self):
        return self.against_best(["token appended"], ["wasm"], ["yjs", "@automerge/automerge"])

    def json(self):
        for name in ratios.JSON:
            ours, limit = (
                self.ours(f"value, {name}"),
                ratios.found(self.entries, f"value, {name}", "c", "limit: yyjson"),
            )
            if ours and limit:
                yield f"{name.removeprefix('json ')}: {ours['median'] / limit['median']:.2f}"

    def strings(self):
        ours = self.ours("value, write 500 KB string")
        limit = ratios.found(self.entries, "value, write 500 KB string", "c", "limit: memcpy")
        if ours and limit:
            yield f"{ours['median'] / limit['median']:.2f}"

    def growth(self):
        ops = dict.fromkeys(e["case"].split(", ")[1] for e in self.entries if e["case"].startswith("growth"))
        for op in ops:
            rows = [e for e in self.entries if e["case"].startswith(f"growth, {op}, ")]
            allocations = [number(e["counts"]["allocations"]) for e in (rows[0], rows[-1])]
            sizes = [e["case"].split(", ", 2)[2] for e in (rows[0], rows[-1])]
            yield f"{op}: {allocations[0]} allocations at {sizes[0]}, {allocations[1]} at {sizes[1]}"

    def memory(self):
        for entry in self.entries:
            if entry["case"].startswith("memory of a parsed document"):
                name = entry["case"].split(", ", 1)[1]
                yield f"{name}: {entry['median'] / entry['counts']['aim']:.2f} of it"

    # ---- drops, crowds, hosts in the middle ----

    def each(self, unit, *cases):
        for case in cases:
            if entry := self.ours(case):
                yield f"{case}: {number(entry['median'])} {unit}"

    def live(self):
        return self.each("µs", "commit to frame, token appended, binary", "call round trip, binary")

    def crowd(self):
        for many, one, what in (
            ("10000 sessions", "1 session", "session"),
            ("10000 holds of a session", "1 holds of a session", "hold"),
        ):
            most, least = self.ours(f"one commit to {many}"), self.ours(f"one commit to {one}")
            if most and least:
                each = (most["median"] - least["median"]) / 9999
                allocations, encodes = (number(most["counts"][name]) for name in ("allocations", "encodes"))
                yield f"a further {what}: {each:.2f} µs, {allocations} allocations, {encodes} encode for all"

    def back(self):
        if entry := self.ours("reconnect, 100 references, unchanged, binary"):
            yield f"{number(entry['median'])} µs, {number(entry['bytes'])} B with the handshake"

    def gap(self):
        one, all_of_them = (
            self.ours(f"reconnect, {n}, 100 missed commits, binary") for n in ("1 reference", "100 references")
        )
        if one and all_of_them:
            yield f"400 B of text: {number(one['bytes'])} B for 1 reference, {number(all_of_them['bytes'])} B for 100"

    def hop(self):
        direct, one = self.ours("call to frame, direct"), self.ours("call to frame, 1 hop")
        if direct and one:
            yield f"{one['median'] - direct['median']:.2f} µs for a call, its result and its frame"

    def stall(self):
        for hops in ("direct", "1 hop"):
            if entry := self.ours(f"caught up after a stall of 60 s, {hops}"):
                yield f"{hops}: {number(entry['bytes'])} B for 24,000 of text, {number(entry['median'])} ms"

    def beside(self):
        alone, beside = self.ours("a tab's call alone"), self.ours("a tab's call beside 10,000 of another")
        if alone and beside:
            yield f"{beside['median'] / alone['median']:.1f} times"

    def socket(self):
        ours = self.ours("call over a loopback WebSocket")
        echo = ratios.found(self.entries, "call over a loopback WebSocket", "c", "limit: libwebsockets echo")
        if ours and echo:
            yield f"{ours['median'] / echo['median']:.2f} times"

    def silent(self):
        alone = self.ours("a healthy reader alone, 2 KB a commit")
        beside = self.ours("a healthy reader beside 300 that never read, 2 KB a commit")
        if alone and beside:
            grown = number(beside["counts"]["memory grown"])
            yield f"{beside['median'] / alone['median']:.2f} times; {grown} B in a minute"

    # ---- the store ----

    def store_commit(self):
        for case in (
            "one delta a commit, 10 characters",
            "one delta a commit, 10,000 characters",
            "one row a commit",
        ):
            ours = self.ours(f"store, {case}")
            limit = ratios.found(self.entries, f"store, {case}", "c", "limit: sqlite")
            if ours and limit:
                yield f"{case}: {ours['median'] / limit['median']:.2f} times"

    def store_many(self):
        alone = self.ours("store, one delta a commit, 10 characters")
        many = self.ours("store, 1,000 commits at once, 10 characters")
        if alone and many:
            yield f"{alone['median'] / many['median']:.1f} times"

    def store_peers(self):
        for runtime, peer in (("node", "better-sqlite3"), ("python", "sqlite3")):
            for case in (
                "one delta a commit, 10 characters",
                "1,000 commits at once, 10 characters",
                "one row a commit",
                "query page of 100 rows",
            ):
                ours = self.ours(f"store, {case}", runtime)
                theirs = ratios.found(self.entries, f"store, {case}", runtime, peer)
                if ours and theirs:
                    yield f"{LABELS[runtime]}, {case}: {ours['median'] / theirs['median']:.2f} of {peer}"

    def store_outbox(self):
        alone = self.ours("store, one delta a commit, 10 characters")
        outbox = self.ours("store, one delta a commit, with the outbox, 10 characters")
        if alone and outbox:
            yield f"{100 * (outbox['median'] / alone['median'] - 1):.0f} %"
        alone, outbox = (
            ratios.found(self.entries, f"store, one delta a commit, {case}10 characters", "c", "limit: sqlite")
            for case in ("", "with the outbox, ")
        )
        if alone and outbox:
            yield f"raw SQLite with a row for each at once: {100 * (outbox['median'] / alone['median'] - 1):.0f} %"

    def store_query(self):
        ours = self.ours("store, query page of 100 rows")
        limit = ratios.found(self.entries, "store, query page of 100 rows", "c", "limit: sqlite")
        if ours and limit:
            yield f"{ours['median'] / limit['median']:.2f} times"

    def store_live(self):
        without, few, many = (
            self.ours(f"store, a row patched among {rows}")
            for rows in ("10,000, no live query", "100, live query", "10,000, live query")
        )
        if without and few and many:
            more = many["median"] - without["median"]
            told = f"{number(many['median'])} µs in all, of 100 rows {number(few['median'])}"
            yield f"{more:.1f} µs more than without; {told}"

    def store_open(self):
        if entry := self.ours("store, open with 1,000 documents"):
            counts = entry["counts"]
            yield f"{number(entry['median'])} µs, {number(counts['statements'])} statements, {counts['writes']} writes"

    def stands(self):
        """Where each stands, by its name."""
        names = [name for name in vars(Aims) if not name.startswith("_")]
        names = [name for name in names if name not in ("ours", "change", "against_best", "each", "stands")]
        return {f"aim_{name}": "; ".join(getattr(self, name)()) or "not measured" for name in names}
