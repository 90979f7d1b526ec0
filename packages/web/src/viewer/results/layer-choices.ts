/**
 * The arrangement of the result layers of a slide: their order, visibility and style. This module adds missing layers to an arrangement
 * and moves layers. It also formats and parses the arrangement as a short text for the page's URL and for saved views:
 * `9f1c2ab3_o60_p-magma_f0.25*01d2e3f4_x*swipe-50`.
 *
 * Layers are separated by `*`, the upper one first, and begin with the first 8 characters of their id. Each option
 * comes after a `_`: `x` hidden, `o` opacity in per cent, `p-` palette, `f` and `t` lowest and highest value, `h` hidden
 * classes, `m` index of the measurement, `c` coloured by the measurement. A layer has its default for a missing option.
 * `swipe-` is the position of the divider between two compared layers in per cent. None of these characters is escaped
 * in a URL. The text is untrusted input: the parser ignores invalid parts.
 */
import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { resultLimits } from '@lamina/contract';
import { type LayerStyle, measurementRange } from './layer-style.ts';
import { type PaletteName, paletteNames } from './palettes.ts';
import { defaultRasterStyle } from './raster-style.ts';

/** How a layer is shown. */
export interface LayerSettings {
  readonly isVisible: boolean;
  /** 0 to 1. */
  readonly opacity: number;
  readonly style: LayerStyle;
}

/** The settings of a layer that the user has changed. For a missing setting, the layer has its default. */
export interface LayerChoice {
  /** The first 8 characters of the layer's id, as `layerKeyOf` returns them. */
  readonly layerKey: string;
  readonly isVisible: boolean;
  /** 0 to 1. */
  readonly opacity?: number | undefined;
  readonly style: Partial<LayerStyle>;
}

/** Order, visibility and style of the layers, as far as the user has chosen them. */
export interface Arrangement {
  /** The uppermost layer first. A layer that is not in the list is hidden and comes after the others. */
  readonly layers: readonly LayerChoice[];
  /** Position of the divider between two compared layers, 0 to 1 from the left; null when no layers are compared. */
  readonly dividerPosition: number | null;
}

type Descriptor = RasterDescriptor | VectorDescriptor;

/** Number of characters of a layer's id that are its key. */
const keyLength = 8;
/** Longer texts are not parsed. */
const maxTextLength = 4000;
/** Largest number of a hidden class or category: categories of a mask are integers of 16 bits. */
const maxHiddenNumber = 65_535;
/** Text of an arrangement without layers, with which the user has hidden all layers. */
const emptyArrangement = '-';
const swipePrefix = 'swipe-';

/** Returns the key that identifies a layer in the text of an arrangement. */
export const layerKeyOf = (layerId: string) => layerId.slice(0, keyLength);

/** Parses an arrangement; returns null when the text contains no valid layer, unless it is `emptyArrangement`. */
export function parseArrangement(text: unknown): Arrangement | null {
  if (typeof text !== 'string' || text === '' || text.length > maxTextLength) return null;
  const layers = new Map<string, LayerChoice>();
  let dividerPosition: number | null = null;
  for (const part of text.split('*')) {
    if (part.startsWith(swipePrefix)) {
      const position = parsePercentage(part.slice(swipePrefix.length));
      if (position !== undefined) dividerPosition = position;
      continue;
    }
    const choice = parseLayer(part);
    if (choice === null || layers.has(choice.layerKey)) continue;
    layers.set(choice.layerKey, choice);
    if (layers.size === resultLimits.layersPerSlide) break;
  }
  if (layers.size === 0 && text !== emptyArrangement) return null;
  return { layers: [...layers.values()], dividerPosition };
}

/** Parses the text of one layer, such as `9f1c2ab3_o60_x`; returns null if there is no valid key. */
function parseLayer(text: string): LayerChoice | null {
  const [layerKey = '', ...options] = text.split('_');
  if (!/^[0-9a-f]{8}$/.test(layerKey)) return null; // a key has `keyLength` hexadecimal digits
  /** Returns the text after the prefix of an option; undefined when the option is missing. */
  const optionText = (prefix: string) =>
    options.find((option) => option.startsWith(prefix))?.slice(prefix.length);
  const palette = paletteNames.find((name) => name === optionText('p-'));
  const minValue = parseNumber(optionText('f'));
  const maxValue = parseNumber(optionText('t'));
  const measurementIndex = parseInteger(optionText('m'), resultLimits.measurements - 1);
  const hidden = optionText('h')
    ?.split('.')
    .map((part) => parseInteger(part, maxHiddenNumber))
    .filter((number) => number !== undefined);
  return {
    layerKey,
    isVisible: !options.includes('x'),
    opacity: parsePercentage(optionText('o')),
    style: {
      ...(palette !== undefined && { palette }),
      ...(minValue !== undefined && { minValue }),
      ...(maxValue !== undefined && { maxValue }),
      ...(measurementIndex !== undefined && { measurementIndex }),
      ...(hidden !== undefined && { hidden: new Set(hidden) }),
      ...(options.includes('c') && { isColoured: true }),
    },
  };
}

