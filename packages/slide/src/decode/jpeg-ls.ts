/**
 * A decoder of JPEG-LS as DICOM stores it. JPEG-LS is lossless or near-lossless: it predicts each sample from its
 * neighbours and stores the prediction errors.
 *
 * This file and `decodeScan` are long because the functions that decode a scan share its state.
 *
 * Source: ITU-T T.87 (06/98). Variables have the names of the standard (A, B, C, N, NEAR, RANGE, Ra, k, …), so that
 * each function can be compared with the cited section.
 */
import { marker, type Segment, segments } from '../jpeg/header.ts';
import { type SampleColour, SlideError } from '../model/slide.ts';
import type { Raster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';

/** Maximum pixels of an image. */
const MAX_PIXELS = 2 ** 24;

/** Second bytes of the frame and parameter markers of JPEG-LS. Source: T.87, table C.1. */
const SOF55 = 0xf7;
const LSE = 0xf8;
/** Second byte of the marker that defines restart intervals. Source: ITU-T T.81, table B.1. */
const DRI = 0xdd;
/**
 * Second byte of a marker whose segment "mrfx" declares a colour transform of Hewlett-Packard, which is not part of the standard.
 */
const APP8 = 0xe8;

interface Frame {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Bits per sample. */
  readonly bits: number;
  /** Component identifiers in the order of the image. */
  readonly components: readonly number[];
}

/**
 * Coding parameters that a stream may declare; 0 stands for the default, which depends on the other values.
 * Source: T.87, C.2.4.1.1.
 */
interface Preset {
  readonly MAXVAL: number; // largest sample
  readonly T1: number; // T1 to T3: thresholds of the differences between neighbours
  readonly T2: number;
  readonly T3: number;
  readonly RESET: number; // number of samples after which the statistics of a context are halved
}

/**
 * Decodes a JPEG-LS image of three 8-bit components, or of one component of 2 to 16 bits.
 *
 * @param size size in pixels that the file declares; an image of another size is rejected before it is decoded
 * @param colour meaning of the samples; null means RGB for three components, grey over the whole range for one
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export function decodeJpegLs(
  bytes: Uint8Array,
  size: { readonly width: number; readonly height: number },
  colour: SampleColour | null,
): Raster {
  if (bytes[0] !== 0xff || bytes[1] !== marker.SOI) throw corruptError('it does not begin with SOI');
  let frame: Frame | null = null;
  let preset: Preset = { MAXVAL: 0, T1: 0, T2: 0, T3: 0, RESET: 0 };
  let values: Uint8Array | Uint16Array = new Uint8Array();
  const missingComponents = new Set<number>();

  // `segments` stops at each scan, whose length is known only after decoding; reading goes on after the scan.
  for (let position = 2; frame === null || missingComponents.size > 0; ) {
    for (const segment of segments(bytes, position)) {
      position = segment.end;
      if (segment.marker === SOF55) {
        if (frame) throw corruptError('it has two frame headers');
        frame = readFrame(bytes, segment);
        checkFrame(frame, size);
        const count = frame.width * frame.height * frame.components.length;
        values = frame.bits > 8 ? new Uint16Array(count) : new Uint8Array(count);
        for (const component of frame.components.keys()) missingComponents.add(component);
      } else if (segment.marker === LSE) {
        preset = readPreset(bytes, segment);
      } else if (segment.marker === DRI) {
        throw notSupportedError('restart intervals');
      } else if (segment.marker === APP8 && startsWith(bytes, segment, 'mrfx')) {
        throw notSupportedError('a Hewlett-Packard colour transform');
      } else if (segment.marker === marker.EOI) {
        throw corruptError('it ends before all its components');
      } else if (segment.marker === marker.SOS) {
        if (!frame) throw corruptError('its scan comes before its frame header');
        const scan = readScan(bytes, segment, frame);
        const isRepeated = scan.components.some((component) => !missingComponents.has(component));
        if (isRepeated) throw corruptError('it has two scans of the same component');
        position = decodeScan(bytes, position, frame, scan, preset, values);
        for (const component of scan.components) missingComponents.delete(component);
      }
    }
  }
  return samplesToRgb(
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

/** Reads a frame header. Source: ITU-T T.81, B.2.2. */
function readFrame(bytes: Uint8Array, { bodyAt, end }: Segment): Frame {
  const [bits = 0, highY = 0, lowY = 0, highX = 0, lowX = 0, count = 0] = bytes.subarray(bodyAt, end);
  if (count === 0 || bodyAt + 6 + 3 * count > end) throw corruptError('its frame header is truncated');
  const components = Array.from({ length: count }, (_, i) => bytes[bodyAt + 6 + 3 * i] ?? 0);
  // The high and the low half of this byte are the horizontal and vertical sampling factors.
  const isFullyResolved = components.every((_, i) => bytes[bodyAt + 7 + 3 * i] === 0x11);
  if (!isFullyResolved) throw notSupportedError('subsampled components');
  return { bits, height: (highY << 8) | lowY, width: (highX << 8) | lowX, components };
}

function checkFrame(frame: Frame, size: { readonly width: number; readonly height: number }): void {
  const { width, height, bits, components } = frame;
  if (width !== size.width || height !== size.height) {
    throw corruptError(
      `it has ${width} × ${height} pixels, but the file declares ${size.width} × ${size.height}`,
    );
  }
  if (width * height > MAX_PIXELS) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A JPEG-LS image of ${width} × ${height} pixels is too large (maximum ${MAX_PIXELS} pixels)`,
    );
  }
  const isGrey = components.length === 1 && bits >= 2 && bits <= 16;
  const isColour = components.length === 3 && bits === 8;
  if (!isGrey && !isColour) throw notSupportedError(`${components.length} components of ${bits} bits`);
}

/** Reads an LSE segment. Type 1 contains coding parameters; the other types contain palettes and larger sizes. */
function readPreset(bytes: Uint8Array, { bodyAt, end }: Segment): Preset {
  if (bytes[bodyAt] !== 1) throw notSupportedError('palettes or extended sizes');
  if (bodyAt + 11 > end) throw corruptError('its coding parameters are truncated');
  const value = (index: number) => uint16(bytes, bodyAt + 1 + 2 * index);
  return { MAXVAL: value(0), T1: value(1), T2: value(2), T3: value(3), RESET: value(4) };
}

interface Scan {
  /** Indices of the scan's components in the frame. */
  readonly components: readonly number[];
  /** Maximum difference between a sample and the original; 0 for a lossless scan. */
  readonly NEAR: number;
  /** Whether the scan stores the components pixel by pixel (interleave mode 2), not line by line (modes 0 and 1). */
  readonly isInterleavedByPixel: boolean;
}

/** Reads a scan header. Source: T.87, C.2.3. */
function readScan(bytes: Uint8Array, { bodyAt, end }: Segment, frame: Frame): Scan {
  const count = bytes[bodyAt] ?? 0;
  if (bodyAt + 4 + 2 * count > end) throw corruptError('its scan header is truncated');
  const components = Array.from({ length: count }, (_, i) =>
    frame.components.indexOf(bytes[bodyAt + 1 + 2 * i] ?? -1),
  );
  const [NEAR = 0, interleaveMode = 0, transform = 0] = bytes.subarray(bodyAt + 1 + 2 * count, end);
  const hasAllComponents =
    count === frame.components.length && components.every((component, i) => component === i);
  const hasOneComponent = count === 1 && components[0] !== -1;
  const hasValidComponents = hasAllComponents || (hasOneComponent && interleaveMode === 0);
  if (interleaveMode > 2 || !hasValidComponents)
    throw corruptError('its scan header does not match its frame header');
  if (transform !== 0) throw notSupportedError('a point transform');
  return { components, NEAR, isInterleavedByPixel: interleaveMode === 2 && count > 1 };
}

/** The parameters of a scan, with all defaults calculated. Source: T.87, A.2.1. */
interface Coding extends Preset {
  readonly NEAR: number;
  readonly RANGE: number; // number of values of a quantised error
  readonly qbpp: number; // bits of a quantised error
  readonly LIMIT: number; // maximum bits of a code
  /** Difference in sample values per step of the quantised error. */
  readonly step: number;
}

/** Calculates the parameters of a scan. Source: T.87, A.2.1; C.2.4.1.1.1 for the default thresholds T1 to T3. */
function codingOf({ bits }: Frame, { NEAR }: Scan, preset: Preset): Coding {
  const MAXVAL = preset.MAXVAL || 2 ** bits - 1;
  if (MAXVAL > 2 ** bits - 1 || NEAR > Math.min(255, Math.trunc(MAXVAL / 2))) {
    throw corruptError('its coding parameters contradict its bits per sample');
  }
  const minIfOutside = (value: number, min: number) => (value > MAXVAL || value < min ? min : value);
  const isWide = MAXVAL >= 128;
  const factor = isWide ? Math.trunc((Math.min(MAXVAL, 4095) + 128) / 256) : Math.trunc(256 / (MAXVAL + 1));
  const defaultThreshold = (base: number, min: number, nearFactor: number) =>
    isWide
      ? factor * (base - min) + min + nearFactor * NEAR
      : Math.max(min, Math.trunc(base / factor) + nearFactor * NEAR);
  const T1 = preset.T1 || minIfOutside(defaultThreshold(3, 2, 3), NEAR + 1);
  const T2 = preset.T2 || minIfOutside(defaultThreshold(7, 3, 5), T1);
  const T3 = preset.T3 || minIfOutside(defaultThreshold(21, 4, 7), T2);
  const RESET = preset.RESET || 64;
  if (T1 <= NEAR || T2 < T1 || T3 < T2 || T3 > MAXVAL || RESET < 3) {
    throw corruptError('its coding thresholds are not in ascending order, or RESET is below 3');
  }
  const step = 2 * NEAR + 1;
  const RANGE = Math.trunc((MAXVAL + 2 * NEAR) / step) + 1;
  const qbpp = Math.ceil(Math.log2(RANGE));
  const bpp = Math.max(2, Math.ceil(Math.log2(MAXVAL + 1)));
  return { MAXVAL, T1, T2, T3, RESET, NEAR, RANGE, qbpp, LIMIT: 2 * (bpp + Math.max(8, bpp)), step };
}

/** Bits of the last part of a run length, by run index. The run index grows with long runs. Source: T.87, A.2.1. */
const J = [
  0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15,
];
/** Number of contexts of regular mode; the arrays A and N have two more, for the two types of samples that end a run. */
const CONTEXTS = 365;
/** Maximum of the error sums A and B. Valid streams stay below it; above it, 32-bit shifts would overflow. */
const MAX_SUM = 2 ** 30;

/**
 * Decodes one scan into `values`, where the samples of a pixel are adjacent.
 *
 * @param start position of the first byte of the scan's data
 * @returns position of the marker after the scan
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

  // State that adapts to the decoded samples, by context: sum of the errors' magnitudes (A), number of samples (N), sum of
  // the errors (B), correction of the prediction (C). `negatives` counts negative errors at the ends of runs, by type of run end.
  // Initial values: T.87, A.2.1.
  const A = new Int32Array(CONTEXTS + 2).fill(Math.max(2, Math.trunc((RANGE + 32) / 64)));
  const N = new Int32Array(CONTEXTS + 2).fill(1);
  const B = new Int32Array(CONTEXTS);
  const C = new Int32Array(CONTEXTS);
  const negatives = new Int32Array(2);
  const runIndexes = scan.components.map(() => 0);

  /** Reduces a difference between neighbours to one of nine steps. Source: T.87, A.3.3. */
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

  /**
   * Reads a number in limited-length Golomb code: the number without its lowest `k` bits as a count of zeros, then the
   * `k` bits. After `limit − qbpp − 1` zeros, the number minus 1 follows instead, in `qbpp` bits. Source: T.87, A.5.3.
   */
  const readGolomb = (k: number, limit: number): number => {
    const zeros = reader.zeros(limit);
    if (zeros < limit - qbpp - 1) return zeros * 2 ** k + reader.bits(k);
    return reader.bits(qbpp) + 1;
  };

  const clampSample = (value: number): number => Math.min(Math.max(value, 0), MAXVAL);

  /** Returns the sample for a prediction and its error, which is known modulo RANGE. Source: T.87, A.4.4. */
  const reconstruct = (predicted: number, error: number): number => {
    let value = predicted + error * step;
    if (value < -NEAR) value += RANGE * step;
    else if (value > MAXVAL + NEAR) value -= RANGE * step;
    return clampSample(value);
  };

  /**
   * Reads a sample in regular mode: predicts it from its neighbours (left Ra, above Rb, above left Rc), reads the error
   * and adapts the context. Source: T.87, A.4 to A.6.
   *
   * @param context result of `contextAt`; a negative context shares its statistics with its positive mirror image
   */
  const readRegular = (context: number, Ra: number, Rb: number, Rc: number): number => {
    const sign = context < 0 ? -1 : 1;
    const q = context < 0 ? -context : context;
    const larger = Ra > Rb ? Ra : Rb;
    const smaller = Ra > Rb ? Rb : Ra;
    let predicted = Ra + Rb - Rc;
    if (Rc >= larger) predicted = smaller;
    else if (Rc <= smaller) predicted = larger;
    predicted = clampSample(predicted + sign * (C[q] as number));

    let [a, b, n] = [A[q] as number, B[q] as number, N[q] as number];
    let k = 0; // parameter of the Golomb code
    while (n << k < a) k++;
    const mapped = readGolomb(k, LIMIT); // 0, 1, 2, 3, … usually stand for the errors 0, −1, 1, −2, …
    const isOdd = (mapped & 1) === 1;
    const usualError = isOdd ? -(mapped + 1) / 2 : mapped / 2;
    const isInverted = NEAR === 0 && k === 0 && 2 * b <= -n; // 0, 1, 2, … stand for −1, 0, −2, …
    const error = isInverted ? -usualError - 1 : usualError;

    b += error * step;
    a += Math.abs(error);
    if (a > MAX_SUM || Math.abs(b) > MAX_SUM) throw corruptError('its prediction errors are too large');
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

  /**
   * Reads the sample that ends a run. Source: T.87, A.7.2.
   *
   * @param isSingleComponent true when the run repeats samples of one component, false when it repeats whole pixels
   */
  const readInterruption = (Ra: number, Rb: number, isSingleComponent: boolean, runIndex: number): number => {
    const type = isSingleComponent && Math.abs(Ra - Rb) <= NEAR ? 1 : 0; // 1: the neighbours are equal within NEAR
    const q = CONTEXTS + type;
    let [a, n, negative] = [A[q] as number, N[q] as number, negatives[type] as number];
    const sum = type === 1 ? a + (n >> 1) : a;
    let k = 0; // parameter of the Golomb code
    while (n << k < sum) k++;
    const glimit = LIMIT - (J[runIndex] as number) - 1; // maximum bits of a code at the end of a run
    const mapped = readGolomb(k, glimit);
    const mappedWithType = mapped + type;
    const isOdd = (mappedWithType & 1) === 1;
    const magnitude = (mappedWithType + (isOdd ? 1 : 0)) / 2;
    const isOddNegative = k !== 0 || 2 * negative >= n; // whether odd numbers stand for negative errors
    const error = isOddNegative === isOdd ? -magnitude : magnitude;

    if (error < 0) negative++;
    a += (mapped + 1 - type) >> 1;
    if (a > MAX_SUM) throw corruptError('its prediction errors are too large');
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

  /** Reads how many of the remaining samples of a line repeat the sample before them. Source: T.87, A.7.1. */
  const readRun = (remaining: number, component: number): number => {
    let index = runIndexes[component] as number;
    for (let run = 0; ; ) {
      if (reader.bits(1) === 0) {
        runIndexes[component] = index;
        run += reader.bits(J[index] as number);
        if (run > remaining) throw corruptError('a run is longer than its row of pixels');
        return run;
      }
      const length = 2 ** (J[index] as number);
      if (run + length <= remaining && index < J.length - 1) index++;
      run += length;
      if (run >= remaining) {
        runIndexes[component] = index;
        return remaining;
      }
    }
  };

  const decrementRunIndex = (component: number) => {
    runIndexes[component] = Math.max((runIndexes[component] as number) - 1, 0);
  };

  /** Sets the samples outside the image that prediction needs: left of the line, right of the line above (A.2.1). */
  const startLine = (above: Int32Array, line: Int32Array) => {
    line[0] = above[1] as number;
    above[width + 1] = above[width] as number;
  };

  /** Returns the context of the sample at `x` (Rd: above right); 0 if its neighbours are equal within NEAR (a run). */
  const contextAt = (above: Int32Array, line: Int32Array, x: number): number => {
    const Ra = line[x - 1] as number;
    const Rb = above[x] as number;
    const Rc = above[x - 1] as number;
    const Rd = above[x + 1] as number;
    return (quantise(Rd - Rb) * 9 + quantise(Rb - Rc)) * 9 + quantise(Rc - Ra);
  };

  const readSample = (above: Int32Array, line: Int32Array, x: number, context: number): number =>
    readRegular(context, line[x - 1] as number, above[x] as number, above[x - 1] as number);

  /** Reads a line of one component. */
  const readLine = (above: Int32Array, line: Int32Array, component: number) => {
    startLine(above, line);
    for (let x = 1; x <= width; x++) {
      const context = contextAt(above, line, x);
      if (context !== 0) {
        line[x] = readSample(above, line, x, context);
        continue;
      }
      const previous = line[x - 1] as number;
      const run = readRun(width + 1 - x, component);
      line.fill(previous, x, x + run);
      x += run;
      if (x > width) break;
      line[x] = readInterruption(previous, above[x] as number, true, runIndexes[component] as number);
      decrementRunIndex(component);
    }
  };

  /** Reads a line of all components, pixel by pixel; a run consists of pixels whose components all repeat. */
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
      decrementRunIndex(0);
    }
  };

  // One line per component, with one more sample at each end.
  const newLines = () => scan.components.map(() => new Int32Array(width + 2));
  let above = newLines();
  let lines = newLines();
  for (let y = 0; y < height; y++) {
    if (scan.isInterleavedByPixel) readPixels(above, lines);
    else for (const [i, line] of lines.entries()) readLine(above[i] as Int32Array, line, i);
    for (const [i, line] of lines.entries()) {
      let index = y * width * stride + (scan.components[i] as number);
      for (let x = 1; x <= width; x++, index += stride) values[index] = line[x] as number;
    }
    [above, lines] = [lines, above];
  }
  return reader.end();
}

interface BitReader {
  /** Reads the next `count` bits, at most 30, most significant bit first. */
  bits(count: number): number;
  /**
   * Reads up to and including the next 1 bit, and returns the number of 0 bits before it.
   *
   * @throws SlideError FILE_CORRUPT when there are more than `max`
   */
  zeros(max: number): number;
  /** Returns the position of the next marker. */
  end(): number;
}

/** Creates a reader of a scan's bits. After a byte 0xff only 7 bits of the next byte are data. Source: T.87, A.1. */
function bitReader(bytes: Uint8Array, start: number): BitReader {
  let at = start;
  let current = 0;
  /** Number of bits of the current byte that are not yet read. */
  let unread = 0;

  const load = () => {
    const isAfterFF = current === 0xff && at > start;
    const next = bytes[at];
    if (next === undefined || (isAfterFF && next > 0x7f)) throw corruptError('its scan data end too early');
    at++;
    current = next;
    unread = isAfterFF ? 7 : 8;
  };
  const bits = (count: number): number => {
    let value = 0;
    for (let missing = count; missing > 0; ) {
      if (unread === 0) load();
      const taken = Math.min(missing, unread);
      value = (value << taken) | ((current >> (unread - taken)) & (2 ** taken - 1));
      unread -= taken;
      missing -= taken;
    }
    return value;
  };

  return {
    bits,
    zeros(max) {
      let count = 0;
      while (bits(1) === 0) if (++count > max) throw corruptError('a code is too long');
      return count;
    },
    end() {
      const isMarker = (position: number) =>
        bytes[position] === 0xff && (bytes[position + 1] as number) > 0x7f;
      let position = at;
      while (position + 1 < bytes.length && !isMarker(position)) position++;
      return position;
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

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG-LS image is damaged: ${reason}`);
}

function notSupportedError(feature: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: JPEG-LS with ${feature}`);
}
