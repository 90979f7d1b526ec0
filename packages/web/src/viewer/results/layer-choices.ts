/**
 * Formats and parses the arrangement of the result layers of a slide (order, visibility and style) as a short text for the page's
 * URL and for saved views: `9f1c2ab3_o60_p-magma_f0.25*01d2e3f4_x*swipe-50`.
 *
 * Layers are separated by `*`, the upper one first, and begin with the first 8 characters of their id. Options: `x` hidden, `o` opacity
 * in per cent, `p-` palette, `f` and `t` lowest and highest value, `h` hidden classes, `m` column of the measurement, `c` coloured by the
 * measurement. A missing option has the default of the layer. `swipe-` is the position of the divider in per cent. None of these
 * characters is escaped in a URL. The text is untrusted input: invalid parts are ignored.
 */
import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { resultLimits } from '@lamina/contract';
import { type LayerStyle, measurementRange } from './object-filter.ts';
import { type PaletteName, paletteNames } from './palettes.ts';
import { rasterStyleAtFirst } from './raster-style.ts';

/** How a layer is shown. */
export interface LayerSettings {
  readonly isVisible: boolean;
  /** 0 to 1. */
  readonly opacity: number;
  readonly style: LayerStyle;
}

/** The settings of a layer that the person has chosen; undefined ones have the default of the layer. */
export interface LayerChoice {
  /** The first characters of the id of the layer. */
  readonly layer: string;
  readonly isVisible: boolean;
  /** 0 to 1. */
  readonly opacity?: number | undefined;
  readonly style: Partial<LayerStyle>;
}

export interface Arrangement {
  /** The upper layer first; a layer that is not in the list is hidden, below the others. */
  readonly layers: readonly LayerChoice[];
  /** Position of the divider between two compared layers, 0 to 1 from the left; null when no layers are compared. */
  readonly swipe: number | null;
}

type Descriptor = RasterDescriptor | VectorDescriptor;

const idCharacters = 8;
const maxCharacters = 4000;
/** Classes of a mask may be any value of 16 bits. */
const highestClass = 65_535;
const nothing = '-';
const swipePrefix = 'swipe-';

export const keyOf = (layerId: string) => layerId.slice(0, idCharacters);

/** Parses an arrangement; returns null for a text without a valid layer. */
export function parseArrangement(text: unknown): Arrangement | null {
  if (typeof text !== 'string' || text === '' || text.length > maxCharacters) return null;
  const layers = new Map<string, LayerChoice>();
  let swipe: number | null = null;
  for (const part of text.split('*')) {
    if (part.startsWith(swipePrefix)) {
      const share = shareOf(part.slice(swipePrefix.length));
      if (share !== undefined) swipe = share;
      continue;
    }
    const choice = parseLayer(part);
    if (choice === null || layers.has(choice.layer)) continue;
    layers.set(choice.layer, choice);
    if (layers.size === resultLimits.layersPerSlide) break;
  }
  if (layers.size === 0 && text !== nothing) return null;
  return { layers: [...layers.values()], swipe };
}

function parseLayer(text: string): LayerChoice | null {
  const [layer = '', ...options] = text.split('_');
  if (!/^[0-9a-f]{8}$/.test(layer)) return null;
  const option = (start: string) => options.find((each) => each.startsWith(start))?.slice(start.length);
  const palette = paletteNames.find((name) => name === option('p-'));
  const [from, to] = [numberOf(option('f')), numberOf(option('t'))];
  const column = integerOf(option('m'), resultLimits.measurements - 1);
  const hidden = option('h')
    ?.split('.')
    .map((each) => integerOf(each, highestClass))
    .filter((each) => each !== undefined);
  return {
    layer,
    isVisible: !options.includes('x'),
    opacity: shareOf(option('o')),
    style: {
      ...(palette !== undefined && { palette }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(column !== undefined && { column }),
      ...(hidden !== undefined && { hidden: new Set(hidden) }),
      ...(options.includes('c') && { isColoured: true }),
    },
  };
}

export function formatArrangement({ layers, swipe }: Arrangement): string {
  const parts = layers.map(formatLayer);
  if (parts.length === 0) return nothing;
  if (swipe !== null) parts.push(`${swipePrefix}${percent(swipe)}`);
  return parts.join('*');
}

function formatLayer({ layer, isVisible, opacity, style }: LayerChoice): string {
  const { palette, from, to, hidden, column, isColoured } = style;
  const options = [
    isVisible ? null : 'x',
    opacity === undefined ? null : `o${percent(opacity)}`,
    palette === undefined ? null : `p-${palette}`,
    from === undefined ? null : `f${from}`,
    to === undefined ? null : `t${to}`,
    hidden === undefined ? null : `h${[...hidden].sort((a, b) => a - b).join('.')}`,
    column === undefined || column === null ? null : `m${column}`,
    isColoured === true ? 'c' : null,
  ];
  return [layer, ...options.filter((each) => each !== null)].join('_');
}

const percent = (share: number) => Math.round(share * 100);

function shareOf(text: string | undefined): number | undefined {
  const value = integerOf(text, 100);
  return value === undefined ? undefined : value / 100;
}

function integerOf(text: string | undefined, most: number): number | undefined {
  if (text === undefined || !/^\d{1,5}$/.test(text)) return undefined;
  return Number(text) <= most ? Number(text) : undefined;
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,24}(\.\d{1,24})?(e[+-]?\d{1,3})?$/.test(text)) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : undefined;
}

