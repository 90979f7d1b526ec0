import { describe, expect, it } from 'vitest';
import { createEllipse } from '../geometry/ellipse.ts';
import type { AnnotationFeature, AnnotationProperties } from '../model/feature.ts';
import type { Geometry } from '../model/geometry.ts';
import { createUuid } from '../model/uuid.ts';
import { exportAnnotations } from './export-annotations.ts';
import type { ExportFormat } from './export-types.ts';
import { importAnnotations } from './import-annotations.ts';

const feature = (geometry: Geometry, properties: Partial<AnnotationProperties> = {}): AnnotationFeature => ({
  type: 'Feature',
  id: createUuid(),
  geometry,
  properties: { objectType: 'annotation', ...properties },
});
const outer = [
  [0, 0],
  [100, 0],
  [100, 50.25],
  [0, 50.25],
  [0, 0],
] as const;
const hole = [
  [10, 10],
  [10, 20],
  [20, 20],
  [10, 10],
] as const;
const tumor = { names: ['Tumor & <Stroma>'], color: [200, 10, 30] } as const;

const features = [
  feature({ type: 'Polygon', coordinates: [outer, hole] }, { name: 'a "b"', classification: tumor }),
  feature({ type: 'Point', coordinates: [5, 6.5] }, { classification: tumor }),
  feature({
    type: 'MultiPoint',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  }),
  feature(
    {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    { name: 'ruler' },
  ),
  feature({
    type: 'LineString',
    coordinates: [
      [1, 2],
      [3, 4],
      [5, 5],
    ],
  }),
  feature(createEllipse({ minX: 10, minY: 20, maxX: 30, maxY: 60 }), { color: [1, 2, 3] }),
];

const write = (format: ExportFormat, from: readonly AnnotationFeature[] = features) =>
  [...exportAnnotations(from, { format, pixelSize: { x: 0.5, y: 0.5 } }).chunks].join('');

function readBack(text: string) {
  const result = importAnnotations(text, { format: 'auto', extent: { width: 1000, height: 1000 } });
  if (!result.ok) throw new Error(`${result.error.code} ${JSON.stringify(result.error.params)}`);
  return result;
}

describe('ASAP XML (annotation file)', () => {
  it('is exported with the class None renamed to "None (class)", because None means no class in ASAP', () => {
    const point = feature(
      { type: 'Point', coordinates: [1, 2] },
      { classification: { names: ['None'], color: [9, 8, 7] } },
    );
    expect(readBack(write('asap', [point])).features[0]?.properties.classification).toEqual({
      names: ['None (class)'],
      color: [9, 8, 7],
    });
  });

  it('keeps points, polygons and 2-vertex lines after export and import, turns a hole into an outline and omits a 3-vertex line', () => {
    const { format, features: copies, rejected } = readBack(write('asap'));
    expect([format, rejected]).toEqual(['asap', []]);
    expect(copies.map(({ geometry }) => geometry.type)).toEqual([
      'Polygon',
      'Polygon',
      'Point',
      'MultiPoint',
      'LineString',
      'Polygon',
    ]);
    expect(copies[0]).toMatchObject({
      geometry: { coordinates: [outer] },
      properties: { name: 'a "b"', classification: tumor },
    });
    expect(copies[1]?.properties.classification?.names).toEqual(['Tumor & <Stroma> (hole)']);
    expect(copies[5]?.properties.color).toEqual([1, 2, 3]);
  });

  it('is exported with a warning each for a hole, a line of three vertices and an ellipse, which ASAP cannot store', () => {
    expect(exportAnnotations(features, { format: 'asap', pixelSize: null }).warnings).toEqual([
      { code: 'holes_as_outlines', count: 1 },
      { code: 'lines_left_out', count: 1 },
      { code: 'ellipses_as_polygons', count: 1 },
    ]);
  });

  it('is imported with groups as classes, splines as polygons and coordinates sorted by Order, but without annotations that contain NaN', () => {
    const coordinate = (order: number, x: string, y: string) =>
      `<Coordinate Order="${order}" X="${x}" Y="${y}" />`;
    const text = `<?xml version="1.0"?>
<ASAP_Annotations><Annotations>
<Annotation Name="one" Type="Spline" PartOfGroup="Tumor" Color="#F4FA58"><Coordinates>${coordinate(1, '10,5', '0')}${coordinate(0, '1', '2')}${coordinate(2, '5', '9')}</Coordinates></Annotation>
<Annotation Name="two" Type="Polygon" PartOfGroup="None" Color="#F4FA58"><Coordinates>${coordinate(0, 'NaN', '2')}${coordinate(1, '1', '2')}${coordinate(2, '1', '3')}</Coordinates></Annotation>
</Annotations><AnnotationGroups><Group Name="Tumor" PartOfGroup="None" Color="#64FE2E"><Attributes /></Group></AnnotationGroups></ASAP_Annotations>`;
    const result = readBack(text);
    expect(result.features).toMatchObject([
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [1, 2],
              [10.5, 0],
              [5, 9],
              [1, 2],
            ],
          ],
        },
        properties: {
          name: 'one',
          classification: { names: ['Tumor'], color: [100, 254, 46] },
          color: [244, 250, 88],
        },
      },
    ]);
    expect(result.warnings).toEqual([{ code: 'spline_as_polygon', count: 1 }]);
    expect(result.rejected).toMatchObject([{ feature: 2, line: 4, code: 'not_a_position' }]);
  });
});

