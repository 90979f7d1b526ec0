import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import {
  type Arrangement,
  choiceOf,
  completeArrangement,
  formatArrangement,
  moveLayer,
  orderLayers,
  parseArrangement,
  settingsOf,
  withoutTrailingDefaults,
} from './layer-choices.ts';

const [a, b, c] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'] as const;
const layer = (key: string, state: ResultLayer['state'] = 'ready') =>
  ({ id: `${key}-1111-4111-8111-111111111111`, name: key, state }) as ResultLayer;
const layers = [layer(a), layer(b), layer(c)];
const keysIn = (arrangement: Arrangement) => arrangement.layers.map(({ layerKey }) => layerKey);
const shownWithDefaults = (key: string) => ({ layerKey: key, isVisible: true, style: {} });
const hiddenWithDefaults = (key: string) => ({ layerKey: key, isVisible: false, style: {} });

const heatmap = { kind: 'raster', value_range: { min: 0, max: 1 }, categories: null } as RasterDescriptor;
const cells = {
  kind: 'vector',
  measurements: [
    { name: 'Area', min: 10, max: 90, count: 5 },
    { name: 'Empty', min: null, max: null, count: 0 },
  ],
} as VectorDescriptor;

describe('parseArrangement and formatArrangement (result layers in the URL):', () => {
  it.each([
    ['one layer with default settings', a],
    ['hidden layers', `${a}_x*${b}`],
    ['opacity, palette and threshold', `${a}_o60_p-magma_f0.25_t0.75`],
    ['thresholds with many digits', `${a}_f0.10000000149011612_t1e-7`],
    ['hidden classes, filter and colours by a measurement', `${a}_f12_h0.3_m2_c`],
    ['two compared layers', `${a}*${b}*swipe-35`],
    ['no layers', '-'],
  ])('formatArrangement returns the string that parseArrangement has parsed (%s)', (_, text) => {
    const arrangement = parseArrangement(text);
    expect(arrangement).not.toBeNull();
    expect(formatArrangement(arrangement as Arrangement)).toBe(text);
  });

  it.each([
    ['null', null],
    ['an object', { layers: [] }],
    ['an empty string', ''],
    ['a string of more than 4000 characters', `${a}${'*bbbbbbbb'.repeat(500)}`],
    ['a string without a layer key', '<script>alert(1)</script>'],
    ['layer keys that are not 8 hexadecimal digits', '__proto__*constructor*AAAAAAAA*aaaaaaa'],
  ])('parseArrangement returns null for %s', (_, text) => {
    expect(parseArrangement(text)).toBeNull();
  });

  it('parseArrangement ignores invalid options and repeated layers', () => {
    const hostile = `${a}_o101_p-neon_f1e999_tNaN_h1.x.70000.-2_m200_zzz*${a}_x*swipe-101`;
    expect(parseArrangement(hostile)).toEqual({
      layers: [{ layerKey: a, isVisible: true, opacity: undefined, style: { hidden: new Set([1]) } }],
      dividerPosition: null,
    });
  });

  it('parseArrangement returns at most 100 layers, the limit of a slide', () => {
    const textOf200Layers = Array.from({ length: 200 }, (_, index) => (0x10000000 + index).toString(16)).join(
      '*',
    );
    expect(parseArrangement(textOf200Layers)?.layers).toHaveLength(100);
  });
});

