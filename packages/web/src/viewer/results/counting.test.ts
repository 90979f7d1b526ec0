/** Tests of result layers: counting objects inside an area, the CSV file of the counts, file names, and groups of objects. */
import { type AreaGeometry, areaOf, containsPosition } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { renderHook, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { SlideView } from '../slide-view.ts';
import { createAreaTest } from './area-contains.ts';
import { countObjectsIn, countsAsCsv } from './count-objects.ts';
import { kindOfFile, layerNameOf } from './kind-of-file.ts';
import type { LayerStyle } from './layer-style.ts';
import { useCounts } from './use-counts.ts';
import { colourOfGroup, groupOf } from './vector-paths.ts';

vi.mock(import('./count-objects.ts'), async (original) => ({
  ...(await original()),
  countObjectsIn: vi.fn<typeof countObjectsIn>(),
}));

/** An area of two parts: a star with a square hole, and a triangle. */
const starAndTriangle: AreaGeometry = {
  type: 'MultiPolygon',
  coordinates: [
    [
      [
        [0, 0],
        [50, 20],
        [100, 0],
        [80, 50],
        [100, 100],
        [50, 80],
        [0, 100],
        [20, 50],
        [0, 0],
      ],
      [
        [40, 40],
        [60, 40],
        [60, 60],
        [40, 60],
        [40, 40],
      ],
    ],
    [
      [
        [200, 10],
        [260, 10],
        [230, 70.5],
        [200, 10],
      ],
    ],
  ],
};

describe('createAreaTest (test whether a position lies in an area)', () => {
  it('returns a function with the same results as the slower containsPosition, for an area with a hole and several parts', () => {
    const contains = createAreaTest(starAndTriangle);
    const differingPositions: [number, number][] = [];
    let insideCount = 0;
    for (let x = -5; x <= 270; x += 1.25) {
      for (let y = -5; y <= 110; y += 1.25) {
        const isInside = containsPosition(starAndTriangle, [x, y]);
        if (isInside) insideCount += 1;
        if (contains(x, y) !== isInside) differingPositions.push([x, y]);
      }
    }
    expect(differingPositions).toEqual([]);
    expect(insideCount).toBeGreaterThan(4000); // the test has positions on both sides of the edges
  });

  it('returns a function that tests an ellipse by its equation and not by the four points of its polygon', () => {
    const ellipse: AreaGeometry = {
      type: 'Polygon',
      isEllipse: true,
      coordinates: [
        [
          [0, 5],
          [10, 0],
          [20, 5],
          [10, 10],
          [0, 5],
        ],
      ],
    };
    const contains = createAreaTest(ellipse);
    expect([contains(10, 5), contains(4, 2.2), contains(1, 1)]).toEqual([true, true, false]);
  });
});

describe('countsAsCsv (CSV file of counted objects)', () => {
  it('quotes cells with separators and escapes cells that a spreadsheet would run as formulas', async () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // returns the byte order mark as a character
    const bytes = await countsAsCsv([
      ['Class', 'Count'],
      ['Tumor, "grade 3"', 12],
      ['=1+1', -1],
    ]).arrayBuffer();
    expect(decoder.decode(bytes)).toBe('\uFEFFClass,Count\r\n"Tumor, ""grade 3""",12\r\n\'=1+1,-1\r\n');
  });
});

describe('kindOfFile (kind of an analysis result)', () => {
  it('returns "raster" for image files and "vector" for other result files', () => {
    expect(['a.TIFF', 'b.png', 'c.dcm', 'd.geojson.gz', 'e.csv'].map(kindOfFile)).toEqual([
      'raster',
      'raster',
      'raster',
      'vector',
      'vector',
    ]);
  });
});

describe('layerNameOf (name of a result layer)', () => {
  it('returns the file name without its extensions, or the whole file name when nothing else remains', () => {
    expect([layerNameOf('cells v2.geojson.gz'), layerNameOf('.gz')]).toEqual(['cells v2', '.gz']);
  });
});

