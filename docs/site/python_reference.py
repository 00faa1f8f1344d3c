"""The reference of the Python package, made of its sources: signatures, members and what stands below them. A page names a
module by a block {pythonmodule}; the site has its public classes and functions there."""

import ast
import pathlib
import re
import textwrap

BLOCK = re.compile(r"^```\{pythonmodule\} (\w+)\n```$", re.MULTILINE)


def is_public(name):
    return not name.startswith("_") or name in ("__call__", "__getitem__", "__setitem__", "__len__", "__iter__")


def fenced(kind, text):
    return f"```{kind}\n{text}\n```\n" if text else ""


def said(node):
    """Its explanation, in lines that are not wider than a page."""
    lines = []
    for line in (ast.get_docstring(node) or "").splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4 * bool(re.match(r"\s*[\w, ]+: ", line)))
        lines += textwrap.wrap(line, 88, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]
    return fenced("text", "\n".join(lines))


def signature(name, function):
    """As a caller sees it: without self and cls."""
    arguments = function.args
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args.pop(0)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    text = f"{name}({ast.unparse(arguments)}){returns}"
    return re.sub(r", (?=\w+: |\*)", ",\n    ", text) if len(text) > 88 else text


def members(parts):
    """Annotated members, with their comments and what is said below them."""
    shown, before = [], None
    for part, lines in parts:
        is_member = isinstance(part, ast.AnnAssign) and is_public(part.target.id)
        if is_member or (isinstance(part, ast.Expr) and isinstance(before, ast.AnnAssign)):
            shown += [line.strip() for line in lines[part.lineno - 1:part.end_lineno]]
        before = part
    return "\n".join(shown)


class Class:
    """A class of the sources: what stands in it, its bases that the reference does not show included."""

    def __init__(self, node, lines):
        self.node, self.lines = node, lines

    def parts(self, classes):
        """Each part of its body, with the lines of its module."""
        yield from ((part, self.lines) for part in self.node.body)
        for base in (b.id for b in self.node.bases if isinstance(b, ast.Name)):
            if base.startswith("_") and base in classes:
                yield from classes[base].parts(classes)

    def reference(self, classes):
        name, parts = self.node.name, list(self.parts(classes))
        functions = [p for p, _ in parts if isinstance(p, ast.FunctionDef)]
        making = next((f for f in functions if f.name == "__init__"), None)
        head = f"class {signature(name, making).removesuffix(' -> None')}" if making else f"class {name}"
        yield f"### `{name}`\n\n{fenced('python', head)}{said(self.node)}{fenced('python', members(parts))}"
        for function in functions:
            marks = [ast.unparse(d) for d in function.decorator_list]
            if not is_public(function.name) or any(m.endswith(".setter") for m in marks):
                continue
            own = f"{name}.{function.name}"
            returns = f": {ast.unparse(function.returns)}" if function.returns else ""
            yield fenced("python", own + returns if "property" in marks else signature(own, function)) + said(function)


def expanded(page, package):
    """A page with the reference of the modules that it names. package: the folder of the sources."""
    modules, classes = {}, {}
    for path in pathlib.Path(package).glob("*.py"):
        text = path.read_text(encoding="utf-8")
        modules[path.stem] = ast.parse(text)
        classes.update((n.name, Class(n, text.splitlines())) for n in modules[path.stem].body if isinstance(n, ast.ClassDef))

    def made(block):
        found = []
        for node in modules[block[1]].body:
            if isinstance(node, ast.ClassDef) and is_public(node.name):
                found += Class(node, classes[node.name].lines).reference(classes)
            elif isinstance(node, ast.FunctionDef) and is_public(node.name):
                found.append(f"### `{node.name}`\n\n{fenced('python', signature(node.name, node))}{said(node)}")
        return "\n".join(found)

    return BLOCK.sub(made, page)