describe('the arrangement (order and visibility) of the result layers of a slide:', () => {
  it('orderLayers and completeArrangement return the chosen layers first, then the others in the order of the server', () => {
    const chosen = { layers: [shownWithDefaults(c)], dividerPosition: null };
    expect(orderLayers(layers, chosen)).toEqual([layers[2], layers[0], layers[1]]);
    expect(completeArrangement(layers, chosen).layers).toEqual([
      shownWithDefaults(c),
      hiddenWithDefaults(a),
      hiddenWithDefaults(b),
    ]);
  });

  it('moveLayer moves a layer by one position, but not beyond the ends of the list', () => {
    const all = completeArrangement(layers, null);
    expect(keysIn(moveLayer(all, c, -1))).toEqual([a, c, b]);
    expect(keysIn(moveLayer(all, a, 1))).toEqual([b, a, c]);
    expect(keysIn(moveLayer(all, a, -1))).toEqual([a, b, c]);
    expect(keysIn(moveLayer(all, c, 1))).toEqual([a, b, c]);
    expect(keysIn(moveLayer(all, 'dddddddd', 1))).toEqual([a, b, c]);
  });

  it('completeArrangement shows the first ready layer when the user has chosen nothing, or only missing layers', () => {
    const queuedAndReady = [layer(a, 'queued'), layer(b)];
    const firstReadyShown = [hiddenWithDefaults(a), shownWithDefaults(b)];
    expect(completeArrangement(queuedAndReady, null).layers).toEqual(firstReadyShown);
    expect(completeArrangement(queuedAndReady, parseArrangement('dddddddd')).layers).toEqual(firstReadyShown);
    expect(completeArrangement(queuedAndReady, parseArrangement('-')).layers).toEqual([
      hiddenWithDefaults(a),
      hiddenWithDefaults(b),
    ]);
  });

  it('withoutTrailingDefaults omits hidden layers at the end of the list unless the user has moved them or changed their settings', () => {
    const shortText = (chosen: string) =>
      formatArrangement(
        withoutTrailingDefaults(layers, completeArrangement(layers, parseArrangement(chosen))),
      );
    expect(shortText(`${a}*${b}_x*${c}_x`)).toBe(a);
    expect(shortText(`${a}*${c}_x*${b}_x`)).toBe(`${a}*${c}_x`);
    expect(shortText(`${c}*${a}_x*${b}_x_o50`)).toBe(`${c}*${a}_x*${b}_x_o50`);
    expect(shortText(`${a}_x*${b}_x`)).toBe('-');
  });
});

describe('settingsOf (all display settings of a result layer) and choiceOf (only those that differ from the defaults):', () => {
  it('settingsOf adds the default settings to the choice of the user, and choiceOf leaves them out again', () => {
    const choice = {
      layerKey: a,
      isVisible: true,
      opacity: 0.3,
      style: { palette: 'magma', minValue: 0.4, hidden: new Set([2]) },
    } as const;
    const settings = settingsOf(heatmap, choice);
    expect(settings).toMatchObject({ opacity: 0.3, style: { palette: 'magma', minValue: 0.4, maxValue: 1 } });
    expect(choiceOf(a, heatmap, settings)).toEqual(choice);
  });

  it('choiceOf returns no settings for a heatmap, or a layer of objects, that has the default settings', () => {
    for (const descriptor of [heatmap, cells]) {
      const settings = settingsOf(descriptor, shownWithDefaults(a));
      expect(choiceOf(a, descriptor, settings)).toEqual({ ...shownWithDefaults(a), opacity: undefined });
    }
  });

  it('settingsOf returns the lowest value of the measurement as minimum of the filter when the user has chosen only a maximum', () => {
    const settings = settingsOf(cells, {
      ...shownWithDefaults(a),
      style: { measurementIndex: 0, maxValue: 50, isColoured: true },
    });
    expect(settings.style).toMatchObject({
      measurementIndex: 0,
      minValue: 10,
      maxValue: 50,
      isColoured: true,
    });
  });

  it('settingsOf returns the default for a measurement that no object has, and for a range whose minimum exceeds its maximum', () => {
    for (const measurementIndex of [1, 7]) {
      const { style } = settingsOf(cells, {
        ...shownWithDefaults(a),
        style: { measurementIndex, isColoured: true },
      });
      expect(style).toMatchObject({ measurementIndex: null, isColoured: false });
    }
    const { style } = settingsOf(heatmap, {
      ...shownWithDefaults(a),
      style: { minValue: 0.9, maxValue: 0.2 },
    });
    expect(style).toMatchObject({ minValue: 0.1, maxValue: 1 });
  });
});
