/**
 * A reader of ICC profiles of RGB devices. `IccProfile.toXyz` converts device colours to XYZ.
 *
 * Every byte of a profile may be hostile. Reads are bounded (profile-bytes.ts), no function is recursive, and memory is never
 * allocated for more entries than the profile has bytes.
 *
 * Source: ICC.1:2022 sections 7 (header, tag table), 8.10 (which tags apply), 10 (tag types).
 */
import { clamp01, readCurve } from './icc-curves.ts';
import {
  chainSteps,
  curvesStep,
  matrixStep,
  readLookupTable,
  type Step,
  type TableKind,
  type Triple,
} from './icc-table.ts';
import { ProfileBytes, ProfileError } from './profile-bytes.ts';

export interface IccProfile {
  /** Converts device samples (0…1), in place, to XYZ relative to the white of D50, where Y of white is 1. */
  readonly toXyz: Step;
  /** XYZ of the darkest colour of the device; black point compensation maps it to 0. */
  readonly blackPoint: Triple;
  /** Nodes on each side of the grid of the profile's lookup table; 0 for a profile of curves and a matrix. */
  readonly gridNodes: number;
}

const HEADER_BYTES = 128;
/** Offsets of fields in the header. Source: ICC.1:2022, table 17. */
const field = {
  size: 0,
  majorVersion: 8,
  deviceClass: 12,
  colourSpace: 16,
  connectionSpace: 20,
  signature: 36,
};
/** Bytes of an entry of the tag table: signature, offset and size. */
const TAG_ENTRY_BYTES = 12;
const MAX_TAGS = 256;
/** Device classes that can be converted: scanner, monitor, printer, colour space. Links and named colours cannot. */
const DEVICE_CLASSES: ReadonlySet<string> = new Set(['scnr', 'mntr', 'prtr', 'spac']);
/** XYZ of the white of the profile connection space. */
export const D50: Triple = [0.9642, 1, 0.8249];
/** XYZ of the black of perceptual tables in profiles of version 4. Source: ICC.1:2022, section 6.3.4.3. */
const PERCEPTUAL_BLACK: Triple = [0.00336, 0.0034731, 0.00287];
/** Largest XYZ value that a lookup table can encode. Source: ICC.1:2022, section 6.3.4.2. */
const XYZ_MAXIMUM = 1 + 32767 / 32768;

/**
 * Reads a profile. It prefers the colorimetric table (A2B1) to the perceptual one (A2B0), and either to curves and a matrix.
 *
 * @throws ProfileError with the reason `model` when the profile does not describe an RGB device, `broken` when it is damaged
 */
export function readIccProfile(profile: Uint8Array): IccProfile {
  const bytes = new ProfileBytes(profile);
  if (bytes.length < HEADER_BYTES + 4 || bytes.signature(field.signature) !== 'acsp') {
    throw new ProfileError('broken', 'the bytes are not an ICC profile');
  }
  if (bytes.uint32(field.size) > bytes.length) throw new ProfileError('broken', 'the profile is truncated');
  const deviceClass = bytes.signature(field.deviceClass);
  const model = bytes.signature(field.colourSpace);
  const connectionSpace = bytes.signature(field.connectionSpace);
  if (model !== 'RGB ')
    throw new ProfileError('model', `the colour model is ${JSON.stringify(model)}, not RGB`);
  if (!DEVICE_CLASSES.has(deviceClass)) {
    throw new ProfileError('model', `the device class ${JSON.stringify(deviceClass)} cannot be converted`);
  }
  if (connectionSpace !== 'XYZ ' && connectionSpace !== 'Lab ') {
    throw new ProfileError(
      'broken',
      `the connection space is ${JSON.stringify(connectionSpace)}, not XYZ or Lab`,
    );
  }
  const tags = tagOffsets(bytes);
  const colorimetricAt = tags.get('A2B1');
  const tableAt = colorimetricAt ?? tags.get('A2B0');
  if (tableAt === undefined) return matrixProfile(bytes, tags);
  const { kind, step, gridNodes } = readLookupTable(bytes, tableAt);
  const toXyz = chainSteps([step, connectionSpaceDecoder(connectionSpace, kind)]);
  const hasFixedBlack = colorimetricAt === undefined && bytes.uint8(field.majorVersion) >= 4;
  return { toXyz, blackPoint: hasFixedBlack ? PERCEPTUAL_BLACK : detectBlackPoint(toXyz), gridNodes };
}

/** Returns the description in the profile as one line of at most 80 characters; null when it has none or cannot be read. */
export function nameOfProfile(profile: Uint8Array): string | null {
  try {
    const bytes = new ProfileBytes(profile);
    const at = tagOffsets(bytes).get('desc');
    const text = at === undefined ? '' : descriptionAt(bytes, at);
    return (
      text
        .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
        .trim()
        .slice(0, MAX_NAME_LENGTH) || null
    );
  } catch (error) {
    if (error instanceof ProfileError) return null;
    throw error;
  }
}

const MAX_NAME_LENGTH = 80;

/**
 * Reads the text of a description tag. Source: ICC.1:2022 section 10.15 (multiLocalizedUnicodeType); ICC.1:2001 section
 * 6.5.17 (textDescriptionType).
 */
