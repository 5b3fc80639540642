"""This module reads and writes tensors of numpy and texts by name, in safetensors files."""

import json
import struct

TYPES = {'F32': 'float32', 'F64': 'float64', 'I64': 'int64', 'U8': 'uint8'}
NAMES = {dtype: name for name, dtype in TYPES.items()}


def write(path, tensors, metadata):
    """Writes `tensors` and the strings in `metadata`. The same content gives the same bytes."""
    import numpy
    header, blobs, end = {'__metadata__': metadata}, [], 0
    # Tensors with larger elements come first, so that all tensors are aligned.
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        blob = numpy.ascontiguousarray(tensor).tobytes()
        header[name] = {'dtype': NAMES[tensor.dtype.name], 'shape': list(tensor.shape),
                        'data_offsets': [end, end + len(blob)]}
        blobs.append(blob)
        end += len(blob)
    text = json.dumps(header, sort_keys=True, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + b''.join(blobs))


def read_raw(path):
    """Returns (tensors, metadata) of a file: a type, a shape and bytes for each tensor."""
    with open(path, 'rb') as file:
        content = file.read()
    begin = 8 + struct.unpack('<Q', content[:8])[0]
    header = json.loads(content[8:begin])
    metadata = header.pop('__metadata__', {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry['data_offsets']
        tensors[name] = (entry['dtype'], entry['shape'], content[begin + first:begin + last])
    return tensors, metadata


def read(path):
    """Returns (tensors, metadata) of a file that this module or its twin in C++ wrote."""
    import numpy
    tensors, metadata = read_raw(path)
    return {name: numpy.frombuffer(content, TYPES[dtype]).reshape(shape)
            for name, (dtype, shape, content) in tensors.items()}, metadata
