#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads JUnit XML from standard input with junitparser (Debian: python3-junitparser)
# and prints what that parser finds: a line for each suite and for each test case.
# Fails when the numbers of a suite are not those of its test cases.  For
# test_output.c.

import sys
from xml.etree import ElementTree

from junitparser import JUnitXml

root = ElementTree.parse(sys.stdin.buffer).getroot()
for suite in JUnitXml.fromroot(root):
    cases = list(suite)
    results = [type(r).__name__ for case in cases for r in case.result]
    counted = (len(cases), *map(results.count, ("Failure", "Error", "Skipped")))
    said = (suite.tests, suite.failures, suite.errors, suite.skipped)
    if said != counted:
        sys.exit(f"{suite.name}: says {said}, has {counted}")
    print(suite.name, *said, suite.time)
    for case in cases:
        print(case.classname, "|", case.name, "|",
              *[(type(r).__name__, r.type, r.message) for r in case.result])