const descriptor: VectorDescriptor = {
  kind: 'vector',
  id: 'l',
  image_id: 'i',
  name: 'Cells',
  object_count: 3,
  vertex_count: 12,
  bounds: [0, 0, 10, 10],
  classes: [
    { name: 'Mitosis', color: [255, 0, 0], count: 1 },
    { name: 'Other', color: [0, 0, 255], count: 2 },
  ],
  measurements: [{ name: 'Score', min: 0, max: 10, count: 2 }],
  blocks: { count: 1, objects: 3 },
  density: [],
};

describe('groupOf and colourOfGroup (objects of a result layer):', () => {
  /** Shows only objects of class 0 with a Score from 2 to 8. */
  const style: LayerStyle = {
    palette: 'viridis',
    minValue: 2,
    maxValue: 8,
    hidden: new Set([1]),
    measurementIndex: 0,
    isColoured: false,
  };

  it('groupOf returns null for objects of hidden classes, with values outside the range, or without the measurement', () => {
    const groups = [
      [0, 5],
      [0, 2],
      [0, 8.01],
      [0, Number.NaN],
      [1, 5],
    ].map(([classIndex = 0, value = 0]) => groupOf(descriptor, style, classIndex, value));
    expect(groups).toEqual([0, 0, null, null, null]);
  });

  it('colourOfGroup returns the colour of the class, or that of the value when the style colours by a measurement', () => {
    expect(colourOfGroup(descriptor, style, 0)).toBe('rgb(255 0 0)');
    const colouredStyle = { ...style, minValue: 0, maxValue: 10, isColoured: true };
    const colours = [0, 5, 10].map((value) =>
      colourOfGroup(descriptor, colouredStyle, groupOf(descriptor, colouredStyle, 0, value) ?? -1),
    );
    expect(new Set(colours).size).toBe(3);
    expect(colours[0]).toBe('rgb(68 1 84)'); // the first colour of viridis
  });
});

describe('useCounts (counts of objects in the field of view)', () => {
  it('counts objects in the polygon that is visible, and not in its bounding box, when the slide is rotated by 45°', async () => {
    const count = vi.mocked(countObjectsIn).mockResolvedValue({ Mitosis: 1, Other: 0 });
    const scale = 0.5 * Math.SQRT1_2;
    const view: Pick<SlideView, 'placement' | 'size' | 'watch'> = {
      placement: () => ({ a: scale, b: scale, c: -scale, d: scale, e: 0, f: 0 }),
      size: () => ({ width: 200, height: 100 }),
      watch: () => () => undefined,
    };
    const options = { descriptor, area: null, measurementIndex: null, minValue: 0, maxValue: 1 };
    const { result } = renderHook(() => useCounts(view as SlideView, options));
    await waitFor(() => expect(result.current).toEqual({ Mitosis: 1, Other: 0 }));
    const region = count.mock.calls[0]?.[1];
    if (region === undefined || !('type' in region)) throw new Error('The region is not an area.');
    expect(areaOf(region)).toBeCloseTo(400 * 200, 3);
  });

  it('returns null instead of the counts of the previous field when the objects of the new field cannot be counted', async () => {
    vi.mocked(countObjectsIn).mockResolvedValueOnce({ Mitosis: 1 });
    vi.mocked(countObjectsIn).mockRejectedValueOnce(new TypeError('Failed to fetch'));
    let move = () => {};
    const view: Pick<SlideView, 'placement' | 'size' | 'watch'> = {
      placement: () => ({ a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 }),
      size: () => ({ width: 200, height: 100 }),
      watch: (onMove) => {
        move = onMove;
        return () => undefined;
      },
    };
    const options = { descriptor, area: null, measurementIndex: null, minValue: 0, maxValue: 1 };
    const { result } = renderHook(() => useCounts(view as SlideView, options));
    await waitFor(() => expect(result.current).toEqual({ Mitosis: 1 }));
    move();
    await waitFor(() => expect(result.current).toBeNull());
  });
});
