"""Whether the documentation says what is so: links, files, commands and flags that it names, pages and files that
comments of the sources name, and lines of a bearable width. Each check takes a tree and returns complaints."""
import fnmatch
import os
import re
import subprocess
import tempfile

WIDTH = 128
SOURCES = (".c", ".h", ".cu", ".cuh")
# Endings by which a word in prose is taken for a file of ours. Users have files with other endings.
OWN_ENDINGS = (".c", ".h", ".cu", ".cuh", ".cmake", ".css", ".js", ".list", ".record")
# Headers that the sources may name and that are not in the tree.
FOREIGN_HEADER = re.compile(r"(std\w+|math|float|string|cuda\w*|jansson|yaml|png|hdf5|zlib|mpi|omp|Random123/\w+|gsl/\w+)\.h$")


class Tree:
    """The files of a folder, by their paths in it."""

    def __init__(self, root):
        self.root = root
        self.files = []
        skipped = {os.path.join(root, f) for f in (".git", "build")}
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if os.path.join(folder, f) not in skipped and f != "__pycache__" and
                                not os.path.exists(os.path.join(folder, f, "CMakeCache.txt")))
            inside = os.path.relpath(folder, root)
            self.files += [os.path.normpath(os.path.join(inside, name)) for name in sorted(names)]
        self.folders = {os.path.dirname(f) for f in self.files}
        self.folders |= {parent for f in self.folders for parent in parents(f)}
        self.text = {}

    def read(self, path):
        if path not in self.text:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                self.text[path] = file.read()
        return self.text[path]

    def pages(self):
        return [f for f in self.files if f.endswith(".md")]

    def sources(self):
        return [f for f in self.files if f.endswith(SOURCES)]

    def has(self, name):
        """Whether a file or folder has this path, or one that ends with it, or a test has this name; * stands for any part
        of a name."""
        name = name.rstrip("/")
        if name in self.folders or name in self.files:
            return True
        group, _, test = name.partition("/")
        of_test = re.compile(rf"tests/{re.escape(group)}/(\w+/)?(test_{re.escape(test)}\.c|{re.escape(test)}\.sh)")
        if test and any(of_test.fullmatch(f) for f in self.files):
            return True
        pattern = name if "*" in name else None
        for path in self.files + sorted(self.folders):
            if pattern and (fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, "*/" + pattern)):
                return True
            if not pattern and path.endswith("/" + name):
                return True
        return False


def parents(folder):
    while folder:
        folder = os.path.dirname(folder)
        yield folder


def is_generated(page):
    """Pages that the program writes are what it says."""
    return os.path.basename(page) == "flags.md"


def lines_of(tree, page):
    """Number, text and kind (prose, code or table) of each line of a page."""
    fenced = before_blank = False
    kind = "prose"
    for number, line in enumerate(tree.read(page).split("\n"), 1):
        fence = line.lstrip().startswith("```")
        if fenced or fence:
            kind = "code"
        elif line.startswith("    ") and (kind == "code" or before_blank):
            kind = "code"
        elif line.strip():
            kind = "table" if line.startswith("|") else "prose"
        if fence:
            fenced = not fenced
        before_blank = not line.strip()
        yield number, line, kind


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def headings(tree, page):
    found = []
    for _, line, kind in lines_of(tree, page):
        match = re.match(r"#+ +(.*?) *#*$", line)
        if match and kind != "code":
            found.append(re.sub(r"[`*]", "", match.group(1)))
    return found


def anchors(tree, page):
    return {slug(h) for h in headings(tree, page)} | set(re.findall(r'^\(([\w-]+)\)=$', tree.read(page), re.M))


def links(tree):
    """Links and pictures lead to files and headings."""
    wrong = []
    for page in tree.pages():
        for number, line, kind in lines_of(tree, page):
            if kind == "code":
                continue
            prose = re.sub(r"`[^`]*`", "", line)
            targets = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", prose)
            targets += re.findall(r'(?:src|href)="([^"]+)"', prose)
            for target in targets:
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if to not in tree.files and to not in tree.folders:
                    wrong.append(f"{page}:{number}: link to {target}: there is no {to}")
                elif anchor and to.endswith(".md") and anchor not in anchors(tree, to):
                    wrong.append(f"{page}:{number}: link to {target}: {to} has no such heading")
    return wrong


