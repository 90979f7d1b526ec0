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
const keys = (arrangement: Arrangement) => arrangement.layers.map((each) => each.layerKey);
const plain = (key: string, isVisible = true) => ({ layerKey: key, isVisible, style: {} });

const heatmap = { kind: 'raster', value_range: { min: 0, max: 1 }, categories: null } as RasterDescriptor;
const cells = {
  kind: 'vector',
  measurements: [
    { name: 'Area', min: 10, max: 90, count: 5 },
    { name: 'Empty', min: null, max: null, count: 0 },
  ],
} as VectorDescriptor;

describe('arrangement of result layers in the URL', () => {
  it.each([
    ['one layer with default settings', a],
    ['hidden layers', `${a}_x*${b}`],
    ['opacity, palette and threshold', `${a}_o60_p-magma_f0.25_t0.75`],
    ['thresholds with many digits', `${a}_f0.10000000149011612_t1e-7`],
    ['hidden classes, filter and colours by a measurement', `${a}_f12_h0.3_m2_c`],
    ['two compared layers', `${a}*${b}*swipe-35`],
    ['no layers', '-'],
  ])('is the same text after parseArrangement and formatArrangement: %s', (_, text) => {
    const arrangement = parseArrangement(text);
    expect(arrangement).not.toBeNull();
    expect(formatArrangement(arrangement as Arrangement)).toBe(text);
  });

  it.each([
    ['null', null],
    ['an object', { layers: [] }],
    ['an empty text', ''],
    ['a text of more than 4000 characters', `${a}${'*bbbbbbbb'.repeat(500)}`],
    ['a text without a layer key', '<script>alert(1)</script>'],
    ['layer keys that are not 8 hexadecimal digits', '__proto__*constructor*AAAAAAAA*aaaaaaa'],
  ])('is parsed to null when it is %s', (_, text) => {
    expect(parseArrangement(text)).toBeNull();
  });

  it('is parsed without its invalid options and repeated layers', () => {
    const hostile = `${a}_o101_p-neon_f1e999_tNaN_h1.x.70000.-2_m200_zzz*${a}_x*swipe-101`;
    expect(parseArrangement(hostile)).toEqual({
      layers: [{ layerKey: a, isVisible: true, opacity: undefined, style: { hidden: new Set([1]) } }],
      swipe: null,
    });
  });

  it('is parsed to at most 100 layers, the limit of a slide', () => {
    const many = Array.from({ length: 200 }, (_, index) => (0x10000000 + index).toString(16)).join('*');
    expect(parseArrangement(many)?.layers).toHaveLength(100);
  });
});

describe('the arrangement of result layers', () => {
  it('lists the chosen layers first, then the others in the order of the server', () => {
    const chosen = { layers: [plain(c)], swipe: null };
    expect(orderLayers(layers, chosen)).toEqual([layers[2], layers[0], layers[1]]);
    expect(completeArrangement(layers, chosen).layers).toEqual([plain(c), plain(a, false), plain(b, false)]);
  });

  it('moves a layer by one position, but not beyond the ends of the list', () => {
    const all = completeArrangement(layers, null);
    expect(keys(moveLayer(all, c, -1))).toEqual([a, c, b]);
    expect(keys(moveLayer(all, a, 1))).toEqual([b, a, c]);
    expect(keys(moveLayer(all, a, -1))).toEqual([a, b, c]);
    expect(keys(moveLayer(all, c, 1))).toEqual([a, b, c]);
    expect(keys(moveLayer(all, 'dddddddd', 1))).toEqual([a, b, c]);
  });

  it('shows the first ready layer while no existing layer is chosen', () => {
    const waiting = [layer(a, 'queued'), layer(b)];
    const atFirst = [plain(a, false), plain(b)];
    expect(completeArrangement(waiting, null).layers).toEqual(atFirst);
    expect(completeArrangement(waiting, parseArrangement('dddddddd')).layers).toEqual(atFirst);
    expect(completeArrangement(waiting, parseArrangement('-')).layers).toEqual([
      plain(a, false),
      plain(b, false),
    ]);
  });

  it('omits hidden layers at the end from its text unless they were moved or changed', () => {
    const text = (chosen: string) =>
      formatArrangement(
        withoutTrailingDefaults(layers, completeArrangement(layers, parseArrangement(chosen))),
      );
    expect(text(`${a}*${b}_x*${c}_x`)).toBe(a);
    expect(text(`${a}*${c}_x*${b}_x`)).toBe(`${a}*${c}_x`);
    expect(text(`${c}*${a}_x*${b}_x_o50`)).toBe(`${c}*${a}_x*${b}_x_o50`);
    expect(text(`${a}_x*${b}_x`)).toBe('-');
  });
});

describe('the settings of a result layer', () => {
  it('contain the choice of the person and defaults for the rest, and convert back to the same choice', () => {
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

  it('are the defaults of the layer when nothing is chosen, and convert back to an empty choice', () => {
    for (const descriptor of [heatmap, cells]) {
      const settings = settingsOf(descriptor, plain(a));
      expect(choiceOf(a, descriptor, settings)).toEqual({ ...plain(a), opacity: undefined });
    }
  });

  it('filter by the whole range of the chosen measurement, except for a limit that the person chose', () => {
    const settings = settingsOf(cells, { ...plain(a), style: { column: 0, maxValue: 50, isColoured: true } });
    expect(settings.style).toMatchObject({ column: 0, minValue: 10, maxValue: 50, isColoured: true });
  });

  it('ignore a measurement that no object has, and a range whose minimum exceeds its maximum', () => {
    for (const column of [1, 7]) {
      const { style } = settingsOf(cells, { ...plain(a), style: { column, isColoured: true } });
      expect(style).toMatchObject({ column: null, isColoured: false });
    }
    const { style } = settingsOf(heatmap, { ...plain(a), style: { minValue: 0.9, maxValue: 0.2 } });
    expect(style).toMatchObject({ minValue: 0.1, maxValue: 1 });
  });
});
