"""Usage: draw_includes.py ROOT. Draws the folders of the tree at ROOT as a house: each folder
stands on a higher floor than all folders that its files include, whose names stand beside it."""

import sys
from pathlib import Path

import rules
import tree


def floors_of(edges):
    """Returns the folders floor by floor, from the ground up. A folder stands on the floor above
    the highest of those that it includes. `edges` is what rules.folder_includes() returns.
    Raises ValueError if folders include each other."""
    left = set(edges) | {other for others in edges.values() for other in others}
    floors = []
    while left:
        floor = sorted(folder for folder in left if not left & set(edges.get(folder, ())))
        if not floor:
            raise ValueError('these folders include each other, or stand above some that do: ' +
                             ', '.join(sorted(left)))
        floors.append(floor)
        left -= set(floor)
    return floors


def drawing(edges):
    """Returns the lines of the drawing, the highest floor first."""
    floors = floors_of(edges)
    for number in reversed(range(len(floors))):
        yield f'floor {number}'
        for folder in floors[number]:
            below = ', '.join(sorted(edges.get(folder, ()))) or 'nothing'
            yield f'  {folder} includes {below}'


if __name__ == '__main__':
    root = Path(sys.argv[1])
    sources = tree.read(root, filter(rules.is_code, tree.files_of(root)))
    print('\n'.join(drawing(rules.folder_includes(sources))))
