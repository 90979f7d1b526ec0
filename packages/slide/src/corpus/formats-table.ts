/**
 * Generator of docs/formats/README.md, a table of the features that Lamina reads of each format. The numbers of
 * files are counted from goodSlides (real test files with their format) and badSlides.
 */
import { badSlides } from './bad-slides.ts';
import { goodSlides } from './good-slides.ts';

interface FormatRow {
  /** Page in docs/formats, without `.md`. */
  readonly page: string;
  readonly title: string;
  /** Values of `Slide.format`. */
  readonly names: readonly string[];
  /** Features that are read. */
  readonly supported: string;
  /** Tiles that the server sends without decoding. */
  readonly passedThrough: string;
  readonly rejected: string;
  /** Features that no real test file has, so that they are tested with generated files only. */
  readonly onlyGenerated: string;
}

const rows: readonly FormatRow[] = [
  {
    page: 'aperio',
    title: 'Aperio SVS',
    names: ['aperio'],
    supported:
      'JPEG (RGB, YCbCr, grey), JPEG 2000 (33003, 33005), empty tiles, missing tiles of smaller levels, pyramid levels recognised by their size',
    passedThrough: 'JPEG tiles',
    rejected: 'other compressions',
    onlyGenerated: 'BigTIFF, big-endian, empty tiles, descriptions without text',
  },
  {
    page: 'tiff',
    title: 'TIFF, BigTIFF, COG',
    names: ['tiff'],
    supported:
      'tiles and strips; JPEG, deflate, LZW, PackBits, zstd, WebP, JPEG 2000, uncompressed; 1 to 16 bits, also 12 bits stored in 16; grey, palette, RGB, RGBA, CMYK; planes; predictor 2; orientations; pyramids in directories or SubIFDs; sparse files',
    passedThrough: 'JPEG tiles of files without a rotation',
    rejected: 'old-style JPEG, CCITT, floating point',
    onlyGenerated: 'each combination of compression, tiles or strips, bit depth and byte order',
  },
  {
    page: 'ome-tiff',
    title: 'OME-TIFF',
    names: ['ome-tiff'],
    supported:
      'brightfield RGB; channels blended in their colours; SubIFD and directory pyramids; first focal plane and time point',
    passedThrough: 'JPEG tiles of brightfield',
    rejected: 'pixels or metadata in other files, more than 64 channels, floating point',
    onlyGenerated: 'pyramids, 16 bits, order of planes',
  },
  {
    page: 'philips-tiff',
    title: 'Philips TIFF',
    names: ['philips-tiff'],
    supported: 'levels cropped to their true size, sparse tiles',
    passedThrough: 'JPEG tiles',
    rejected: 'XML that contradicts the directories',
    onlyGenerated: 'all features',
  },
  {
    page: 'ventana-bif',
    title: 'Ventana BIF and .tif',
    names: ['ventana-bif'],
    supported: 'frames joined with their overlaps',
    passedThrough: 'JPEG tiles without overlap',
    rejected: 'frames whose recorded overlaps contradict each other',
    onlyGenerated: 'all features',
  },
  {
    page: 'leica-scn',
    title: 'Leica SCN',
    names: ['leica-scn'],
    supported: 'brightfield images, one or several, at their positions on the glass',
    passedThrough: 'JPEG tiles of a single image',
    rejected: 'fluorescence, images scanned in different ways',
    onlyGenerated: 'all features',
  },
  {
    page: 'trestle',
    title: 'Trestle',
    names: ['trestle'],
    supported: 'levels with their overlaps',
    passedThrough: 'JPEG tiles without overlap',
    rejected: 'overlaps of half a tile and more',
    onlyGenerated: 'all features',
  },
  {
    page: 'qptiff',
    title: 'Vectra QPTIFF',
    names: ['qptiff'],
    supported: 'brightfield; fluorescence in the colours of its channels',
    passedThrough: 'JPEG tiles of brightfield',
    rejected: 'channels of different sizes, more than 64 channels',
    onlyGenerated: 'brightfield, pyramids, 16 bits',
  },
  {
    page: 'ndpi',
    title: 'Hamamatsu NDPI',
    names: ['ndpi'],
    supported: 'levels cut at their restart markers, 64-bit offsets, the middle focal plane',
    passedThrough: 'pieces of a level between restart markers, where they can be joined to square tiles',
    rejected: 'restart intervals wider than 65,500 pixels',
    onlyGenerated: 'brightfield, files above 4 GiB, levels above 65,535 pixels',
  },
  {
    page: 'dicom',
    title: 'DICOM WSI',
    names: ['dicom'],
    supported:
      'a series as one slide; TILED_FULL, TILED_SPARSE; every kind of offset table; JPEG, JPEG 2000, JPEG-LS, RLE, uncompressed; concatenations',
    passedThrough: 'JPEG frames',
    rejected:
      'objects that are not slides (the message names their kind); deflated data sets, palettes, HTJ2K',
    onlyGenerated: 'TILED_SPARSE, concatenations, extended tables, RLE',
  },
  {
    page: 'czi',
    title: 'Zeiss CZI',
    names: ['czi'],
    supported: 'mosaics and their pyramids; uncompressed, zstd, JPEG; Bgr24, Bgr48, Gray8, Gray16; channels',
    passedThrough: 'nothing',
    rejected: 'JPEG XR (the message names it); files of several parts',
    onlyGenerated: 'JPEG, scenes, contradictory metadata',
  },
  {
    page: 'vsi',
    title: 'Olympus VSI',
    names: ['vsi'],
    supported: 'pixels in .ets files beside the .vsi file: JPEG, JPEG 2000, uncompressed; pyramids',
    passedThrough: 'JPEG tiles',
    rejected: 'a missing .ets file (the message names it)',
    onlyGenerated: 'brightfield',
  },
  {
    page: 'openslide',
    title: 'MIRAX, VMS, Sakura, through OpenSlide',
    names: ['openslide'],
    supported:
      'formats of the installed library; where it is missing, the error names the package to install',
    passedThrough: 'nothing',
    rejected: 'files that the library rejects',
    onlyGenerated: 'a small MIRAX slide; Aperio slides through the library',
  },
  {
    page: 'plain-images',
    title: 'JPEG, PNG, JPEG 2000',
    names: ['jpeg', 'png', 'jpeg2000'],
    supported: 'one picture; the server computes its smaller levels',
    passedThrough: 'nothing',
    rejected: 'more than 200 megapixels (JPEG 2000: 8), JPEG of 12 bits, JPEG 2000 with alpha',
    onlyGenerated: 'depths, interlacing, orientations',
  },
];

