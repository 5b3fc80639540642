"""Usage: errors_test.py HEADER CATALOGUE. Each Errc has a section in the catalogue, in the order of
the header, which says what the code means and what to do."""
import pathlib
import re
import sys

header, catalogue = (pathlib.Path(name).read_text() for name in sys.argv[1:])
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
