"""Usage: pillow_images.py FILE. Draws a set of small images, and writes their files, and what
Pillow and torchvision make of them, to FILE, which is tests/data/images/small.safetensors in the
tree.

It needs Pillow, torchvision and NumPy: on Debian, python3-pil and python3-torchvision.
"""

import io
import struct
import sys
import zlib

import numpy
import torch
from PIL import Image, ImageOps
from torchvision.transforms import functional

import safetensors

COLUMNS, ROWS = 21, 14
ORIENTATION = 0x0112
# Each file is read in RGB, except where this says otherwise.
COLORS = {'rgba.png': ('rgb', 'gray', 'rgba'), 'gray_alpha.png': ('rgb', 'gray', 'rgba'),
          'rgb.png': ('rgb', 'gray', 'rgba'), 'palette.png': ('rgb', 'rgba'),
          'transparent_color.png': ('rgba',),
          **{f'turned_{i}.png': ('gray',) for i in range(1, 9)}}


def drawn(channels, bits=8):
    """Returns an image of shapes and noise, u16 [rows, columns, channels] below 2**bits."""
    random = numpy.random.RandomState(channels)
    row, column = numpy.mgrid[0:ROWS, 0:COLUMNS]
    planes = [numpy.clip((numpy.sin(row / (2 + i)) + numpy.cos(column / (3 + i))) / 4 + 0.5
                         + random.uniform(-0.1, 0.1, row.shape), 0, 1) for i in range(channels)]
    image = numpy.stack(planes, -1)
    image[3:6, 4:9] = 0
    image[8:11, 12:20, 0] = 1
    return numpy.round(image * (2 ** bits - 1)).astype(numpy.uint16)


def pillow(array, mode=None):
    array = array.astype(numpy.uint8)
    return Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array, mode)


def saved(image, format, **options):
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def chunk(name, content):
    return (struct.pack('>I', len(content)) + name + content
            + struct.pack('>I', zlib.crc32(name + content)))


def png(array, bits, interlaced=False):
    """Returns a PNG file of a kind that Pillow does not write: of 16 bits, or interlaced."""
    color = {1: 0, 2: 4, 3: 2, 4: 6}[array.shape[-1]]
    passes = ([(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
               (1, 0, 2, 1)] if interlaced else [(0, 0, 1, 1)])
    rows = [line.astype('>u2' if bits == 16 else 'u1').tobytes()
            for top, left, down, right in passes for line in array[top::down, left::right]
            if line.size]
    size = struct.pack('>IIBBBBB', array.shape[1], array.shape[0], bits, color, 0, 0, interlaced)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', size)
            + chunk(b'IDAT', zlib.compress(b''.join(b'\0' + row for row in rows)))
            + chunk(b'IEND', b''))


def exif(orientation):
    data = Image.Exif()
    data[ORIENTATION] = orientation
    return data


def files():
    rgb, rgba = pillow(drawn(3)), pillow(drawn(4))
    palette = rgba.quantize(16)
    yield 'rgb.png', saved(rgb, 'PNG')
    yield 'gray.png', saved(pillow(drawn(1)), 'PNG')
    yield 'gray_alpha.png', saved(pillow(drawn(2), 'LA'), 'PNG')
    yield 'rgba.png', saved(rgba, 'PNG')
    yield 'palette.png', saved(palette, 'PNG', bits=4)
    yield 'transparent_color.png', saved(rgb, 'PNG', transparency=rgb.getpixel((15, 9)))
    yield 'one_bit.png', saved(pillow(drawn(1)).convert('1'), 'PNG')
    yield 'interlaced.png', png(drawn(3), 8, True)
    yield 'rgb.jpg', saved(rgb, 'JPEG', quality=90)
    yield 'gray.jpg', saved(pillow(drawn(1)), 'JPEG')
    yield 'progressive.jpg', saved(rgb, 'JPEG', progressive=True, subsampling=0)
    yield 'cmyk.jpg', saved(rgb.convert('CMYK'), 'JPEG', quality=95)
    yield 'turned.jpg', saved(rgb, 'JPEG', exif=exif(6))
    for orientation in range(1, 9):
        yield f'turned_{orientation}.png', saved(pillow(drawn(1)[:3, :2] + orientation), 'PNG',
                                                 exif=exif(orientation))


def planes(image):
    """Returns an image, or an array, as [channels, rows, columns]."""
    array = numpy.array(image).astype(numpy.uint8)
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1).copy()


def views(image):
    """Yields what becomes of an image of Pillow's by resizing and cutting."""
    for rows, columns in (9, 10), (18, 30), (14, 40), (1, 1), (90, 3):
        yield f'resized_{rows}x{columns}', functional.resize(image, [rows, columns])
    yield 'window', functional.resized_crop(image, 2, 3, 9, 13, [8, 8])
    yield 'center', functional.center_crop(functional.resize(image, 12), [9, 8])


def jitters(image):
    yield 'brightness', functional.adjust_brightness(image, 1.4)
    yield 'contrast', functional.adjust_contrast(image, 0.6)
    yield 'saturation', functional.adjust_saturation(image, 1.7)
    yield 'hue', functional.adjust_hue(image, -0.3)


def main(path):
    tensors = {}
    for name, content in files():
        tensors[name] = numpy.frombuffer(content, numpy.uint8)
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
        for mode, color in ('RGB', 'rgb'), ('L', 'gray'), ('RGBA', 'rgba'):
            if color in COLORS.get(name, ('rgb',)):
                tensors[f'{name}: {color}'] = planes(image.convert(mode))
    for name, array in ('rgb16.png', drawn(3, 16)), ('gray16.png', drawn(1, 16)):
        tensors[name] = numpy.frombuffer(png(array, 16), numpy.uint8)
        tensors[f'{name}: rgb'] = planes(numpy.broadcast_to(array >> 8, (ROWS, COLUMNS, 3)))
    rgb = pillow(drawn(3))
    floats = torch.tensor(planes(rgb) / numpy.float32(255))
    for name, view in views(rgb):
        tensors[name] = planes(view)
    for rows, columns in (9, 10), (18, 30):
        tensors[f'f32_resized_{rows}x{columns}'] = functional.resize(
            floats, [rows, columns], antialias=True).numpy()
    for name, image in jitters(floats):
        tensors[name] = image.numpy()
    for name, image in jitters(rgb):
        tensors[f'pillow_{name}'] = planes(image)
    safetensors.write(path, tensors, {'made by': 'tests/tools/pillow_images.py'})


main(*sys.argv[1:])
