/**
 * The performance goals of the product, and the comparison of measurements with them. Each goal has a limit that is required (`must`)
 * and one that is desired (`aim`); the parts of the bench publish the verdicts as tables.
 */
import type { ServerResult } from './servers/compare-servers.ts';

interface Limits {
  /** Description of the goal, as it appears in the table. */
  readonly goal: string;
  /** How the measured value must relate to both limits. */
  readonly relation: keyof typeof comparisons;
  /** The limit that is required. */
  readonly must: number;
  /** The limit that is desired. */
  readonly aim: number;
  /** Unit after the values in the table; it begins with a space if one separates it from the value. Empty by default. */
  readonly unit?: string;
  /** Decimal places of the measured value; 2 by default. */
  readonly digits?: number;
}

interface Goal<Results> extends Limits {
  /** Returns the measured value; undefined or NaN when it was not measured. */
  readonly read: (results: Results) => number | undefined;
}

/** Measurements of the part `servers`. */
interface ServerMeasurements {
  /** Results by the name of the server. */
  readonly results: Readonly<Record<string, ServerResult | undefined>>;
  /** The largest difference of a sample (value of one colour channel, 0 to 255); null when pixels were not compared. */
  readonly pixels: { readonly largest: number } | null;
}

const comparisons = {
  atLeast: { sign: '≥', holds: (value: number, limit: number) => value >= limit },
  atMost: { sign: '≤', holds: (value: number, limit: number) => value <= limit },
  below: { sign: '<', holds: (value: number, limit: number) => value < limit },
};

/**
 * Returns a function that divides the tiles per second of the product by those of another server.
 *
 * @param phase native tiles (stored in the file), the viewing trace with empty caches (`cold`), or the second pass of this trace (`again`)
 */
const ratioTo = (server: string, phase: 'native' | 'cold' | 'again') => {
  return ({ results }: ServerMeasurements) =>
    (results.product?.[phase].perSecond ?? Number.NaN) / (results[server]?.[phase].perSecond ?? Number.NaN);
};

const serverGoals: readonly Goal<ServerMeasurements>[] = [
  {
    goal: 'native tiles, ratio to nginx with the same bytes, 64 connections',
    read: ratioTo('nginx', 'native'),
    relation: 'atLeast',
    must: 0.4,
    aim: 0.6,
  },
  {
    goal: 'CPU seconds per 1000 native tiles',
    read: ({ results }) => results.product?.native.cpuPer1000,
    relation: 'atMost',
    must: 0.04,
    aim: 0.025,
    digits: 3,
  },
  {
    goal: "native tiles, ratio to OpenSlide's generator",
    read: ratioTo('OpenSlide', 'native'),
    relation: 'atLeast',
    must: 40,
    aim: 70,
    unit: '×',
    digits: 0,
  },
  {
    goal: 'p99 of native tiles, 64 connections',
    read: ({ results }) => results.product?.native.p99,
    relation: 'below',
    must: 10,
    aim: 5,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: "cold viewing trace, ratio to OpenSlide's generator",
    read: ratioTo('OpenSlide', 'cold'),
    relation: 'atLeast',
    must: 3,
    aim: 5,
    unit: '×',
    digits: 1,
  },
  {
    goal: 'second pass, ratio to nginx',
    read: ratioTo('nginx', 'again'),
    relation: 'atLeast',
    must: 0.35,
    aim: 0.5,
  },
  {
    goal: 'p95 of full-resolution tiles during the cold trace',
    read: ({ results }) => results.product?.cold.nativeP95,
    relation: 'below',
    must: 8,
    aim: 3,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: 'first tile of a slide that is not open yet',
    read: ({ results }) => results.product?.firstTile ?? undefined,
    relation: 'below',
    must: 15,
    aim: 5,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: 'memory of all processes after the trace, one slide',
    read: ({ results }) => results.product?.cold.megabytes,
    relation: 'below',
    must: 400,
    aim: 250,
    unit: ' MB',
    digits: 0,
  },
  {
    goal: 'native pixels, largest difference to OpenSlide',
    read: ({ pixels }) => pixels?.largest,
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
  },
];

/** Measurements of the part `browser`: milliseconds until the first view, and an adjacent field of view, is sharp. */
interface BrowserMeasurements {
  readonly sharp: { readonly p95: number };
  readonly adjacent: { readonly p95: number };
}

const browserGoals: readonly Goal<BrowserMeasurements>[] = [
  {
    goal: 'click to a sharp first view, p95',
    read: ({ sharp }) => sharp.p95,
    relation: 'below',
    must: 500,
    aim: 250,
    unit: ' ms',
    digits: 0,
  },
  {
    goal: 'to a sharp adjacent field of view, p95',
    read: ({ adjacent }) => adjacent.p95,
    relation: 'below',
    must: 60,
    aim: 60,
    unit: ' ms',
    digits: 0,
  },
];

/** Measurements of the part `viewers`: failed requests, p99 in milliseconds, and the growth of the memory as a ratio. */
interface ViewerMeasurements {
  readonly failed: number;
  readonly p99: number;
  readonly growth: number;
}

