"""The comparison of times sees slow tests, new ones among them, and forgives a slow machine."""
import glob
import os
import tempfile
import unittest

import check_times

RECORD = {f"fit/t{i}": 10.0 + i for i in range(20)}


class Times(unittest.TestCase):
    def test_a_run_like_the_record_passes(self):
        self.assertEqual(check_times.complaints({**RECORD, "ad/short": 1.0}, RECORD), [])

    def test_a_slow_machine_passes(self):
        self.assertEqual(check_times.complaints({name: 5 * seconds for name, seconds in RECORD.items()}, RECORD), [])

    def test_a_slow_test_is_named(self):
        found = check_times.complaints({**RECORD, "fit/t3": 35.0}, RECORD)
        self.assertEqual(found, ["fit/t3: expected at most 34.0 s, found 35.0 s"])

    def test_a_new_slow_test_is_named(self):
        found = check_times.complaints({**RECORD, "ad/new": 29.0}, RECORD)
        self.assertEqual(found, ["ad/new: expected at most 28.0 s, found 29.0 s"])

    def test_many_tests_that_are_each_quick_enough_are_seen_in_the_total(self):
        record = {**RECORD, "total": 390.0}
        small = {f"io/t{i}": 1.0 for i in range(100)}
        self.assertEqual(check_times.complaints({**RECORD, **small}, record), [])
        self.assertEqual(check_times.complaints({name: 2 * s for name, s in {**RECORD, **small}.items()}, record), [])
        found = check_times.complaints({**RECORD, **small, **{f"cli/t{i}": 5.0 for i in range(30)}}, record)
        self.assertEqual(found, ["all tests: expected at most 507 s, found 640 s"])

    def test_a_run_without_recorded_tests_is_no_proof(self):
        self.assertEqual(check_times.complaints({"ad/short": 1.0}, RECORD), ["no recorded test has run"])

    def test_a_record_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "slowest")
            check_times.write_record({**RECORD, "ad/short": 1.0}, path)
            self.assertEqual(check_times.read_record(path), {"total": sum(RECORD.values()) + 1, **RECORD})

    def test_results_of_ctest_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.xml")
            with open(path, "w") as out:
                out.write('<testsuite><testcase name="a/b" time="1.5" status="run"/>'
                          '<testcase name="a/c" time="0" status="notrun"/></testsuite>')
            self.assertEqual(check_times.read_results(path), {"a/b": 1.5})

    def test_the_record_names_tests(self):
        tests = os.path.dirname(os.path.dirname(check_times.RECORD))
        record = check_times.read_record(check_times.RECORD)
        record.pop(check_times.TOTAL, None)
        self.assertEqual(len(record), check_times.COUNT)
        for group, _, name in (test.partition("/") for test in record):
            self.assertTrue([path for form in ("test_%s.c", "%s.sh") for room in ("", "*")
                             for path in glob.glob(os.path.join(tests, group, room, form % name))], f"{group}/{name}")


if __name__ == "__main__":
    unittest.main()