describe('Aperio XML (annotation file)', () => {
  it.each([
    [
      'first',
      [
        [100, 20],
        [80, 30],
        [80, 10],
        [100, 20],
      ],
    ],
    [
      'last',
      [
        [80, 30],
        [80, 10],
        [100, 20],
        [80, 30],
      ],
    ],
  ] as const)('keeps, after export and import, a hole whose %s vertex lies on the outline', (_, touching) => {
    const area = feature({ type: 'Polygon', coordinates: [outer, touching] });
    const { features: copies, rejected } = readBack(write('aperio', [area]));
    expect(rejected).toEqual([]);
    expect(copies[0]?.geometry).toEqual(area.geometry);
  });

  it('is imported with a hole assigned to the inner one of two nested outlines that contain the hole', () => {
    const square = (min: number, max: number) =>
      [
        [min, min],
        [max, min],
        [max, max],
        [min, max],
        [min, min],
      ] as const;
    const areas = [square(0, 100), square(10, 60), square(20, 30)];
    const regions = areas.map(
      (ring, index) =>
        `<Region NegativeROA="${index === 2 ? 1 : 0}"><Vertices>${ring.map(([x, y]) => `<V X="${x}" Y="${y}"/>`).join('')}</Vertices></Region>`,
    );
    const { features: copies } = readBack(
      `<Annotations><Annotation>${regions.join('')}</Annotation></Annotations>`,
    );
    expect(copies.map(({ geometry }) => geometry.coordinates)).toEqual([[areas[0]], [areas[1], areas[2]]]);
  });

  it('is imported with a hole assigned to the polygon around the hole, although a smaller open line also surrounds the hole', () => {
    const vertices = (...points: readonly string[]) =>
      `<Vertices>${points.map((point) => `<V ${point}/>`).join('')}</Vertices>`;
    const line = vertices('X="10" Y="10"', 'X="60" Y="10"', 'X="60" Y="60"', 'X="10" Y="60"');
    const { features: copies, rejected } = readBack(
      `<Annotations><Annotation>
<Region>${vertices('X="0" Y="0"', 'X="100" Y="0"', 'X="100" Y="100"', 'X="0" Y="100"')}</Region>
<Region Type="4">${line}</Region>
<Region NegativeROA="1">${vertices('X="20" Y="20"', 'X="30" Y="20"', 'X="30" Y="30"')}</Region>
</Annotation></Annotations>`,
    );
    expect(rejected).toEqual([]);
    expect(copies.map(({ geometry: { type, coordinates } }) => [type, coordinates.length])).toEqual([
      ['Polygon', 2],
      ['LineString', 4],
    ]);
  });

  it('keeps holes, classes, colours and ellipses after export and import', () => {
    const { format, features: copies, rejected } = readBack(write('aperio'));
    expect([format, rejected]).toEqual(['aperio', []]);
    const types = copies.map(({ geometry }) => geometry.type);
    expect(types).toEqual(['Polygon', 'Point', 'Point', 'Point', 'LineString', 'LineString', 'Polygon']);
    expect(copies[0]).toMatchObject({
      geometry: { coordinates: [outer, hole] },
      properties: { name: 'a "b"', classification: tumor },
    });
    expect(copies[6]).toMatchObject({ geometry: { isEllipse: true }, properties: { color: [1, 2, 3] } });
  });

  it('is imported with LineColor 255 as red and a rectangle from its two corners, but without a hole that lies outside all outlines', () => {
    const text = `<Annotations MicronsPerPixel="0.25"><Annotation Id="1" Name="Tumor" LineColor="255" Visible="1"><Regions>
<Region Id="1" Type="1" NegativeROA="0"><Vertices><V X="10" Y="20"/><V X="30" Y="40"/></Vertices></Region>
<Region Id="2" Type="0" NegativeROA="1"><Vertices><V X="910" Y="20"/><V X="930" Y="40"/><V X="930" Y="20"/></Vertices></Region>
</Regions></Annotation></Annotations>`;
    const result = readBack(text);
    expect(result.features).toMatchObject([
      {
        geometry: {
          coordinates: [
            [
              [10, 20],
              [30, 20],
              [30, 40],
              [10, 40],
              [10, 20],
            ],
          ],
        },
        properties: { classification: { names: ['Tumor'], color: [255, 0, 0] } },
      },
    ]);
    expect(result.rejected).toMatchObject([{ line: 3, code: 'unsupported_element', path: 'NegativeROA' }]);
  });
});

