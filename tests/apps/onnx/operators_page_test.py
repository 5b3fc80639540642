"""Checks that docs/onnx.md lists what the sources can import and write, and nothing else.

Usage: operators_page_test.py ROOT
"""

import pathlib
import re
import sys

IMPORTED = re.compile(r'\{"([A-Z][A-Za-z0-9]+)",\s*[a-z_]')
WRITTEN = re.compile(r'\{&graph::(\w+),\s*[a-z0-9_]+\}')


def entries(pattern, paths):
    return {name for path in paths for name in pattern.findall(path.read_text())}


def listed(page, name):
    """Returns what the second column of the page's table lists, by the pattern of a name."""
    rows = [line.split('|')[2] for line in page.splitlines()
            if line.startswith('| ') and not line.startswith('| Kind')]
    return [found for row in rows for found in re.findall(name, row)]


def main():
    root = pathlib.Path(sys.argv[1])
    imported = entries(IMPORTED, [*root.glob('engine/onnx/import/*.cpp'),
                                  *root.glob('engine/onnx/folding/*.cpp')])
    # op_exports.cpp lists those that cannot be written.
    written = entries(WRITTEN, [path for path in root.glob('engine/onnx/export/*.cpp')
                                if path.name != 'op_exports.cpp'])
    reading, writing = (root / 'docs/onnx.md').read_text().split('\n## Writing files\n')
    assert len(imported) > 100, imported
    assert len(written) > 100, written
    for known, names in ((imported, listed(reading, r'[A-Z][A-Za-z0-9]+')),
                         (written, listed(writing, r'`(\w+)`'))):
        assert sorted(names) == sorted(known), sorted(set(names) ^ known)


if __name__ == '__main__':
    main()
