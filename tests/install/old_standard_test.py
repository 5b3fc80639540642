"""Usage: old_standard_test.py INCLUDE_DIR COMPILER... Checks that a host that is compiled for an
older standard than C++20 gets one error, which says what to do. A host that includes a single
header gets that error first."""
import pathlib
import subprocess
import sys

include_dir, *compiler = sys.argv[1:]


def errors_under(standard, header='penstock.hpp'):
    host = f'#include <penstock/{header}>\nint main() {{}}\n'
    run = subprocess.run(
        [*compiler, f'-std={standard}', f'-I{include_dir}', '-fsyntax-only', '-x', 'c++', '-'],
        input=host, capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if 'error:' in line]


if errors_under('c++20'):
    sys.exit('a host does not compile as C++20: ' + '\n'.join(errors_under('c++20')))
for standard in ('c++14', 'c++17'):
    errors = errors_under(standard)
    if len(errors) != 1 or '-std=c++20' not in errors[0]:
        sys.exit('\n'.join([f'a host compiled as {standard} gets {len(errors)} errors:', *errors]))
for header in sorted(pathlib.Path(include_dir, 'penstock').glob('*.hpp')):
    errors = errors_under('c++17', header.name)
    if header.name != 'version.hpp' and (not errors or '-std=c++20' not in errors[0]):
        sys.exit('\n'.join([f'a host of {header.name} as C++17 is not told first:', *errors[:1]]))
