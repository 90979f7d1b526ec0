/** The DICOM UIDs of transfer syntaxes and object classes. Source: DICOM PS3.6, tables. */

/** The SOP class (kind of object) VL Whole Slide Microscopy Image. */
export const wholeSlideImage = '1.2.840.10008.5.1.4.1.1.77.1.6';

/** Encoding of a frame; `samples` means uncompressed. */
export type FrameCodec = 'samples' | 'jpeg' | 'jpegls' | 'jpeg2000' | 'rle';

/** Encoding of a file: its data elements and its frames. */
export interface TransferSyntax {
  /** Whether every data element states its value representation. */
  readonly isExplicit: boolean;
  /** Whether each frame is stored in separate items; otherwise the bytes of all frames are consecutive. */
  readonly isEncapsulated: boolean;
  readonly codec: FrameCodec;
}

const encapsulated = (codec: FrameCodec): TransferSyntax => ({
  isExplicit: true,
  isEncapsulated: true,
  codec,
});

const transferSyntaxes = new Map<string, TransferSyntax>([
  // The first three are uncompressed: implicit, explicit, and explicit with frames in items.
  ['1.2.840.10008.1.2', { isExplicit: false, isEncapsulated: false, codec: 'samples' }],
  ['1.2.840.10008.1.2.1', { isExplicit: true, isEncapsulated: false, codec: 'samples' }],
  ['1.2.840.10008.1.2.1.98', encapsulated('samples')],
  ['1.2.840.10008.1.2.4.50', encapsulated('jpeg')],
  // Extended JPEG may have 12 bits per sample, which browsers cannot draw; every frame is checked to have 8 bits.
  ['1.2.840.10008.1.2.4.51', encapsulated('jpeg')],
  // Of JPEG-LS and of JPEG 2000, the first UID is lossless only, the second may be lossy.
  ['1.2.840.10008.1.2.4.80', encapsulated('jpegls')],
  ['1.2.840.10008.1.2.4.81', encapsulated('jpegls')],
  ['1.2.840.10008.1.2.4.90', encapsulated('jpeg2000')],
  ['1.2.840.10008.1.2.4.91', encapsulated('jpeg2000')],
  ['1.2.840.10008.1.2.5', encapsulated('rle')],
]);

/** Names for messages, by prefix of the UID (`….4.10` covers 100 to 109); the first prefix that matches is used. */
const unsupportedSyntaxes: readonly (readonly [string, string])[] = [
  ['1.2.840.10008.1.2.1.99', 'a deflated data set'],
  ['1.2.840.10008.1.2.2', 'big-endian byte order'],
  ['1.2.840.10008.1.2.4.57', 'lossless JPEG'],
  ['1.2.840.10008.1.2.4.70', 'lossless JPEG'],
  ['1.2.840.10008.1.2.4.92', 'JPEG 2000 part 2'],
  ['1.2.840.10008.1.2.4.93', 'JPEG 2000 part 2'],
  ['1.2.840.10008.1.2.4.94', 'JPIP'],
  ['1.2.840.10008.1.2.4.95', 'JPIP'],
  ['1.2.840.10008.1.2.4.20', 'high-throughput JPEG 2000'],
  ['1.2.840.10008.1.2.4.10', 'video'],
  ['1.2.840.10008.1.2.4.11', 'JPEG XL'],
  ['1.2.840.10008.1.2.8.1', 'deflated frames'],
];

/** Returns the transfer syntax; null when it is not supported. */
export function transferSyntaxOf(uid: string): TransferSyntax | null {
  return transferSyntaxes.get(uid) ?? null;
}

/** Returns a name for messages, e.g. `lossless JPEG (transfer syntax 1.2.840.10008.1.2.4.70)`. */
export function nameOfTransferSyntax(uid: string): string {
  const [, name] = unsupportedSyntaxes.find(([prefix]) => uid.startsWith(prefix)) ?? [];
  return name ? `${name} (transfer syntax ${uid})` : `transfer syntax ${uid}`;
}

/** Names for messages, by prefix of the SOP class (kind of object); the first prefix that matches is used. */
const sopClasses: readonly (readonly [string, string])[] = [
  ['1.2.840.10008.5.1.4.1.1.77.1.2', 'a microscope photograph'],
  ['1.2.840.10008.5.1.4.1.1.77.1.3', 'a microscope photograph'],
  ['1.2.840.10008.5.1.4.1.1.77.1.8', 'a confocal microscopy image'],
  ['1.2.840.10008.5.1.4.1.1.77.1.9', 'a confocal microscopy image'],
  ['1.2.840.10008.5.1.4.1.1.77.1', 'a photograph or an endoscopy'],
  ['1.2.840.10008.5.1.4.1.1.91.1', 'a list of annotations'],
  ['1.2.840.10008.5.1.4.1.1.66.2', 'a spatial transformation'],
  ['1.2.840.10008.5.1.4.1.1.66', 'a segmentation or other derived data'],
  ['1.2.840.10008.5.1.4.1.1.11', 'a presentation state'],
  ['1.2.840.10008.5.1.4.1.1.88', 'a structured report'],
  ['1.2.840.10008.5.1.4.1.1.104', 'a document'],
  ['1.2.840.10008.5.1.4.1.1.30', 'a parametric map'],
  ['1.2.840.10008.5.1.4.1.1.481', 'radiotherapy data'],
  ['1.2.840.10008.5.1.4.1.1.20', 'a nuclear medicine image'],
  ['1.2.840.10008.5.1.4.1.1.128', 'a nuclear medicine image'],
  ['1.2.840.10008.5.1.4.1.1.2', 'a CT image'],
  ['1.2.840.10008.5.1.4.1.1.4', 'an MR image'],
  ['1.2.840.10008.5.1.4.1.1.6', 'an ultrasound image'],
  ['1.2.840.10008.5.1.4.1.1.7', 'a secondary capture'],
  ['1.2.840.10008.5.1.4.1.1.1', 'an X-ray image'],
  ['1.2.840.10008.1.3.10', 'a directory of other files'],
];

/** Returns a name for messages, e.g. `a CT image`. */
export function nameOfSopClass(uid: string): string {
  const [, name] = sopClasses.find(([prefix]) => uid === prefix || uid.startsWith(`${prefix}.`)) ?? [];
  return name ?? `an object of SOP class ${uid}`;
}
