"""This module reads and writes numpy tensors and texts by name, in safetensors files."""

import json
import struct

import numpy

TYPES = {'F32': numpy.float32, 'F64': numpy.float64, 'I64': numpy.int64,
         'U8': numpy.uint8}
NAMES = {numpy.dtype(dtype): name for name, dtype in TYPES.items()}


def write(path, tensors, metadata):
    """Writes `tensors` and the strings in `metadata`. The same content gives the same bytes."""
    header, blobs, end = {'__metadata__': metadata}, [], 0
    # Tensors with larger elements come first, so that all tensors are aligned.
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        blob = numpy.ascontiguousarray(tensor).tobytes()
        header[name] = {'dtype': NAMES[tensor.dtype], 'shape': list(tensor.shape),
                        'data_offsets': [end, end + len(blob)]}
        blobs.append(blob)
        end += len(blob)
    text = json.dumps(header, sort_keys=True, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + b''.join(blobs))


def read(path):
    """Returns (tensors, metadata) of a file that this module or its twin in C++ wrote."""
    with open(path, 'rb') as file:
        content = file.read()
    begin = 8 + struct.unpack('<Q', content[:8])[0]
    header = json.loads(content[8:begin])
    metadata = header.pop('__metadata__', {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry['data_offsets']
        flat = numpy.frombuffer(content[begin + first:begin + last], TYPES[entry['dtype']])
        tensors[name] = flat.reshape(entry['shape'])
    return tensors, metadata
