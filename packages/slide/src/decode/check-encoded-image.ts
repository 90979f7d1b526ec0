/**
 * Checks of an encoded image before a decoder reads it: the signature of its codec, its size, and properties
 * that make a small stream expensive to decode. libvips chooses a decoder by the bytes, not by the declared
 * codec: without the signature check, a file could declare WebP and reach any other decoder of libvips.
 */
import { inflateSync } from 'node:zlib';
import { marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { type Codec, type EncodedImage, SlideError } from '../model/slide.ts';
import { isJpeg2000 } from './jpeg2000-header.ts';
import { isPng } from './png-header.ts';
import { isWebp, readWebpHeader } from './webp-header.ts';

type Encoded = Pick<EncodedImage, 'codec' | 'bytes' | 'width' | 'height'>;

/**
 * The signature check of each codec; null for plain or packed samples, which have no signature. This package decodes
 * them itself, so libvips cannot choose another decoder.
 */
const signatures: Readonly<Record<Codec, ((bytes: Uint8Array) => boolean) | null>> = {
  jpeg: isJpegStream,
  jpegls: isJpegStream,
  png: isPng,
  webp: isWebp,
  jpeg2000: isJpeg2000,
  rle: null,
  samples: null,
  tiff: null,
  rgb: null,
};

/**
 * Maximum scans of a progressive JPEG; encoders write 10 to 20. The decoder processes every pixel of the
 * image for each scan, even for a scan of a few bytes.
 */
const MAX_SCANS = 200;
/** Maximum bytes of a colour profile. Profiles of printers, the largest in use, have 3 MiB. */
const MAX_PROFILE_BYTES = 4 * 2 ** 20;

/**
 * Checks an image before it is decoded.
 *
 * @throws SlideError FILE_CORRUPT when codec or size differ from what the file declares; FORMAT_NOT_SUPPORTED
 *   for an animation; LIMIT_EXCEEDED for too many scans or too large a colour profile
 */
export function checkEncodedImage(image: Encoded): void {
  const checkSignature = signatures[image.codec];
  if (checkSignature && !checkSignature(image.bytes)) {
    throw new SlideError(
      'FILE_CORRUPT',
      `The file declares a tile as ${image.codec}, but its bytes are in another format`,
    );
  }
  if (image.codec === 'jpeg') checkJpeg(image);
  else if (image.codec === 'png') checkPng(image);
  else if (image.codec === 'webp') checkWebp(image);
  // The decoders of JPEG 2000 and JPEG-LS check the size themselves.
}

/** Whether bytes start like a JPEG or JPEG-LS stream: the SOI marker, followed by another marker. */
export function isJpegStream(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === marker.SOI && bytes[2] === 0xff;
}

function checkJpeg(image: Encoded): void {
  const { bytes } = image;
  const header = readJpegHeader(bytes);
  checkSize(image, header);
  if (isProgressive(header.frameMarker)) checkScanCount(countScans(bytes.subarray(header.scanAt)));
  // APP2 segments contain the colour profile.
  let profileBytes = 0;
  for (const segment of segments(bytes)) {
    if (segment.marker === marker.APP2) profileBytes += segment.end - segment.bodyAt;
  }
  checkProfileSize(profileBytes);
}

/** Bytes of a PNG signature and the header chunk after it. */
const PNG_HEADER_BYTES = 33;
/** Chunk types as 32-bit numbers, the ASCII codes of IHDR (header), IDAT (image data) and iCCP (colour profile). */
const [IHDR, IDAT, ICCP] = [0x49_48_44_52, 0x49_44_41_54, 0x69_43_43_50];

function checkPng(image: Encoded): void {
  const { bytes } = image;
  if (bytes.length < PNG_HEADER_BYTES) throw new SlideError('FILE_CORRUPT', 'A PNG ends in its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Chunk type at byte 12, width at 16, height at 20.
  if (view.getUint32(12) !== IHDR)
    throw new SlideError('FILE_CORRUPT', 'A PNG does not begin with its header chunk');
  checkSize(image, { width: view.getUint32(16), height: view.getUint32(20) });
  // A chunk: length of its data (4 bytes), type (4), data, checksum (4). A profile precedes the image data.
  let hasProfile = false;
  for (let at = PNG_HEADER_BYTES; at + 8 <= bytes.length && view.getUint32(at + 4) !== IDAT; ) {
    const length = view.getUint32(at);
    if (view.getUint32(at + 4) === ICCP) {
      // PNG allows one profile (section 5.6), and decompressing thousands of them here would take seconds.
      if (hasProfile) throw new SlideError('FILE_CORRUPT', 'A PNG has several colour profiles');
      hasProfile = true;
      checkPngProfile(bytes.subarray(at + 8, at + 8 + length));
    }
    at += length + 12;
  }
}

/**
 * Checks the size of a decompressed profile. Its chunk contains a name, NUL, the compression method (1 byte), and the
 * compressed profile. Source: the PNG specification, section 11.3.2.3.
 */
function checkPngProfile(chunkData: Uint8Array): void {
  const compressed = chunkData.subarray(chunkData.indexOf(0) + 2);
  try {
    inflateSync(compressed, { maxOutputLength: MAX_PROFILE_BYTES });
  } catch (error) {
    // Any other damage of the profile is left to the decoder.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return;
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `The colour profile of a tile has more than ${MAX_PROFILE_BYTES} bytes`,
    );
  }
}

function checkWebp(image: Encoded): void {
  const header = readWebpHeader(image.bytes);
  if (header.isAnimated) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: animated WebP');
  checkSize(image, header);
  checkProfileSize(header.profileBytes);
}

function checkSize(declared: Encoded, { width, height }: { width: number; height: number }): void {
  if (width === declared.width && height === declared.height) return;
  throw new SlideError(
    'FILE_CORRUPT',
    `A tile has ${width} × ${height} pixels, but the file declares ${declared.width} × ${declared.height}`,
  );
}

function checkProfileSize(byteCount: number): void {
  if (byteCount <= MAX_PROFILE_BYTES) return;
  throw new SlideError(
    'LIMIT_EXCEEDED',
    `The colour profile of a tile has ${byteCount} bytes, more than ${MAX_PROFILE_BYTES}`,
  );
}

/**
 * Whether the coding process is progressive, which allows any number of scans. Source: ITU-T T.81, table B.1 (SOF2, SOF6,
 * SOF10, SOF14).
 */
export function isProgressive(frameMarker: number): boolean {
  return [0xc2, 0xc6, 0xca, 0xce].includes(frameMarker);
}

/** Checks the number of scans of a progressive JPEG. @throws SlideError LIMIT_EXCEEDED for more than 200 */
export function checkScanCount(count: number): void {
  if (count > MAX_SCANS) throw new SlideError('LIMIT_EXCEEDED', `A JPEG has more than ${MAX_SCANS} scans`);
}

/**
 * Counts the start-of-scan markers (SOS). The data of a scan cannot contain the two bytes of this marker: the only
 * markers in scan data are RST (restart). Source: ITU-T T.81, B.1.1.5.
 */
export function countScans(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let count = 0;
  let position = buffer.indexOf(START_OF_SCAN);
  while (position >= 0) {
    count++;
    position = buffer.indexOf(START_OF_SCAN, position + START_OF_SCAN.length);
  }
  return count;
}

const START_OF_SCAN = Buffer.from([0xff, marker.SOS]);
