"""The check of the documentation, on small trees with one fault each."""
import os
import tempfile
import unittest

import docs_check

GOOD = {
    "README.md": "# Read me\n\nSee [theory](docs/theory/pixel.md#solid-angle), `src/a.h` and `src/<name>.h`.\n"
                 "`dualbragg sim -cell` and\n\n    dualbragg sim -cell 1 | dualbragg noise --quiet\n",
    "docs/theory/pixel.md": "# Pixel\n\n## Solid angle\n\n```\n[not a link](nowhere)\n```\n",
    "src/a.h": "/* Source: docs/theory/pixel.md, Solid\n * angle. See a.h and <math.h>. */\n",
}


class Known:
    """A program with these commands and flags."""

    @staticmethod
    def knows(*arguments):
        return arguments in [("sim",), ("sim", "-cell"), ("noise",), ("noise", "--quiet")]


def complaints(check, *arguments, **changed):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**GOOD, **{k.replace("__", "."): v for k, v in changed.items()}}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return check(docs_check.Tree(root), *arguments)


class Check(unittest.TestCase):
    def sees(self, check, page, what, *arguments):
        found = complaints(check, *arguments, page__md=page)
        self.assertEqual(len(found), 1, found)
        self.assertIn(what, found[0])

    def test_a_true_tree_has_no_complaints(self):
        self.assertEqual(complaints(docs_check.all_of, Known), [])

    def test_links_to_nowhere(self):
        self.sees(docs_check.links, "[x](gone.md)", "there is no gone.md")
        self.sees(docs_check.links, "[x](docs/theory/pixel.md#gone)", "no such heading")
        self.sees(docs_check.links, "![x](gone.png)", "gone.png")

    def test_errors_in_prose_that_no_block_shows(self):
        page = "a is 57.55(%d)\n\n```text\ncell_a  58.4  57.55(11)\n```\n"
        for error, faults in (11, 0), (1, 1):
            found = complaints(docs_check.shown_errors, **{"docs/tutorials/page__md": page % error})
            self.assertEqual(len(found), faults, found)

    def test_files_that_are_not_there(self):
        self.sees(docs_check.paths, "`src/gone.c`", "src/gone.c")
        self.sees(docs_check.paths, "`src/{a,gone}.h`", "src/gone.h")
        self.sees(docs_check.paths, "`gone.h`", "gone.h")

    def test_commands_and_flags_that_are_not_there(self):
        self.sees(docs_check.commands, "`dualbragg simulate`", "no command simulate", Known)
        self.sees(docs_check.commands, "    x\n\n    dualbragg sim \\\n    -cel 1", "no flag -cel", Known)
        self.sees(docs_check.commands, "`mpirun -n 4 dualbragg noise -cell`", "no flag -cell", Known)

    def test_pages_and_sections_that_sources_name(self):
        for text, what in [("/* docs/gone.md */", "docs/gone.md"),
                           ("/* docs/theory/pixel.md, Fluid angle. */", "no section"),
                           ('const char *s = "see docs/gone.md";', "docs/gone.md")]:
            found = complaints(docs_check.cited_pages, b__c=text)
            self.assertEqual(len(found), 1, found)
            self.assertIn(what, found[0])

    def test_files_that_comments_name(self):
        for text in ["/* as in gone.h */", "// see src/gone.c.", "/* see other/a.h */"]:
            self.assertEqual(len(complaints(docs_check.cited_files, b__c=text)), 1, text)
        self.assertEqual(complaints(docs_check.cited_files, b__c='const char *s = "gone.h";'), [])

    def test_wide_lines(self):
        wide = "x " * 70
        self.sees(docs_check.widths, wide, "140 columns")
        self.assertEqual(complaints(docs_check.widths, page__md="| " + wide + "\n\n```\n" + wide + "\n```\n"), [])

    def test_changes_of_lines_that_are_gone(self):
        change = "```diff\n--- a/src/a.h\n+++ b/src/a.h\n@@ -1 +1 @@\n-{}\n+/* new */\n```\n"
        self.assertEqual(complaints(docs_check.recipes, page__md=change.format(" * angle. See  a.h and <math.h>. */")), [])
        self.sees(docs_check.recipes, change.format("/* old */"), "no longer in src/a.h")
        self.sees(docs_check.recipes, change.replace("src/a.h", "src/gone.h"), "no src/gone.h")

    def test_names_of_tests_in_pages_for_users(self):
        changed = {"docs/theory/pixel.md": "see `tests/a/test_b.c`"}
        self.assertEqual(len(complaints(docs_check.names_of_tests, **changed)), 1)

    def test_what_pages_need(self):
        there = {"src/c.c": "words"}
        for comment in ("needs: no src/c.c", "needs: src/gone.c", 'needs: no "words" in src/c.c', 'needs: "other" in src/c.c',
                        'needs: "words" in src/gone.c', "needs: one of these"):
            self.assertEqual(len(complaints(docs_check.needs, page__md=f"<!-- {comment} -->", **there)), 1, comment)
        for comment in ("needs: src/c.c", "needs: no gone*.c", 'needs: "words" in src/c.c', 'needs: no "other" in src/c.c'):
            self.assertEqual(complaints(docs_check.needs, page__md=f"<!-- {comment} -->", **there), [], comment)

    def test_answers_that_deny(self):
        answer = "**Is there one?** It cannot."
        self.assertEqual(len(complaints(docs_check.answers, faq__md=answer)), 1)
        for good in (answer + "\n<!-- needs: no b.c -->", "**Is there not one?** Yes.", "Not an answer."):
            self.assertEqual(complaints(docs_check.answers, faq__md=good), [], good)
        section = "# Limits\n\n## Files\n\nNone."
        self.assertEqual(len(complaints(docs_check.answers, limits__md=section)), 1)
        self.assertEqual(len(complaints(docs_check.answers, programs__md=section)), 1)
        self.assertEqual(complaints(docs_check.answers, limits__md=section + " <!-- needs: no b.c -->"), [])

    def test_messages_that_are_no_longer_the_program_s(self):
        page, source = "docs/troubleshooting.md", {"src/b.c": 'fail("%zu of %d spots "\n    "are near its nodes");'}
        for row, count in (("| `12 of 40 spots are near` | do |", 0), ("| `spots are far` | do |", 1), ("| x | `spots are far` |", 0)):
            self.assertEqual(len(complaints(docs_check.messages, **{page: row}, **source)), count, row)

    def test_lists_of_pages(self):
        found = complaints(docs_check.indexed, **{"docs/theory/index.md": "[x](gone.md)"})
        self.assertEqual(found, ["docs/theory/index.md: does not name pixel.md"])

    def test_the_versions_of_a_citation_and_of_packages(self):
        own = {"src/include/dualbragg/version.h": '#define DB_VERSION_STRING "1.2.3"'}
        for path, line in (("CITATION.cff", "version: %s\n"), ("packaging/conda-forge/recipe.yaml", "context:\n  version: %s\n"),
                           ("packaging/easybuild/dualbragg-1.eb", "version = '%s'\n"),
                           ("packaging/spack/package.py", '    version("main")\n    version("%s", tag="v")\n')):
            for text, count in ((line % "1.2.3", 0), (line % "1.2.4", 1), ("title: x\n", 1)):
                self.assertEqual(len(complaints(docs_check.versions, **{path: text, **own})), count, text)

    def test_the_dates_of_a_citation_and_of_the_changes(self):
        for cited, listed, count in (("", "unreleased", 0), ("date-released: 2026-12-01\n", "2026-12-01", 0),
                                     ("date-released: 2026-12-01\n", "unreleased", 1), ("", "2026-12-01", 1),
                                     ("date-released: 2026-12-02\n", "2026-12-01", 1)):
            files = {"CITATION.cff": "version: 1.2.3\n" + cited, "CHANGELOG.md": f"## [1.2.3] - {listed}\n\n## [1.2.2] - 2026-01-01\n"}
            self.assertEqual(len(complaints(docs_check.release_date, **files)), count, files)


if __name__ == "__main__":
    unittest.main()
