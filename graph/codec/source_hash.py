"""Writes a header with a hash of the compiler's sources. Plans of other sources are not read.

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
    # ninja knows the header by the path `header`, which is relative to the build directory.
    escaped = ' '.join(str(path).replace(' ', '\\ ') for path in sources)
    Path(depfile).write_text(f'{header}: {escaped}\n')


main()
