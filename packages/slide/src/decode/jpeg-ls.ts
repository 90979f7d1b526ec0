/**
 * JPEG-LS, as DICOM stores it: lossless or nearly so, each sample predicted from its neighbours.
 *
 * Source: ITU-T T.87 (06/98). The names of its variables (A, B, C, N, NEAR, RANGE, …) are kept.
 */
import { marker, type Segment, segments } from '../jpeg/header.ts';
import { type SampleColour, SlideError } from '../slide.ts';
import { paintSamples } from './paint-samples.ts';
import type { Raster } from './raster.ts';

/** Pixels decoded at once. */
const MAX_PIXELS = 2 ** 24;

/** Second bytes of the markers that JPEG-LS adds. Source: T.87, table C.1. */
const SOF55 = 0xf7;
const LSE = 0xf8;
const DRI = 0xdd;
/** Hewlett-Packard's colour transformations, which the standard does not know, stand in an APP8 "mrfx". */
const APP8 = 0xe8;

interface Frame {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Bits of a sample. */
  readonly bits: number;
  /** Identifiers, in the order of the picture. */
  readonly components: readonly number[];
}

/** Source: T.87, C.2.4.1.1; 0 stands for what follows from the others. */
interface Preset {
  readonly MAXVAL: number;
  readonly T1: number;
  readonly T2: number;
  readonly T3: number;
  readonly RESET: number;
}

/**
 * Decode a JPEG-LS picture of three components of 8 bits, or of one of 2 to 16.
 *
 * @param size pixels that were promised; a picture of another size is refused before it is decoded
 * @param colour null: RGB, or grey over all values
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export function decodeJpegLs(
  bytes: Uint8Array,
  size: { readonly width: number; readonly height: number },
  colour: SampleColour | null,
): Raster {
  if (bytes[0] !== 0xff || bytes[1] !== marker.SOI) throw corrupt('it does not begin with SOI');
  let frame: Frame | null = null;
  let preset: Preset = { MAXVAL: 0, T1: 0, T2: 0, T3: 0, RESET: 0 };
  let values: Uint8Array | Uint16Array = new Uint8Array();
  const missing = new Set<number>();

  for (let at = 2; frame === null || missing.size > 0; ) {
    for (const segment of segments(bytes, at)) {
      at = segment.end;
      if (segment.marker === SOF55) {
        if (frame) throw corrupt('it has two frames');
        frame = readFrame(bytes, segment);
        checkFrame(frame, size);
        const count = frame.width * frame.height * frame.components.length;
        values = frame.bits > 8 ? new Uint16Array(count) : new Uint8Array(count);
        for (const place of frame.components.keys()) missing.add(place);
      } else if (segment.marker === LSE) {
        preset = readPreset(bytes, segment);
      } else if (segment.marker === DRI) {
        throw notRead('restart intervals');
      } else if (segment.marker === APP8 && startsWith(bytes, segment, 'mrfx')) {
        throw notRead('a colour transformation of its own');
      } else if (segment.marker === marker.EOI) {
        throw corrupt('it ends before all its components');
      } else if (segment.marker === marker.SOS) {
        if (!frame) throw corrupt('its scan comes before its frame');
        const scan = readScan(bytes, segment, frame);
        at = decodeScan(bytes, at, frame, scan, preset, values);
        for (const place of scan.places) missing.delete(place);
      }
    }
  }
  return paintSamples(
    {
      width: frame.width,
      height: frame.height,
      samplesPerPixel: frame.components.length,
      values,
      isPlanar: false,
      maximum: 2 ** frame.bits - 1,
    },
    colour,
  );
}

/** Source: ITU-T T.81, B.2.2. */
function readFrame(bytes: Uint8Array, { bodyAt, end }: Segment): Frame {
  const [bits = 0, highY = 0, lowY = 0, highX = 0, lowX = 0, count = 0] = bytes.subarray(bodyAt, end);
  if (count === 0 || bodyAt + 6 + 3 * count > end) throw corrupt('its frame is cut');
  const components = Array.from({ length: count }, (_, i) => bytes[bodyAt + 6 + 3 * i] ?? 0);
  const isEven = components.every((_, i) => bytes[bodyAt + 7 + 3 * i] === 0x11);
  if (!isEven) throw notRead('components of another size');
  return { bits, height: (highY << 8) | lowY, width: (highX << 8) | lowX, components };
}

