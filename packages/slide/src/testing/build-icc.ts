/** Builds ICC profiles for tests. Source: ICC.1:2022 sections 7 and 10. */

/** Options of `buildIcc`. */
export interface IccPlan {
  /** Name in the profile; by default "Test scanner". */
  readonly name?: string;
  /** Signature of the device's colour model, 4 characters; by default RGB. */
  readonly model?: string;
  /** Profile connection space of a profile with tables (one with a matrix always has XYZ); by default XYZ. */
  readonly connection?: 'XYZ ' | 'Lab ';
  /**
   * How the profile converts colours: by curves and a matrix (the default), or by a table of this tag type (lut8,
   * lut16, lutAToB).
   */
  readonly kind?: 'matrix' | 'mft1' | 'mft2' | 'mAB ';
  /** Rendering intents that have the table: A2B0 perceptual, A2B1 relative colorimetric; by default only A2B1. */
  readonly tables?: readonly ('A2B0' | 'A2B1')[];
  /** Major version; by default 4. */
  readonly version?: 2 | 4;
  /** Gamma of the curves; by default 1.8. */
  readonly gamma?: number;
  /** Luminance that tables give to the device's black, 0 to 1; by default 0.01. */
  readonly black?: number;
}

/** The white of the connection space in XYZ. */
const D50 = [0.9642, 1, 0.8249] as const;
/** Colorants of sRGB (XYZ of its full red, green and blue) relative to D50, by device channel. */
const COLORANTS = [
  [0.4361, 0.2225, 0.0139],
  [0.3851, 0.7169, 0.0971],
  [0.1431, 0.0606, 0.7139],
] as const;
/** Nodes of a table's grid in each direction. */
const NODES = 9;
/** The factor of numbers with 16 fractional bits (s15Fixed16Number). */
const FIXED_ONE = 65_536;

/** Builds a profile of a scanner. */
export function buildIcc(plan: IccPlan = {}): Uint8Array {
  const { model = 'RGB ', connection = 'XYZ ', kind = 'matrix', tables = ['A2B1'], version = 4 } = plan;
  const tags = new Map<string, Buffer>([['desc', description(plan.name ?? 'Test scanner')]]);
  tags.set('wtpt', xyz(D50));
  if (kind === 'matrix') {
    for (const [index, name] of ['r', 'g', 'b'].entries()) {
      tags.set(`${name}XYZ`, xyz(COLORANTS[index] ?? D50));
      tags.set(`${name}TRC`, gammaCurve(plan.gamma ?? 1.8));
    }
  } else {
    for (const tag of tables) tags.set(tag, table(plan, kind));
  }
  const header = Buffer.alloc(128);
  header[8] = version;
  header.write('scnr', 12, 'latin1'); // device class: scanner
  header.write(model, 16, 'latin1');
  header.write(kind === 'matrix' ? 'XYZ ' : connection, 20, 'latin1');
  header.write('acsp', 36, 'latin1'); // signature of profile files
  for (const [axis, white] of D50.entries())
    header.writeInt32BE(Math.round(white * FIXED_ONE), 68 + axis * 4); // illuminant
  // The table has a count and, for each tag, its name, offset and length.
  const tagTable = Buffer.alloc(4 + tags.size * 12);
  tagTable.writeUInt32BE(tags.size);
  const bodies: Buffer[] = [];
  let at = header.length + tagTable.length;
  for (const [index, [tag, body]] of [...tags].entries()) {
    tagTable.write(tag, 4 + index * 12, 'latin1');
    tagTable.writeUInt32BE(at, 8 + index * 12);
    tagTable.writeUInt32BE(body.length, 12 + index * 12);
    bodies.push(padded(body));
    at += padded(body).length;
  }
  const profileBytes = at;
  header.writeUInt32BE(profileBytes);
  return Buffer.concat([header, tagTable, ...bodies]);
}

/** Pads a tag to a multiple of 4 bytes. */
const padded = (body: Buffer): Buffer => Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4)]);

/** Builds a text with one translation (multiLocalizedUnicodeType). */
function description(name: string): Buffer {
  const text = Buffer.from(name, 'utf16le').swap16();
  const head = Buffer.alloc(28);
  head.write('mluc', 'latin1');
  head.writeUInt32BE(1, 8); // number of translations
  head.writeUInt32BE(12, 12); // bytes of a record: language and country, length, offset
  head.write('enUS', 16, 'latin1');
  head.writeUInt32BE(text.length, 20);
  head.writeUInt32BE(head.length, 24); // offset of the text
  return Buffer.concat([head, text]);
}

/** Builds a colour (XYZType). */
function xyz(values: readonly number[]): Buffer {
  const body = Buffer.alloc(20);
  body.write('XYZ ', 'latin1');
  for (const [axis, value] of values.entries())
    body.writeInt32BE(Math.round(value * FIXED_ONE), 8 + axis * 4);
  return body;
}