/**
 * Returns the layers in their order, the upper one first. Layers without a choice are below the others, as the server has
 * them.
 */
export function orderLayers(
  layers: readonly ResultLayer[],
  arrangement: Arrangement | null,
): readonly ResultLayer[] {
  const places = new Map(arrangement?.layers.map(({ layer }, place) => [layer, place]));
  const placeOf = ({ id }: ResultLayer) => places.get(keyOf(id)) ?? places.size;
  return [...layers].sort((a, b) => placeOf(a) - placeOf(b));
}

/**
 * Returns what the person has chosen for each layer, in their order. Choices for unknown layers are ignored; as long as
 * nothing is chosen, the first layer that is ready is shown.
 */
export function choicesOf(layers: readonly ResultLayer[], arrangement: Arrangement | null): Arrangement {
  const known = new Set(layers.map(({ id }) => keyOf(id)));
  const isMeant =
    arrangement?.layers.length === 0 || arrangement?.layers.some(({ layer }) => known.has(layer));
  const chosen = isMeant === true ? arrangement : null;
  const first = layers.find(({ state }) => state === 'ready')?.id;
  return {
    layers: orderLayers(layers, chosen).map(({ id }) => {
      const layer = keyOf(id);
      const choice = chosen?.layers.find((each) => each.layer === layer);
      return choice ?? { layer, isVisible: chosen === null && id === first, style: {} };
    }),
    swipe: chosen?.swipe ?? null,
  };
}

/** Returns an arrangement without the hidden layers at its end that are neither moved nor changed. */
export function shortened(layers: readonly ResultLayer[], { layers: all, swipe }: Arrangement): Arrangement {
  let kept = all;
  for (;;) {
    const last = kept.at(-1);
    const fewer = { layers: kept.slice(0, -1), swipe };
    const isPlain =
      last !== undefined &&
      !last.isVisible &&
      last.opacity === undefined &&
      Object.keys(last.style).length === 0;
    if (!isPlain || !isSameOrder(orderLayers(layers, fewer), all)) return { layers: kept, swipe };
    kept = fewer.layers;
  }
}

function isSameOrder(layers: readonly ResultLayer[], choices: readonly LayerChoice[]): boolean {
  return layers.every(({ id }, place) => keyOf(id) === choices[place]?.layer);
}

/** Returns the arrangement with a layer moved by a number of places, within the list. */
export function moved({ layers, swipe }: Arrangement, layer: string, places: number): Arrangement {
  const from = layers.findIndex((each) => each.layer === layer);
  const choice = layers[from];
  if (choice === undefined) return { layers, swipe };
  const others = layers.toSpliced(from, 1);
  return { layers: others.toSpliced(Math.max(0, from + places), 0, choice), swipe };
}

/** Returns the settings of a layer: those that are chosen and possible for its content, otherwise its defaults. */
export function settingsOf(
  descriptor: Descriptor | null,
  { isVisible, opacity, style }: LayerChoice,
): LayerSettings {
  const column = columnOf(descriptor, style.column ?? null);
  const defaults = defaultSettings(descriptor, column);
  const next = {
    ...defaults.style,
    ...style,
    column,
    isColoured: column !== null && style.isColoured === true,
  };
  return {
    isVisible,
    opacity: opacity ?? defaults.opacity,
    // A range whose minimum exceeds its maximum would show nothing and could not be corrected with the sliders.
    style: next.from <= next.to ? next : { ...next, from: defaults.style.from, to: defaults.style.to },
  };
}

/** Returns the settings as a choice, without those that equal the defaults of the layer. */
export function choiceOf(layer: string, descriptor: Descriptor | null, settings: LayerSettings): LayerChoice {
  const { isVisible, opacity, style } = settings;
  const defaults = defaultSettings(descriptor, style.column);
  const { palette, from, to, hidden, column, isColoured } = style;
  return {
    layer,
    isVisible,
    opacity: opacity === defaults.opacity ? undefined : opacity,
    style: {
      ...(palette !== defaults.style.palette && { palette }),
      ...(from !== defaults.style.from && { from }),
      ...(to !== defaults.style.to && { to }),
      ...(hidden.size > 0 && { hidden }),
      ...(column !== null && { column }),
      ...(isColoured && { isColoured }),
    },
  };
}

/** Returns null for a measurement that the layer does not have. */
function columnOf(descriptor: Descriptor | null, column: number | null): number | null {
  if (descriptor?.kind !== 'vector' || column === null) return null;
  return (descriptor.measurements[column]?.count ?? 0) > 0 ? column : null;
}

function defaultSettings(descriptor: Descriptor | null, column: number | null) {
  if (descriptor?.kind === 'raster') return { opacity: 0.6, style: rasterStyleAtFirst(descriptor) };
  const { min, max } =
    descriptor === null || column === null ? { min: 0, max: 1 } : measurementRange(descriptor, column);
  const palette: PaletteName = 'viridis';
  return { opacity: 1, style: { palette, from: min, to: max, hidden: new Set<number>() } };
}