function checkFrame(frame: Frame, size: { readonly width: number; readonly height: number }): void {
  const { width, height, bits, components } = frame;
  if (width !== size.width || height !== size.height) {
    throw corrupt(`it is ${width} × ${height} pixels, not ${size.width} × ${size.height}`);
  }
  if (width * height > MAX_PIXELS) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${width} × ${height} pixels`);
  }
  const isGrey = components.length === 1 && bits >= 2 && bits <= 16;
  const isColour = components.length === 3 && bits === 8;
  if (!isGrey && !isColour) throw notRead(`${components.length} components of ${bits} bits`);
}

function readPreset(bytes: Uint8Array, { bodyAt, end }: Segment): Preset {
  if (bytes[bodyAt] !== 1) throw notRead('a table of its own');
  if (bodyAt + 11 > end) throw corrupt('its parameters are cut');
  const value = (place: number) => uint16(bytes, bodyAt + 1 + 2 * place);
  return { MAXVAL: value(0), T1: value(1), T2: value(2), T3: value(3), RESET: value(4) };
}

interface Scan {
  /** Places of its components in the frame. */
  readonly places: readonly number[];
  /** How far a sample may be from what was encoded. */
  readonly NEAR: number;
  /** The samples of a pixel stand together (2), or those of a line (0 and 1). */
  readonly isByPixel: boolean;
}

/** Source: T.87, C.2.3. */
function readScan(bytes: Uint8Array, { bodyAt, end }: Segment, frame: Frame): Scan {
  const count = bytes[bodyAt] ?? 0;
  if (bodyAt + 4 + 2 * count > end) throw corrupt('its scan is cut');
  const places = Array.from({ length: count }, (_, i) =>
    frame.components.indexOf(bytes[bodyAt + 1 + 2 * i] ?? -1),
  );
  const [NEAR = 0, interleave = 0, transform = 0] = bytes.subarray(bodyAt + 1 + 2 * count, end);
  const isWhole = count === frame.components.length && places.every((place, i) => place === i);
  const isOne = count === 1 && places[0] !== -1;
  if (interleave > 2 || !(isWhole || isOne) || (interleave > 0 && !isWhole)) {
    throw corrupt('its scan has other components than its frame');
  }
  if (transform !== 0) throw notRead('samples that are shifted');
  return { places, NEAR, isByPixel: interleave === 2 && count > 1 };
}

/** Source: T.87, A.2.1; C.2.4.1.1.1 for thresholds that are not given. */
interface Coding extends Preset {
  readonly NEAR: number;
  readonly RANGE: number;
  readonly qbpp: number;
  readonly LIMIT: number;
  /** What a step of the quantised error is worth. */
  readonly step: number;
}

function codingOf({ bits }: Frame, { NEAR }: Scan, preset: Preset): Coding {
  const MAXVAL = preset.MAXVAL || 2 ** bits - 1;
  if (MAXVAL > 2 ** bits - 1 || NEAR > Math.min(255, Math.trunc(MAXVAL / 2))) {
    throw corrupt('its parameters contradict its samples');
  }
  const clamp = (value: number, least: number) => (value > MAXVAL || value < least ? least : value);
  const isWide = MAXVAL >= 128;
  const factor = isWide ? Math.trunc((Math.min(MAXVAL, 4095) + 128) / 256) : Math.trunc(256 / (MAXVAL + 1));
  const basic = (base: number, least: number, near: number) =>
    isWide
      ? factor * (base - least) + least + near * NEAR
      : Math.max(least, Math.trunc(base / factor) + near * NEAR);
  const T1 = preset.T1 || clamp(basic(3, 2, 3), NEAR + 1);
  const T2 = preset.T2 || clamp(basic(7, 3, 5), T1);
  const T3 = preset.T3 || clamp(basic(21, 4, 7), T2);
  const RESET = preset.RESET || 64;
  if (T1 <= NEAR || T2 < T1 || T3 < T2 || T3 > MAXVAL || RESET < 3) {
    throw corrupt('its parameters are out of order');
  }
  const step = 2 * NEAR + 1;
  const RANGE = Math.trunc((MAXVAL + 2 * NEAR) / step) + 1;
  const qbpp = Math.ceil(Math.log2(RANGE));
  const bpp = Math.max(2, Math.ceil(Math.log2(MAXVAL + 1)));
  return { MAXVAL, T1, T2, T3, RESET, NEAR, RANGE, qbpp, LIMIT: 2 * (bpp + Math.max(8, bpp)), step };
}

/** How many bits a run's length takes, by how well runs went so far. Source: T.87, A.2.1. */
const J = [
  0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15,
];
/** Contexts of regular mode; the two of run interruption follow them. */
const CONTEXTS = 365;
/** No errors of real samples add up to this; beyond it shifts would turn numbers negative. */
const MOST_SUM = 2 ** 30;

/**
 * Decode one scan into `values`, where the samples of a pixel stand together.
 *
 * @param start place of the scan's first byte
 * @returns place of the marker after it
 */
function decodeScan(
  bytes: Uint8Array,
  start: number,
  frame: Frame,
  scan: Scan,
  preset: Preset,
  values: Uint8Array | Uint16Array,
): number {
  const coding = codingOf(frame, scan, preset);
  const { NEAR, MAXVAL, RANGE, RESET, LIMIT, qbpp, step, T1, T2, T3 } = coding;
  const { width, height } = frame;
  const stride = frame.components.length;
  const reader = bitReader(bytes, start);

  const A = new Int32Array(CONTEXTS + 2).fill(Math.max(2, Math.trunc((RANGE + 32) / 64)));
  const N = new Int32Array(CONTEXTS + 2).fill(1);
  const B = new Int32Array(CONTEXTS);
  const C = new Int32Array(CONTEXTS);
  const negatives = new Int32Array(2);
  const runIndexes = scan.places.map(() => 0);

  const quantise = (gradient: number): number => {
    if (gradient <= -T3) return -4;
    if (gradient <= -T2) return -3;
    if (gradient <= -T1) return -2;
    if (gradient < -NEAR) return -1;
    if (gradient <= NEAR) return 0;
    if (gradient < T1) return 1;
    if (gradient < T2) return 2;
    return gradient < T3 ? 3 : 4;
  };

  /** Source: T.87, A.5.3 (limited-length Golomb code). */
  const readGolomb = (k: number, limit: number): number => {
    const zeros = reader.zeros(limit);
    if (zeros < limit - qbpp - 1) return zeros * 2 ** k + reader.bits(k);
    return reader.bits(qbpp) + 1;
  };

  const reconstruct = (predicted: number, error: number): number => {
    let value = predicted + error * step;
    if (value < -NEAR) value += RANGE * step;
    else if (value > MAXVAL + NEAR) value -= RANGE * step;
    return value < 0 ? 0 : value > MAXVAL ? MAXVAL : value;
  };

  /** Source: T.87, A.4 to A.6. */
  const readRegular = (context: number, Ra: number, Rb: number, Rc: number): number => {
    const sign = context < 0 ? -1 : 1;
    const q = context < 0 ? -context : context;
    const larger = Ra > Rb ? Ra : Rb;
    const smaller = Ra > Rb ? Rb : Ra;
    let predicted = Rc >= larger ? smaller : Rc <= smaller ? larger : Ra + Rb - Rc;
    predicted += sign * (C[q] as number);
    predicted = predicted < 0 ? 0 : predicted > MAXVAL ? MAXVAL : predicted;

    let [a, b, n] = [A[q] as number, B[q] as number, N[q] as number];
    let k = 0;
    while (n << k < a) k++;
    const mapped = readGolomb(k, LIMIT);
    const isOdd = (mapped & 1) === 1;
    const isTurned = NEAR === 0 && k === 0 && 2 * b <= -n;
    const error = isTurned
      ? isOdd
        ? (mapped - 1) / 2
        : -mapped / 2 - 1
      : isOdd
        ? -(mapped + 1) / 2
        : mapped / 2;

    b += error * step;
    a += Math.abs(error);
    if (a > MOST_SUM || Math.abs(b) > MOST_SUM) throw corrupt('an error is larger than any sample');
    if (n === RESET) {
      a >>= 1;
      b >>= 1;
      n >>= 1;
    }
    n++;
    let c = C[q] as number;
    if (b <= -n) {
      b += n;
      if (c > -128) c--;
      if (b <= -n) b = -n + 1;
    } else if (b > 0) {
      b -= n;
      if (c < 127) c++;
      if (b > 0) b = 0;
    }
    A[q] = a;
    B[q] = b;
    N[q] = n;
    C[q] = c;
    return reconstruct(predicted, sign * error);
  };

  /** The sample that ends a run. Source: T.87, A.7.2. */
  const readInterruption = (Ra: number, Rb: number, isAlone: boolean, runIndex: number): number => {
    const type = isAlone && Math.abs(Ra - Rb) <= NEAR ? 1 : 0;
    const q = CONTEXTS + type;
    let [a, n, negative] = [A[q] as number, N[q] as number, negatives[type] as number];
    const sum = type === 1 ? a + (n >> 1) : a;
    let k = 0;
    while (n << k < sum) k++;
    const mapped = readGolomb(k, LIMIT - (J[runIndex] as number) - 1);
    const turned = mapped + type;
    const isOdd = (turned & 1) === 1;
    const size = (turned + (isOdd ? 1 : 0)) / 2;
    const error = (k !== 0 || 2 * negative >= n) === isOdd ? -size : size;

    if (error < 0) negative++;
    a += (mapped + 1 - type) >> 1;
    if (a > MOST_SUM) throw corrupt('an error is larger than any sample');
    if (n === RESET) {
      a >>= 1;
      n >>= 1;
      negative >>= 1;
    }
    A[q] = a;
    N[q] = n + 1;
    negatives[type] = negative;
    const sign = type === 0 && Ra > Rb ? -1 : 1;
    return reconstruct(type === 1 ? Ra : Rb, sign * error);
  };

  /** How many of the samples that are left of a line are like the one before. Source: T.87, A.7.1. */
  const readRun = (left: number, place: number): number => {
    let index = runIndexes[place] as number;
    for (let run = 0; ; ) {
      if (reader.bits(1) === 0) {
        runIndexes[place] = index;
        run += reader.bits(J[index] as number);
        if (run > left) throw corrupt('a run is longer than its line');
        return run;
      }
      const length = 2 ** (J[index] as number);
      if (run + length <= left && index < J.length - 1) index++;
      run += length;
      if (run >= left) {
        runIndexes[place] = index;
        return left;
      }
    }
  };

  const loseRun = (place: number) => {
    runIndexes[place] = Math.max((runIndexes[place] as number) - 1, 0);
  };

  /** Lines begin with what stands left of them, and end with what stands right. Source: T.87, A.2.1. */
  const startLine = (above: Int32Array, line: Int32Array) => {
    line[0] = above[1] as number;
    above[width + 1] = above[width] as number;
  };

  const contextAt = (above: Int32Array, line: Int32Array, x: number): number => {
    const Ra = line[x - 1] as number;
    const Rb = above[x] as number;
    const Rc = above[x - 1] as number;
    const Rd = above[x + 1] as number;
    return (quantise(Rd - Rb) * 9 + quantise(Rb - Rc)) * 9 + quantise(Rc - Ra);
  };

  const readSample = (above: Int32Array, line: Int32Array, x: number, context: number): number =>
    readRegular(context, line[x - 1] as number, above[x] as number, above[x - 1] as number);

  const readLine = (above: Int32Array, line: Int32Array, place: number) => {
    startLine(above, line);
    for (let x = 1; x <= width; x++) {
      const context = contextAt(above, line, x);
      if (context !== 0) {
        line[x] = readSample(above, line, x, context);
        continue;
      }
      const like = line[x - 1] as number;
      const run = readRun(width + 1 - x, place);
      line.fill(like, x, x + run);
      x += run;
      if (x > width) break;
      line[x] = readInterruption(like, above[x] as number, true, runIndexes[place] as number);
      loseRun(place);
    }
  };

  const readPixels = (above: readonly Int32Array[], lines: readonly Int32Array[]) => {
    for (const [i, line] of lines.entries()) startLine(above[i] as Int32Array, line);
    for (let x = 1; x <= width; x++) {
      const contexts = lines.map((line, i) => contextAt(above[i] as Int32Array, line, x));
      if (contexts.some((context) => context !== 0)) {
        for (const [i, line] of lines.entries()) {
          line[x] = readSample(above[i] as Int32Array, line, x, contexts[i] as number);
        }
        continue;
      }
      const run = readRun(width + 1 - x, 0);
      for (const line of lines) line.fill(line[x - 1] as number, x, x + run);
      x += run;
      if (x > width) break;
      for (const [i, line] of lines.entries()) {
        const Rb = above[i]?.[x] as number;
        line[x] = readInterruption(line[x - 1] as number, Rb, false, runIndexes[0] as number);
      }
      loseRun(0);
    }
  };

  const newLines = () => scan.places.map(() => new Int32Array(width + 2));
  for (let y = 0, above = newLines(), lines = newLines(); y < height; y++, [above, lines] = [lines, above]) {
    if (scan.isByPixel) readPixels(above, lines);
    else for (const [i, line] of lines.entries()) readLine(above[i] as Int32Array, line, i);
    for (const [i, line] of lines.entries()) {
      let to = y * width * stride + (scan.places[i] as number);
      for (let x = 1; x <= width; x++, to += stride) values[to] = line[x] as number;
    }
  }
  return reader.end();
}

interface BitReader {
  /** The next bits, the first of them the highest; at most 30. */
  bits(count: number): number;
  /** How many 0 bits stand before the next 1, which is read too. @throws SlideError when there are more than `most` */
  zeros(most: number): number;
  /** Place of the marker that follows. */
  end(): number;
}

/** After a byte 0xff only 7 bits of the next belong to the data. Source: T.87, A.1. */
function bitReader(bytes: Uint8Array, start: number): BitReader {
  let at = start;
  let current = 0;
  let left = 0;

  const load = () => {
    const isAfterFF = current === 0xff && at > start;
    const next = bytes[at];
    if (next === undefined || (isAfterFF && next > 0x7f)) throw corrupt('its scan ends too soon');
    at++;
    current = next;
    left = isAfterFF ? 7 : 8;
  };
  const bits = (count: number): number => {
    let value = 0;
    for (let missing = count; missing > 0; ) {
      if (left === 0) load();
      const taken = Math.min(missing, left);
      value = (value << taken) | ((current >> (left - taken)) & (2 ** taken - 1));
      left -= taken;
      missing -= taken;
    }
    return value;
  };

  return {
    bits,
    zeros(most) {
      let count = 0;
      while (bits(1) === 0) if (++count > most) throw corrupt('a code is too long');
      return count;
    },
    end() {
      let place = at;
      while (place + 1 < bytes.length && !(bytes[place] === 0xff && (bytes[place + 1] as number) > 0x7f))
        place++;
      return place;
    },
  };
}

function startsWith(bytes: Uint8Array, { bodyAt, end }: Segment, text: string): boolean {
  return (
    bodyAt + text.length <= end && [...text].every((letter, i) => bytes[bodyAt + i] === letter.charCodeAt(0))
  );
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG-LS picture is damaged: ${reason}`);
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: JPEG-LS with ${what}`);
}
