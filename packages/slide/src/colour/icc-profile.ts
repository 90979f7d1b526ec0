/**
 * Reads ICC profiles of RGB devices: device colours to colours of the profile connection space.
 *
 * Every byte of a profile may be hostile. Reads are bounded (profile-bytes.ts), nothing recurses, and no count of the file
 * allocates more than the file has bytes.
 *
 * Source: ICC.1:2022 sections 7 (header, tag table), 8.10 (which tags apply), 10 (tag types).
 */
import { clamp, readCurve } from './icc-curves.ts';
import {
  inOrder,
  matrixStep,
  perChannel,
  readLookupTable,
  type Step,
  type TableKind,
  type Triple,
} from './icc-table.ts';
import { ProfileBytes, ProfileError } from './profile-bytes.ts';

export interface IccProfile {
  /** Converts samples of 0…1, in place, to XYZ relative to the white of D50, where Y of white is 1. */
  readonly toXyz: Step;
  /** XYZ of the darkest colour that black point compensation maps to black. */
  readonly blackPoint: Triple;
  /** Nodes on each side of the grid of its lookup table; 0 without one. */
  readonly gridNodes: number;
}

const HEADER_BYTES = 128;
const MAX_TAGS = 256;
/** Device classes whose colours can be converted by the profile alone: not links, abstract or named colours. */
const DEVICE_CLASSES: ReadonlySet<string> = new Set(['scnr', 'mntr', 'prtr', 'spac']);
/** White of the profile connection space. */
export const D50: Triple = [0.9642, 1, 0.8249];
/** Black of perceptual tables of version 4: ICC.1:2022 section 6.3.4.3. */
const PERCEPTUAL_BLACK: Triple = [0.00336, 0.0034731, 0.00287];
/** Encoded 1.0 of XYZ: ICC.1:2022 section 6.3.4.2. */
const XYZ_MAXIMUM = 1 + 32767 / 32768;

/** @throws ProfileError */
export function readIccProfile(profile: Uint8Array): IccProfile {
  const bytes = new ProfileBytes(profile);
  if (bytes.length < HEADER_BYTES + 4 || bytes.signature(36) !== 'acsp') {
    throw new ProfileError('broken', 'it is no ICC profile');
  }
  if (bytes.uint32(0) > bytes.length) throw new ProfileError('broken', 'the profile is truncated');
  const [deviceClass, device, connection] = [12, 16, 20].map((at) => bytes.signature(at));
  if (device !== 'RGB ') throw new ProfileError('model', `the colour model is ${JSON.stringify(device)}`);
  if (deviceClass === undefined || !DEVICE_CLASSES.has(deviceClass)) {
    throw new ProfileError('model', `the device class is ${JSON.stringify(deviceClass)}`);
  }
  if (connection !== 'XYZ ' && connection !== 'Lab ') {
    throw new ProfileError('broken', `the connection space is ${JSON.stringify(connection)}`);
  }
  const tags = tagOffsets(bytes);
  const colorimetric = tags.get('A2B1');
  const table = colorimetric ?? tags.get('A2B0');
  if (table === undefined) return matrixProfile(bytes, tags);
  const { kind, step, gridNodes } = readLookupTable(bytes, table);
  const toXyz = inOrder([step, decoderOf(connection, kind)]);
  const hasFixedBlack = colorimetric === undefined && bytes.uint8(8) >= 4;
  return { toXyz, blackPoint: hasFixedBlack ? PERCEPTUAL_BLACK : darkestOf(toXyz), gridNodes };
}

/** Returns the description of the profile; null when it has none or it cannot be read. */
export function nameOfProfile(profile: Uint8Array): string | null {
  try {
    const bytes = new ProfileBytes(profile);
    const at = tagOffsets(bytes).get('desc');
    const text = at === undefined ? '' : descriptionAt(bytes, at);
    return (
      text
        .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
        .trim()
        .slice(0, MAX_NAME) || null
    );
  } catch (error) {
    if (error instanceof ProfileError) return null;
    throw error;
  }
}

const MAX_NAME = 80;

