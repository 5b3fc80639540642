"""Writes a header that names the compiler's sources by their hash: plans of others are not read.

Usage: source_hash.py ROOT HEADER DEPFILE FOLDER...
"""

import hashlib
import sys
from pathlib import Path


def main():
    root, header, depfile, *folders = sys.argv[1:]
    sources = sorted(path for folder in folders for path in (Path(root) / folder).rglob('*.[ch]pp'))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(str(path.relative_to(root)).encode() + b'\0' + path.read_bytes())
    Path(header).write_text(
        '// Generated.\n#pragma once\n\n#include <string_view>\n\nnamespace penstock::graph {\n\n'
        '/// SHA-256 of what a plan depends on in the compiler.\n'
        f'inline constexpr std::string_view source_hash = "{digest.hexdigest()}";\n\n'
        '}  // namespace penstock::graph\n')
    # Relative to the build directory, as ninja knows it.
    escaped = ' '.join(str(path).replace(' ', '\\ ') for path in sources)
    Path(depfile).write_text(f'{header}: {escaped}\n')


main()
