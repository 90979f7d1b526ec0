/** Rules for the values of TIFF tags in a de-identified copy: which values are kept, and which parts of texts. */
import { tag as tags } from '../tiff/tags.ts';
import { blankXml, omeAllowlist, qptiffAllowlist } from './blank-xml.ts';
import { blank, blankAperioDescription } from './descriptions.ts';
import { NotDeidentifiable } from './patches.ts';
import { ASCII, byteTypes, type Entry } from './tiff-structure.ts';

/** The formats whose labels and identifying text are known; `generic` has no vendor metadata. */
export type Kind = 'aperio' | 'ndpi' | 'qptiff' | 'ome' | 'generic';

/** Tags of the device and of the program that wrote the file. */
const deviceTags: ReadonlySet<number> = new Set([271, 272, tags.Software]); // Make, Model, Software
/** Matches the device texts by which readers recognise NDPI, QPTIFF and OME-TIFF. Others may contain names or serial numbers. */
const knownDevice =
  /^(?:Hamamatsu|NanoZoomer|C\d{4,5}(?:-\d{2})?|(?:NDP\.scan|PerkinElmer-QPI|OME Bio-Formats)(?: \d{1,3}(?:\.\d{1,3}){0,3})?)$/;

/**
 * Tags whose values describe how the image is stored or displayed. Source: TIFF 6.0; TIFF Technical Note 2; libtiff's tiff.h;
 * ICC.1, annex B.4.
 */
const technicalTags: ReadonlySet<number> = new Set([
  // NewSubfileType, SubfileType, size, BitsPerSample, Compression, PhotometricInterpretation, thresholds, FillOrder
  ...[254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266],
  // strips, Orientation, SamplesPerPixel, least and greatest sample, resolution, PlanarConfiguration, position on the page
  ...[273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 286, 287],
  // GrayResponse, options of fax compression, ResolutionUnit, PageNumber, TransferFunction, Predictor, WhitePoint, colours
  ...[290, 291, 292, 293, 296, 297, 301, 317, 318, 319, 320],
  // tiles, SubIFDs, InkSet, NumberOfInks, DotRange, ExtraSamples, SampleFormat, least and greatest value, TransferRange
  ...[322, 323, 324, 325, 330, 332, 334, 336, 338, 339, 340, 341, 342],
  // Indexed, JPEGTables, YCbCr, ImageDepth and TileDepth, ICC profile, parameters of LERC
  ...[346, tags.JPEGTables, 529, 530, 531, 532, 32_995, 32_996, 32_997, 32_998, tags.ICCProfile, 50_674],
]);
/** The first tag of NDPI. The numbers of NDPI's tags describe the image, except the serial number. */
const firstNdpiTag = 65_324;
const ndpiSerialNumber = 65_442;

/** Whether the value of an entry stays: numbers and binary data of known meaning. JPEG tables stay without their metadata. */
export function isTechnical({ tag, type }: Entry, kind: Kind): boolean {
  if (technicalTags.has(tag)) return type !== ASCII;
  return kind === 'ndpi' && tag >= firstNdpiTag && tag !== ndpiSerialNumber && !byteTypes.has(type);
}

/** Tags of texts that may have technical parts. */
export const textTags: ReadonlySet<number> = new Set([tags.ImageDescription, ...deviceTags]);

/** Returns the text of one of `textTags` with spaces instead of identifying parts, and zeros after its end. @throws NotDeidentifiable */
export function blankedText(tag: number, text: string, kind: Kind): string {
  // Readers show a text only up to the first zero, but the bytes after it may contain more.
  const zeroAt = text.indexOf('\0');
  const shownText = zeroAt < 0 ? text : text.slice(0, zeroAt);
  return blankedBody(tag, shownText, kind) + '\0'.repeat(text.length - shownText.length);
}

function blankedBody(tag: number, body: string, kind: Kind): string {
  if (deviceTags.has(tag)) return knownDevice.test(body) ? body : blank(body);
  if (kind === 'aperio') return blankAperioDescription(body);
  if (kind === 'qptiff') return blankXml(body, qptiffAllowlist) ?? blank(body);
  if (kind === 'ome' && body.includes('<')) {
    const xml = blankXml(body, omeAllowlist);
    if (xml === null) throw new NotDeidentifiable('the OME-XML has a document type or is not well-formed');
    return xml;
  }
  return blank(body);
}