/** Formats an arrangement as the text that `parseArrangement` parses. */
export function formatArrangement({ layers, dividerPosition }: Arrangement): string {
  const parts = layers.map(formatLayer);
  if (parts.length === 0) return emptyArrangement;
  if (dividerPosition !== null) parts.push(`${swipePrefix}${toPercent(dividerPosition)}`);
  return parts.join('*');
}

function formatLayer({ layerKey, isVisible, opacity, style }: LayerChoice): string {
  const { palette, minValue, maxValue, hidden, measurementIndex, isColoured } = style;
  const options = [
    isVisible ? null : 'x',
    opacity === undefined ? null : `o${toPercent(opacity)}`,
    palette === undefined ? null : `p-${palette}`,
    minValue === undefined ? null : `f${minValue}`,
    maxValue === undefined ? null : `t${maxValue}`,
    hidden === undefined ? null : `h${[...hidden].sort((a, b) => a - b).join('.')}`,
    measurementIndex === undefined || measurementIndex === null ? null : `m${measurementIndex}`,
    isColoured === true ? 'c' : null,
  ];
  return [layerKey, ...options.filter((option) => option !== null)].join('_');
}

const toPercent = (fraction: number) => Math.round(fraction * 100);

/** Parses a percentage such as `60` and returns it as a fraction, such as 0.6; returns undefined for every other text. */
function parsePercentage(text: string | undefined): number | undefined {
  const percent = parseInteger(text, 100);
  return percent === undefined ? undefined : percent / 100;
}

/** Parses an integer from 0 to `max`; returns undefined for every other text. */
function parseInteger(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^\d{1,5}$/.test(text)) return undefined; // `max` never has more than five digits
  return Number(text) <= max ? Number(text) : undefined;
}

/** Parses a decimal number such as `-0.25` or `1e-7`; returns undefined for every other text. */
function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,24}(\.\d{1,24})?(e[+-]?\d{1,3})?$/.test(text)) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : undefined;
}

/**
 * Returns the layers, uppermost first: the layers of the arrangement in its order, then the others in the order of the server.
 */
export function orderLayers(
  layers: readonly ResultLayer[],
  arrangement: Arrangement | null, // null: the order of the server
): readonly ResultLayer[] {
  const positions = new Map(arrangement?.layers.map(({ layerKey }, position) => [layerKey, position]));
  const positionOf = ({ id }: ResultLayer) => positions.get(layerKeyOf(id)) ?? positions.size;
  return [...layers].sort((a, b) => positionOf(a) - positionOf(b));
}

/**
 * Returns an arrangement with exactly one choice for each layer of the slide, and without choices for other layers. If the user
 * has chosen nothing, or only layers that do not exist, the arrangement shows the first layer that is ready.
 */
export function completeArrangement(
  layers: readonly ResultLayer[],
  arrangement: Arrangement | null, // null: the user has chosen nothing
): Arrangement {
  const existingKeys = new Set(layers.map(({ id }) => layerKeyOf(id)));
  /** Whether the user has hidden all layers, or has chosen at least one layer that exists. */
  const isApplicable =
    arrangement?.layers.length === 0 ||
    arrangement?.layers.some(({ layerKey }) => existingKeys.has(layerKey)) === true;
  const chosen = isApplicable ? arrangement : null;
  const firstReadyId = layers.find(({ state }) => state === 'ready')?.id;
  return {
    layers: orderLayers(layers, chosen).map(({ id }) => {
      const layerKey = layerKeyOf(id);
      const choice = chosen?.layers.find((layer) => layer.layerKey === layerKey);
      return choice ?? { layerKey, isVisible: chosen === null && id === firstReadyId, style: {} };
    }),
    dividerPosition: chosen?.dividerPosition ?? null,
  };
}

/**
 * Returns an arrangement without the choices at its end that `completeArrangement` would add again: those of hidden layers that
 * the user has neither moved nor changed. This makes the text in the URL shorter.
 */
