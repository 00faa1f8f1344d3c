"""Counts the instructions of device code as nvdisasm lists it: what a thread executes at least and at most in each
loop, and accesses to memory whose kind only the address tells (generic) or that registers had no room for (local).

    instructions.py NVDISASM CUBIN... > found        the record of what is there
    instructions.py --compare RECORD FOUND           fails where something has grown

A line of the record: kernel, instructions, generic accesses, local ones, then SHORTEST-LONGEST of the kernel and of each
loop in the order of their first instructions: paths without turning back, with those of inner loops taken once. Calls,
which are the slow paths of divisions and roots, are left out.
"""

import re
import subprocess
import sys

LEAST_LOOP = 16  # instructions: shorter loops are not worth a number
GROWTH = 1.04


def kernels(listing):
    """{name: ([instruction], {label: number of its instruction})}"""
    found = {}
    for line in listing.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.(\w+)", line):
            code, labels = found.setdefault(match[1], ([], {}))
        elif not found:
            continue
        elif match := re.match(r"(\.L_\w+):", line):
            labels[match[1]] = len(code)
        elif match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);", line):
            code.append(match[1].strip())
    return found


def operation(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def target(instruction, labels):
    match = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", instruction)
    return labels.get(match[1]) if match else None


def followers(code, labels, i):
    """Numbers of the instructions that may come after number i, but for those before it."""
    word, conditional = operation(code[i]), code[i].startswith("@")
    if word.startswith("BRA"):
        to = target(code[i], labels)
        conditional = conditional or re.search(r"BRA\S*\s+!?U?P\d", code[i])
        return ([i + 1] if conditional else []) + ([to] if to is not None and to > i else [])
    if word.split(".")[0] in ("EXIT", "RET", "CALL", "BRX") and not conditional:
        return []
    return [i + 1]


def paths(code, labels, first, last):
    """Shortest and longest way from one instruction to another, both counted; None: there is none."""
    least, most = {first: 1}, {first: 1}
    for i in range(first, last):
        if i not in least:
            continue
        for to in followers(code, labels, i):
            least[to] = min(least.get(to, least[i] + 1), least[i] + 1)
            most[to] = max(most.get(to, 0), most[i] + 1)
    return (least[last], most[last]) if last in least else None


def loops(code, labels):
    found = {}
    for i, instruction in enumerate(code):
        to = target(instruction, labels)
        if to is not None and to < i:
            found[to] = max(found.get(to, 0), i)
    return [(first, last) for first, last in sorted(found.items()) if last - first >= LEAST_LOOP]


def describe(name, code, labels):
    words = [operation(instruction).split(".")[0] for instruction in code]
    exits = [i for i, word in enumerate(words) if word == "EXIT"]
    ends = [i for i in exits if not code[i].startswith("@")] or exits
    spans = [(0, max(ends))] + loops(code, labels)
    counts = [paths(code, labels, first, last) for first, last in spans]
    generic = sum(word in ("LD", "ST", "ATOM") for word in words)
    local = sum(word in ("LDL", "STL") for word in words)
    listed = " ".join(f"{c[0]}-{c[1]}" for c in counts if c)
    real = sum(word != "NOP" for word in words)
    return f"{name} {real} {generic} {local} {listed}"


def list_all(disassembler, files):
    for path in files:
        listing = subprocess.run([disassembler, "-c", path], check=True, capture_output=True, text=True).stdout
        for name, (code, labels) in kernels(listing).items():
            if name.startswith("db_cuda_"):
                print(describe(name, code, labels))


def lines_of(path):
    with open(path, encoding="ascii") as file:
        return {line.split()[0]: line.split()[1:] for line in file if line.startswith("db_cuda_")}


def longest(path):
    return int(path.split("-")[1])


def grown(recorded, found):
    """What has grown, in words."""
    limit = [int(recorded[0]) * GROWTH, int(recorded[1]), int(recorded[2])]
    for what, most, now in zip(("instructions", "generic accesses", "local accesses"), limit, found):
        if int(now) > most:
            yield f"{now} {what}"
    if len(recorded) != len(found):
        yield f"{len(found) - 4} loops"
        return
    for number, (before, now) in enumerate(zip(recorded[3:], found[3:])):
        if longest(now) > longest(before) * GROWTH + 1:
            yield f"{now} instructions in " + (f"loop {number}" if number else "all")


def compare(record, found):
    recorded, there = lines_of(record), lines_of(found)
    bad = 0
    for name, counts in sorted(there.items()):
        if "_mixed_" in name and int(counts[1]):
            print(f"{name}: {counts[1]} generic accesses; expected none in mixed precision")
            bad = 1
        if name not in recorded:
            print(f"{name}: not in the record")
            bad = 1
            continue
        for what in grown(recorded[name], counts):
            print(f"{name}: {what}; recorded: {' '.join(recorded[name])}")
            bad = 1
    print(f"{len(there)} kernels looked at")
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(compare(sys.argv[2], sys.argv[3]))
    list_all(sys.argv[1], sys.argv[2:])
