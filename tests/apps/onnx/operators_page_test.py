"""Checks that docs/onnx.md lists the operators that the sources can import, and no others.

Usage: operators_page_test.py ROOT
"""

import pathlib
import re
import sys

ENTRY = re.compile(r'\{"([A-Z][A-Za-z0-9]+)",\s*[a-z_]')


def main():
    root = pathlib.Path(sys.argv[1])
    sources = [*root.glob('engine/onnx/import/*.cpp'), *root.glob('engine/onnx/folding/*.cpp')]
    imported = {name for path in sources for name in ENTRY.findall(path.read_text())}
    rows = [line.split('|')[2] for line in (root / 'docs/onnx.md').read_text().splitlines()
            if line.startswith('| ') and not line.startswith('| Kind')]
    listed = [name for row in rows for name in re.findall(r'[A-Z][A-Za-z0-9]+', row)]
    assert len(imported) > 100, imported
    assert sorted(listed) == sorted(imported), sorted(set(listed) ^ imported)


if __name__ == '__main__':
    main()
