"""A minimal web application (for gunicorn) around OpenSlide's own Deep Zoom generator.

/NAME/LEVEL/COLUMN_ROW.jpeg is a tile of a Deep Zoom level. /NAME/LEVEL/X_Y_WIDTH_HEIGHT.rgb are pixels as OpenSlide reads
them: LEVEL is then a level of the file (0 is full resolution), X and Y are the upper left corner in pixels of full resolution,
WIDTH and HEIGHT are in pixels of the level. The environment variable SLIDES is the slide folder, TILE the side of a tile.
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
    for pattern, media_type, respond in ((TILE, "image/jpeg", tile), (REGION, "application/octet-stream", region)):
        found = pattern.fullmatch(environ["PATH_INFO"])
        if found:
            body = respond(*found.groups())
            start_response("200 OK", [("Content-Type", media_type), ("Content-Length", str(len(body)))])
            return [body]
    start_response("404 Not Found", [("Content-Length", "0")])
    return []
