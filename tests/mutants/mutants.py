"""The list of mutants (mutants.list): read, checked against the sources, made part of them."""
import glob
import os
import re

BRACKETS = r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}"  # without others in them
FIELDS = ("mutant", "file", "right", "wrong", "tests")
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants.list")


def has_source(root, test, form):
    """Whether the folder of the test's group, or a room of it, has the file."""
    group, _, name = test.partition("/")
    return any(glob.glob(os.path.join(root, "tests", group, room, form % name)) for room in ("", "*"))


class Mutant:
    """One entry; number: what the environment variable DB_MUTANT says to switch it on."""

    def __init__(self, number, fields, line):
        self.number, self.line = number, line
        self.name, _, self.meaning = (part.strip() for part in fields["mutant"].partition(":"))
        self.file, self.wrong, self.tests = fields["file"], fields["wrong"], fields["tests"].split()
        text = fields["right"]
        before, marked, rest = text.partition("{{")
        self.before, self.right, self.after = (
            (before, *rest.rsplit("}}", 1)) if marked else ("", text, ""))

    def where(self):
        return f"{LIST}:{self.line}: {self.name}"

    def places(self, source):
        """(begin, end) of what is replaced, wherever the text occurs."""
        pattern = loosely(self.before) + GAP + "(" + loosely(self.right) + ")" + GAP + loosely(self.after)
        return [m.span(1) for m in re.finditer(pattern, source)]


GAP = r"[\s\\]*"


def loosely(text):
    """A pattern for a text in which blanks and line ends (of macros, too) do not matter."""
    return GAP.join(re.escape(c) for c in text if not c.isspace())


def read():
    """All mutants; raises ValueError with the line of what is wrong."""
    found, fields, start = [], {}, 0

    def finish():
        if not fields:
            return
        missing = [f for f in FIELDS if not fields.get(f)]
        if missing:
            raise ValueError(f"{LIST}:{start}: expected {', '.join(missing)}, found none")
        found.append(Mutant(len(found) + 1, fields, start))

    with open(LIST) as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip()
            if line.startswith("#"):
                continue
            if not line:
                finish()
                fields = {}
                continue
            key, _, value = line.partition(" ")
            if key not in FIELDS or key in fields:
                raise ValueError(f"{LIST}:{number}: expected one of {', '.join(FIELDS)}, once, found '{key}'")
            start = start if fields else number
            fields[key] = value.strip()
    finish()
    return found


def is_expression(source, begin, end):
    """Whether a part of the source can stand in brackets of its own: what follows an operand is no expression, nor is an
    operator alone, or a statement; a static's first value must be constant, and a choice at run time is not."""
    text, before = source[begin:end].strip(), source[:begin].rstrip()
    unary = r"(\breturn|\(([A-Z_]+|\w+_t|double|float|int|long)\))$"  # a cast
    follows = re.search(r"[\w)\]]$", before) and not re.search(unary, before)
    fixed = re.search(r"\bstatic\b[^;()]*=[^;]*$", before) or is_statement(text)
    return bool(re.search(r"\w", text)) and not fixed and not (follows and re.match(r"[-+*/%<>=&|^?:]", text))


def is_statement(text):
    """Whether it is a statement, or several expressions."""
    outside = re.sub(r'"[^"]*"', "", text)
    while re.search(BRACKETS, outside):
        outside = re.sub(BRACKETS, "", outside)
    return bool(re.search(r"[,;]|^(if|for|while|return)\b", outside))


def check(mutants, root):
    """Messages about entries that do not fit the sources."""
    wrong, names = [], set()
    for m in mutants:
        if m.name in names:
            wrong.append(f"{m.where()}: the name is taken")
        names.add(m.name)
        path = os.path.join(root, m.file)
        if not os.path.exists(path):
            wrong.append(f"{m.where()}: expected a file, found no {m.file}")
            continue
        source = open(path).read()
        places = m.places(source)
        if len(places) != 1:
            wrong.append(f"{m.where()}: expected its text once in {m.file}, found it {len(places)} times")
        elif not is_expression(source, *places[0]):
            wrong.append(f"{m.where()}: expected an expression between {{{{ and }}}}, found '{m.right}'")
        if is_statement(m.wrong):
            wrong.append(f"{m.where()}: expected an expression, found '{m.wrong}'")
        for test in m.tests:
            if not (has_source(root, test, "test_%s.c") or has_source(root, test, "%s.sh")):
                wrong.append(f"{m.where()}: expected a test, found no {test}")
    return wrong


def mutated(source, spans):
    """The source with every place a choice at run time; spans: (begin, end, mutant), perhaps nested."""
    spans = sorted(spans, key=lambda s: (s[0], -s[1]))
    out, at = "", 0
    while spans:
        begin, end, mutant = spans.pop(0)
        inner = [(b - begin, e - begin, m) for b, e, m in spans if e <= end]
        spans = [s for s in spans if s[1] > end]
        if spans and spans[0][0] < end:
            raise ValueError(f"{mutant.name} and {spans[0][2].name} overlap")
        right = mutated(source[begin:end], inner)
        out += source[at:begin] + f"(db_mutant == {mutant.number} ? ({mutant.wrong}) : ({right}))"
        at = end
    return out + source[at:]