export function withoutTrailingDefaults(
  layers: readonly ResultLayer[],
  { layers: choices, dividerPosition }: Arrangement,
): Arrangement {
  let remaining = choices;
  for (;;) {
    const last = remaining.at(-1);
    const withoutLast = { layers: remaining.slice(0, -1), dividerPosition };
    const isDefault =
      last !== undefined &&
      !last.isVisible &&
      last.opacity === undefined &&
      Object.keys(last.style).length === 0;
    if (!isDefault || !isSameOrder(orderLayers(layers, withoutLast), choices))
      return { layers: remaining, dividerPosition };
    remaining = withoutLast.layers;
  }
}

function isSameOrder(layers: readonly ResultLayer[], choices: readonly LayerChoice[]): boolean {
  return layers.every(({ id }, position) => layerKeyOf(id) === choices[position]?.layerKey);
}

/** Returns the arrangement with a layer moved down by `offset` positions (up if negative), at most to an end of the list. */
export function moveLayer(
  { layers, dividerPosition }: Arrangement,
  layerKey: string,
  offset: number,
): Arrangement {
  const position = layers.findIndex((layer) => layer.layerKey === layerKey);
  const choice = layers[position];
  if (choice === undefined) return { layers, dividerPosition };
  const others = layers.toSpliced(position, 1);
  return { layers: others.toSpliced(Math.max(0, position + offset), 0, choice), dividerPosition };
}

/**
 * Returns the settings of a layer: what the user has chosen, if the layer's content allows it, and defaults otherwise.
 *
 * @param descriptor description of the layer's content; null while it is loading
 */
export function settingsOf(
  descriptor: Descriptor | null,
  { isVisible, opacity, style }: LayerChoice,
): LayerSettings {
  const measurementIndex = usableMeasurement(descriptor, style.measurementIndex ?? null);
  const defaults = defaultSettings(descriptor, measurementIndex);
  const chosenStyle = {
    ...defaults.style,
    ...style,
    measurementIndex,
    isColoured: measurementIndex !== null && style.isColoured === true,
  };
  return {
    isVisible,
    opacity: opacity ?? defaults.opacity,
    // A range whose minimum exceeds its maximum would show nothing and could not be corrected with the sliders.
    style:
      chosenStyle.minValue <= chosenStyle.maxValue
        ? chosenStyle
        : { ...chosenStyle, minValue: defaults.style.minValue, maxValue: defaults.style.maxValue },
  };
}

/** Returns the settings as a choice, without those that equal the defaults of the layer; the inverse of `settingsOf`. */
export function choiceOf(
  layerKey: string,
  descriptor: Descriptor | null,
  settings: LayerSettings,
): LayerChoice {
  const { isVisible, opacity, style } = settings;
  const defaults = defaultSettings(descriptor, style.measurementIndex);
  const { palette, minValue, maxValue, hidden, measurementIndex, isColoured } = style;
  return {
    layerKey,
    isVisible,
    opacity: opacity === defaults.opacity ? undefined : opacity,
    style: {
      ...(palette !== defaults.style.palette && { palette }),
      ...(minValue !== defaults.style.minValue && { minValue }),
      ...(maxValue !== defaults.style.maxValue && { maxValue }),
      ...(hidden.size > 0 && { hidden }),
      ...(measurementIndex !== null && { measurementIndex }),
      ...(isColoured && { isColoured }),
    },
  };
}

/** Returns the index unchanged; null if there is no measurement, or if no object of the layer has the measurement. */
function usableMeasurement(descriptor: Descriptor | null, measurementIndex: number | null): number | null {
  if (descriptor?.kind !== 'vector' || measurementIndex === null) return null;
  return (descriptor.measurements[measurementIndex]?.count ?? 0) > 0 ? measurementIndex : null;
}

/** Returns the settings of a layer that the user has not changed. @param measurementIndex of the filter; null if there is none */
function defaultSettings(descriptor: Descriptor | null, measurementIndex: number | null) {
  // A raster layer is translucent by default, so that the tissue below it stays visible.
  if (descriptor?.kind === 'raster') return { opacity: 0.6, style: defaultRasterStyle(descriptor) };
  const { min, max } =
    descriptor === null || measurementIndex === null
      ? { min: 0, max: 1 }
      : measurementRange(descriptor, measurementIndex);
  const palette: PaletteName = 'viridis';
  return { opacity: 1, style: { palette, minValue: min, maxValue: max, hidden: new Set<number>() } };
}
