"""These functions read the files of a tree."""

import re
import shutil
import subprocess

# Builds, Git and Python leave these paths in a tree, as .gitignore lists them.
LEFT_BEHIND = re.compile(r'build|\.git/|\.cache/|profile/|subprojects/(?!packagefiles)[^/]+/|'
                         r'(?:.*/)?__pycache__/')


def files_of(root):
    """Returns the files under `root` that Git knows or would add, whoever owns the tree. If the
    tree is no checkout but an archive, or if Git is not installed, these are all files except
    those that builds, Git and Python leave there."""
    if (root / '.git').exists() and shutil.which('git'):
        paths = subprocess.run(
            ['git', '-c', 'safe.directory=*', '-C', root, 'ls-files', '-z', '--cached', '--others',
             '--exclude-standard'],
            capture_output=True, text=True, check=True).stdout.split('\0')
    else:
        paths = [str(path) for path in (found.relative_to(root) for found in root.rglob('*'))
                 if not LEFT_BEHIND.match(str(path))]
    return sorted({path for path in paths if (root / path).is_file()})


def read(root, paths):
    """Returns the text of each of the files `paths` under `root`."""
    return {path: (root / path).read_text() for path in paths}