/** Source: ICC.1:2022 section 10.15 (multiLocalizedUnicodeType); ICC.1:2001 section 6.5.17 (textDescriptionType). */
function descriptionAt(bytes: ProfileBytes, at: number): string {
  const type = bytes.signature(at);
  // More characters than a name may have, because blank ones are removed.
  const limit = 4 * MAX_NAME;
  if (type === 'mluc') {
    const count = Math.min(bytes.uint32(at + 20) / 2, limit);
    const units = bytes.uint16s(at + bytes.uint32(at + 24), Math.floor(count));
    return String.fromCharCode(...units).toWellFormed();
  }
  if (type !== 'desc') return '';
  const text = String.fromCharCode(...bytes.uint8s(at + 12, Math.min(bytes.uint32(at + 8), limit)));
  return text.split('\0', 1)[0] ?? '';
}

function tagOffsets(bytes: ProfileBytes): ReadonlyMap<string, number> {
  const count = bytes.uint32(HEADER_BYTES);
  if (count > MAX_TAGS) throw new ProfileError('broken', `the profile has ${count} tags`);
  const offsets = new Map<string, number>();
  for (let tag = 0; tag < count; tag++) {
    const entry = HEADER_BYTES + 4 + tag * 12;
    offsets.set(bytes.signature(entry), bytes.uint32(entry + 4));
  }
  return offsets;
}

/** Three curves and a matrix: ICC.1:2022 annex F.3. */
function matrixProfile(bytes: ProfileBytes, tags: ReadonlyMap<string, number>): IccProfile {
  const offsetOf = (name: string): number => {
    const at = tags.get(name);
    if (at === undefined) throw new ProfileError('broken', `the profile has no ${name}`);
    return at;
  };
  const curves = perChannel(['rTRC', 'gTRC', 'bTRC'].map((name) => readCurve(bytes, offsetOf(name)).curve));
  const columns = ['rXYZ', 'gXYZ', 'bXYZ'].map((name) => bytes.fixedNumbers(offsetOf(name) + 8, 3));
  const matrix = matrixStep([0, 1, 2].flatMap((row) => columns.map((column) => column[row] ?? 0)));
  const toXyz = inOrder([curves, matrix]);
  return { toXyz, blackPoint: darkestOf(toXyz), gridNodes: 0 };
}

/** Decodes the result of a table: ICC.1:2022 sections 6.3.4.2 and 10.10 (the older Lab encoding of lut16Type). */
function decoderOf(connection: 'XYZ ' | 'Lab ', kind: TableKind): Step {
  if (connection === 'XYZ ') {
    return (value) => {
      for (let axis = 0; axis < 3; axis++) value[axis] = (value[axis] as number) * XYZ_MAXIMUM;
    };
  }
  const lightness = kind === 'mft2' ? (0xffff * 100) / 0xff00 : 100;
  const chroma = kind === 'mft2' ? 0xffff / 256 : 255;
  return (value) => {
    value[0] = (value[0] as number) * lightness;
    value[1] = (value[1] as number) * chroma - 128;
    value[2] = (value[2] as number) * chroma - 128;
    labToXyz(value);
  };
}

/** Source: CIE 15:2018 section 8.2.1, with the white of D50. */
function labToXyz(value: Float64Array): void {
  const [l, a, b] = value as unknown as Triple;
  const y = (l + 16) / 116;
  value[0] = D50[0] * cubeOf(y + a / 500);
  value[1] = D50[1] * cubeOf(y);
  value[2] = D50[2] * cubeOf(y - b / 200);
}

const cubeOf = (share: number): number => (share > 24 / 116 ? share ** 3 : (share - 16 / 116) * (108 / 841));

/** The black of the device as a neutral colour of at most L* 50, as Little CMS detects it. */
function darkestOf(toXyz: Step): Triple {
  const colour = new Float64Array(3);
  toXyz(colour);
  const share = clamp(colour[1] as number);
  const lightness = share > (24 / 116) ** 3 ? 116 * Math.cbrt(share) - 16 : share * ((116 * 841) / 108);
  const black = Float64Array.of(Math.min(lightness, 50), 0, 0);
  labToXyz(black);
  return [...black] as unknown as Triple;
}
