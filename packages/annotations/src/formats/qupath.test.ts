import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnnotationFeature } from '../model/feature.ts';
import { createUuid } from '../model/uuid.ts';
import { generateQuPathFile } from '../testing/qupath-files.ts';
import { differenceOf, readLikeQuPath } from '../testing/strict-qupath.ts';
import { exportAnnotations } from './export-annotations.ts';
import { importAnnotations } from './import-annotations.ts';
import type { ImportResult } from './import-types.ts';

function importFile(text: string | Uint8Array): Extract<ImportResult, { ok: true }> {
  const result = importAnnotations(text, { format: 'auto', extent: null });
  if (!result.ok) throw new Error(`rejected: ${JSON.stringify(result.error)}`);
  return result;
}

const exportFile = (features: Extract<ImportResult, { ok: true }>['features']) =>
  [...exportAnnotations(features, { format: 'qupath', pixelSize: null }).chunks].join('');

/** Imports and exports a file, optionally twice. Returns the first difference that QuPath would see; null when there is none. */
function roundTrip(text: string, { isRepeated }: { readonly isRepeated: boolean }): string | null {
  const first = importFile(text);
  if (first.rejectedCount > 0) return `rejected: ${JSON.stringify(first.rejected[0])}`;
  const copy = exportFile(first.features);
  const difference = differenceOf(readLikeQuPath(text), readLikeQuPath(copy));
  if (difference || !isRepeated) return difference;
  return exportFile(importFile(copy).features) === copy ? null : 'the second export differs from the first';
}

