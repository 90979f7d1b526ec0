/**
 * De-identifies DICOM files: blanks text, dates and private elements that are not known to be technical, and replaces the
 * UIDs of the study and its instances by UIDs of equal length. The walk is apart from dicom/, which reads known elements
 * only: here every element counts.
 *
 * Source: DICOM PS3.5 sections 7 and A.4; PS3.15 annex E (attributes that identify).
 */
import { createHash } from 'node:crypto';
import type { ByteSource } from '../source/byte-source.ts';
import { type ByteWindow, byteWindow } from '../source/byte-window.ts';
import { NotDeidentifiable, type Patch, type PatchList } from './patches.ts';

/** What becomes of a file of a DICOM slide; null: it is a label or an overview and is left out. */
type DicomCopy = PatchList | null;

const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);
const shortVrs = new Set('AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US'.split(' '));
/** Free text, names, dates and addresses: blanked unless the element is listed below. */
const textVrs = new Set('AE AS DA DT LO LT PN SH ST TM UC UR UT'.split(' '));
/** Codes and numbers as text: blanked only among the attributes of the patient. */
const codeVrs = new Set('CS DS IS'.split(' '));

const technicalTexts = new Set([
  0x0008_0070, // Manufacturer
  0x0008_0100, // CodeValue
  0x0008_0102, // CodingSchemeDesignator
  0x0008_0103, // CodingSchemeVersion
  0x0008_0104, // CodeMeaning
  0x0008_1090, // ManufacturerModelName
  0x0020_9421, // DimensionDescriptionLabel
  0x0028_2110, // LossyImageCompression, where it is text
  0x0028_3010, // VOILUT explanation
  0x0048_0106, // OpticalPathIdentifier
  0x0048_0107, // OpticalPathDescription
]);

/** File meta information, image pixels and palettes, slide microscopy, pixel data. */
const imageGroups = new Set([0x0002, 0x0028, 0x0048, 0x7fe0]);

const tags = {
  TransferSyntaxUID: 0x0002_0010,
  ImplementationClassUID: 0x0002_0012,
  ImageType: 0x0008_0008,
  BurnedInAnnotation: 0x0028_0301,
  SpecimenLabelInImage: 0x0048_0010,
  PixelData: 0x7fe0_0010,
} as const;

const implicitLittleEndian = '1.2.840.10008.1.2';
const deflated = '1.2.840.10008.1.2.1.99';
const bigEndian = '1.2.840.10008.1.2.2';
/** UIDs of the standard itself: classes and encodings, not instances. */
const standardRoot = '1.2.840.10008.';
const undefinedLength = 0xffff_ffff;
const maxElements = 5_000_000;
const maxPatches = 500_000;
const maxDepth = 16;

/**
 * @param salt the same for all files of a slide, so that they name each other after the replacement
 * @throws NotDeidentifiable; SlideError of the source
 */
export async function deidentifyDicom(source: ByteSource, salt: string): Promise<DicomCopy> {
  const copy = new DicomWalk(byteWindow(source), salt);
  await copy.walk();
  if (/\\(?:LABEL|OVERVIEW|LOCALIZER)\b/.test(copy.imageType)) return null;
  if (!/\\(?:VOLUME|THUMBNAIL)\b/.test(copy.imageType))
    throw new NotDeidentifiable('an image of unknown type');
  if (copy.hasLabel) throw new NotDeidentifiable('the image shows a label');
  return copy.patches;
}

interface Header {
  readonly tag: number;
  readonly vr: string;
  readonly at: number;
  readonly length: number | null;
}

class DicomWalk {
  readonly patches: Patch[] = [];
  imageType = '';
  hasLabel = false;
  readonly #window: ByteWindow;
  readonly #salt: string;
  #elements = 0;

  constructor(window: ByteWindow, salt: string) {
    this.#window = window;
    this.#salt = salt;
  }

