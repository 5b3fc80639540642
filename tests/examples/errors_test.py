"""Usage: errors_test.py HEADER CATALOGUE PROGRAM. Each Errc has a section in the catalogue, in the
order of the header, which says what the code means and what to do. The texts that it shows are
among those that the program prints."""
import pathlib
import re
import subprocess
import sys

header, catalogue = (pathlib.Path(name).read_text() for name in sys.argv[1:3])
codes = re.findall(r'^  (\w+),', header.split('enum class Errc {', 1)[1].split('};', 1)[0],
                   re.MULTILINE)
_, *sections = re.split(r'^## ', catalogue, flags=re.MULTILINE)
titles = [section.splitlines()[0].strip('`') for section in sections]
if len(codes) < 10 or titles != codes:
    sys.exit(f'docs/errors.md has sections on {titles}, but Errc has {codes}')
for title, section in zip(titles, sections):
    meaning, *actions = section.split('*What to do:*')
    if len(actions) != 1 or len(meaning.split()) < 6 or len(actions[0].split()) < 5:
        sys.exit(f'docs/errors.md does not say of {title} what it means, and once what to do')

run = subprocess.run(sys.argv[3:], capture_output=True, text=True)
examples = [' '.join(quote.replace('\n> ', ' ').strip('`> \n').split())
            for quote in re.findall(r'^> `.*?`$', catalogue, re.MULTILINE | re.DOTALL)]
if len(examples) < 5:
    sys.exit('the texts that docs/errors.md shows were not found')
for example in examples:
    if example not in run.stdout + run.stderr:
        sys.exit(f'docs/errors.md shows a text that no error has: {example}\n' + run.stdout)
