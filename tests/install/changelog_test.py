"""Usage: changelog_test.py CHANGELOG VERSION. Checks that the newest version in CHANGELOG is
VERSION, the version of the build."""
import pathlib
import re
import sys

changelog, version = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
headings = re.findall(r'^## \[(.+?)\] - (?:unreleased|\d{4}-\d\d-\d\d)$', changelog, re.MULTILINE)
if headings[:1] != [version]:
    sys.exit(f'CHANGELOG.md begins with {headings[:1]}, but meson.build says {version}')