  async walk(): Promise<void> {
    const { size } = this.#window;
    if (size < 140) throw new NotDeidentifiable('the file is too short');
    this.#zero(0, 128); // may hold the header of another format, and with it its metadata
    await this.#elementsOf(132, size, 0);
  }

  async #load(at: number, length: number): Promise<void> {
    if (at + length > this.#window.size) throw new NotDeidentifiable('the file ends inside an element');
    if (!this.#window.covers(at, length)) await this.#window.load(at, length);
  }

  async #tagAt(at: number): Promise<number> {
    await this.#load(at, 8);
    return ((this.#window.u16(at) << 16) | this.#window.u16(at + 2)) >>> 0;
  }

  async #header(at: number): Promise<Header> {
    if (++this.#elements > maxElements) throw new NotDeidentifiable('the file has too many elements');
    const tag = await this.#tagAt(at);
    const vr = String.fromCharCode(this.#window.u8(at + 4), this.#window.u8(at + 5));
    if (shortVrs.has(vr)) return { tag, vr, at: at + 8, length: this.#window.u16(at + 6) };
    if (!longVrs.has(vr)) throw new NotDeidentifiable('an element without a known value representation');
    await this.#load(at, 12);
    const length = this.#window.u32(at + 8);
    return { tag, vr, at: at + 12, length: length === undefinedLength ? null : length };
  }

  /** @param end null: a delimiter ends the elements. @returns the offset after them */
  async #elementsOf(start: number, end: number | null, depth: number): Promise<number> {
    if (depth > maxDepth) throw new NotDeidentifiable('its sequences are nested too deeply');
    let at = start;
    while (end === null || at < end) {
      if (end === null && (await this.#tagAt(at)) === 0xfffe_e00d) return at + 8;
      const header = await this.#header(at);
      if (depth === 0 && header.tag === tags.PixelData) return this.#pixelData(header);
      at = await this.#element(header, depth);
    }
    return at;
  }

  /** Keeps the pixels; what follows them, such as signatures, is zeroed. */
  async #pixelData({ at, length }: Header): Promise<number> {
    const end = length === null ? await this.#fragments(at) : at + length;
    if (end > this.#window.size) throw new NotDeidentifiable('the file ends inside the pixels');
    if (end < this.#window.size) await this.#elementsOf(end, this.#window.size, 0);
    return this.#window.size;
  }

  async #fragments(start: number): Promise<number> {
    for (let at = start; ; ) {
      const tag = await this.#tagAt(at);
      const length = this.#window.u32(at + 4);
      if (++this.#elements > maxElements) throw new NotDeidentifiable('the file has too many fragments');
      if (tag === 0xfffe_e0dd) return at + 8;
      if (tag !== 0xfffe_e000 || length === undefinedLength)
        throw new NotDeidentifiable('its pixels contain no items');
      at += 8 + length;
    }
  }

  async #element(header: Header, depth: number): Promise<number> {
    const { tag, vr, at, length } = header;
    const isPrivate = ((tag >>> 16) & 1) === 1;
    if (vr === 'SQ') return this.#items(header, depth);
    if (length === null) {
      if (vr === 'OB' || vr === 'OW') {
        const end = await this.#fragments(at);
        await this.#zeroFragments(at);
        return end;
      }
      throw new NotDeidentifiable('an element of undefined length whose parts are unknown');
    }
    const end = at + length;
    if (end > this.#window.size) throw new NotDeidentifiable('the file ends inside an element');
    await this.#value(header, length, isPrivate, depth);
    return end;
  }

  async #items({ at: start, length }: Header, depth: number): Promise<number> {
    const end = length === null ? null : start + length;
    let at = start;
    while (end === null || at < end) {
      const tag = await this.#tagAt(at);
      const itemLength = this.#window.u32(at + 4);
      at += 8;
      if (tag === 0xfffe_e0dd && end === null) return at;
      if (tag !== 0xfffe_e000) throw new NotDeidentifiable('a sequence contains something other than items');
      at = await this.#elementsOf(at, itemLength === undefinedLength ? null : at + itemLength, depth + 1);
    }
    return at;
  }

  async #value({ tag, vr, at }: Header, length: number, isPrivate: boolean, depth: number): Promise<void> {
    if (length === 0) return;
    const isPatient = tag >>> 16 === 0x0010;
    const isPixels = tag === tags.PixelData && depth > 0; // an icon, which may show the label
    if (isPrivate || vr === 'UN' || isPixels) {
      if (textVrs.has(vr) || codeVrs.has(vr)) this.#blank(at, length);
      else this.#zero(at, length);
      return;
    }
    if (vr === 'UI') return this.#uid(tag, at, length);
    if ((textVrs.has(vr) && !technicalTexts.has(tag)) || (isPatient && codeVrs.has(vr))) {
      this.#blank(at, length);
      return;
    }
    // Bulk bytes outside the groups of images may hold documents or certificates of a person.
    if (vr === 'OB' && !imageGroups.has(tag >>> 16)) this.#zero(at, length);
    if (vr === 'CS') await this.#check(tag, at, length);
  }

  async #check(tag: number, at: number, length: number): Promise<void> {
    if (tag !== tags.ImageType && tag !== tags.BurnedInAnnotation && tag !== tags.SpecimenLabelInImage)
      return;
    const text = (await this.#textAt(at, length)).trim();
    if (tag === tags.ImageType && this.imageType === '') this.imageType = text;
    if (tag !== tags.ImageType && text === 'YES') this.hasLabel = true;
  }

  async #textAt(at: number, length: number): Promise<string> {
    await this.#load(at, length);
    return Buffer.from(this.#window.copy(at, length)).toString('latin1');
  }

  /** Replaces the UIDs of instances, several of which are separated by backslashes. */
  async #uid(tag: number, at: number, length: number): Promise<void> {
    const text = await this.#textAt(at, length);
    const end = text.indexOf('\0') < 0 ? text.length : text.indexOf('\0');
    const body = text.slice(0, end);
    if (tag === tags.TransferSyntaxUID) {
      if ([implicitLittleEndian, deflated, bigEndian].includes(body.trim()))
        throw new NotDeidentifiable('the transfer syntax is implicit, deflated or big-endian');
      return;
    }
    if (tag === tags.ImplementationClassUID) return;
    const replaced = body
      .split('\\')
      .map((uid) => (uid.trim() === '' || uid.startsWith(standardRoot) ? uid : this.#replacementOf(uid)))
      .join('\\');
    if (replaced === body) return;
    this.#add({ at, length, bytes: Buffer.from(replaced + '\0'.repeat(length - end), 'latin1') });
  }

  /** Returns a UID of equal length that is the same for the same UID of the slide. */
  #replacementOf(uid: string): string {
    const bits = createHash('sha512').update(`${this.#salt}\n${uid.trim()}`).digest('hex');
    const digits = BigInt(`0x${bits}`).toString();
    const root = uid.length > 8 ? '2.25.' : uid.length > 3 ? '2.' : '';
    const [first = '1', ...others] = digits;
    return (root + (first === '0' ? '1' : first) + others.join('')).slice(0, uid.length);
  }

  async #zeroFragments(start: number): Promise<void> {
    for (let at = start; ; ) {
      const tag = await this.#tagAt(at);
      const length = this.#window.u32(at + 4);
      if (tag === 0xfffe_e0dd) return;
      this.#zero(at + 8, length);
      at += 8 + length;
    }
  }

  #zero(at: number, length: number): void {
    if (length > 0) this.#add({ at, length });
  }

  #blank(at: number, length: number): void {
    this.#add({ at, length, bytes: Buffer.alloc(length, ' ') });
  }

  #add(patch: Patch): void {
    if (this.patches.length === maxPatches) throw new NotDeidentifiable('too many values identify');
    this.patches.push(patch);
  }
}
