/**
 * De-identifies DICOM files: blanks text, dates and private elements that are not known to be technical, and replaces the UIDs
 * of the study and its instances by UIDs of equal length. This parser is separate from dicom/, which reads only known
 * elements, because de-identification must examine every element.
 *
 * Source: DICOM PS3.5 sections 7 and A.4; PS3.15 annex E (attributes that identify).
 */
import { createHash } from 'node:crypto';
import type { ByteSource } from '../source/byte-source.ts';
import { type ByteWindow, byteWindow } from '../source/byte-window.ts';
import {
  binaryVrs,
  codedSequences,
  codeTexts,
  codeVrs,
  imageTagGroups,
  isOfPatient,
  isPrivate,
  longVrs,
  rootScope,
  type Scope,
  shortVrs,
  technicalTexts,
  textVrs,
} from './dicom-values.ts';
import { NumberList } from './number-list.ts';
import { type Deidentification, maxPatches, NotDeidentifiable, type Patch } from './patches.ts';

const tags = {
  TransferSyntaxUID: 0x0002_0010,
  FileMetaInformationVersion: 0x0002_0001,
  ImplementationClassUID: 0x0002_0012,
  ImageType: 0x0008_0008,
  BurnedInAnnotation: 0x0028_0301,
  SpecimenLabelInImage: 0x0048_0010,
  PixelData: 0x7fe0_0010,
} as const;

/** Tags of the items and delimiters of sequences and encapsulated pixel data. */
const ITEM = 0xfffe_e000;
const ITEM_END = 0xfffe_e00d;
const SEQUENCE_END = 0xfffe_e0dd;

// Three transfer syntaxes (encodings) that this parser does not read.
const implicitLittleEndian = '1.2.840.10008.1.2';
const deflated = '1.2.840.10008.1.2.1.99';
const bigEndian = '1.2.840.10008.1.2.2';
/** Matches UIDs that the standard defines. They name classes and encodings, not instances, and are kept. */
const standardUid = /^1\.2\.840\.10008\.[\d.]*$/;
const undefinedLength = 0xffff_ffff; // in a length field: a delimiter ends the value
/** Bytes before the letters DICM, and before the first element. */
const preambleBytes = 128;
const firstElementAt = 132;
/** Bytes of a tag and a length: the header of an item, a delimiter, and an element with a short length. */
const shortHeaderBytes = 8;
/** Bytes of the header of an element with a length of 32 bits. */
const longHeaderBytes = 12;
// A file that exceeds one of these limits is not de-identified.
const maxElements = 5_000_000;
const maxDepth = 16;

/**
 * Returns the changes that de-identify a file of a DICOM slide; null for a label or an overview, which must not be downloaded.
 *
 * @param salt secret from which new UIDs are derived; equal for all files of a slide, so that they still refer to each other
 * @throws NotDeidentifiable; SlideError errors of reading the file
 */
export async function deidentifyDicom(source: ByteSource, salt: string): Promise<Deidentification | null> {
  const patcher = new DicomPatcher(byteWindow(source), salt);
  await patcher.readFile();
  const { imageType, hasLabel, patches, fragments } = patcher;
  if (/\\(?:LABEL|OVERVIEW|LOCALIZER)\b/.test(imageType)) return null;
  if (!/\\(?:VOLUME|THUMBNAIL)\b/.test(imageType))
    throw new NotDeidentifiable('the type of the image (ImageType) is unknown');
  if (hasLabel) throw new NotDeidentifiable('the image shows a label');
  return { patches, jpegStreams: fragments.sorted() };
}

/** The header of a data element. */
interface Header {
  readonly tag: number;
  /** Value representation, for example PN (a name). */
  readonly vr: string;
  /** Position of the value. */
  readonly offset: number;
  /** Length of the value; null if it is undefined and a delimiter ends the value. */
  readonly length: number | null;
}

/** Reads all elements of a file and collects the patches of those that may identify a person. */
class DicomPatcher {
  readonly patches: Patch[] = [];
  /** Positions of the fragments of the image, which may be JPEG streams. */
  readonly fragments = new NumberList();
  /** Value of ImageType, for example `ORIGINAL\PRIMARY\VOLUME\NONE`; empty when the file has no ImageType. */
  imageType = '';
  /** Whether the file declares that its pixels show a label or burned-in text. */
  hasLabel = false;
  readonly #window: ByteWindow; // the part of the file that is in memory
  readonly #salt: string;
  #elements = 0;

  constructor(window: ByteWindow, salt: string) {
    this.#window = window;
    this.#salt = salt;
  }

  async readFile(): Promise<void> {
    const { size } = this.#window;
    if (size < firstElementAt + shortHeaderBytes) throw new NotDeidentifiable('the file is too short');
    // The preamble may contain the header of another format, with metadata.
    this.#zero(0, preambleBytes);
    await this.#readElements(firstElementAt, size, rootScope);
  }

