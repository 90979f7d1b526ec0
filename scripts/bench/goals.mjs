/** What is to be reached, and what the measurements say of it. */

/** `read` takes the results by peer; undefined or NaN is not measured. `is` tells which way is good. */
const serverGoals = [
  {
    goal: 'native tiles, of nginx with the same bytes, 64 connections',
    read: ({ product, nginx }) => product.native.perSecond / nginx?.native.perSecond,
    is: 'atLeast',
    must: 0.4,
    aim: 0.6,
  },
  {
    goal: 'CPU seconds per 1000 native tiles',
    read: ({ product }) => product.native.cpuPer1000,
    is: 'atMost',
    must: 0.04,
    aim: 0.025,
    digits: 3,
  },
  {
    goal: "against OpenSlide's generator, native",
    read: ({ product, OpenSlide }) => product.native.perSecond / OpenSlide?.native.perSecond,
    is: 'atLeast',
    must: 40,
    aim: 70,
    unit: '×',
    digits: 0,
  },
  {
    goal: 'p99 native, 64 connections',
    read: ({ product }) => product.native.p99,
    is: 'below',
    must: 10,
    aim: 5,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: "cold viewing trace against OpenSlide's generator",
    read: ({ product, OpenSlide }) => product.cold.perSecond / OpenSlide?.cold.perSecond,
    is: 'atLeast',
    must: 3,
    aim: 5,
    unit: '×',
    digits: 1,
  },
  {
    goal: 'second pass, of nginx',
    read: ({ product, nginx }) => product.again.perSecond / nginx?.again.perSecond,
    is: 'atLeast',
    must: 0.35,
    aim: 0.5,
  },
  {
    goal: 'p95 of full-resolution tiles during the cold trace',
    read: ({ product }) => product.cold.nativeP95,
    is: 'below',
    must: 8,
    aim: 3,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: 'first tile of a slide not yet open',
    read: ({ product }) => product.firstTile,
    is: 'below',
    must: 15,
    aim: 5,
    unit: ' ms',
    digits: 1,
  },
  {
    goal: 'memory of all processes after the trace, one slide',
    read: ({ product }) => product.cold.megabytes,
    is: 'below',
    must: 400,
    aim: 250,
    unit: ' MB',
    digits: 0,
  },
  {
    goal: 'native pixels, largest difference to OpenSlide',
    read: (_, pixels) => pixels?.largest,
    is: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
  },
];

const browserGoals = [
  {
    goal: 'click to a sharp first view, p95',
    read: ({ sharp }) => sharp.p95,
    is: 'below',
    must: 500,
    aim: 250,
    unit: ' ms',
    digits: 0,
  },
  {
    goal: 'to a sharp adjacent field of view, p95',
    read: ({ adjacent }) => adjacent.p95,
    is: 'below',
    must: 150,
    aim: 150,
    unit: ' ms',
    digits: 0,
  },
];

const viewersGoals = [
  {
    goal: 'answers that were no tiles',
    read: ({ failed }) => failed,
    is: 'atMost',
    must: 0,
    aim: 0,
    digits: 0,
  },
  { goal: 'p99 of tiles', read: ({ p99 }) => p99, is: 'below', must: 250, aim: 250, unit: ' ms', digits: 0 },
  {
    goal: 'memory in the last third of the time against the third before',
    read: ({ growth }) => growth,
    is: 'atMost',
    must: 1.1,
    aim: 1.05,
  },
];

export const serverVerdicts = (results, pixels) =>
  serverGoals.map((goal) => verdictOf(goal, goal.read(results, pixels)));
export const browserVerdicts = (result) => browserGoals.map((goal) => verdictOf(goal, goal.read(result)));
export const viewersVerdicts = (result) => viewersGoals.map((goal) => verdictOf(goal, goal.read(result)));

const signs = { atLeast: '≥', atMost: '≤', below: '<' };
const holds = {
  atLeast: (value, limit) => value >= limit,
  atMost: (value, limit) => value <= limit,
  below: (value, limit) => value < limit,
};

/** Goal, measured, must, aim and whether they are reached, as texts for a table. */
export function verdictOf({ goal, is, must, aim, unit = '', digits = 2 }, value) {
  const limit = (number) => `${signs[is]} ${number}${unit}`;
  const isKnown = Number.isFinite(value);
  const reached = holds[is](value, aim) ? 'aim' : holds[is](value, must) ? 'must' : '**not met**';
  return {
    goal,
    measured: isKnown ? `${value.toFixed(digits)}${unit}` : 'not measured',
    must: limit(must),
    aim: limit(aim),
    reached: isKnown ? reached : '',
  };
}
