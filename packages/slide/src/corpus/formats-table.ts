/**
 * The table of docs/formats/README.md, which lists what Lamina reads of each format. The numbers of files
 * come from the lists of the tests.
 */
import { badSlides } from './bad-slides.ts';
import { goodSlides } from './good-slides.ts';

interface FormatRow {
  /** Page in docs/formats, without `.md`. */
  readonly page: string;
  readonly title: string;
  /** Values of `Slide.format`. */
  readonly names: readonly string[];
  readonly read: string;
  readonly passedThrough: string;
  readonly refused: string;
  /** Features that only files built by the tests have covered. */
  readonly built: string;
}

const rows: readonly FormatRow[] = [
  {
    page: 'aperio',
    title: 'Aperio SVS',
    names: ['aperio'],
    read: 'JPEG (RGB, YCbCr, grey), JPEG 2000 (33003, 33005), empty tiles, missing tiles of smaller levels, levels matched by size',
    passedThrough: 'JPEG tiles',
    refused: 'other compressions',
    built: 'BigTIFF, big-endian, empty tiles, blanked descriptions',
  },
  {
    page: 'tiff',
    title: 'TIFF, BigTIFF, COG',
    names: ['tiff'],
    read: 'tiles and strips; JPEG, deflate, LZW, PackBits, zstd, WebP, JPEG 2000, none; 1 to 16 bits, also 12 in 16; grey, palette, RGB, RGBA, CMYK; planes; predictor 2; orientations; directories and SubIFDs; sparse',
    passedThrough: 'upright JPEG tiles',
    refused: 'old-style JPEG, CCITT, floating point',
    built: 'each combination of packing, cut, depth and byte order',
  },
  {
    page: 'ome-tiff',
    title: 'OME-TIFF',
    names: ['ome-tiff'],
    read: 'brightfield RGB; channels added in their colours; SubIFD and directory pyramids; first plane in depth and time',
    passedThrough: 'JPEG tiles of brightfield',
    refused: 'pixels or metadata in other files, more than 64 channels, floating point',
    built: 'pyramids, 16 bits, order of planes, one file of several',
  },
  {
    page: 'philips-tiff',
    title: 'Philips TIFF',
    names: ['philips-tiff'],
    read: 'levels cropped to their true size, sparse tiles',
    passedThrough: 'JPEG tiles',
    refused: 'XML that contradicts the directories',
    built: 'all of it',
  },
  {
    page: 'ventana-bif',
    title: 'Ventana BIF and .tif',
    names: ['ventana-bif'],
    read: 'frames joined with their overlaps',
    passedThrough: 'JPEG tiles without overlap',
    refused: 'joints without a consistent layout',
    built: 'all of it',
  },
  {
    page: 'leica-scn',
    title: 'Leica SCN',
    names: ['leica-scn'],
    read: 'brightfield images, one or several, at their positions on the glass',
    passedThrough: 'JPEG tiles of a single image',
    refused: 'fluorescence, images scanned in different ways',
    built: 'all of it',
  },
  {
    page: 'trestle',
    title: 'Trestle',
    names: ['trestle'],
    read: 'levels with their overlaps',
    passedThrough: 'JPEG tiles without overlap',
    refused: 'overlaps of half a tile and more',
    built: 'all of it',
  },
  {
    page: 'qptiff',
    title: 'Vectra QPTIFF',
    names: ['qptiff'],
    read: 'brightfield; fluorescence in the colours of its channels',
    passedThrough: 'JPEG tiles of brightfield',
    refused: 'channels of different sizes, more than 64',
    built: 'brightfield, pyramids, 16 bits',
  },
  {
    page: 'ndpi',
    title: 'Hamamatsu NDPI',
    names: ['ndpi'],
    read: 'levels cut at their restart markers, 64-bit offsets, the middle focal plane',
    passedThrough: 'square pieces of a level',
    refused: 'restart intervals wider than 65,500 pixels',
    built: 'brightfield, files above 4 GiB, levels above 65,535 pixels',
  },
  {
    page: 'dicom',
    title: 'DICOM WSI',
    names: ['dicom'],
    read: 'a series as one slide; TILED_FULL, TILED_SPARSE; every kind of offset table; JPEG, JPEG 2000, JPEG-LS, RLE, none; concatenations',
    passedThrough: 'JPEG frames',
    refused: 'objects that are no slide (the message names their kind); deflated data sets, palettes, HTJ2K',
    built: 'TILED_SPARSE, concatenations, extended tables, RLE',
  },
  {
    page: 'czi',
    title: 'Zeiss CZI',
    names: ['czi'],
    read: 'mosaics and their pyramids; none, zstd, JPEG; Bgr24, Bgr48, Gray8, Gray16; channels',
    passedThrough: 'nothing',
    refused: 'JPEG XR (the message names it); files of several parts',
    built: 'JPEG, scenes, contradictory metadata',
  },
  {
    page: 'vsi',
    title: 'Olympus VSI',
    names: ['vsi'],
    read: 'the .ets file beside it: JPEG, JPEG 2000, none; pyramids',
    passedThrough: 'JPEG tiles',
    refused: 'a missing .ets file (the message names it)',
    built: 'brightfield',
  },
  {
    page: 'openslide',
    title: 'MIRAX, VMS, Sakura, through OpenSlide',
    names: ['openslide'],
    read: 'formats of the installed library; without it the message names the package',
    passedThrough: 'nothing',
    refused: 'files that the library rejects',
    built: 'a small MIRAX slide; Aperio slides through the library',
  },
  {
    page: 'plain-images',
    title: 'JPEG, PNG, JPEG 2000',
    names: ['jpeg', 'png', 'jpeg2000'],
    read: 'one picture; smaller sizes are rendered',
    passedThrough: 'nothing',
    refused: 'more than 200 megapixels (JPEG 2000: 8), JPEG of 12 bits, JPEG 2000 with alpha',
    built: 'depths, interlacing, orientations',
  },
];

/** Returns the Markdown text of the page. */
export function formatsPage(): string {
  const line = ({ page, title, names, read, passedThrough, refused, built }: FormatRow): string => {
    const real = goodSlides.filter(([, outcome]) => names.includes(outcome)).length;
    return `| [${title}](${page}.md) | ${read} | ${passedThrough} | ${refused} | ${real || 'none available'} | ${built} |`;
  };
  return `# Formats

Generated by \`npm run generate-docs\` from \`packages/slide/src/corpus/\`; do not edit.

Passed through: the server sends the bytes of the file without decoding. All other Deep Zoom tiles are rendered: levels
between those of the file, edges, other codecs. Label, macro and thumbnail are recognised and never sent, whatever the
format.

| format | read | passed through | refused | real files tested | only in files built by the tests |
| --- | --- | --- | --- | --- | --- |
${rows.map(line).join('\n')}

Files that OpenSlide (3.4) or libvips (8.14) reads too are compared with its output, native tile by native tile. No sample
differs, except for the files that \`packages/slide/src/corpus/peer-readings.ts\` lists with the reason.

A render process rejects a broken or hostile file within 1 s of processor time and 64 MB. Of the ${badSlides.length} collected files, read
one after the other by one process, the most expensive took less than 0.1 s, and the process never more than 29 MB above its
idle size (\`npm run refusal-costs\`).
`;
}

/** All names of formats in the table. */
export const tableNames: ReadonlySet<string> = new Set(rows.flatMap(({ names }) => names));