  /** Makes a range of the file available in the window. */
  async #load(offset: number, length: number): Promise<void> {
    if (offset + length > this.#window.size) throw new NotDeidentifiable('the file ends inside an element');
    if (!this.#window.covers(offset, length)) await this.#window.load(offset, length);
  }

  async #tagAt(offset: number): Promise<number> {
    await this.#load(offset, shortHeaderBytes);
    return ((this.#window.u16(offset) << 16) | this.#window.u16(offset + 2)) >>> 0;
  }

  async #readHeader(offset: number): Promise<Header> {
    if (++this.#elements > maxElements) throw new NotDeidentifiable('the file has too many elements');
    const tag = await this.#tagAt(offset);
    const vr = String.fromCharCode(this.#window.u8(offset + 4), this.#window.u8(offset + 5));
    if (shortVrs.has(vr))
      return { tag, vr, offset: offset + shortHeaderBytes, length: this.#window.u16(offset + 6) };
    if (!longVrs.has(vr)) throw new NotDeidentifiable('an element has an unknown value representation');
    await this.#load(offset, longHeaderBytes);
    const length = this.#window.u32(offset + 8);
    return { tag, vr, offset: offset + longHeaderBytes, length: length === undefinedLength ? null : length };
  }

  /**
   * Reads the elements of the file or of a sequence item.
   *
   * @param end position after the elements; null when a delimiter ends them
   * @returns the position after the elements
   */
  async #readElements(start: number, end: number | null, scope: Scope): Promise<number> {
    if (scope.depth > maxDepth)
      throw new NotDeidentifiable('the sequences of the file are nested too deeply');
    let offset = start;
    while (end === null || offset < end) {
      if (end === null && (await this.#tagAt(offset)) === ITEM_END) return offset + shortHeaderBytes;
      const header = await this.#readHeader(offset);
      if (scope.depth === 0 && header.tag === tags.PixelData) return this.#readPixelData(header);
      offset = await this.#readElement(header, scope);
    }
    return offset;
  }

  /** Keeps the pixels and reads the elements after them, such as signatures. Returns the end of the file. */
  async #readPixelData({ offset, length }: Header): Promise<number> {
    const end = length === null ? await this.#skipFragments(offset, this.fragments) : offset + length;
    if (end > this.#window.size) throw new NotDeidentifiable('the file ends inside the pixels');
    if (end < this.#window.size) await this.#readElements(end, this.#window.size, rootScope);
    return this.#window.size;
  }

  /** Returns the position after the fragments of encapsulated pixel data. @param positions receives the positions of their bytes */
  async #skipFragments(start: number, positions: NumberList | null): Promise<number> {
    for (let offset = start; ; ) {
      const tag = await this.#tagAt(offset);
      const length = this.#window.u32(offset + 4);
      if (++this.#elements > maxElements) throw new NotDeidentifiable('the file has too many fragments');
      if (tag === SEQUENCE_END) return offset + shortHeaderBytes;
      if (tag !== ITEM || length === undefinedLength)
        throw new NotDeidentifiable('the pixel data contain something other than fragments');
      positions?.push(offset + shortHeaderBytes);
      offset += shortHeaderBytes + length;
    }
  }

  /** Reads an element and returns the position after it. */
  async #readElement(header: Header, scope: Scope): Promise<number> {
    const { vr, offset, length } = header;
    if (vr === 'SQ') return this.#readItems(header, scope);
    if (length === null) {
      if (vr === 'OB' || vr === 'OW') {
        // Encapsulated pixels that are not the image of the file, for example an icon, which may show the label.
        const end = await this.#skipFragments(offset, null);
        await this.#zeroFragments(offset);
        return end;
      }
      throw new NotDeidentifiable('an element of undefined length is neither a sequence nor pixel data');
    }
    const end = offset + length;
    if (end > this.#window.size) throw new NotDeidentifiable('the file ends inside an element');
    await this.#patchValue(header, length, scope);
    return end;
  }

  /** Reads the items of a sequence and returns the position after them. */
  async #readItems({ tag: sequence, offset: start, length }: Header, scope: Scope): Promise<number> {
    const itemScope = {
      depth: scope.depth + 1,
      isIdentifying: scope.isIdentifying || isPrivate(sequence) || isOfPatient(sequence),
      keepsCodes: scope.keepsCodes && codedSequences.has(sequence),
    };
    const end = length === null ? null : start + length;
    let offset = start;
    while (end === null || offset < end) {
      const tag = await this.#tagAt(offset);
      const itemLength = this.#window.u32(offset + 4);
      offset += shortHeaderBytes;
      if (tag === SEQUENCE_END && end === null) return offset;
      if (tag !== ITEM) throw new NotDeidentifiable('a sequence contains something other than items');
      const itemEnd = itemLength === undefinedLength ? null : offset + itemLength;
      offset = await this.#readElements(offset, itemEnd, itemScope);
    }
    return offset;
  }

  /**
   * Adds a patch for a value that may identify a person. Binary numbers and codes stay, except in private and patient attributes;
   * text and binary data stay only if they are known to be technical.
   */
  async #patchValue({ tag, vr, offset }: Header, length: number, scope: Scope): Promise<void> {
    if (length === 0) return;
    const isText = textVrs.has(vr) || codeVrs.has(vr);
    // Pixels in a sequence are an icon, which may show the label. The representation UN (unknown) may contain any text.
    const isIcon = tag === tags.PixelData && scope.depth > 0;
    const isIdentifying = scope.isIdentifying || isPrivate(tag) || isOfPatient(tag);
    if (vr === 'UI' && !isPrivate(tag)) return this.#replaceUids(tag, offset, length);
    if (isIdentifying || vr === 'UN' || isIcon) {
      if (isText) this.#blank(offset, length);
      else this.#zero(offset, length);
      return;
    }
    const isTechnicalText = technicalTexts.has(tag) || (scope.keepsCodes && codeTexts.has(tag));
    if (textVrs.has(vr) && !isTechnicalText) {
      this.#blank(offset, length);
      return;
    }
    const isTechnicalBinary = imageTagGroups.has(tag >>> 16) || tag === tags.FileMetaInformationVersion;
    if (binaryVrs.has(vr) && !isTechnicalBinary) this.#zero(offset, length);
    if (vr === 'CS') await this.#readImageCode(tag, offset, length);
  }

  /** Reads the codes that state whether the image is or shows a label. */
  async #readImageCode(tag: number, offset: number, length: number): Promise<void> {
    if (tag !== tags.ImageType && tag !== tags.BurnedInAnnotation && tag !== tags.SpecimenLabelInImage)
      return;
    const text = (await this.#textAt(offset, length)).trim();
    if (tag === tags.ImageType && this.imageType === '') this.imageType = text;
    if (tag !== tags.ImageType && text === 'YES') this.hasLabel = true;
  }

  async #textAt(offset: number, length: number): Promise<string> {
    await this.#load(offset, length);
    return Buffer.from(this.#window.copy(offset, length)).toString('latin1');
  }

  /** Replaces the UIDs of instances in a value; several UIDs are separated by backslashes. */
  async #replaceUids(tag: number, offset: number, length: number): Promise<void> {
    const value = await this.#textAt(offset, length);
    const paddingAt = value.indexOf('\0');
    const uids = paddingAt < 0 ? value : value.slice(0, paddingAt);
    if (tag === tags.TransferSyntaxUID && [implicitLittleEndian, deflated, bigEndian].includes(uids.trim()))
      throw new NotDeidentifiable('the transfer syntax is implicit, deflated or big-endian');
    const isKept = tag === tags.TransferSyntaxUID || tag === tags.ImplementationClassUID;
    // Some writers pad a UID with spaces instead of a zero. The padding is no part of the UID.
    const replaced = isKept ? uids : uids.replaceAll(/[^\\ ]+/g, (uid) => this.#newUid(uid));
    const newValue = replaced + '\0'.repeat(length - uids.length); // zeroes what follows the first zero
    if (newValue !== value) this.#add({ offset, length, bytes: Buffer.from(newValue, 'latin1') });
  }

  /** Returns the new UID for a UID, which has equal length and is the same in all files of the slide. UIDs of the standard are kept. */
  #newUid(uid: string): string {
    if (standardUid.test(uid)) return uid;
    const hash = createHash('sha512').update(`${this.#salt}\n${uid}`).digest('hex');
    const digits = BigInt(`0x${hash}`).toString();
    // 2.25 is the root of UIDs that are derived from random numbers. Source: ITU-T X.667. A short UID has no room for this root.
    const shortRoot = uid.length > 3 ? '2.' : '';
    const root = uid.length > 8 ? '2.25.' : shortRoot;
    const [first = '1', ...others] = digits;
    const withoutLeadingZero = (first === '0' ? '1' : first) + others.join('');
    return (root + withoutLeadingZero).slice(0, uid.length);
  }

  /** Zeroes the contents of all fragments; `#skipFragments` has checked them. */
  async #zeroFragments(start: number): Promise<void> {
    for (let offset = start; ; ) {
      const tag = await this.#tagAt(offset);
      const length = this.#window.u32(offset + 4);
      if (tag === SEQUENCE_END) return;
      this.#zero(offset + shortHeaderBytes, length);
      offset += shortHeaderBytes + length;
    }
  }

  #zero(offset: number, length: number): void {
    if (length > 0) this.#add({ offset, length });
  }

  #blank(offset: number, length: number): void {
    this.#add({ offset, length, bytes: Buffer.alloc(length, ' ') });
  }

  #add(patch: Patch): void {
    if (this.patches.length === maxPatches)
      throw new NotDeidentifiable('the file has too many identifying values');
    this.patches.push(patch);
  }
}
