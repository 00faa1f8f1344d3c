"""run_pages.py sees each fault that it is there for. A script stands in for the program."""
import os
import tempfile
import unittest

import run_pages

PROGRAM = """#!/bin/sh
case $1 in
fit) grep -q wrong "$2" && { echo 'unknown key' >&2; exit 2; }; exit 3 ;;
fail) exit 1 ;;
*) echo "first line 1.25"; echo "second line 2" ;;
esac
"""


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        program = os.path.join(self.folder.name, "program")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(program, 0o755)
        os.environ["DUALBRAGG"] = program
        os.environ["SHARED_DIR"] = self.folder.name

    def tearDown(self):
        self.folder.cleanup()

    def check(self, *blocks):
        page = os.path.join(self.folder.name, "page.md")
        with open(page, "w", encoding="utf-8") as file:
            file.write("# Page\n\n" + "".join("```%s\n%s```\n\n" % block for block in blocks))
        return run_pages.check(page)

    def test_numbers_agree_within_their_last_digit_or_a_fiftieth(self):
        for shown in ("first line 1.25", "first line 1.26", "first line 1.2", "first line 1", "first line 1.240000"):
            self.assertEqual(self.check(("sh", "dualbragg sim\n"), ("text", shown + "\n...\nsecond line 2\n")), [], shown)
        for shown in ("first line 1.4", "first line 1.28", "first line 12.5", "first line 1.25e1", "second line 4"):
            self.assertEqual(len(self.check(("sh", "dualbragg sim\n"), ("text", shown + "\n"))), 1, shown)

    def test_rounding_is_no_number(self):
        self.assertTrue(run_pages.agree("off by 3.1e-13 at 90 deg", "off by 5.0e-14 at 90 deg"))
        self.assertTrue(run_pages.agree("off by 3.1e-7 at 90 deg", "off by 5.0e-8 at 90 deg"))
        self.assertFalse(run_pages.agree("off by 3.1e-7 at 90 deg", "off by 2.0e-8 at 90 deg"))
        self.assertFalse(run_pages.agree("off by 3.1e-6 at 90 deg", "off by 2.0e-6 at 90 deg"))

    def test_lines_that_are_not_printed_are_a_fault(self):
        self.assertEqual(len(self.check(("sh", "dualbragg sim\n"), ("text", "third line 3\n"))), 1)

    def test_lines_in_another_order_are_a_fault(self):
        self.assertEqual(len(self.check(("sh", "dualbragg sim\n"), ("text", "second line 2\nfirst line 1\n"))), 1)

    def test_a_command_that_fails_is_a_fault(self):
        self.assertEqual(len(self.check(("sh", "dualbragg fail\ndualbragg sim\n"))), 1)

    def test_a_configuration_must_be_understood(self):
        self.assertEqual(self.check(("yaml", "right: 1\n")), [])
        self.assertEqual(len(self.check(("yaml", "wrong: 1\n"))), 1)

    def test_measured_blocks_are_left_out_without_images(self):
        self.assertIsNone(self.check(("sh measured", "dualbragg fail\n"), ("text", "nothing\n")))


if __name__ == "__main__":
    unittest.main()
