import { SlideError } from '../model/slide.ts';

/** The metadata that precede the image data in a WebP file. */
interface WebpHeader {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** Bytes of the colour profile; 0 when the file has none. */
  readonly profileBytes: number;
}

/** Bytes of the file header and the start of the first chunk, including the fields with the image size. */
const HEAD_BYTES = 30;

/** Whether the bytes start with the WebP signature. Source: RFC 9649, section 2.4. */
export function isWebp(start: Uint8Array): boolean {
  return textAt(start, 0) === 'RIFF' && textAt(start, 8) === 'WEBP';
}

/**
 * Reads size, animation flag and profile size of a WebP file.
 *
 * Source: RFC 9649, sections 2.5 (VP8), 2.6 (VP8L), 2.7 (VP8X, ICCP); RFC 6386, section 9.1.
 *
 * @throws SlideError FILE_CORRUPT
 */
export function readWebpHeader(bytes: Uint8Array): WebpHeader {
  if (!isWebp(bytes) || bytes.length < HEAD_BYTES) throw corruptError('its header is truncated');
  // Bytes 0 to 11 are the RIFF header; the type of the first chunk is at 12, its length at 16, its data from 20.
  // Numbers are little-endian (`true` below).
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  /** The simple formats (VP8 and VP8L) have neither an animation nor a profile; the extended format (VP8X) may have both. */
  const simpleFile = { isAnimated: false, profileBytes: 0 };
  switch (textAt(bytes, 12)) {
    case 'VP8 ':
      return {
        ...simpleFile,
        // A frame tag and a start code precede the size. The two highest bits of each side are a scaling factor.
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case 'VP8L': {
      // After a signature byte: width and height minus 1, 14 bits each.
      const sizes = view.getUint32(21, true);
      return { ...simpleFile, width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X': {
      // Byte 20 has flags, of which bit 1 means an animation; width and height minus 1 have 24 bits each. The chunk ends at
      // byte 30 (HEAD_BYTES). A colour profile, if any, is in the chunk after it: type (4 bytes), length (4), data.
      const hasProfile = bytes.length >= HEAD_BYTES + 8 && textAt(bytes, HEAD_BYTES) === 'ICCP';
      return {
        width: uint24(24) + 1,
        height: uint24(27) + 1,
        isAnimated: (view.getUint8(20) & 2) !== 0,
        profileBytes: hasProfile ? view.getUint32(HEAD_BYTES + 4, true) : 0,
      };
    }
    default:
      throw corruptError('its first chunk is not an image');
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A WebP stream is damaged: ${reason}`);
}