def as_path(word, top):
    """The pattern of a path of the tree that a word in backticks stands for; None: it is something else."""
    if not re.fullmatch(r"[\w.*<>{},/+-]+", word) or word.startswith(("build/", "-", "/", "..")):
        return None
    pattern = re.sub(r"<\w+>", "*", word)
    if pattern.split("/")[0] in top and "/" in pattern:
        return pattern
    return pattern if pattern.endswith(OWN_ENDINGS) and not pattern.startswith(".") else None


def alternatives(pattern):
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    return [p for part in match.group(1).split(",")
            for p in alternatives(pattern[:match.start()] + part + pattern[match.end():])]


def paths(tree):
    """Files and folders in backticks exist."""
    top = {f.split("/")[0] for f in tree.folders if f}
    wrong = []
    for page in tree.pages():
        if is_generated(page) or page == "CHANGELOG.md":
            continue
        for number, line, kind in lines_of(tree, page):
            if kind == "code":
                continue
            for code in re.findall(r"`([^`]+)`", line):
                for word in code.split():
                    pattern = as_path(word.rstrip(",:;"), top)
                    wrong += [f"{page}:{number}: `{word}`: there is no {p}"
                              for p in alternatives(pattern or "") if p and not tree.has(p)]
    return wrong


class Program:
    """Asks the program which commands and flags it knows."""

    def __init__(self, path):
        self.path = path
        self.answers = {}

    def knows(self, *arguments):
        if arguments not in self.answers:
            with tempfile.TemporaryDirectory() as folder:
                run = subprocess.run([self.path, *arguments], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.answers[arguments] = not re.search(r"unknown (flag|command)", run.stdout)
        return self.answers[arguments]


def commands_in(text):
    """The words of each command `dualbragg ...` in a text; of a pipeline, of every part."""
    for part in re.split(r"[|;&()]|\s>\s?", text):
        words = part.split()
        while words and (words[0] in ("$", "mpirun", "time", "exec") or re.fullmatch(r"\w+=\S*", words[0])):
            runner = words.pop(0) == "mpirun"
            while runner and words and (words[0].startswith("-") or words[0].isdigit()):
                words.pop(0)
        if words and re.fullmatch(r"(\S*/)?dualbragg", words[0]):
            yield words[1:]


def code_of(tree, page):
    """Number and text of each piece of code of a page; lines that end in a backslash are one."""
    pending, first = "", 0
    for number, line, kind in lines_of(tree, page):
        if kind != "code":
            for code in re.findall(r"`([^`]+)`", line):
                yield number, code
            continue
        first = first if pending else number
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        yield first, pending + line
        pending = ""


def commands(tree, program):
    """Commands that prose names exist, and have the flags that it gives them."""
    wrong = []
    for page in tree.pages():
        if page == "CHANGELOG.md":
            continue
        for number, text in code_of(tree, page):
            for words in commands_in(text):
                command = [w for w in words[:1] if re.fullmatch(r"[a-z]+", w)]
                if command and not program.knows(*command):
                    wrong.append(f"{page}:{number}: dualbragg has no command {command[0]}")
                    continue
                for word in words:
                    flag = re.fullmatch(r"\[?(--?[A-Za-z][\w-]*)\]?(=.*)?", word)
                    if flag and not program.knows(*command, flag.group(1)):
                        wrong.append(f"{page}:{number}: dualbragg {' '.join(command)} has no flag {flag.group(1)}")
    return wrong


def comments(text):
    """Number of the first line, and words, of each comment of a source."""
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', text, re.S):
        if not match.group().startswith('"'):
            words = re.sub(r"\n[ \t]*\* ?", " ", match.group().strip("/*"))
            yield text.count("\n", 0, match.start()) + 1, " ".join(words.split())


def cited_pages(tree):
    """Pages of docs that sources name exist. What follows a page of the theory and a comma, with a capital, is the name
    of a section."""
    wrong = []
    for source in tree.sources():
        texts = list(comments(tree.read(source)))
        texts += [(1, s) for s in re.findall(r'"[^"\n]*docs/[^"\n]*"', tree.read(source))]
        for number, text in texts:
            for match in re.finditer(r"docs/[\w/-]+\.md", text):
                page, rest = match.group(), text[match.end():]
                if page not in tree.files:
                    wrong.append(f"{source}:{number}: there is no {page}")
                elif page.startswith("docs/theory/") and re.match(r", [A-Z]", rest):
                    if not any(rest[2:].startswith(h) for h in headings(tree, page)):
                        wrong.append(f"{source}:{number}: {page} has no section {' '.join(rest[2:].split()[:4])} ...")
    return wrong


def cited_files(tree):
    """Sources that comments name exist."""
    names = {os.path.basename(f) for f in tree.files}
    wrong = []
    for source in tree.sources():
        for number, text in comments(tree.read(source)):
            for name in re.findall(r"(?<![\w./*<-])[\w/]+\.(?:cuh|cu|h|c|py|sh)\b(?![\w/(])", text):
                found = tree.has(name) if "/" in name else name in names
                if not found and not FOREIGN_HEADER.fullmatch(name) and not re.search(r"[A-Z]{2}", name):
                    wrong.append(f"{source}:{number}: there is no {name}")
    return wrong


def recipes(tree):
    """What the changes shown in pages begin from is what stands in the files that they name, but for blanks."""
    wrong = []
    for page in tree.pages():
        path, old, begin = None, "", 0
        lines = list(enumerate(tree.read(page).split("\n"), 1)) if "```diff" in tree.read(page) else []
        inside = False
        for number, line in lines:
            if line.startswith("```"):
                inside = line == "```diff"
            hunk_ends = not inside or line.startswith(("--- ", "@@ "))
            if hunk_ends and path and "".join(old.split()) not in "".join(tree.read(path).split()):
                wrong.append(f"{page}:{begin}: the lines that this changes are no longer in {path}")
            if hunk_ends:
                old, begin = "", number + 1
            if not inside:
                path = None
            elif line.startswith("--- a/"):
                path = line[6:] if line[6:] in tree.files else None
                wrong += [] if path else [f"{page}:{number}: there is no {line[6:]}"]
            elif line.startswith((" ", "-")) and not line.startswith("---"):
                old += line[1:] + "\n"
    return wrong


def widths(tree):
    """Prose has lines of a width that editors show."""
    return [f"{page}:{number}: a line of {len(line)} columns; expected at most {WIDTH}"
            for page in tree.pages() if not is_generated(page)
            for number, line, kind in lines_of(tree, page) if kind == "prose" and len(line) > WIDTH]


def for_users(page):
    """Pages for users, who have no use for the names of tests. Scripts that they may run are another matter."""
    return page.startswith("docs/") and not re.match(
        r"docs/(decisions/|howto/(add-|release)|reference/(needs|quirks)\.md)", page)


def names_of_tests(tree):
    """Pages for users name no files of tests."""
    return [f"{page}:{number}: {name} is the file of a test; say what it tests"
            for page in tree.pages() if for_users(page) for number, line, _ in lines_of(tree, page)
            for name in re.findall(r"\btests/\w+/[\w./]+|\btest_\w+\.c", line)]


NEED = re.compile(r'needs: (no )?(?:"([^"]+)" in )?(\S+)')


def needs(tree):
    """What a page says of what there is, or is not, stands in a comment as well, and is so:

    <!-- needs: PATH -->                <!-- needs: "TEXT" in PATH -->
    <!-- needs: no PATH -->             <!-- needs: no "TEXT" in PATH -->"""
    wrong = []
    for page in tree.pages():
        for number, line, kind in lines_of(tree, page):
            for comment in re.findall(r"<!-- *(needs:.*?) *-->", line) if kind != "code" else []:
                match = NEED.fullmatch(comment)
                if not match:
                    wrong.append(f"{page}:{number}: expected needs: [no] [\"TEXT\" in] PATH, found {comment}")
                    continue
                absent, text, path = match.groups()
                if text and path not in tree.files:
                    wrong.append(f"{page}:{number}: there is no {path}")
                    continue
                there = text in tree.read(path) if text else tree.has(path)
                if there == bool(absent):
                    state = "there is" if absent else "there is no"
                    wrong.append(f"{page}:{number}: {state} {comment[7:].removeprefix('no ')}: the page says otherwise")
    return wrong


def answers(tree):
    """An answer that denies, and each section of Limits and Programs, needs something that a test can look at."""
    wrong = []
    for page in (p for p in tree.pages() if os.path.basename(p) == "faq.md"):
        for paragraph in re.split(r"\n\n+", tree.read(page)):
            said = re.sub(r"^\*\*.*?\*\*|<!--.*?-->", "", paragraph, flags=re.S)
            if paragraph.startswith("**") and re.search(r"\b(no|not|never|cannot|nobody)\b", said, re.I):
                if "<!-- needs:" not in paragraph:
                    wrong.append(f"{page}: {paragraph.splitlines()[0][:60]} ...: expected a comment needs: (see needs())")
    for page in (p for p in tree.pages() if os.path.basename(p) in ("limits.md", "programs.md")):
        for section in tree.read(page).split("\n## ")[1:]:
            if "<!-- needs:" not in section:
                wrong.append(f"{page}: {section.splitlines()[0]}: expected a comment needs: (see needs())")
    return wrong


# In a message that a page quotes: what the program puts in place of these differs from run to run.
FILLED_IN = re.compile(r"%[-+#0]*[\d.*]*(?:z|l|ll|h)?[a-zA-Z]|[-+]?\d[\d.]*(?:e[-+]?\d+)?|\.\.\.|\b(?:[A-Z]|NAME)\b")


def literals(text):
    """The strings of a source; those that follow one another are one."""
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
        yield re.sub(r'"\s*"', "", match.group())


def messages(tree):
    """The messages that Troubleshooting quotes in the first column of a table are the program's."""
    page = "docs/troubleshooting.md"
    if page not in tree.files:
        return []
    said = [FILLED_IN.sub("\0", s.replace('\\"', '"').replace("%%", "%"))
            for source in tree.sources() for s in literals(tree.read(source))]
    wrong = []
    for number, line, kind in lines_of(tree, page):
        for quoted in re.findall(r"`+([^`]*(?:`\w+`[^`]*)?)`+", line.split("|")[1]) if line.startswith("|") else []:
            for part in FILLED_IN.sub("\0", quoted).split("\0"):
                if " " in part.strip() and not any(part.strip() in s for s in said):
                    wrong.append(f"{page}:{number}: no message of the program has '{part.strip()}'")
    return wrong


def indexed(tree):
    """The table of a folder's pages, index.md, has all of them."""
    return [f"{folder}/index.md: does not name {os.path.basename(page)}"
            for folder in sorted(tree.folders) if folder.startswith("docs/") and f"{folder}/index.md" in tree.files
            for page in tree.pages() if os.path.dirname(page) == folder and page != f"{folder}/index.md"
            if f"]({os.path.basename(page)})" not in tree.read(f"{folder}/index.md")]


WITH_ERROR = re.compile(r"\d[\d.]*\(\d+\)")


def shown_errors(tree):
    """A number with its error in the prose of a tutorial, as 57.55(11), is one that a block of the page shows."""
    wrong = []
    for page in tree.pages():
        if page.startswith("docs/tutorials/"):
            lines = list(lines_of(tree, page))
            shown = {number for _, line, kind in lines if kind == "code" for number in WITH_ERROR.findall(line)}
            wrong += [f"{page}:{at}: {number}: no block of the page shows it" for at, line, kind in lines if kind != "code"
                      for number in WITH_ERROR.findall(line) if number not in shown]
    return wrong


# Files that name the version, and how.
VERSIONS = {"CITATION.cff": r"^version: (\S+)$", "packaging/conda-forge/recipe.yaml": r"^  version: (\S+)$",
            "packaging/easybuild/dualbragg-.*.eb": r"^version = '(.*)'$", "packaging/spack/package.py": r'^    version\("([0-9].*?)"'}


def release_date(tree):
    """CITATION.cff and the newest section of CHANGELOG.md have the same date, or both none."""
    if not {"CITATION.cff", "CHANGELOG.md"} <= set(tree.files):
        return []
    cited = re.findall(r"^date-released: (\S+)$", tree.read("CITATION.cff"), re.M)
    listed = re.findall(r"^## \[[0-9.]+\] - (\S+)$", tree.read("CHANGELOG.md"), re.M)[:1]
    wanted = [date for date in listed if date != "unreleased"]
    return [] if cited == wanted else [f"CITATION.cff: expected date-released {wanted or 'absent'}, as in CHANGELOG.md, found {cited}"]


def versions(tree):
    """Files that name a version have the one that the library has."""
    home = "src/include/dualbragg/version.h"
    if home not in tree.files:
        return []
    own = re.search(r'VERSION_STRING "([^"]+)"', tree.read(home)).group(1)
    return [f"{path}: expected version {own}" for pattern, said in VERSIONS.items() for path in sorted(tree.files)
            if re.fullmatch(pattern, path) and own not in re.findall(said, tree.read(path), re.M)]


def all_of(tree, program):
    found = needs(tree) + answers(tree) + indexed(tree) + versions(tree) + release_date(tree)
    found += names_of_tests(tree) + links(tree) + paths(tree) + cited_pages(tree) + cited_files(tree) + widths(tree)
    found += recipes(tree) + messages(tree) + shown_errors(tree)
    return found + (commands(tree, program) if program else [])