/** Returns the Markdown text of docs/formats/README.md. */
export function formatsPage(): string {
  const tableRow = ({
    page,
    title,
    names,
    supported,
    passedThrough,
    rejected,
    onlyGenerated,
  }: FormatRow): string => {
    const realFiles = goodSlides.filter(([, format]) => names.includes(format)).length;
    return `| [${title}](${page}.md) | ${supported} | ${passedThrough} | ${rejected} | ${realFiles || 'none available'} | ${onlyGenerated} |`;
  };
  return `# Formats

Generated by \`npm run generate-docs\` from \`packages/slide/src/corpus/\`; do not edit.

Passed through: the server sends the bytes of the file without decoding. All other Deep Zoom tiles are rendered: levels
between those of the file, edges, other codecs. Label, macro and thumbnail are recognised and never sent, whatever the
format.

| format | supported | passed through | rejected | real files tested | tested with generated files only |
| --- | --- | --- | --- | --- | --- |
${rows.map(tableRow).join('\n')}

Files that OpenSlide (3.4) or libvips (8.14) reads too are compared with its output, tile by tile of the file. No pixel
value differs, except in the files that \`packages/slide/src/corpus/peer-readings.ts\` lists with the reason.

A render process rejects a broken or hostile file with at most 1 s of processor time and 64 MB. Of the ${badSlides.length} collected files, read
one after the other by one process, the most expensive took less than 0.1 s, and the process never used more than 29 MB above its
idle memory (\`npm run refusal-costs\`).
`;
}

/** Names (`Slide.format`) of all formats in the table. */
export const documentedFormats: ReadonlySet<string> = new Set(rows.flatMap(({ names }) => names));
