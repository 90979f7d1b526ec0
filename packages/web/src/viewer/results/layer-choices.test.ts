import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import {
  type Arrangement,
  choiceOf,
  choicesOf,
  formatArrangement,
  moved,
  orderLayers,
  parseArrangement,
  settingsOf,
  shortened,
} from './layer-choices.ts';

const [a, b, c] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'] as const;
const layer = (key: string, state: ResultLayer['state'] = 'ready') =>
  ({ id: `${key}-1111-4111-8111-111111111111`, name: key, state }) as ResultLayer;
const layers = [layer(a), layer(b), layer(c)];
const keys = (arrangement: Arrangement) => arrangement.layers.map((each) => each.layer);
const plain = (key: string, isVisible = true) => ({ layer: key, isVisible, style: {} });

const heatmap = { kind: 'raster', value_range: { min: 0, max: 1 }, categories: null } as RasterDescriptor;
const cells = {
  kind: 'vector',
  measurements: [
    { name: 'Area', min: 10, max: 90, count: 5 },
    { name: 'Empty', min: null, max: null, count: 0 },
  ],
} as VectorDescriptor;

describe('the text of an arrangement of result layers', () => {
  it.each([
    ['one layer as it is at first', a],
    ['hidden layers', `${a}_x*${b}`],
    ['opacity, palette and threshold', `${a}_o60_p-magma_f0.25_t0.75`],
    ['a threshold of many digits, exactly', `${a}_f0.10000000149011612_t1e-7`],
    ['classes, a measurement and its colours', `${a}_f12_h0.3_m2_c`],
    ['two compared layers', `${a}*${b}*swipe-35`],
    ['that nothing is shown', '-'],
  ])('contains %s', (_, text) => {
    const arrangement = parseArrangement(text);
    expect(arrangement).not.toBeNull();
    expect(formatArrangement(arrangement as Arrangement)).toBe(text);
  });

  it.each([
    ['nothing', null],
    ['an object', { layers: [] }],
    ['an empty text', ''],
    ['too long a text', `${a}${'*bbbbbbbb'.repeat(500)}`],
    ['no layer', '<script>alert(1)</script>'],
    ['ids of another form', '__proto__*constructor*AAAAAAAA*aaaaaaa'],
  ])('is rejected when it is %s', (_, text) => {
    expect(parseArrangement(text)).toBeNull();
  });

  it('is parsed without invalid options and without repeated layers', () => {
    const hostile = `${a}_o101_p-neon_f1e999_tNaN_h1.x.70000.-2_m200_zzz*${a}_x*swipe-101`;
    expect(parseArrangement(hostile)).toEqual({
      layers: [{ layer: a, isVisible: true, opacity: undefined, style: { hidden: new Set([1]) } }],
      swipe: null,
    });
  });

  it('is parsed with at most as many layers as a slide may have', () => {
    const many = Array.from({ length: 200 }, (_, place) => (0x10000000 + place).toString(16)).join('*');
    expect(parseArrangement(many)?.layers).toHaveLength(100);
  });
});

describe('the order of result layers', () => {
  it('begins with the chosen layers, then has the other layers in the order of the server', () => {
    const chosen = { layers: [plain(c)], swipe: null };
    expect(orderLayers(layers, chosen)).toEqual([layers[2], layers[0], layers[1]]);
    expect(choicesOf(layers, chosen).layers).toEqual([plain(c), plain(a, false), plain(b, false)]);
  });

  it('changes when a layer is moved, within the bounds of the list', () => {
    const all = choicesOf(layers, null);
    expect(keys(moved(all, c, -1))).toEqual([a, c, b]);
    expect(keys(moved(all, a, 1))).toEqual([b, a, c]);
    expect(keys(moved(all, a, -1))).toEqual([a, b, c]);
    expect(keys(moved(all, c, 1))).toEqual([a, b, c]);
    expect(keys(moved(all, 'dddddddd', 1))).toEqual([a, b, c]);
  });

  it('has the first ready layer visible while no existing layer is chosen', () => {
    const waiting = [layer(a, 'queued'), layer(b)];
    const atFirst = [plain(a, false), plain(b)];
    expect(choicesOf(waiting, null).layers).toEqual(atFirst);
    expect(choicesOf(waiting, parseArrangement('dddddddd')).layers).toEqual(atFirst);
    expect(choicesOf(waiting, parseArrangement('-')).layers).toEqual([plain(a, false), plain(b, false)]);
  });

  it('omits hidden layers at the end from the URL unless they were moved', () => {
    const text = (chosen: string) =>
      formatArrangement(shortened(layers, choicesOf(layers, parseArrangement(chosen))));
    expect(text(`${a}*${b}_x*${c}_x`)).toBe(a);
    expect(text(`${a}*${c}_x*${b}_x`)).toBe(`${a}*${c}_x`);
    expect(text(`${c}*${a}_x*${b}_x_o50`)).toBe(`${c}*${a}_x*${b}_x_o50`);
    expect(text(`${a}_x*${b}_x`)).toBe('-');
  });
});

describe('the settings of a result layer', () => {
  it('are those that the person chose, and convert back to the same choice', () => {
    const choice = {
      layer: a,
      isVisible: true,
      opacity: 0.3,
      style: { palette: 'magma', from: 0.4, hidden: new Set([2]) },
    } as const;
    const settings = settingsOf(heatmap, choice);
    expect(settings).toMatchObject({ opacity: 0.3, style: { palette: 'magma', from: 0.4, to: 1 } });
    expect(choiceOf(a, heatmap, settings)).toEqual(choice);
  });

  it('are the defaults of the layer without a choice, and convert back to an empty choice', () => {
    for (const descriptor of [heatmap, cells]) {
      const settings = settingsOf(descriptor, plain(a));
      expect(choiceOf(a, descriptor, settings)).toEqual({ ...plain(a), opacity: undefined });
    }
  });

  it('filter by the whole range of a measurement unless a narrower range is chosen', () => {
    const settings = settingsOf(cells, { ...plain(a), style: { column: 0, to: 50, isColoured: true } });
    expect(settings.style).toMatchObject({ column: 0, from: 10, to: 50, isColoured: true });
  });

  it('ignore a measurement that the layer does not have and a range whose minimum exceeds its maximum', () => {
    for (const column of [1, 7]) {
      const { style } = settingsOf(cells, { ...plain(a), style: { column, isColoured: true } });
      expect(style).toMatchObject({ column: null, isColoured: false });
    }
    const { style } = settingsOf(heatmap, { ...plain(a), style: { from: 0.9, to: 0.2 } });
    expect(style).toMatchObject({ from: 0.1, to: 1 });
  });
});
