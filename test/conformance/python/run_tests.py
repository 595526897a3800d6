"""Runs Python tests and prints a line of JSON for each, as it ends.

    run_tests.py list MODULE...      prints the names of the tests in these packages
    run_tests.py run < NAMES         runs the tests named on standard input, one by one

A test that cannot be run because its class could not be prepared is reported by its own name, so that every name
asked for gets its line.
"""

import contextlib
import importlib
import json
import pkgutil
import sys
import unittest


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def modules_below(name):
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        try:
            yield importlib.import_module(found.name)
        except unittest.SkipTest:
            pass


def load(packages):
    """Tests by name, from modules called test_…; classes imported from another module are not tests of this one."""
    loader = unittest.TestLoader()
    tests = {}
    for package in packages:
        for module in modules_below(package):
            if not module.__name__.rpartition(".")[2].startswith("test_"):
                continue
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__:
                    for test in flatten(loader.loadTestsFromTestCase(value)):
                        tests[test.id()] = test
    return tests


def without_attributes(name):
    """tempest appends [id-…,smoke] to a name."""
    return name.split("[")[0]


class Printed(unittest.TestResult):
    """Prints a verdict when a test ends. What is said of a class is kept for those of its tests that never began."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.verdicts = {}
        self.printed = set()

    def say(self, name, verdict, output):
        self.printed.add(name)
        line = {"name": without_attributes(name), "verdict": verdict, "output": output}
        print(json.dumps(line), file=self.out, flush=True)

    def note(self, test, verdict, output):
        if self.verdicts.get(test.id(), ("", ""))[0] != "failed":
            self.verdicts[test.id()] = (verdict, output)

    def stopTest(self, test):
        super().stopTest(test)
        if test.id() in self.verdicts:
            self.say(test.id(), *self.verdicts[test.id()])

    def addSuccess(self, test, details=None):
        self.note(test, "passed", "")

    def addExpectedFailure(self, test, err=None, details=None):
        self.note(test, "passed", "")

    def addUnexpectedSuccess(self, test, details=None):
        self.note(test, "failed", "passed, though a failure was expected")

    def addSkip(self, test, reason=None, details=None):
        if reason is None and details and "reason" in details:
            reason = details["reason"].as_text()
        self.note(test, "skipped", reason or "")

    def addFailure(self, test, err=None, details=None):
        self.note(test, "failed", self.describe(test, err, details))

    addError = addFailure

    def describe(self, test, err, details):
        if details:
            return "\n".join(part.as_text() for _, part in sorted(details.items()) if part.content_type.type == "text")
        return self._exc_info_to_string(err, test) if err else ""


def run_class(tests, out):
    """The tests of one class, with what it sets up for all of them."""
    result = Printed(out)
    with contextlib.redirect_stdout(sys.stderr):
        unittest.TestSuite(tests).run(result)
    shared = [verdict for name, verdict in result.verdicts.items() if name not in result.printed]
    for test in tests:
        if test.id() not in result.printed:
            result.say(test.id(), *(shared[0] if shared else ("failed", "never ran")))


def main():
    command, *arguments = sys.argv[1:]
    if command == "list":
        for name in load(arguments):
            print(without_attributes(name))
        return
    wanted = [line.strip() for line in sys.stdin if line.strip()]
    packages = sorted({name.rsplit(".", 2)[0] for name in wanted})
    tests = {without_attributes(name): test for name, test in load_modules(packages).items()}
    classes = {}
    for name in wanted:
        classes.setdefault(name.rsplit(".", 1)[0], []).append(tests[name])
    for members in classes.values():
        run_class(members, sys.stdout)


def load_modules(names):
    tests = {}
    for name in names:
        tests.update(load([name]))
    return tests


if __name__ == "__main__":
    main()