describe('HALO XML (annotation file)', () => {
  it.each([
    ['Polygon', 3, { type: 'Polygon' }, 'a polygon'],
    [
      'Rectangle',
      2,
      {
        type: 'Polygon',
        coordinates: [
          [
            [10, 20],
            [30, 20],
            [30, 40],
            [10, 40],
            [10, 20],
          ],
        ],
      },
      'a rectangular polygon',
    ],
    ['Ellipse', 2, createEllipse({ minX: 10, minY: 20, maxX: 30, maxY: 40 }), 'an ellipse'],
    [
      'Ruler',
      3,
      {
        type: 'LineString',
        coordinates: [
          [10, 20],
          [30, 40],
          [50, 20],
        ],
      },
      'a line',
    ],
    ['Pin', 1, { type: 'Point', coordinates: [10, 20] }, 'a point'],
  ])('is imported with a region of the type %s and %i vertices as $3', (type, count, geometry, _) => {
    const vertices = ['<V X="10" Y="20" />', '<V X="30" Y="40" />', '<V X="50" Y="20" />'].slice(0, count);
    const result = readBack(
      `<Annotations><Annotation LineColor="65535" Name="Layer 1" Visible="True"><Regions><Region Type="${type}" HasEndcaps="0" NegativeROA="0"><Vertices>${vertices.join('')}</Vertices><Comments /></Region></Regions></Annotation></Annotations>`,
    );
    expect(result.rejected).toEqual([]);
    expect(result.features).toMatchObject([{ geometry }]);
  });
});

describe('an annotation file in XML that begins with blank lines', () => {
  it.each(['\n', '\r\n'])(
    'is imported, and a rejected annotation is listed with a line number that counts the blank lines (line break: %j)',
    (lineBreak) => {
      const lines = [
        '',
        '  ',
        '<?xml version="1.0"?>',
        '<Annotations><Annotation Id="1"><Regions>',
        '<Region Id="1" Type="0" NegativeROA="1"><Vertices><V X="9" Y="2"/><V X="9" Y="4"/><V X="3" Y="2"/></Vertices></Region>',
        '</Regions></Annotation></Annotations>',
      ];
      expect(readBack(lines.join(lineBreak)).rejected).toMatchObject([
        { line: 5, code: 'unsupported_element' },
      ]);
    },
  );

  it('is rejected, when an end tag does not match, with a line number that counts the blank lines', () => {
    const result = importAnnotations('\n\n<Annotations>\n</Regions>', { format: 'auto', extent: null });
    expect(result).toMatchObject({ ok: false, error: { code: 'not_xml', params: { line: 4 } } });
  });
});