function descriptionAt(bytes: ProfileBytes, at: number): string {
  const type = bytes.signature(at);
  // Reads more characters than a name may have, because the caller removes control characters and repeated spaces.
  const limit = 4 * MAX_NAME_LENGTH;
  if (type === 'mluc') {
    // The first record states the length of its text in bytes at byte 20 and the offset of the text at byte 24.
    const count = Math.min(bytes.uint32(at + 20) / 2, limit);
    const units = bytes.uint16s(at + bytes.uint32(at + 24), Math.floor(count));
    return String.fromCharCode(...units).toWellFormed();
  }
  if (type !== 'desc') return '';
  // The number of characters is at byte 8, the text at byte 12.
  const text = String.fromCharCode(...bytes.uint8s(at + 12, Math.min(bytes.uint32(at + 8), limit)));
  return text.split('\0', 1)[0] ?? '';
}

/** Returns the offset of each tag by its signature. */
function tagOffsets(bytes: ProfileBytes): ReadonlyMap<string, number> {
  const count = bytes.uint32(HEADER_BYTES);
  if (count > MAX_TAGS)
    throw new ProfileError('broken', `the profile has ${count} tags, more than ${MAX_TAGS}`);
  const offsets = new Map<string, number>();
  for (let tag = 0; tag < count; tag++) {
    const entry = HEADER_BYTES + 4 + tag * TAG_ENTRY_BYTES;
    offsets.set(bytes.signature(entry), bytes.uint32(entry + 4));
  }
  return offsets;
}

/** Reads a profile without a lookup table: three curves and a matrix. Source: ICC.1:2022, annex F.3. */
function matrixProfile(bytes: ProfileBytes, tags: ReadonlyMap<string, number>): IccProfile {
  const offsetOf = (name: string): number => {
    const at = tags.get(name);
    if (at === undefined) throw new ProfileError('broken', `the profile has no tag ${name}`);
    return at;
  };
  const curves = curvesStep(['rTRC', 'gTRC', 'bTRC'].map((name) => readCurve(bytes, offsetOf(name)).curve));
  // The numbers follow the type and four reserved bytes. Each tag is a column of the matrix.
  const columns = ['rXYZ', 'gXYZ', 'bXYZ'].map((name) => bytes.fixedNumbers(offsetOf(name) + 8, 3));
  const matrix = matrixStep([0, 1, 2].flatMap((row) => columns.map((column) => column[row] ?? 0)));
  const toXyz = chainSteps([curves, matrix]);
  return { toXyz, blackPoint: detectBlackPoint(toXyz), gridNodes: 0 };
}

/**
 * Returns the step that decodes the result of a lookup table (0…1) to XYZ. Source: ICC.1:2022, sections 6.3.4.2 and 10.10
 * (the older Lab encoding of lut16Type).
 */
function connectionSpaceDecoder(connectionSpace: 'XYZ ' | 'Lab ', kind: TableKind): Step {
  if (connectionSpace === 'XYZ ') {
    return (value) => {
      for (let axis = 0; axis < 3; axis++) value[axis] = (value[axis] as number) * XYZ_MAXIMUM;
    };
  }
  // lut16Type (`mft2`) encodes L* 100 as 0xff00, and a* and b* in steps of 1/256; the other types use the whole range for
  // 0…100 and −128…127.
  const lightness = kind === 'mft2' ? (0xffff * 100) / 0xff00 : 100;
  const chroma = kind === 'mft2' ? 0xffff / 256 : 255;
  return (value) => {
    value[0] = (value[0] as number) * lightness;
    value[1] = (value[1] as number) * chroma - 128;
    value[2] = (value[2] as number) * chroma - 128;
    labToXyz(value);
  };
}

/** Converts L*, a*, b* to XYZ in place, relative to the white of D50. Source: CIE 15:2018, section 8.2.1. */
function labToXyz(value: Float64Array): void {
  const [l, a, b] = value as unknown as Triple;
  const fy = (l + 16) / 116;
  value[0] = D50[0] * inverseF(fy + a / 500);
  value[1] = D50[1] * inverseF(fy);
  value[2] = D50[2] * inverseF(fy - b / 200);
}

/** Inverse of the function f of CIE Lab: a cube, and linear near black. */
const inverseF = (f: number): number => (f > 24 / 116 ? f ** 3 : (f - 16 / 116) * (108 / 841));

/** Returns the XYZ of the device's black, made neutral and limited to L* 50, as Little CMS detects the black point. */
function detectBlackPoint(toXyz: Step): Triple {
  const colour = new Float64Array(3);
  toXyz(colour);
  const luminance = clamp01(colour[1] as number);
  // L* by the definition of CIE Lab: a cube root of the luminance, and linear near black.
  const lightness =
    luminance > (24 / 116) ** 3 ? 116 * Math.cbrt(luminance) - 16 : luminance * ((116 * 841) / 108);
  const black = Float64Array.of(Math.min(lightness, 50), 0, 0);
  labToXyz(black);
  return [...black] as unknown as Triple;
}