const viewerGoals: readonly Goal<ViewerMeasurements>[] = [
  {
    goal: 'failed tile requests',
    read: ({ failed }) => failed,
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
  },
  {
    goal: 'p99 of tiles',
    read: ({ p99 }) => p99,
    relation: 'below',
    must: 250,
    aim: 250,
    unit: ' ms',
    digits: 0,
  },
  {
    goal: 'memory in the last third of the time, ratio to the middle third',
    read: ({ growth }) => growth,
    relation: 'atMost',
    must: 1.1,
    aim: 1.05,
  },
];

/** A sample of the part `renderer`: counted graphics resources, and memory in MB. */
interface RendererSample {
  readonly objectUrls: number;
  readonly mainThreadDecodes: number;
  readonly canvasCopies: number;
  readonly contexts: number;
  readonly memory: number;
}

/** The samples are in the order of time; the first one of a full run is taken after 2,000 tiles, when the texture memory is full. */
const rendererGoals: readonly Goal<readonly RendererSample[]>[] = [
  {
    goal: 'object URLs alive at the end',
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
    read: (samples) => samples.at(-1)?.objectUrls,
  },
  {
    goal: 'JPEG images decoded on the main thread',
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
    read: (samples) => samples.at(-1)?.mainThreadDecodes,
  },
  {
    goal: 'copies of a whole canvas',
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
    read: (samples) => samples.at(-1)?.canvasCopies,
  },
  {
    goal: 'WebGL contexts of a view and its navigator',
    relation: 'atMost',
    must: 1,
    aim: 1,
    digits: 0,
    read: (samples) => samples.at(-1)?.contexts,
  },
  {
    goal: 'memory, largest deviation from that of the first sample',
    relation: 'atMost',
    must: 5,
    aim: 5,
    unit: ' %',
    digits: 1,
    read: (samples) => {
      const [first] = samples;
      if (first === undefined) return undefined;
      return Math.max(...samples.map(({ memory }) => Math.abs(100 * (memory / first.memory - 1))));
    },
  },
];

/** Figures of a browser trace of the main thread; times are in milliseconds. */
interface DrawingTrace {
  /** Whether the WebGL calls that draw and copy were left out; they are slow only without a graphics card. */
  readonly isDrawingLeftOut: boolean;
  readonly frames: { readonly longest: number };
  readonly copies: { readonly longest: number };
  readonly decodes: number;
  readonly canvasCopies: number;
}

const traceGoals: readonly Goal<readonly DrawingTrace[]>[] = [
  {
    goal: 'longest task that draws or copies tiles, WebGL in software left out',
    relation: 'atMost',
    must: 16,
    aim: 4,
    unit: ' ms',
    digits: 1,
    read: (traces) => {
      const traceWithoutDrawing = traces.find(({ isDrawingLeftOut }) => isDrawingLeftOut);
      if (traceWithoutDrawing === undefined) return undefined;
      return Math.max(traceWithoutDrawing.frames.longest, traceWithoutDrawing.copies.longest);
    },
  },
  {
    goal: 'images decoded on the main thread',
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
    read: (traces) => traces.reduce((sum, { decodes }) => sum + decodes, 0),
  },
  {
    goal: 'copies of a whole canvas',
    relation: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
    read: (traces) => traces.reduce((sum, { canvasCopies }) => sum + canvasCopies, 0),
  },
];

// Each of these functions returns the rows of the table of goals of one part.
export const traceVerdicts = (traces: readonly DrawingTrace[]): Verdict[] => verdictsOf(traceGoals, traces);
export const rendererVerdicts = (samples: readonly RendererSample[]): Verdict[] =>
  verdictsOf(rendererGoals, samples);
export const serverVerdicts = (measured: ServerMeasurements): Verdict[] => verdictsOf(serverGoals, measured);
export const browserVerdicts = (measured: BrowserMeasurements): Verdict[] =>
  verdictsOf(browserGoals, measured);
export const viewerVerdicts = (measured: ViewerMeasurements): Verdict[] => verdictsOf(viewerGoals, measured);

function verdictsOf<Results>(goals: readonly Goal<Results>[], results: Results): Verdict[] {
  return goals.map((goal) => verdictOf(goal, goal.read(results)));
}

/** A row of the table of goals. */
export type Verdict = Readonly<Record<'goal' | 'measured' | 'must' | 'aim' | 'reached', string>>;

/** Returns the row of a goal. @param value the measured value; undefined or NaN when it was not measured */
export function verdictOf(
  { goal, relation, must, aim, unit = '', digits = 2 }: Limits,
  value: number | undefined,
): Verdict {
  const { sign, holds } = comparisons[relation];
  const limits = { must: `${sign} ${must}${unit}`, aim: `${sign} ${aim}${unit}` };
  if (value === undefined || !Number.isFinite(value)) {
    return { goal, measured: 'not measured', ...limits, reached: '' };
  }
  const mustResult = holds(value, must) ? 'must' : '**not met**';
  const reached = holds(value, aim) ? 'aim' : mustResult;
  return { goal, measured: `${value.toFixed(digits)}${unit}`, ...limits, reached };
}
