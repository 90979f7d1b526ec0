/**
 * De-identification of TIFF files: it leaves out the directories of the label and macro images (photographs of the
 * paper label and of the whole glass), blanks identifying text, and zeroes every byte that no directory of the copy
 * refers to. This parser is separate from tiff/, which reads only known tags, because de-identification must examine
 * every tag.
 *
 * Longer than 350 lines because reading, checking and blanking of a directory share its layout.
 *
 * Source: TIFF 6.0, section 2; the BigTIFF design; OpenSlide's notes on the Hamamatsu format.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { type ByteReader, byteReader } from '../tiff/byte-reader.ts';
import { blankAperioDescription, blankXml, omeAllowlist, qptiffAllowlist } from './descriptions.ts';
import { KeptRanges, mergePatches, NotDeidentifiable, type Patch, type PatchList } from './patches.ts';

/** An entry of a directory: a tag with its values. */
interface Entry {
  readonly tag: number;
  /** Number of the field type. */
  readonly type: number;
  /** Number of values. */
  readonly count: number;
  /** Position and length in bytes of the values. */
  readonly valueOffset: number;
  readonly length: number;
  /** The upper 32 bits of a single number stored in the entry, as a multiple of 2^32; 0 except in large NDPI files. */
  readonly high: number;
}

/** A directory: the tags of one image of the file. */
interface Directory {
  readonly offset: number;
  /** Length of the directory itself. */
  readonly length: number;
  /** Position of the number that refers to the next directory. */
  readonly nextAt: number;
  /** Position of the next directory; 0 for the last one. */
  readonly next: number;
  readonly entries: readonly Entry[];
}

/** The variant of TIFF. */
interface Layout {
  readonly isLittleEndian: boolean;
  /** BigTIFF, whose positions have 64 bits. */
  readonly isBig: boolean;
  readonly isNdpi: boolean;
  /** Position of the number that refers to the first directory. */
  readonly firstAt: number;
}

const tags = {
  NewSubfileType: 254,
  ImageWidth: 256,
  ImageLength: 257,
  Compression: 259,
  ImageDescription: 270,
  Make: 271,
  Model: 272,
  StripOffsets: 273,
  StripByteCounts: 279,
  PageName: 285,
  Software: 305,
  TileOffsets: 324,
  TileByteCounts: 325,
  SubIFDs: 330,
  JPEGTables: 347,
  JPEGInterchangeFormat: 513,
  JPEGInterchangeFormatLength: 514,
  XMP: 700,
  IPTC: 33_723,
  Photoshop: 34_377,
  ExifIFD: 34_665,
  ICCProfile: 34_675,
  GpsIFD: 34_853,
  NdpiVersion: 65_420,
  SourceLens: 65_421,
} as const;

// Field types.
const BYTE = 1;
const ASCII = 2;
const SHORT = 3;
const LONG = 4;
const SBYTE = 6;
const UNDEFINED = 7;
const FLOAT = 11;
const DOUBLE = 12;
const IFD = 13;
const LONG8 = 16;
const IFD8 = 18;
/** Bytes of one value, by field type. */
const sizes: Readonly<Record<number, number>> = {
  [BYTE]: 1,
  [ASCII]: 1,
  [SHORT]: 2,
  [LONG]: 4,
  5: 8, // RATIONAL
  [SBYTE]: 1,
  [UNDEFINED]: 1,
  8: 2, // SSHORT
  9: 4, // SLONG
  10: 8, // SRATIONAL
  [FLOAT]: 4,
  [DOUBLE]: 8,
  [IFD]: 4,
  [LONG8]: 8,
  17: 8, // SLONG8
  [IFD8]: 8,
};
/** Field types of one byte per value. */
const byteTypes: ReadonlySet<number> = new Set([BYTE, ASCII, SBYTE, UNDEFINED]);
// A file that exceeds one of these limits is not de-identified.
const maxDirectories = 1000;
const maxEntries = 1000;
const maxValueBytes = 256 * 2 ** 20;
const maxTextBytes = 16 * 2 ** 20;
/** The largest standard tag. The specification leaves larger ones to manufacturers and other standards. */
const lastStandardTag = 32_767;
/** Tags with binary values that contain no text. */
const binaryTags: ReadonlySet<number> = new Set([tags.JPEGTables, tags.ICCProfile]);

