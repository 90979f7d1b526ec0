import { describe, expect, it } from 'vitest';
import { annotationLimits } from '../model/limits.ts';
import { importAnnotations } from './import-annotations.ts';
import { importLimits } from './import-limits.ts';
import type { ImportResult } from './import-types.ts';

const extent = { width: 1000, height: 1000 };
const importFile = (file: Uint8Array | string): ImportResult =>
  importAnnotations(file, { format: 'auto', extent });
const feature = (geometry: unknown, members: object = {}) => ({
  type: 'Feature',
  geometry,
  properties: {},
  ...members,
});
/** Returns the error code of the import, or `accepted`. */
const errorOf = (file: Uint8Array | string) => {
  const result = importFile(file);
  return result.ok ? 'accepted' : result.error.code;
};
const rejectionsOf = (value: unknown) => {
  const result = importFile(JSON.stringify(value));
  if (!result.ok) throw new Error(result.error.code);
  return result.rejected.map(({ feature: number, code, path }) => `${number} ${code} ${path}`);
};

/** Returns the bytes of a text that is repeated between two others. The whole text would be too long for a string. */
function repeat(before: string, text: string, count: number, after: string): Uint8Array {
  const [head, part, tail] = [before, text, after].map((piece) => new TextEncoder().encode(piece)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const bytes = new Uint8Array(head.length + part.length * count + tail.length);
  bytes.set(head);
  for (let index = 0; index < count; index++) bytes.set(part, head.length + index * part.length);
  bytes.set(tail, bytes.length - tail.length);
  return bytes;
}

describe('importAnnotations (reads an annotation file of any supported format)', () => {
  it('imports the valid features of a GeoJSON list, and lists each invalid feature with its number, error code and path', () => {
    const id = '6423a977-ffff-48db-affc-cd11632010f0';
    const point = { type: 'Point', coordinates: [1, 2] };
    expect(
      rejectionsOf([
        feature(point, { id }),
        feature(point, { id }),
        feature({ type: 'Point', coordinates: [null, 2] }),
        feature({
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 1],
            ],
          ],
        }),
        feature({ type: 'GeometryCollection', geometries: [point] }),
        feature({ type: 'Point', coordinates: [1e6, 2] }),
        7,
        feature(null),
        feature({
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [0, 0],
            ],
          ],
        }),
      ]),
    ).toEqual([
      '2 duplicate_id id',
      '3 not_a_position geometry.coordinates',
      '4 ring_not_closed geometry.coordinates[0]',
      '5 geometry_type geometry.type',
      '6 outside_extent geometry.coordinates',
      '7 not_an_object ',
      '8 missing geometry',
      '9 ring_too_short geometry.coordinates[0]',
    ]);
  });

  it('returns the number of features of a file by object type and by class', () => {
    const point = { type: 'Point', coordinates: [1, 2] };
    const tumor = { classification: { name: 'Tumor', color: [1, 2, 3] } };
    const result = importFile(
      JSON.stringify([
        feature(point, { properties: { ...tumor, objectType: 'detection' } }),
        feature(point, { properties: tumor }),
        feature(point),
      ]),
    );
    expect(result).toMatchObject({
      counts: {
        features: 3,
        vertices: 3,
        byType: { detection: 1, annotation: 2 },
        byClass: [
          { names: ['Tumor'], count: 2 },
          { names: [], count: 1 },
        ],
      },
    });
  });

  it('rejects features with a coordinate that is NaN, the string "NaN", or 1e999 (infinite as a number)', () => {
    for (const coordinate of ['NaN', '"NaN"', '1e999']) {
      const text = `{"type":"Feature","geometry":{"type":"Point","coordinates":[${coordinate},2]},"properties":{}}`;
      expect(importFile(text)).toMatchObject({ ok: true, features: [], rejectedCount: 1 });
    }
  });

  it.each<[string, string, string | Uint8Array]>([
    ['a JSON file without annotations', 'unknown_format', '{"hello":1}'],
    ['an SVG file', 'unknown_format', '<svg/>'],
    ['a file that contains only a number', 'unknown_format', '5'],
    ['a JSON file that ends too early', 'not_json', '{"type":"FeatureCollection"'],
    ['an empty file', 'not_json', ''],
    ['a file that is not UTF-8', 'not_text', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['an XML file with an element that is not closed', 'not_xml', '<Annotations><Annotation></Annotations>'],
    ['an XML file with an undefined entity', 'not_xml', '<Annotations>&bomb;</Annotations>'],
    [
      'an XML file whose document type defines nested entities',
      'document_type',
      '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY c "&b;&b;">]><Annotations>&c;</Annotations>',
    ],
  ])('rejects %s, with the error code %s', (_, code, file) => {
    expect(errorOf(file)).toBe(code);
  });

  it('rejects the whole file with the error code nested_too_deeply when its XML elements are nested 101 levels deep', () => {
    expect(errorOf(`<Annotations>${'<a>'.repeat(100)}`)).toBe('nested_too_deeply');
  });

  it.each<[string, () => Uint8Array, string]>([
    ['JSON with 30 million nested arrays', () => repeat('[', '[', 30_000_000, ''), 'nested_too_deeply'],
    [
      'QuPath features with a million levels of children',
      () => repeat('', '{"type":"Feature","properties":{"childObjects":[', 1_000_000, ''),
      'nested_too_deeply',
    ],
    [
      'a GeoJSON line of 10 million vertices',
      () =>
        repeat(
          '{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[',
          '[1,2],',
          10_000_000,
          '[1,2]]}}',
        ),
      'too_many_vertices',
    ],
    ['a JSON list of 20 million numbers', () => repeat('[', '1,', 20_000_000, '1]'), 'too_many_values'],
    [
      'a JSON list of 10 million objects',
      () => repeat('{"a":{"a":[', '{},', 10_000_000, '{}]}}'),
      'too_many_values',
    ],
    ['a file of 100 MiB of zero bytes', () => new Uint8Array(100 * 2 ** 20), 'too_large'],
    [
      'a GeoJSON list of a million features',
      () => repeat('[', '{"type":"Feature"},', 1_000_000, '{}]'),
      'too_many_features',
    ],
    [
      'a JSON string of 60 million characters without its closing quote',
      () => repeat('"', 'a', 60_000_000, ''),
      'not_json',
    ],
    ['a JSON string of 60 million backslashes', () => repeat('"', '\\', 59_999_999, '"'), 'not_json'],
    [
      'XML with a million nested elements',
      () => repeat('<Annotations>', '<a>', 1_000_000, ''),
      'nested_too_deeply',
    ],
    [
      'an XML element with a million attributes of the same name',
      () => repeat('<Annotations>', ' a="1"', 1_000_000, ''),
      'not_xml',
    ],
    [
      'Aperio XML with 5,000 outlines and 5,000 holes outside them but inside their bounding boxes',
      () => {
        const region = (attributes: string, vertices: readonly string[]) =>
          `<Region${attributes}>${vertices.map((v) => `<V ${v}/>`).join('')}</Region>`;
        const outline = region('', ['X="0" Y="0"', 'X="9" Y="0"', 'X="9" Y="9"']);
        const hole = region(' NegativeROA="1"', ['X="1" Y="8"', 'X="1" Y="8.5"', 'X="2" Y="8.5"']);
        return repeat('<Annotations><Annotation>', outline + hole, 5_000, '</Annotation></Annotations>');
      },
      'too_many_values',
    ],
    [
      'XML whose document type defines a million entities',
      () => repeat('<!DOCTYPE a [', '<!ENTITY b "&c;&c;">', 1_000_000, ']><a/>'),
      'document_type',
    ],
  ])('rejects %s (error code $2), within 2 s of processor time and 200 MiB of memory', (_, create, code) => {
    const file = create();
    const memory = process.memoryUsage().rss;
    const start = process.cpuUsage();
    const result = importFile(file);
    const { user, system } = process.cpuUsage(start);
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect((user + system) / 1e6).toBeLessThan(2);
    expect((process.memoryUsage().rss - memory) / 2 ** 20).toBeLessThan(200);
  });

  it.each([
    [
      'ASAP',
      (value: string) =>
        `<ASAP_Annotations><Annotations><Annotation Type="Dot"><Coordinates><Coordinate Order="${value}" X="${value}" Y="1"/></Coordinates></Annotation></Annotations></ASAP_Annotations>`,
    ],
    [
      'Aperio',
      (value: string) =>
        `<Annotations><Annotation LineColor="${value}"><Regions><Region><Vertices><Vertex X="${value}" Y="1"/></Vertices></Region></Regions></Annotation></Annotations>`,
    ],
  ])(
    'rejects a feature of %s XML whose coordinate has 200,000 digits and a letter, with the error code not_a_position',
    (_, fileWith) => {
      const result = importFile(fileWith(`${'1'.repeat(200_000)}x`));
      expect(result).toMatchObject({ ok: true, rejectedCount: 1, rejected: [{ code: 'not_a_position' }] });
    },
  );

  it('imports a GeoJSON file that contains both NaN without quotes and a string of 20 million characters', () => {
    const note = `"${'x\\"'.repeat(5e6)}${'x'.repeat(5e6)}"`;
    const measurements = '{"a":NaN,"b":-Infinity,"NaN":1,"c":"NaN, Infinity"}';
    const properties = `{"measurements":${measurements}}`;
    const result = importFile(
      `{"note":${note},"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,-2]},"properties":${properties}}]}`,
    );
    expect(result).toMatchObject({
      ok: true,
      features: [{ properties: { measurements: { a: Number.NaN, b: Number.NEGATIVE_INFINITY, NaN: 1 } } }],
      warnings: [{ code: 'measurement_ignored', count: 1 }],
    });
  });

  it.each([
    ['a letter before NaN', '{"a":xNaN}'],
    ['a digit after NaN', '{"a":NaN1}'],
    ['an underscore after Infinity', '{"a":Infinity_}'],
    ['two minus signs before NaN', '[--NaN]'],
    ['a string without its closing quote after NaN', '[NaN,"'],
  ])('rejects a JSON file with %s, with the error code not_json', (_, text) => {
    expect(errorOf(text)).toBe('not_json');
  });

  it('rejects a file with one feature more than an annotation layer may have, with the error code too_many_features', () => {
    const point = JSON.stringify(feature({ type: 'Point', coordinates: [1, 2] }));
    expect(
      errorOf(
        `[${Array(annotationLimits.layerAnnotations + 1)
          .fill(point)
          .join(',')}]`,
      ),
    ).toBe('too_many_features');
  });

  it('lists only 100 of 500 rejected features of a file, and returns 500 as their number', () => {
    const result = importFile(JSON.stringify(Array(500).fill(feature(null))));
    expect(result.ok && [result.rejected.length, result.rejectedCount]).toEqual([
      importLimits.rejections,
      500,
    ]);
  });

  it('removes control characters and lone surrogates from the name and metadata of a feature, and warns with text_cleaned', () => {
    const properties = { name: 'a\u0000b\nc', metadata: { k: 'x\ud800y' } };
    const result = importFile(
      JSON.stringify(feature({ type: 'Point', coordinates: [1, 2] }, { properties })),
    );
    expect(result).toMatchObject({
      features: [{ properties: { name: 'ab c', metadata: { k: 'xy' } } }],
      warnings: [{ code: 'text_cleaned', count: 1 }],
    });
  });

  it('imports rectangles, ellipses, polylines and arrows of a Digital Slide Archive file, and rejects a heatmap and a ring of one point', () => {
    const elements = [
      {
        type: 'rectangle',
        center: [50, 50, 0],
        width: 20,
        height: 10,
        group: 'Tumor',
        lineColor: '#ff0000',
        label: { value: 'one' },
      },
      { type: 'ellipse', center: [50, 50, 0], width: 20, height: 10, rotation: 0 },
      { type: 'circle', center: [50, 50, 0], radius: 10 },
      { type: 'rectangle', center: [50, 50, 0], width: 20, height: 10, rotation: Math.PI / 2 },
      {
        type: 'polyline',
        closed: true,
        points: [
          [0, 0, 0],
          [9, 0, 0],
          [9, 9, 0],
        ],
        holes: [
          [
            [5, 2, 0],
            [7, 2, 0],
            [7, 4, 0],
          ],
        ],
      },
      {
        type: 'polyline',
        closed: false,
        points: [
          [0, 0, 0],
          [9, 0, 0],
        ],
      },
      {
        type: 'arrow',
        points: [
          [0, 0, 0],
          [9, 0, 0],
        ],
      },
      { type: 'heatmap', points: [] },
      { type: 'polyline', closed: true, points: [[0, 0, 0]] },
    ];
    const result = importFile(JSON.stringify({ annotation: { name: 'x', elements } }));
    if (!result.ok) throw new Error(result.error.code);
    expect(result.features.map(({ geometry }) => geometry.type)).toEqual([
      'Polygon',
      'Polygon',
      'Polygon',
      'Polygon',
      'Polygon',
      'LineString',
      'LineString',
    ]);
    expect(result.features[0]).toMatchObject({
      geometry: {
        coordinates: [
          [
            [40, 45],
            [60, 45],
            [60, 55],
            [40, 55],
            [40, 45],
          ],
        ],
      },
      properties: { name: 'one', classification: { names: ['Tumor'], color: [255, 0, 0] } },
    });
    expect(result.features[2]?.geometry).toMatchObject({ isEllipse: true });
    expect(result.features[4]?.geometry.coordinates).toHaveLength(2);
    expect(result.rejected.map(({ feature: number, code }) => [number, code])).toEqual([
      [8, 'unsupported_element'],
      [9, 'ring_too_short'],
    ]);
  });
});
