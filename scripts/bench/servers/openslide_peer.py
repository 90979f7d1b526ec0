"""OpenSlide's own Deep Zoom generator behind HTTP: what one would put up in an afternoon.

/NAME/LEVEL/COLUMN_ROW.jpeg is a tile, /NAME/LEVEL/X_Y_WIDTH_HEIGHT.rgb are pixels as OpenSlide reads them: there LEVEL
is a level of the file and X, Y its place at full resolution. Slides are in the folder SLIDES; tiles have TILE pixels.
"""

import io
import os
import re
from functools import lru_cache

import openslide
from openslide.deepzoom import DeepZoomGenerator

TILE = re.compile(r"/([^/]+)/(\d+)/(\d+)_(\d+)\.jpeg")
REGION = re.compile(r"/([^/]+)/(\d+)/(\d+)_(\d+)_(\d+)_(\d+)\.rgb")


@lru_cache(maxsize=8)
def slide_of(name):
    return openslide.OpenSlide(os.path.join(os.environ["SLIDES"], name))


@lru_cache(maxsize=8)
def tiles_of(name):
    return DeepZoomGenerator(slide_of(name), tile_size=int(os.environ["TILE"]), overlap=0)


def tile(name, level, column, row):
    picture = tiles_of(name).get_tile(int(level), (int(column), int(row)))
    out = io.BytesIO()
    picture.convert("RGB").save(out, "jpeg", quality=75)
    return out.getvalue()


def region(name, level, x, y, width, height):
    picture = slide_of(name).read_region((int(x), int(y)), int(level), (int(width), int(height)))
    return picture.convert("RGB").tobytes()


def app(environ, start_response):
    for address, kind, answer in ((TILE, "image/jpeg", tile), (REGION, "application/octet-stream", region)):
        found = address.fullmatch(environ["PATH_INFO"])
        if found:
            body = answer(*found.groups())
            start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
            return [body]
    start_response("404 Not Found", [("Content-Length", "0")])
    return []
