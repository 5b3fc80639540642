"""docs/porting.md shows the edits between the two programs of porting/, all of them, and few."""
import difflib
import pathlib
import sys

FEW = 6

document, before, after = (pathlib.Path(name).read_text() for name in sys.argv[1:])
lines = (before.splitlines(), after.splitlines())
shown = document.split('```diff\n', 1)[1].split('```', 1)[0].splitlines()
edits = list(difflib.unified_diff(*lines, lineterm='', n=1))[2:]
if shown != edits:
    sys.exit('\n'.join(['docs/porting.md shows other edits than these:', *edits]))
hunks = sum(line.startswith('@@') for line in difflib.unified_diff(*lines, n=0))
if not 0 < hunks <= FEW:
    sys.exit(f'from one device to a pipeline it takes {hunks} edits; {FEW} are few')