describe('plain GeoJSON (annotation file without the extensions of QuPath)', () => {
  it('keeps the colours of classes and of annotations without a class after export and import', () => {
    const point = { type: 'Point', coordinates: [5, 6] } as const;
    const colored = [feature(point, { classification: tumor }), feature(point, { color: [1, 2, 3] })];
    const { features: copies, warnings } = readBack(write('geojson', colored));
    expect(copies).toEqual(colored);
    expect(warnings).toEqual([]);
  });

  it('is imported with values that fit no annotation field kept as metadata, such as the type "mitosis"', () => {
    const importedAs = (properties: object) => {
      const geometry = { type: 'Point', coordinates: [1, 2] };
      const result = readBack(JSON.stringify({ type: 'Feature', geometry, properties }));
      return [result.features[0]?.properties, result.warnings.map(({ code }) => code)];
    };
    const kept = ['properties_kept_as_metadata'];
    expect(importedAs({ type: 'mitosis' })).toEqual([
      { objectType: 'annotation', metadata: { type: 'mitosis' } },
      kept,
    ]);
    expect(importedAs({ objectType: 'cell', type: 'mitosis' })).toEqual([
      { objectType: 'cell', metadata: { type: 'mitosis' } },
      kept,
    ]);
    expect(importedAs({ type: 'detection' })).toEqual([{ objectType: 'detection' }, []]);
    expect(importedAs({ stroke: 'none' })).toEqual([
      { objectType: 'annotation', metadata: { stroke: 'none' } },
      kept,
    ]);
    expect(importedAs({ color: [1, 2, 3], stroke: '#ffffff' })).toEqual([
      { objectType: 'annotation', color: [1, 2, 3], metadata: { stroke: '#ffffff' } },
      kept,
    ]);
  });

  it('is exported with class names as strings and without isEllipse, an extension of QuPath', () => {
    const { features: written } = JSON.parse(write('geojson')) as { features: unknown[] };
    expect(written[0]).toEqual({
      type: 'Feature',
      id: features[0]?.id,
      geometry: { type: 'Polygon', coordinates: [outer, hole] },
      properties: {
        objectType: 'annotation',
        name: 'a "b"',
        classification: 'Tumor & <Stroma>',
        stroke: '#c80a1e',
      },
    });
    expect(Object.keys((written[5] as { geometry: object }).geometry)).toEqual(['type', 'coordinates']);
    expect(readBack(write('geojson')).features).toHaveLength(6);
  });
});

describe('CSV of annotations', () => {
  it('has one row per annotation, with area and perimeter in micrometres and one column per measurement', () => {
    const measured = feature(
      { type: 'Polygon', coordinates: [outer] },
      { measurements: { 'Ki67 "x", %': 12.5, 'a\nb': Number.NaN } },
    );
    const [header, row, point] = write('csv', [
      measured,
      feature({ type: 'Point', coordinates: [1, 2] }),
    ]).split('\r\n');
    expect(header).toBe(
      '\ufeffID,Object type,Class,Name,Geometry,Centroid X px,Centroid Y px,Area px^2,Area µm^2,Length px,Perimeter µm,"Ki67 ""x"", %","a\nb"',
    );
    // 100 × 50.25 px, with 0.5 µm per pixel
    expect(row).toBe(`${measured.id},annotation,,,Polygon,50,25.13,5025,1256.25,300.5,150.25,12.5,NaN`);
    expect(point?.endsWith(',annotation,,,Point,1,2,,,,,,')).toBe(true);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', `"  '=1"`],
    ['\uff1d1', "'\uff1d1"],
    ['a,=1', `"a,'=1"`],
    ['a;=1', `"a;'=1"`],
    ['a=1', 'a=1'],
  ])(
    'has, for the annotation name %j, the cell %s, which spreadsheets do not evaluate as a formula',
    (name, cell) => {
      const text = write('csv', [
        feature({ type: 'Point', coordinates: [1, 2] }, { name, measurements: { [name]: 1 } }),
      ]);
      const [header, row] = text.split('\r\n');
      expect(row).toContain(`annotation,,${cell},Point`);
      expect(header?.endsWith(`,${cell}`)).toBe(true);
    },
  );

  it('is written in less than a second for 100,000 line ends in a name', () => {
    const startedAt = performance.now();
    const name = `${'\n'.repeat(100_000)}a`;
    expect(write('csv', [feature({ type: 'Point', coordinates: [1, 2] }, { name })])).toContain(name);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

describe('exportAnnotations (writes an annotation file)', () => {
  it.each([
    ['geojson', [{ code: 'details_left_out', count: 5 }]],
    [
      'asap',
      [
        { code: 'descriptions_left_out', count: 1 },
        { code: 'details_left_out', count: 5 },
      ],
    ],
    [
      'aperio',
      [
        { code: 'descriptions_left_out', count: 1 },
        { code: 'details_left_out', count: 5 },
      ],
    ],
    ['qupath', []],
  ] as const)(
    'returns, for the format %s, the warnings %j about annotation details that the format cannot store',
    (format, warnings) => {
      const point = { type: 'Point', coordinates: [1, 2] } as const;
      const withDetails = [
        feature(point),
        feature(point, { description: 'two\nlines' }),
        feature({ ...point, plane: { c: -1, z: 1, t: 0 } }),
        { ...feature(point, { objectType: 'cell' }), nucleusGeometry: point },
        feature(point, { metadata: { key: 'value' } }),
        feature(point, { isLocked: true }),
        feature(point, { objectType: 'tmaCore', isMissing: true }),
      ];
      expect(exportAnnotations(withDetails, { format, pixelSize: null }).warnings).toEqual(warnings);
    },
  );
});
