/** What is read of each format, as the table of docs/formats/README.md; its last columns come from the tests' own lists. */
import { badSlides } from './bad-slides.ts';
import { goodSlides } from './good-slides.ts';

interface FormatRow {
  /** Its page in docs/formats, without `.md`. */
  readonly page: string;
  readonly title: string;
  /** Names that `Slide.format` has for it. */
  readonly names: readonly string[];
  readonly read: string;
  readonly passedThrough: string;
  readonly refused: string;
  /** What of it only files built by the tests have shown. */
  readonly built: string;
}

const rows: readonly FormatRow[] = [
  {
    page: 'aperio',
    title: 'Aperio SVS',
    names: ['aperio'],
    read: 'JPEG (RGB, YCbCr, grey), JPEG 2000 (33003, 33005), empty tiles, lost tiles of smaller levels, levels by geometry',
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
    read: 'brightfield RGB; channels laid over one another in their colours; SubIFD and directory pyramids; first plane in depth and time',
    passedThrough: 'JPEG tiles of brightfield',
    refused: 'pixels or metadata in other files, more than 64 channels, floating point',
    built: 'pyramids, 16 bits, order of planes, one file of several',
  },
  {
    page: 'philips-tiff',
    title: 'Philips TIFF',
    names: ['philips-tiff'],
    read: 'levels cut to their true size, sparse tiles',
    passedThrough: 'JPEG tiles',
    refused: 'XML that contradicts the directories',
    built: 'all of it',
  },
  {
    page: 'ventana-bif',
    title: 'Ventana BIF and .tif',
    names: ['ventana-bif'],
    read: 'frames put together with their overlaps',
    passedThrough: 'JPEG tiles without overlap',
    refused: 'joins it cannot follow',
    built: 'all of it',
  },
  {
    page: 'leica-scn',
    title: 'Leica SCN',
    names: ['leica-scn'],
    read: 'brightfield images, one or several, where they lie on the glass',
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
    refused: 'channels that do not fit one another, more than 64',
    built: 'brightfield, pyramids, 16 bits',
  },
  {
    page: 'ndpi',
    title: 'Hamamatsu NDPI',
    names: ['ndpi'],
    read: 'levels by their restart markers, 64-bit offsets, the middle focal plane',
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
    refused: 'what is no slide, by name; deflated data sets, palettes, HTJ2K',
    built: 'TILED_SPARSE, concatenations, extended tables, RLE',
  },
  {
    page: 'czi',
    title: 'Zeiss CZI',
    names: ['czi'],
    read: 'mosaics and their pyramids; none, zstd, JPEG; Bgr24, Bgr48, Gray8, Gray16; channels',
    passedThrough: 'nothing',
    refused: 'JPEG XR, by name; files of several parts',
    built: 'JPEG, scenes, lies',
  },
  {
    page: 'vsi',
    title: 'Olympus VSI',
    names: ['vsi'],
    read: 'the .ets beside it: JPEG, JPEG 2000, none; pyramids',
    passedThrough: 'JPEG tiles',
    refused: 'a missing .ets, by name',
    built: 'brightfield',
  },
  {
    page: 'openslide',
    title: 'MIRAX, VMS, Sakura, through OpenSlide',
    names: ['openslide'],
    read: 'what the system’s library reads; without it the message names the package',
    passedThrough: 'nothing',
    refused: 'what the library refuses',
    built: 'a small MIRAX slide; Aperio slides through the library',
  },
  {
    page: 'plain-images',
    title: 'JPEG, PNG, JPEG 2000',
    names: ['jpeg', 'png', 'jpeg2000'],
    read: 'one picture, its smaller sizes made',
    passedThrough: 'nothing',
    refused: 'more than 200 megapixels (JPEG 2000: 8), JPEG of 12 bits, JPEG 2000 with alpha',
    built: 'depths, interlacing, orientations',
  },
];

/** The whole page. */
export function formatsPage(): string {
  const line = ({ page, title, names, read, passedThrough, refused, built }: FormatRow): string => {
    const real = goodSlides.filter(([, outcome]) => names.includes(outcome)).length;
    return `| [${title}](${page}.md) | ${read} | ${passedThrough} | ${refused} | ${real || 'none could be had'} | ${built} |`;
  };
  return `# Formats

Written by \`npm run formats\` from \`packages/slide/src/corpus/\`; do not edit.

Passed through: the bytes of the file go out, nothing is decoded. Everything else that Deep Zoom asks for is made: levels
between those of the file, edges, other codecs. Label, macro and thumbnail are recognised and kept back everywhere.

| format | read | passed through | refused | real files tested | only in files built by the tests |
| --- | --- | --- | --- | --- | --- |
${rows.map(line).join('\n')}

Whatever OpenSlide (3.4) or libvips (8.14) reads too is compared with it, tile by tile as it is stored: not one sample differs,
but for what \`packages/slide/src/corpus/peer-readings.ts\` lists with its reason.

Broken and hostile files are refused within 1 s of a processor and 64 MB. Of the ${badSlides.length} that were collected, read one after the
other by one process, the dearest took less than 0.1 s, and all together never more than 29 MB beyond the idle process
(\`npm run refusal-costs\`).
`;
}

/** Names of formats that the table has. */
export const tableNames: ReadonlySet<string> = new Set(rows.flatMap(({ names }) => names));
