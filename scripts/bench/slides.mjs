/**
 * The big slides that are measured with, made once from the tiles of a small one and kept outside the project.
 *
 * `scan.svs` is laid out as Aperio scanners do, with levels 1, 4, 16 and 64, its full resolution made of the scanner's
 * own compressed tiles; `halves.tif` has a level for every halving and YCbCr colours, which is all that iipsrv takes.
 * Neighbouring repeats of the small slide differ in brightness, so that a tile in the wrong place shows.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { shrinkRaster } from '../../packages/slide/src/decode/raster.ts';
import { memorySource } from '../../packages/slide/src/source/memory-source.ts';
import { buildSvs } from '../../packages/slide/src/testing/build-svs.ts';
import {
  ascii,
  buildTiff,
  long,
  short,
  undefinedBytes,
} from '../../packages/slide/src/testing/build-tiff.ts';
import { encodePicture } from '../../packages/slide/src/testing/encode-picture.ts';
import { paintTissue } from '../../packages/slide/src/testing/paint-tissue.ts';
import { tag } from '../../packages/slide/src/tiff/tags.ts';
import { openTiff } from '../../packages/slide/src/tiff/tiff-file.ts';
import { lengthsByCode, variantOf } from './tile-variants.mjs';

/** Grows when slides are made another way, so that old ones are not taken for them. */
const version = 1;
export const bigSlide = { width: 40_000, height: 30_000 };
/** Names in the slide folder; `seed` is the small one they are made of. */
export const slideNames = { seed: 'seed.svs', scan: 'scan.svs', halves: 'halves.tif' };

/** Makes what is missing. @param cache folder to keep the slides in @returns the folder of slides */
export async function makeSlides(cache) {
  const folder = join(cache, `slides-${version}`);
  mkdirSync(folder, { recursive: true });
  const fileOf = (name) => join(folder, slideNames[name]);
  if (!existsSync(fileOf('seed')))
    await inOneStep(fileOf('seed'), async (file) => writeFileSync(file, await seedBytes()));
  const seed = await readSeed(fileOf('seed'));
  if (!existsSync(fileOf('scan'))) {
    console.log('Making a big slide as scanners write them …');
    await inOneStep(fileOf('scan'), (file) => writeScan(file, seed));
  }
  if (!existsSync(fileOf('halves'))) {
    console.log('Making a big slide with a level for every halving …');
    await inOneStep(fileOf('halves'), (file) => writeHalves(file, seed));
  }
  return { folder, tileSize: seed.tileSize };
}

/** A file is there whole or not at all. */
async function inOneStep(file, write) {
  await write(`${file}.part`);
  renameSync(`${file}.part`, file);
}

/** A real Aperio slide where there is one, else a painted one. */
async function seedBytes() {
  const { TEST_SLIDES: slides } = process.env;
  const real = slides && join(slides, 'aperio', 'CMU-1-Small-Region.svs');
  if (real && existsSync(real)) return readFileSync(real);
  return buildSvs({
    width: 2200,
    height: 2940,
    tileSize: 240,
    picture: paintTissue(2200, 2940),
    downsamples: [1],
  });
}

/** @returns the whole tiles of the small slide, as stored, and their pixels */
async function readSeed(file) {
  const { first } = await openTiff(memorySource(readFileSync(file)));
  const [width, height, tileSize] = await Promise.all(
    [tag.ImageWidth, tag.ImageLength, tag.TileWidth].map((name) => first.number(name)),
  );
  const [columns, rows] = [Math.floor(width / tileSize), Math.floor(height / tileSize)];
  const count = first.count(tag.TileOffsets);
  const offsets = await first.table(tag.TileOffsets, count);
  const byteCounts = await first.table(tag.TileByteCounts, count);
  const bytes = readFileSync(file);
  const tileAt = (column, row) => {
    const place = row * Math.ceil(width / tileSize) + column;
    return bytes.subarray(offsets[place], offsets[place] + byteCounts[place]);
  };
  const size = { width: columns * tileSize, height: rows * tileSize };
  const rgb = await sharp(file)
    .extract({ left: 0, top: 0, ...size })
    .removeAlpha()
    .raw()
    .toBuffer();
  return {
    tileSize,
    tables: await first.bytes(tag.JPEGTables),
    unit: {
      columns,
      rows,
      tiles: Array.from({ length: columns * rows }, (_, i) => tileAt(i % columns, Math.floor(i / columns))),
    },
    pixels: { ...size, rgb },
  };
}

function writeScan(file, { tileSize, tables, unit, pixels }) {
  const library = 'Aperio Image Library v11.2.1';
  const whole = `${bigSlide.width}x${bigSlide.height}`;
  const levels = [1, 4, 16, 64].map((downsample) => {
    // Scanners round the size of a level down.
    const [width, height] = [bigSlide.width, bigSlide.height].map((side) => Math.floor(side / downsample));
    const cut = `${library} \r\n${whole} [0,0 ${whole}] (${tileSize}x${tileSize})`;
    const description =
      downsample === 1
        ? `${cut} JPEG/RGB Q=30|AppMag = 20|MPP = 0.4990`
        : `${cut} -> ${width}x${height} JPEG/RGB Q=90`;
    return { width, height, description, downsample, photometric: 2 };
  });
  return writeTiff(file, tileSize, levels, (level) =>
    level.downsample === 1
      ? repeatedTiles(unit, tables, level, tileSize)
      : encodedTiles(pixels, level, tileSize, 'rgb'),
  );
}