describe('QuPath GeoJSON (annotation file)', () => {
  /** Number of generated files: 20,000 in `npm run test:all`, which CI runs. */
  const fileCount = process.env.TEST_SCOPE === 'short' ? 4000 : 20_000;

  it(`has the same content after import and export, for ${fileCount} generated files of QuPath 0.2 to 0.8`, () => {
    const differences: string[] = [];
    for (let seed = 1; seed <= fileCount && differences.length < 3; seed++) {
      const text = generateQuPathFile(seed);
      let difference: string | null;
      try {
        // Only every fourth file is imported and exported twice, because this takes twice as long.
        difference = roundTrip(text, { isRepeated: seed % 4 === 0 });
      } catch (error) {
        difference = String(error);
      }
      if (difference) differences.push(`seed ${seed}: ${difference}\n${text.slice(0, 3000)}`);
    }
    expect(differences).toEqual([]);
    // Takes 12 s of processor time, and minutes on a busy machine.
  }, 300_000);

  const folder = process.env.TEST_SLIDES && join(process.env.TEST_SLIDES, 'annotations');
  it.skipIf(!folder)(
    'has the same content after import and export, for files written by QuPath (skipped without TEST_SLIDES)',
    () => {
      const files = readdirSync(folder ?? '').filter((name) => name.endsWith('.geojson'));
      expect(files.length).toBeGreaterThanOrEqual(4);
      for (const file of files) {
        const text = readFileSync(join(folder ?? '', file), 'utf8');
        const result = importFile(text);
        expect({ file, rejected: result.rejected }).toEqual({ file, rejected: [] });
        const before = readLikeQuPath(text);
        const after = readLikeQuPath(exportFile(result.features));
        // Properties that QuPath does not know are kept as metadata.
        const comparableAfter =
          file === '123.annotation.geojson' ? after.map((object) => ({ ...object, metadata: {} })) : after;
        expect({ file, difference: differenceOf(before, comparableAfter) }).toEqual({
          file,
          difference: null,
        });
      }
    },
  );

  it.skipIf(!folder)(
    'is not detected in an annotation file of the Digital Slide Archive, which is imported in the format dsa (skipped without TEST_SLIDES)',
    () => {
      const result = importFile(readFileSync(join(folder ?? '', 'sample.anot')));
      expect(result).toMatchObject({ format: 'dsa', rejectedCount: 0 });
      expect(result.features.map(({ geometry }) => geometry.type)).toEqual(['Point', 'Polygon']);
    },
  );

  it('is imported with the measurements NaN and -Infinity, which some QuPath versions write without quotes', () => {
    const text =
      '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"NaN and -Infinity","measurements":{"a":NaN,"b":-Infinity,"Infinity":1}}}';
    expect(importFile(text).features[0]?.properties).toMatchObject({
      name: 'NaN and -Infinity',
      measurements: { a: Number.NaN, b: Number.NEGATIVE_INFINITY, Infinity: 1 },
    });
  });

  it('is imported with a colour chosen by Lamina, and the warning class_color_chosen, when a class has no colour', () => {
    const text = JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { classification: { name: 'Tumor' } },
    });
    const result = importFile(text);
    expect(result.features[0]?.properties.classification).toEqual({ names: ['Tumor'], color: [200, 0, 0] });
    expect(result.warnings).toContainEqual({ code: 'class_color_chosen', count: 1 });
    expect(() => readLikeQuPath(text)).toThrow('without a color');
    expect(readLikeQuPath(exportFile(result.features))).toHaveLength(1);
  });

  it('keeps the parent (parentId) and the description (metadata) of each annotation after import and export', () => {
    const child = {
      type: 'Feature',
      id: '00000000-0000-4000-a000-000000000002',
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { objectType: 'detection' },
    };
    const parent = {
      type: 'Feature',
      id: '00000000-0000-4000-a000-000000000001',
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [9, 0],
            [9, 9],
            [0, 0],
          ],
        ],
      },
      properties: {
        objectType: 'annotation',
        childObjects: [child],
        metadata: { ANNOTATION_DESCRIPTION: 'two\nlines' },
      },
    };
    const { features } = importFile(JSON.stringify([parent]));
    expect(features[0]?.properties).toEqual({ objectType: 'annotation', description: 'two\nlines' });
    expect(features[1]?.properties.parentId).toBe(parent.id);
    expect(JSON.parse(exportFile(features))).toEqual({ type: 'FeatureCollection', features: [parent] });
  });

  it('is exported with both annotations when two annotations name each other as parent', () => {
    const [a, b] = ['00000000-0000-4000-a000-00000000000a', '00000000-0000-4000-a000-00000000000b'] as const;
    const point = { type: 'Point', coordinates: [1, 2] } as const;
    const features = [
      { type: 'Feature', id: a, geometry: point, properties: { objectType: 'annotation', parentId: b } },
      { type: 'Feature', id: b, geometry: point, properties: { objectType: 'annotation', parentId: a } },
    ] as const;
    expect(readLikeQuPath(exportFile(features)).map(({ id }) => id)).toEqual([a, b]);
  });

  it('keeps the parents of 83 nested levels of annotations (the limit) after export and import, and warns about deeper levels on export', () => {
    const ring = [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 0],
    ] as const;
    /** Returns annotations of which each contains the next one. */
    const chainOf = (levels: number) => {
      const ids = Array.from({ length: levels }, createUuid);
      return ids.map((id, level): AnnotationFeature => {
        const parentId = ids[level - 1];
        return {
          type: 'Feature',
          id,
          geometry: { type: 'MultiPolygon', coordinates: [[ring]] },
          properties: { objectType: 'annotation', ...(parentId !== undefined && { parentId }) },
        };
      });
    };
    const warningsOf = (levels: number) =>
      exportAnnotations(chainOf(levels), { format: 'qupath', pixelSize: null }).warnings;
    const chain = chainOf(83);
    expect(importFile(exportFile(chain)).features).toEqual(chain);
    expect(warningsOf(83)).toEqual([]);
    expect(importFile(exportFile(chainOf(85))).rejectedCount).toBe(0);
    expect(warningsOf(85)).toEqual([{ code: 'hierarchy_flattened', count: 2 }]);
  });

  it('is imported with the option `offset` added to its coordinates, and exported with the offset subtracted', () => {
    const text = JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: {},
    });
    const offset = { x: 100, y: 50 };
    const result = importAnnotations(text, { format: 'auto', extent: null, offset });
    if (!result.ok) throw new Error(result.error.code);
    expect(result.features[0]?.geometry.coordinates).toEqual([101, 52]);
    const back = [
      ...exportAnnotations(result.features, { format: 'qupath', pixelSize: null, offset }).chunks,
    ].join('');
    expect(readLikeQuPath(back)[0]?.geometry).toMatchObject({ coordinates: [1, 2] });
  });

  it('is imported with the error code outside_extent for a point that the option `offset` moves beyond ten times the slide width', () => {
    // The limit of x is 10 times the width, 10,000 pixels.
    const extent = { width: 1000, height: 1000 };
    const importPoint = (x: number, offsetX: number) => {
      const geometry = { type: 'Point', coordinates: [x, 2] };
      const text = JSON.stringify({ type: 'Feature', geometry, properties: {} });
      const result = importAnnotations(text, { format: 'auto', extent, offset: { x: offsetX, y: 0 } });
      if (!result.ok) throw new Error(result.error.code);
      return {
        coordinates: result.features.map((feature) => feature.geometry.coordinates),
        rejected: result.rejected.map(({ code }) => code),
      };
    };
    expect(importPoint(10_050, -100)).toEqual({ coordinates: [[9950, 2]], rejected: [] });
    expect(importPoint(9950, 100)).toEqual({ coordinates: [], rejected: ['outside_extent'] });
  });
});
