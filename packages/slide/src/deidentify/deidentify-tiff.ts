/**
 * De-identifies TIFF files: leaves out the directories of the label and macro images (photographs of the paper label and
 * of the whole glass), blanks identifying text, and zeroes every byte to which no directory of the copy refers.
 *
 * Source: TIFF 6.0, section 2; the BigTIFF design; OpenSlide's notes on the Hamamatsu format.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { tag as tags } from '../tiff/tags.ts';
import { metadataOfTables } from './jpeg-metadata.ts';
import { NumberList } from './number-list.ts';
import { type Deidentification, KeptRanges, mergePatches, NotDeidentifiable, type Patch } from './patches.ts';
import { byteTypes, type Directory, type Entry, entryOf, TiffStructure } from './tiff-structure.ts';
import { blankedText, isTechnical, type Kind, textTags } from './tiff-values.ts';

/** Tag of the name of a page, for example of a label. */
const PAGE_NAME = 285;
/** Value of NewSubfileType by which Aperio marks a macro. */
const aperioMacro = 9;
/** Bits of NewSubfileType: the image is a smaller version of another one, or a transparency mask. */
const reducedBit = 1;
const maskBit = 4;
// Values of Compression.
const uncompressed = 1;
/** The JPEG of TIFF 6.0, which Technical Note 2 replaced. */
const oldStyleJpeg = 6;
const jpeg = 7;
/** Value of PlanarConfiguration for a plane per sample. */
const planar = 2;
/** Maximum number of tiles and strips of all directories. Directories may share a table of tiles, so a small file could list many. */
const maxBlocks = 2 ** 22;

/** Returns the changes that de-identify a TIFF file. @throws NotDeidentifiable; SlideError errors of reading the file */
export async function deidentifyTiff(source: ByteSource): Promise<Deidentification> {
  return new TiffPatcher(source).deidentify();
}

/** The size of an image in pixels; 0 if unknown. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/** A directory of the main chain with the tags by which it is chosen. */
interface Page extends Size {
  readonly directory: Directory;
  readonly subfileType: number;
  readonly description: string;
  readonly pageName: string;
}