async function writeHalves(file, { tileSize, pixels }) {
  const levels = [];
  for (
    let downsample = 1;
    Math.max(bigSlide.width, bigSlide.height) / downsample > tileSize;
    downsample *= 2
  ) {
    const [width, height] = [bigSlide.width, bigSlide.height].map((side) => Math.floor(side / downsample));
    levels.push({ width, height, downsample, photometric: 6 });
  }
  const { tiles, tags } = await encodePicture(pixels, tileSize, 'ycbcr');
  const unit = { columns: pixels.width / tileSize, rows: pixels.height / tileSize, tiles };
  const tables = Uint8Array.from(tags[tag.JPEGTables].numbers);
  return writeTiff(file, tileSize, levels, (level) =>
    level.downsample === 1
      ? repeatedTiles(unit, tables, level, tileSize)
      : encodedTiles(pixels, level, tileSize, 'ycbcr'),
  );
}

/** The unit's tiles over and over, each repeat a little different. */
async function repeatedTiles(unit, tables, { width, height }, tileSize) {
  const codes = lengthsByCode(tables);
  const columns = Math.ceil(width / tileSize);
  const count = columns * Math.ceil(height / tileSize);
  function* tiles() {
    for (let i = 0; i < count; i += 1) {
      const [column, row] = [i % columns, Math.floor(i / columns)];
      const tile = unit.tiles[(row % unit.rows) * unit.columns + (column % unit.columns)];
      yield variantOf(tile, codes, Math.floor(column / unit.columns) + 5 * Math.floor(row / unit.rows));
    }
  }
  return { tables, tiles: tiles() };
}

/** A reduced level, encoded a row of tiles at a time. */
async function encodedTiles(pixels, { width, height, downsample }, tileSize, colour) {
  const unit = shrinkRaster(pixels, downsample);
  const stripAt = (top) =>
    encodePicture(repeated(unit, width, top, Math.min(tileSize, height - top)), tileSize, colour);
  const { tags } = await stripAt(0);
  async function* tiles() {
    for (let top = 0; top < height; top += tileSize) yield* (await stripAt(top)).tiles;
  }
  return { tables: Uint8Array.from(tags[tag.JPEGTables].numbers), tiles: tiles() };
}

/** Rows of a picture that repeats a smaller one. */
function repeated(unit, width, top, height) {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const start = ((top + y) % unit.height) * unit.width * 3;
    const row = unit.rgb.subarray(start, start + unit.width * 3);
    for (let x = 0; x < width; x += unit.width) {
      rgb.set(row.subarray(0, Math.min(unit.width, width - x) * 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

/**
 * Directories first and tiles behind them: the room that the directories take depends on the number of tiles alone,
 * so that tiles can be written as they come.
 */
async function writeTiff(file, tileSize, levels, contentOf) {
  const contents = await Promise.all(levels.map(contentOf));
  const places = levels.map(({ width, height }) => {
    const count = Math.ceil(width / tileSize) * Math.ceil(height / tileSize);
    return { offsets: new Array(count).fill(0), byteCounts: new Array(count).fill(0) };
  });
  const directories = () =>
    buildTiff({
      directories: levels.map((level, i) => ({
        tags: {
          [tag.NewSubfileType]: long(i === 0 ? 0 : 1),
          [tag.ImageWidth]: long(level.width),
          [tag.ImageLength]: long(level.height),
          [tag.BitsPerSample]: short(8, 8, 8),
          [tag.Compression]: short(7),
          [tag.PhotometricInterpretation]: short(level.photometric),
          ...(level.description && { [tag.ImageDescription]: ascii(level.description) }),
          [tag.SamplesPerPixel]: short(3),
          [tag.PlanarConfiguration]: short(1),
          [tag.TileWidth]: short(tileSize),
          [tag.TileLength]: short(tileSize),
          [tag.TileOffsets]: long(...places[i].offsets),
          [tag.TileByteCounts]: long(...places[i].byteCounts),
          [tag.JPEGTables]: undefinedBytes(contents[i].tables),
          530: short(2, 2), // YCbCrSubSampling; Aperio writes it with RGB, too
        },
      })),
    }).bytes;

  const out = openSync(file, 'w');
  try {
    let end = directories().length;
    for (const [i, { tiles }] of contents.entries()) {
      let place = 0;
      for await (const tile of tiles) {
        places[i].offsets[place] = end;
        places[i].byteCounts[place] = tile.length;
        end += writeSync(out, tile, 0, tile.length, end);
        place += 1;
      }
    }
    writeSync(out, directories(), 0, undefined, 0);
  } finally {
    closeSync(out);
  }
}