/** Builds a curve y = x^gamma (parametricCurveType, function type 0). */
function gammaCurve(gamma: number): Buffer {
  const body = Buffer.alloc(16);
  body.write('para', 'latin1');
  body.writeInt32BE(Math.round(gamma * FIXED_ONE), 12);
  return body;
}

/** Serialises numbers from 0 to 1 as integers of the full range: of 16 bits if `isWide`, otherwise of 8 bits. */
const encodeNumbers = (samples: readonly number[], isWide: boolean): Buffer => {
  const body = Buffer.alloc(samples.length * (isWide ? 2 : 1));
  for (const [index, sample] of samples.entries()) {
    if (isWide) body.writeUInt16BE(Math.round(sample * 0xffff), index * 2);
    else body.writeUInt8(Math.round(sample * 0xff), index);
  }
  return body;
};

/**
 * Builds a table whose input and output curves change nothing. Its grid has the colours that the matrix gives, scaled
 * so that the darkest one is the plan's black.
 */
function table(plan: IccPlan, kind: 'mft1' | 'mft2' | 'mAB '): Buffer {
  const isWide = kind !== 'mft1';
  const samples: number[] = [];
  for (let red = 0; red < NODES; red++)
    for (let green = 0; green < NODES; green++)
      for (let blue = 0; blue < NODES; blue++)
        samples.push(
          ...encodeColour(
            plan,
            kind,
            [red, green, blue].map((node) => node / (NODES - 1)),
          ),
        );
  const grid = encodeNumbers(samples, isWide);
  if (kind === 'mAB ') return lutAToB(grid);
  const head = Buffer.alloc(isWide ? 52 : 48);
  head.write(kind, 'latin1');
  head.set([3, 3, NODES], 8); // input channels, output channels, nodes
  for (const diagonal of [0, 4, 8]) head.writeInt32BE(FIXED_ONE, 12 + diagonal * 4); // identity matrix
  const curveEntries = isWide ? 2 : 256;
  if (isWide) {
    head.writeUInt16BE(curveEntries, 48); // of an input curve
    head.writeUInt16BE(curveEntries, 50); // of an output curve
  }
  const ramp = encodeNumbers(
    Array.from({ length: curveEntries }, (_, index) => index / (curveEntries - 1)),
    isWide,
  );
  return Buffer.concat([head, ramp, ramp, ramp, grid, ramp, ramp, ramp]);
}

/** Builds a table of the type lutAToBType ("mAB "): output curves, grid, input curves; all curves change nothing. */
function lutAToB(grid: Buffer): Buffer {
  const identity = Buffer.alloc(12);
  identity.write('curv', 'latin1'); // its number of entries stays 0: output equals input
  const curves = Buffer.concat([identity, identity, identity]);
  const head = Buffer.alloc(32);
  const gridAt = head.length + curves.length;
  head.write('mAB ', 'latin1');
  head.set([3, 3], 8); // input and output channels
  head.writeUInt32BE(head.length, 12); // offset of the output ("B") curves
  head.writeUInt32BE(gridAt, 24); // offset of the grid
  const gridHead = Buffer.alloc(20);
  gridHead.set([NODES, NODES, NODES]);
  gridHead[16] = 2; // bytes per sample
  const gridBody = padded(Buffer.concat([gridHead, grid]));
  head.writeUInt32BE(gridAt + gridBody.length, 28); // offset of the input ("A") curves
  return Buffer.concat([head, curves, gridBody, curves]);
}

/**
 * Returns the colour of the connection space for a device colour, as shares (0 to 1) of the range that the stored
 * integers represent: the range of XYZ, of legacy Lab in `mft2`, or of Lab in other tables.
 */
function encodeColour(
  { gamma = 1.8, black = 0.01, connection }: IccPlan,
  kind: string,
  device: readonly number[],
) {
  const linear = device.map((value) => value ** gamma);
  const colour = D50.map((white, axis) => {
    const sum = COLORANTS.reduce(
      (total, column, channel) => total + (column[axis] ?? 0) * (linear[channel] ?? 0),
      0,
    );
    return white * black + sum * (1 - black);
  });
  if (connection !== 'Lab ') return colour.map((value) => Math.min(1, value / (1 + 32767 / 32768)));
  // From XYZ to Lab. Source: CIE 15:2018 section 8.2.1.
  const [fx = 0, fy = 0, fz = 0] = colour.map((value, axis) => {
    const share = value / (D50[axis] ?? 1);
    return share > (24 / 116) ** 3 ? Math.cbrt(share) : (841 / 108) * share + 16 / 116;
  });
  const [l, a, b] = [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
  if (kind === 'mft2')
    return [(l / 100) * (0xff00 / 0xffff), ((a + 128) * 256) / 0xffff, ((b + 128) * 256) / 0xffff];
  return [l / 100, (a + 128) / 255, (b + 128) / 255];
}