/** Reads the directories of a file, chooses the directories that the copy keeps, and collects the patches. */
class TiffPatcher {
  readonly #source: ByteSource;
  readonly #tiff: TiffStructure;
  readonly #keptRanges = new KeptRanges();
  readonly #replacements: Patch[] = [];
  readonly #jpegStreams = new NumberList();
  /** Number of tiles and strips of all kept directories. */
  #blockCount = 0;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#tiff = new TiffStructure(source);
  }

  async deidentify(): Promise<Deidentification> {
    const header = await this.#tiff.readHeader();
    this.#keptRanges.keep(0, header.length);
    const pages: Page[] = [];
    for (const directory of await this.#tiff.readChain(header.firstDirectory))
      pages.push(await this.#readPage(directory));
    const [first] = pages;
    if (first === undefined) throw new NotDeidentifiable('the file has no directory');
    const kind = await this.#kindOf(first);
    const kept = (await this.#keptPages(pages, kind)).map(({ directory }) => directory);
    if (kept.length === 0) throw new NotDeidentifiable('no directory certainly belongs to the slide');
    this.#linkDirectories(first.directory, kept);
    for (const directory of kept) await this.#keepDirectory(directory, kind);
    return {
      patches: mergePatches(this.#replacements, this.#keptRanges.gaps(this.#source.size)),
      jpegStreams: this.#jpegStreams.sorted(),
    };
  }

  async #readSize(directory: Directory): Promise<Size> {
    return {
      width: (await this.#tiff.number(directory, tags.ImageWidth)) ?? 0,
      height: (await this.#tiff.number(directory, tags.ImageLength)) ?? 0,
    };
  }

  async #readPage(directory: Directory): Promise<Page> {
    return {
      directory,
      ...(await this.#readSize(directory)),
      subfileType: (await this.#tiff.number(directory, tags.NewSubfileType)) ?? 0,
      description: await this.#tiff.text(directory, tags.ImageDescription),
      pageName: await this.#tiff.text(directory, PAGE_NAME),
    };
  }

  /** Recognises the format as its reader does. */
  async #kindOf({ directory, description }: Page): Promise<Kind> {
    if (this.#tiff.layout.isNdpi) return 'ndpi';
    const software = await this.#tiff.text(directory, tags.Software);
    const xmp = await this.#tiff.text(directory, tags.XMP);
    if (description.startsWith('Aperio')) return 'aperio';
    if (software.startsWith('PerkinElmer-QPI') || description.includes('PerkinElmer-QPI')) return 'qptiff';
    if (/<(?:\w{1,100}:)?OME\s/.test(description)) return 'ome';
    // Trestle writes the name of its program, MedScan.
    const vendor = /Philips|<scn\b|Trestle|MedScan|iScan|3DHISTECH|Zeiss/i.exec(
      `${description}\n${software}\n${xmp}`,
    )?.[0];
    if (vendor !== undefined) throw new NotDeidentifiable(`TIFF files of ${vendor} cannot be de-identified`);
    return 'generic';
  }

  /** Returns the pages that are certainly a part of the slide, not its label, its macro or an unknown image. */
  async #keptPages(pages: readonly Page[], kind: Kind): Promise<readonly Page[]> {
    switch (kind) {
      case 'ndpi': {
        // SourceLens is the magnification; it is −1 for the macro and −2 for the map of tissue areas.
        const kept: Page[] = [];
        for (const page of pages)
          if (((await this.#tiff.number(page.directory, tags.SourceLens)) ?? 0) > 0) kept.push(page);
        return kept;
      }
      case 'qptiff':
        return pages.filter(({ description }) =>
          /<ImageType>\s*(?:FullResolution|ReducedResolution|Thumbnail)\s*<\/ImageType>/.test(description),
        );
      case 'aperio':
        return pages.filter(isPageOfAperio);
      case 'ome':
        return pagesOfOme(pages);
      case 'generic':
        return pagesOfGeneric(pages);
    }
  }

  /** Makes each kept directory refer to the next kept one. */
  #linkDirectories(firstOfFile: Directory, kept: readonly Directory[]): void {
    const [first] = kept;
    if (first !== firstOfFile) this.#replaceOffset(this.#tiff.layout.firstAt, first?.offset ?? 0);
    for (const [i, directory] of kept.entries()) {
      const next = kept[i + 1]?.offset ?? 0;
      if (directory.next !== next) this.#replaceOffset(directory.nextAt, next);
    }
  }

  /** Replaces the position of a directory. @param pointerAt position of the number that refers to the directory */
  #replaceOffset(pointerAt: number, value: number): void {
    const { isBig, isNdpi, isLittleEndian, firstAt } = this.#tiff.layout;
    const is64Bit = isBig || (isNdpi && pointerAt !== firstAt); // NDPI: only the first pointer may have 32 bits
    const bytes = new Uint8Array(is64Bit ? 8 : 4);
    const view = new DataView(bytes.buffer);
    if (is64Bit) view.setBigUint64(0, BigInt(value), isLittleEndian);
    else if (value < 2 ** 32) view.setUint32(0, value, isLittleEndian);
    else throw new NotDeidentifiable('the first directory is beyond 4 GiB');
    this.#replacements.push({ offset: pointerAt, length: bytes.length, bytes });
  }

  /** Keeps a directory, its SubIFDs and the data of their images, and blanks their text. */
  async #keepDirectory(directory: Directory, kind: Kind): Promise<void> {
    this.#keptRanges.keep(directory.offset, directory.length);
    const compression = (await this.#tiff.number(directory, tags.Compression)) ?? uncompressed;
    if (compression === oldStyleJpeg)
      throw new NotDeidentifiable('an image is an old-style JPEG, whose parts have no lengths');
    const lengthOfStrip = compression === uncompressed ? await this.#rawStripLengths(directory) : () => null;
    const isJpeg = compression === jpeg;
    await this.#keepBlocks(directory, [tags.StripOffsets, tags.StripByteCounts], isJpeg, lengthOfStrip);
    await this.#keepBlocks(directory, [tags.TileOffsets, tags.TileByteCounts], isJpeg, () => null);
    for (const entry of directory.entries) await this.#keepValue(entry, kind);
    for (const offset of await this.#tiff.numbers(directory, tags.SubIFDs)) {
      const subDirectory = await this.#tiff.readDirectory(offset);
      if (!hasShapeOf(await this.#readSize(directory), await this.#readSize(subDirectory)))
        throw new NotDeidentifiable(
          'the image of a SubIFD has another aspect ratio than the image of its directory',
        );
      // Readers of slides ignore the directory after a SubIFD. It may be the label, which is not in the copy.
      if (subDirectory.next !== 0) this.#replaceOffset(subDirectory.nextAt, 0);
      await this.#keepDirectory(subDirectory, kind);
    }
  }

  /**
   * Keeps the tiles or strips of a directory, whose positions and lengths are the values of two tags.
   *
   * @param knownLength returns the length of a block whose length is missing or 0; null if it is unknown
   */
  async #keepBlocks(
    directory: Directory,
    [offsetsTag, lengthsTag]: readonly [number, number],
    isJpeg: boolean,
    knownLength: (index: number) => number | null,
  ): Promise<void> {
    this.#blockCount += entryOf(directory, offsetsTag)?.count ?? 0;
    if (this.#blockCount > maxBlocks) throw new NotDeidentifiable('the file has too many tiles or strips');
    const offsets = await this.#tiff.table(directory, offsetsTag);
    const lengths = await this.#tiff.table(directory, lengthsTag);
    const { size } = this.#source;
    for (const [i, offset] of offsets.entries()) {
      if (!(offset > 0 && offset < size)) continue;
      const length = lengths[i] || knownLength(i) || lengths[i]; // a listed length of 0 means an empty tile, unless the length is known
      if (length === undefined) throw new NotDeidentifiable('a tile or strip is stored without a length');
      this.#keptRanges.keep(offset, Math.min(length, size - offset));
      if (isJpeg && length > 0 && offset !== this.#jpegStreams.last()) this.#jpegStreams.push(offset);
    }
  }

  /**
   * Returns a function that computes the lengths of the strips of an uncompressed image, because some writers omit the lengths.
   * The slide reader (tiff/raw-strips.ts) computes them in the same way.
   */
  async #rawStripLengths(directory: Directory): Promise<(index: number) => number | null> {
    const numberOr = async (defaultValue: number, tag: number) =>
      (await this.#tiff.number(directory, tag)) ?? defaultValue;
    const width = await numberOr(0, tags.ImageWidth);
    const height = await numberOr(0, tags.ImageLength);
    const samples = await numberOr(1, tags.SamplesPerPixel);
    const planes = (await numberOr(1, tags.PlanarConfiguration)) === planar ? samples : 1;
    const bitsPerPixel = ((await numberOr(1, tags.BitsPerSample)) * samples) / planes;
    const rowBytes = Math.ceil((width * bitsPerPixel) / 8);
    const rowsPerStrip = Math.min(await numberOr(height, tags.RowsPerStrip), height);
    const stripsPerPlane = Math.ceil(height / rowsPerStrip);
    return (index) => {
      if (index >= stripsPerPlane * planes) return null;
      return Math.min(rowsPerStrip, height - (index % stripsPerPlane) * rowsPerStrip) * rowBytes;
    };
  }

  /** Keeps a technical value, blanks the identifying parts of a text, and zeroes any other value. */
  async #keepValue(entry: Entry, kind: Kind): Promise<void> {
    const { tag, valueOffset: offset, length } = entry;
    if (length === 0) return;
    this.#keptRanges.keep(offset, length);
    if (isTechnical(entry, kind)) {
      if (tag === tags.JPEGTables) await this.#eraseMetadataOfTables(entry);
      return;
    }
    if (!byteTypes.has(entry.type) || !textTags.has(tag)) {
      this.#replacements.push({ offset, length });
      return;
    }
    const text = await this.#tiff.textOf(entry);
    const bytes = Buffer.from(blankedText(tag, text, kind), 'latin1');
    if (bytes.length !== length) throw new NotDeidentifiable('a blanked text has another length');
    this.#replacements.push({ offset, length, bytes });
  }

  async #eraseMetadataOfTables(entry: Entry): Promise<void> {
    const tables = await this.#tiff.bytesOf(entry);
    try {
      for (const { offset, length } of metadataOfTables(tables))
        this.#replacements.push({ offset: entry.valueOffset + offset, length });
    } catch {
      throw new NotDeidentifiable('the JPEG tables of a directory are damaged');
    }
  }
}

/** Whether a page of an Aperio slide is a level or the thumbnail. @param index index of the page in the file */
function isPageOfAperio({ directory, description, subfileType }: Page, index: number): boolean {
  // The second line names an associated image, e.g. "Aperio Image Library v11.2.1 \r\nlabel 387x463".
  if (/[\r\n][^\S\r\n]*(?:label|macro)\b/i.test(description)) return false;
  if (subfileType === aperioMacro) return false;
  // Levels have tiles. The thumbnail has strips and is always the second image; any other image in strips could
  // be a label whose description was blanked.
  return entryOf(directory, tags.TileOffsets) !== null || (index === 1 && subfileType === 0);
}

/** Matches the names of images that may show a label, also in names like `slide_label`. */
const labelName = /label|macro|overview|barcode/i;

/** Returns all pages of an OME-TIFF, because its XML refers to pages by index. @throws NotDeidentifiable if a page may be a label */
function pagesOfOme(pages: readonly Page[]): readonly Page[] {
  if (pages.some(({ description }) => labelName.test(description)))
    throw new NotDeidentifiable('the OME-TIFF contains a label or an overview');
  const main = largestPage(pages);
  if (!pages.every((page) => main !== null && isPlaneOrLevel(page, main)))
    throw new NotDeidentifiable('the OME-TIFF contains an image of another size, which may be a label');
  return pages;
}

/**
 * Returns the main page, as the reader of generic TIFF chooses it, with its smaller levels and further pages of the same size.
 *
 * @throws NotDeidentifiable when the main page may be a label
 */
function pagesOfGeneric(pages: readonly Page[]): readonly Page[] {
  const images = pages.filter(({ subfileType }) => (subfileType & maskBit) === 0);
  const isReduced = ({ subfileType }: Page) => (subfileType & reducedBit) !== 0;
  const unmarked = images.find((page) => !isReduced(page));
  const main = largestPage(images.filter((page) => page === unmarked || isReduced(page)));
  if (main === null) return [];
  if (labelName.test(main.description + main.pageName))
    throw new NotDeidentifiable('the image is described as a label or an overview');
  return pages.filter((page) => {
    if (page === main) return true;
    // The main page may have "slide" in its name. Another page with this word may be a photograph of the whole glass slide.
    if (labelName.test(page.description + page.pageName) || /slide/i.test(page.description + page.pageName))
      return false;
    // `unmarked` differs from `main` if a larger page is marked as reduced; it is then a level.
    return isPlaneOrLevel(page, main) || (page === unmarked && hasShapeOf(main, page));
  });
}

/** Returns the page with the most pixels, of several the first; null if there are no pages. */
function largestPage(pages: readonly Page[]): Page | null {
  const pixels = ({ width, height }: Page) => width * height;
  return pages.reduce<Page | null>(
    (previous, page) => (previous === null || pixels(page) > pixels(previous) ? page : previous),
    null,
  );
}

/** Whether a page has the size of the main page (channels, masks), or is marked as a smaller level and has the shape of the main page. */
function isPlaneOrLevel(page: Page, main: Page): boolean {
  if (page.width === main.width && page.height === main.height) return true;
  return (page.subfileType & reducedBit) !== 0 && hasShapeOf(main, page);
}

/**
 * Whether an image has the aspect ratio of full resolution, as all levels, channels and planes of a slide have.
 * The height may differ by 2 %, or by 2 pixels if that is more. Labels have another aspect ratio.
 */
function hasShapeOf(full: Size, { width, height }: Size): boolean {
  if (width === 0 || height === 0 || full.width === 0) return false;
  const expected = (full.height * width) / full.width;
  return Math.abs(height - expected) <= Math.max(2, 0.02 * expected);
}