/** Returns the patches that de-identify a TIFF file. @throws NotDeidentifiable; SlideError errors of reading the file */
export async function deidentifyTiff(source: ByteSource): Promise<PatchList> {
  return new TiffPatcher(source).patches();
}

/** Value of NewSubfileType by which Aperio marks a macro. */
const aperioMacro = 9;
/** Value of Compression for the JPEG of TIFF 6.0, which Technical Note 2 replaced. */
const oldStyleJpeg = 6;

/** The formats whose labels and identifying text are known; `generic` has no vendor metadata. */
type Kind = 'aperio' | 'ndpi' | 'qptiff' | 'ome' | 'generic';

/** Reads the directories of a file, chooses the directories that the copy keeps, and collects the patches. */
class TiffPatcher {
  readonly #source: ByteSource;
  readonly #keptRanges = new KeptRanges();
  readonly #replacements: Patch[] = [];
  /** Positions of the directories that have been read. */
  readonly #visited = new Set<number>();
  #layout: Layout = { isLittleEndian: true, isBig: false, isNdpi: false, firstAt: 4 };

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async patches(): Promise<PatchList> {
    const chain = await this.#readChain(await this.#readHeader());
    const [firstDirectory] = chain;
    if (firstDirectory === undefined) throw new NotDeidentifiable('the file has no directory');
    const kind = await this.#kindOf(firstDirectory);
    const keptDirectories: Directory[] = [];
    for (const [i, directory] of chain.entries()) {
      if (await this.#isKept(directory, i, firstDirectory, kind)) keptDirectories.push(directory);
    }
    if (keptDirectories.length === 0) throw new NotDeidentifiable('no directory of the slide is left');
    this.#link(chain, keptDirectories);
    for (const directory of keptDirectories) await this.#keepDirectory(directory, kind);
    return mergePatches(this.#replacements, this.#keptRanges.gaps(this.#source.size));
  }

  async #read(offset: number, length: number): Promise<ByteReader> {
    if (length > maxValueBytes) throw new NotDeidentifiable(`a value has ${length} bytes`);
    if (offset + length > this.#source.size)
      throw new NotDeidentifiable('a value is beyond the end of the file');
    return byteReader(await this.#source.read(offset, length), this.#layout.isLittleEndian);
  }

  /** Reads the file header and detects the variant of TIFF. @returns the position of the first directory */
  async #readHeader(): Promise<number> {
    const start = await this.#source.read(0, Math.min(16, this.#source.size));
    const isLittleEndian = start[0] === 'I'.charCodeAt(0);
    const reader = byteReader(start, isLittleEndian);
    const isBig = reader.u16(2) === 43; // the version number of BigTIFF; classic TIFF has 42
    const headerBytes = isBig ? 16 : 8;
    if (start.length < headerBytes) throw new NotDeidentifiable('the file ends in its header');
    const firstAt = isBig ? 8 : 4;
    this.#layout = { isLittleEndian, isBig, isNdpi: false, firstAt };
    const firstOffset = isBig ? reader.u64(8) : reader.u32(4);
    if (!isBig && isLittleEndian) {
      // NDPI files have the header of a classic TIFF, but its offset may have 8 bytes. Both lengths are tried.
      for (const offset of new Set([reader.u64(4), firstOffset])) {
        if (offset + 2 > this.#source.size) continue;
        this.#layout = { isLittleEndian, isBig, isNdpi: true, firstAt };
        const directory = await this.#readDirectory(offset).catch(() => null);
        if (directory?.entries.some(({ tag }) => tag === tags.NdpiVersion)) {
          // The header has 8 bytes if its offset has 4 bytes, and 12 bytes if its offset has 8 bytes.
          const hasShortOffset = offset === firstOffset && reader.u32(8) !== 0;
          this.#keptRanges.keep(0, hasShortOffset ? 8 : 12);
          return offset;
        }
      }
      this.#layout = { isLittleEndian, isBig, isNdpi: false, firstAt };
    }
    this.#keptRanges.keep(0, headerBytes);
    return firstOffset;
  }

  /** Reads a directory and those that follow it. */
  async #readChain(first: number): Promise<Directory[]> {
    const chain: Directory[] = [];
    for (let offset = first; offset !== 0; ) {
      if (this.#visited.has(offset) || this.#visited.size === maxDirectories)
        throw new NotDeidentifiable('its directories form a cycle, or are too many');
      this.#visited.add(offset);
      const directory = await this.#readDirectory(offset);
      chain.push(directory);
      offset = directory.next;
    }
    return chain;
  }

  async #readDirectory(offset: number): Promise<Directory> {
    const { isBig, isNdpi } = this.#layout;
    const [countBytes, entryBytes, pointerBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
    const counter = await this.#read(offset, countBytes);
    const count = isBig ? counter.u64(0) : counter.u16(0);
    if (count === 0 || count > maxEntries) throw new NotDeidentifiable(`a directory has ${count} entries`);
    const nextBytes = isNdpi ? 8 : pointerBytes;
    const nextInBlock = countBytes + count * entryBytes;
    // An NDPI directory is followed by the upper 32 bits of the numbers in its entries.
    const hasUpperBits = isNdpi && offset + nextInBlock + nextBytes + 4 * count <= this.#source.size;
    const needsUpperBits = hasUpperBits && this.#source.size > 2 ** 32;
    const length = nextInBlock + nextBytes + (hasUpperBits ? 4 * count : 0);
    const block = await this.#read(offset, length);
    const pointer = (position: number) => (isBig ? block.u64(position) : block.u32(position));
    const entries: Entry[] = [];
    for (let i = 0; i < count; i++) {
      const entryAt = countBytes + i * entryBytes;
      const type = block.u16(entryAt + 2);
      const valueCount = pointer(entryAt + 4);
      const valueAt = entryAt + 4 + pointerBytes;
      const bytesPerValue = sizes[type];
      if (bytesPerValue === undefined) throw new NotDeidentifiable(`a value has the unknown type ${type}`);
      const valueBytes = bytesPerValue * valueCount;
      const high = needsUpperBits ? block.u32(nextInBlock + nextBytes + 4 * i) * 2 ** 32 : 0;
      const isInEntry = valueBytes <= pointerBytes && !(needsUpperBits && type === ASCII); // a large NDPI never stores ASCII there
      entries.push({
        tag: block.u16(entryAt),
        type,
        count: valueCount,
        valueOffset: isInEntry ? offset + valueAt : pointer(valueAt) + high,
        length: valueBytes,
        high: isInEntry && valueCount === 1 && (type === LONG || type === IFD) ? high : 0,
      });
    }
    const next = isNdpi ? block.u64(nextInBlock) : pointer(nextInBlock);
    return { offset, length, nextAt: offset + nextInBlock, next, entries };
  }

  /** Returns the numbers of a tag; none when the directory does not have it. */
  async #numbers(directory: Directory, tag: number): Promise<number[]> {
    const entry = directory.entries.find((candidate) => candidate.tag === tag);
    if (entry === undefined) return [];
    const reader = await this.#read(entry.valueOffset, entry.length);
    const size = sizes[entry.type] ?? 1;
    return Array.from({ length: entry.count }, (_, i) => {
      const position = i * size;
      if (entry.type === SHORT) return reader.u16(position);
      if (entry.type === LONG8 || entry.type === IFD8) return reader.u64(position);
      if (entry.type === LONG || entry.type === IFD) return reader.u32(position) + entry.high;
      if (entry.type === FLOAT) return reader.f32(position);
      if (entry.type === DOUBLE) return reader.f64(position);
      return size === 1 ? reader.u8(position) : Number.NaN;
    });
  }

  /** Returns the text of a tag, one character per byte; empty when the directory does not have it or its values are not bytes. */
  async #text(directory: Directory, tag: number): Promise<string> {
    const entry = directory.entries.find((candidate) => candidate.tag === tag);
    if (entry === undefined || !byteTypes.has(entry.type)) return '';
    if (entry.length > maxTextBytes) throw new NotDeidentifiable(`a text has ${entry.length} bytes`);
    return Buffer.from((await this.#read(entry.valueOffset, entry.length)).bytes).toString('latin1');
  }

  async #kindOf(directory: Directory): Promise<Kind> {
    if (this.#layout.isNdpi) return 'ndpi';
    const description = await this.#text(directory, tags.ImageDescription);
    const software = await this.#text(directory, tags.Software);
    const xmp = await this.#text(directory, tags.XMP);
    if (description.startsWith('Aperio')) return 'aperio';
    if (software.startsWith('PerkinElmer-QPI') || description.includes('PerkinElmer-QPI')) return 'qptiff';
    if (/<(?:\w+:)?OME\b/.test(description)) return 'ome';
    const vendor = /Philips|<scn\b|Trestle|iScan|3DHISTECH|Zeiss/i.exec(description + software + xmp)?.[0];
    if (vendor !== undefined) throw new NotDeidentifiable(`TIFF of ${vendor}`);
    return 'generic';
  }

  /** Whether the directory is certainly a part of the slide, not its label, its macro or an unknown image. */
  async #isKept(
    directory: Directory,
    index: number,
    firstDirectory: Directory,
    kind: Kind,
  ): Promise<boolean> {
    const has = (tag: number) => directory.entries.some((entry) => entry.tag === tag);
    const description = await this.#text(directory, tags.ImageDescription);
    switch (kind) {
      case 'ndpi': // SourceLens is the magnification; it is −1 for the macro and −2 for the map of tissue areas.
        return ((await this.#numbers(directory, tags.SourceLens))[0] ?? 0) > 0;
      case 'qptiff':
        return /<ImageType>\s*(?:FullResolution|ReducedResolution|Thumbnail)\s*<\/ImageType>/.test(
          description,
        );
      case 'ome':
        if (/\b(?:label|macro|overview|barcode)\b/i.test(description))
          throw new NotDeidentifiable('OME-TIFF with a label or an overview');
        return true;
      case 'aperio': {
        // The second line names an associated image, e.g. "Aperio Image Library v11.2.1 \r\nlabel 387x463".
        if (/[\r\n]\s*(?:label|macro)\b/i.test(description)) return false;
        const [subfileType = 0] = await this.#numbers(directory, tags.NewSubfileType);
        if (subfileType === aperioMacro) return false;
        // Levels have tiles. The thumbnail has strips and is always the second image; any other image in strips could
        // be a label whose description was blanked.
        return has(tags.TileOffsets) || (index === 1 && subfileType === 0);
      }
      case 'generic': {
        if (directory === firstDirectory) return true;
        const names = description + (await this.#text(directory, tags.PageName));
        if (/label|macro|overview|barcode|slide/i.test(names)) return false;
        return this.#hasShapeOf(firstDirectory, directory);
      }
    }
  }

  /**
   * Whether a directory has the aspect ratio of the full resolution, like the levels, channels and planes of a slide.
   * The height may differ by 2 %, or by 2 pixels if that is more. Labels have another aspect ratio.
   */
  async #hasShapeOf(full: Directory, directory: Directory): Promise<boolean> {
    const sizeOf = async (image: Directory) => [
      (await this.#numbers(image, tags.ImageWidth))[0] ?? 0,
      (await this.#numbers(image, tags.ImageLength))[0] ?? 0,
    ];
    const [fullWidth = 0, fullHeight = 0] = await sizeOf(full);
    const [width = 0, height = 0] = await sizeOf(directory);
    if (width === 0 || height === 0 || fullWidth === 0) return false;
    const expected = (fullHeight * width) / fullWidth;
    return Math.abs(height - expected) <= Math.max(2, 0.02 * expected);
  }

  /** Makes each kept directory refer to the next kept one. */
  #link(chain: readonly Directory[], kept: readonly Directory[]): void {
    const [first] = kept;
    if (first !== chain[0]) this.#replaceOffset(this.#layout.firstAt, first?.offset ?? 0);
    for (const [i, directory] of kept.entries()) {
      const next = kept[i + 1]?.offset ?? 0;
      if (directory.next !== next) this.#replaceOffset(directory.nextAt, next);
    }
  }

  /** Replaces the position of a directory. @param pointerAt position of the number that refers to the directory */
  #replaceOffset(pointerAt: number, value: number): void {
    const { isBig, isNdpi, isLittleEndian } = this.#layout;
    const isLong = isBig || (isNdpi && pointerAt !== this.#layout.firstAt);
    const bytes = new Uint8Array(isLong ? 8 : 4);
    const view = new DataView(bytes.buffer);
    if (isLong) view.setBigUint64(0, BigInt(value), isLittleEndian);
    else if (value < 2 ** 32) view.setUint32(0, value, isLittleEndian);
    else throw new NotDeidentifiable('the first directory is beyond 4 GiB');
    this.#replacements.push({ offset: pointerAt, length: bytes.length, bytes });
  }

  /** Keeps a directory, its SubIFDs and the data of their images, and blanks their text. */
  async #keepDirectory(directory: Directory, kind: Kind): Promise<void> {
    this.#keptRanges.keep(directory.offset, directory.length);
    const compression = (await this.#numbers(directory, tags.Compression))[0];
    if (compression === oldStyleJpeg)
      throw new NotDeidentifiable('old-style JPEG, whose parts have no lengths');
    await this.#keepData(directory, tags.StripOffsets, tags.StripByteCounts);
    await this.#keepData(directory, tags.TileOffsets, tags.TileByteCounts);
    await this.#keepData(directory, tags.JPEGInterchangeFormat, tags.JPEGInterchangeFormatLength);
    for (const entry of directory.entries) await this.#keepValue(directory, entry, kind);
    for (const offset of await this.#numbers(directory, tags.SubIFDs)) {
      for (const subDirectory of await this.#readChain(offset)) {
        if (!(await this.#hasShapeOf(directory, subDirectory)))
          throw new NotDeidentifiable('a SubIFD has another aspect ratio than its directory');
        await this.#keepDirectory(subDirectory, kind);
      }
    }
  }

  /** Keeps the tiles or strips of a directory, whose positions and lengths are the values of two tags. */
  async #keepData(directory: Directory, offsetsTag: number, lengthsTag: number): Promise<void> {
    const offsets = await this.#numbers(directory, offsetsTag);
    const lengths = await this.#numbers(directory, lengthsTag);
    for (const [i, offset] of offsets.entries()) {
      const length = lengths[i] ?? 0;
      if (offset > 0 && length > 0 && offset < this.#source.size)
        this.#keptRanges.keep(offset, Math.min(length, this.#source.size - offset));
    }
  }

  /** Keeps the value of a tag; blanks it if it is text, and zeroes it if it refers to or contains other metadata. */
  async #keepValue(directory: Directory, entry: Entry, kind: Kind): Promise<void> {
    const { tag, valueOffset: offset, length } = entry;
    if (tag === tags.ExifIFD || tag === tags.GpsIFD || tag === tags.IPTC || tag === tags.Photoshop) {
      this.#replacements.push({ offset, length });
      return;
    }
    this.#keptRanges.keep(offset, length);
    if (!byteTypes.has(entry.type) || binaryTags.has(tag)) return;
    const isPrivate = tag > lastStandardTag;
    // Standard tags with values of one byte each are numbers, for example samples per pixel.
    if (entry.type !== ASCII && !isPrivate && tag !== tags.ImageDescription && tag !== tags.XMP) return;
    const text = await this.#text(directory, tag);
    const blanked = blankedText(tag, text, kind);
    if (blanked === text) return;
    const bytes = Buffer.from(blanked, 'latin1');
    if (bytes.length !== length) throw new NotDeidentifiable('a blanked text has another length');
    this.#replacements.push({ offset, length, bytes });
  }
}

/** Returns a text with spaces instead of identifying parts, and zeros after its end. */
function blankedText(tag: number, text: string, kind: Kind): string {
  // Readers show a text only up to the first zero, but the bytes after it may contain more.
  const zeroAt = text.indexOf('\0');
  const shownText = zeroAt < 0 ? text : text.slice(0, zeroAt);
  return blankedBody(tag, shownText, kind) + '\0'.repeat(text.length - shownText.length);
}

function blankedBody(tag: number, body: string, kind: Kind): string {
  const blank = body.replaceAll(/[^\r\n]/g, ' ');
  if (tag === tags.Make || tag === tags.Model || tag === tags.Software) {
    const mayContainSerialNumber = /\d{5}/.test(body) || body.length > 80;
    return mayContainSerialNumber ? blank : body;
  }
  if (tag !== tags.ImageDescription) return blank;
  if (kind === 'aperio') return blankAperioDescription(body);
  if (kind === 'qptiff') return blankXml(body, qptiffAllowlist) ?? blank;
  if (kind === 'ome' && body.includes('<')) {
    const xml = blankXml(body, omeAllowlist);
    if (xml === null) throw new NotDeidentifiable('OME-XML with a document type');
    return xml;
  }
  return blank;
}
