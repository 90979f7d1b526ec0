/** Vector result layers (objects that a program has found on a slide) through HTTP: formats, counts, picks, blocks, density, hostile files. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideWithResults } from '../testing/slide-with-results.ts';

vi.setConfig({ testTimeout: 60_000 });

const red = [200, 0, 0];

/** Returns a GeoJSON feature of a square cell of 10 × 10 pixels with this class; its centre is (x + 5, y + 5). */
function cell(x: number, y: number, name: string | null, measurements: object = { Area: x }) {
  const ring = [
    [x, y],
    [x + 10, y],
    [x + 10, y + 10],
    [x, y + 10],
    [x, y],
  ];
  return {
    type: 'Feature',
    id: `cell-${x}-${y}`,
    geometry: { type: 'Polygon', coordinates: [ring] },
    properties: {
      objectType: 'cell',
      ...(name !== null && { classification: { name, color: red } }),
      measurements,
    },
  };
}

const collection = (features: readonly object[]) =>
  Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }));

/** Cells of 10 × 10 pixels, one every 12 pixels, alternately of two classes. */
const grid = Array.from({ length: 4000 }, (_, i) =>
  cell((i % 80) * 12, Math.floor(i / 80) * 12, i % 2 === 0 ? 'Tumor' : 'Stroma'),
);

/** Starts a server with a slide and uploads the file as a vector layer. `get` and `bytesOf` return the content of the layer. */
async function uploadVectorFile(bytes: Uint8Array, database: (typeof databaseKinds)[number] = 'SQLite') {
  const slideResults = await slideWithResults(database);
  const layer = await slideResults.send(bytes, { kind: 'vector' });
  const get = async (overlayPath: string) => (await slideResults.overlay(layer.id, overlayPath)).json();
  const bytesOf = async (overlayPath: string) =>
    (await slideResults.overlay(layer.id, overlayPath)).rawPayload;
  return { ...slideResults, layer, get, bytesOf };
}

describe.each(databaseKinds)('Vector result layers, for example of cells (database: %s)', (database) => {
  it('contain the classes, colours and measurements of an uploaded QuPath file', async () => {
    const { layer, get } = await uploadVectorFile(collection(grid), database);
    expect(layer).toMatchObject({ state: 'ready', object_count: 4000 });
    expect(await get('descriptor')).toMatchObject({
      kind: 'vector',
      object_count: 4000,
      vertex_count: 16_000, // 4 for each cell
      bounds: [0, 0, 958, 598],
      classes: [
        { name: 'Tumor', color: red, count: 2000 },
        { name: 'Stroma', color: red, count: 2000 },
      ],
      measurements: [{ name: 'Area', min: 0, max: 948, count: 4000 }],
    });
  });

  it('return the number of objects of each class whose centre lies in a rectangle', async () => {
    const { get } = await uploadVectorFile(gzipSync(collection(grid)), database);
    expect(await get('counts')).toEqual({ classes: { Tumor: 2000, Stroma: 2000 } });
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let n = 0; n < 12; n++) {
      const [x0, y0] = [random() * 900, random() * 500];
      const [x1, y1] = [x0 + random() * 500, y0 + random() * 300];
      const expected = { Tumor: 0, Stroma: 0 };
      for (const [i] of grid.entries()) {
        const [x, y] = [(i % 80) * 12 + 5, Math.floor(i / 80) * 12 + 5];
        if (x >= x0 && x <= x1 && y >= y0 && y <= y1) expected[i % 2 === 0 ? 'Tumor' : 'Stroma']++;
      }
      expect(await get(`counts?bbox=${x0},${y0},${x1},${y1}`)).toEqual({ classes: expected });
    }
    expect(await get('counts?bbox=5,5,5,5')).toEqual({ classes: { Tumor: 1, Stroma: 0 } });
    expect(await get('counts?bbox=9,5,5,5')).toMatchObject({ code: 'invalid_request' });
  });
});

describe('Vector result layers (for example outlines of cells over a slide)', () => {
  it('return the smallest object at a position, or the nearest one within the tolerance', async () => {
    const large = { ...cell(0, 0, 'Region'), id: 'large' };
    large.geometry.coordinates = [
      [
        [0, 0],
        [900, 0],
        [900, 700],
        [0, 0],
      ],
    ];
    const { get } = await uploadVectorFile(
      collection([large, cell(100, 20, 'Tumor', { Area: 100, Bad: 'NaN' })]),
    );
    expect(await get('pick?x=105&y=25')).toEqual({
      object: {
        number: expect.any(Number),
        id: 'cell-100-20',
        class: { name: 'Tumor', color: red },
        center: [105, 25],
        rings: [
          [
            [100, 20],
            [110, 20],
            [110, 30],
            [100, 30],
          ],
        ],
        measurements: { Area: 100 },
      },
    });
    expect(await get('pick?x=500&y=100')).toMatchObject({ object: { id: 'large' } });
    expect(await get('pick?x=-3&y=0')).toEqual({ object: null });
    expect(await get('pick?x=-3&y=0&tolerance=4')).toMatchObject({ object: { id: 'large' } });
  });

  it('return the nearest object to a position even if the tolerance contains more blocks (groups of objects) than a request searches', async () => {
    // 16 cells, each with 513 points at its corner, which are more than a block may have, so that the area is halved until the
    // corner is alone. One point in the other half makes it a block each time.
    const points: (readonly [x: number, y: number])[] = [];
    for (let cellNumber = 0; cellNumber < 16; cellNumber++) {
      const [left, top] = [(cellNumber % 4) * 250, Math.floor(cellNumber / 4) * 200];
      for (let n = 0; n < 513; n++) points.push([left, top]);
      for (let part = 2; part <= 8192; part *= 2)
        points.push([left + 250 / part, top], [left, top + 200 / part]);
    }
    const rows = points.map((point) => point.join(','));
    const { get } = await uploadVectorFile(Buffer.from(['x,y', ...rows].join('\n')));
    expect((await get('descriptor')).blocks.count).toBe(448);
    expect(await get('pick?x=750&y=700')).toMatchObject({ object: { center: [750, 700] } });
    expect(await get('pick?x=750&y=700&tolerance=10000')).toMatchObject({ object: { center: [750, 700] } });
    expect(await get('pick?x=751&y=699&tolerance=10000')).toMatchObject({ object: { center: [750, 700] } });
  });

  it('return all objects in blocks (binary groups of objects), and density grids with the number of objects in each cell', async () => {
    const { get, bytesOf, overlay, layer } = await uploadVectorFile(collection(grid));
    const { blocks, density } = await get('descriptor');
    const index = await bytesOf('index');
    expect(index.length).toBe(28 * blocks.count); // 28 bytes for each block
    let [objects, vertices] = [0, 0];
    for (let n = 0; n < blocks.count; n++) {
      const block = await bytesOf(`blocks/${n}`);
      expect(block.readUInt32LE(0)).toBe(0x3142524c); // "LRB1"
      expect(block.readUInt32LE(4)).toBe(objects);
      expect(block.readUInt32LE(8)).toBe(index.readUInt32LE(28 * n + 20));
      objects += block.readUInt32LE(8);
      vertices += block.readUInt32LE(16);
    }
    expect([objects, vertices]).toEqual([4000, 16_000]);
    const centers = await bytesOf('centers');
    expect(centers.length).toBe(9 * 4000); // x and y as floats of 4 bytes, and the class in 1 byte
    const column = await bytesOf('measurements/0?first=10&count=2');
    expect(column.readFloatLE(4)).toBe(centers.readFloatLE(4 * 11) - 5);
    for (const { level, width, height, cell: cellSize, x, y } of density) {
      const counts = await bytesOf(`density/${level}/1`);
      expect(counts.length).toBe(4 * width * height);
      const expected = new Uint32Array(width * height);
      // Cells with odd numbers have class 1, Stroma.
      for (let i = 1; i < grid.length; i += 2) {
        const [centerX, centerY] = [(i % 80) * 12 + 5, Math.floor(i / 80) * 12 + 5];
        const [column, row] = [Math.floor((centerX - x) / cellSize), Math.floor((centerY - y) / cellSize)];
        (expected[row * width + column] as number)++;
      }
      const values = Array.from(expected, (_, n) => counts.readUInt32LE(4 * n));
      expect(values).toEqual([...expected]);
    }
    expect((await overlay(layer.id, `blocks/${blocks.count}`)).statusCode).toBe(404);
    expect((await overlay(layer.id, 'tiles/0/0_0.png')).statusCode).toBe(404);
  });

  const folder = process.env.TEST_SLIDES;

  it.skipIf(folder === undefined).each([
    ['an array of QuPath 0.2', 'region_annotation_results.geojson'],
    ['a bare MultiPolygon with holes', 'polygon.geojson'],
    ['a FeatureCollection of QuPath 0.5', 'qupath05.geojson'],
  ])('are imported from a GeoJSON file that is %s (needs TEST_SLIDES)', async (_, file) => {
    const { layer } = await uploadVectorFile(await fs.readFile(path.join(folder ?? '', 'annotations', file)));
    expect(layer).toMatchObject({ state: 'ready' });
    expect(layer.object_count).toBeGreaterThan(0);
  });

  it.skipIf(folder === undefined)(
    'have the annotation groups of an uploaded DICOM file as classes (needs TEST_SLIDES)',
    async () => {
      const { layer, get } = await uploadVectorFile(
        await fs.readFile(path.join(folder ?? '', 'dicom/highdicom/sm_annotations.dcm')),
      );
      expect(layer).toMatchObject({ state: 'ready' });
      const { classes, measurements } = (await get('descriptor')) as {
        classes: { name: string; count: number }[];
        measurements: unknown[];
      };
      const counts = classes.map(({ name, count }) => [name, count]);
      expect(await get('counts')).toEqual({ classes: Object.fromEntries(counts) });
      expect(layer.object_count).toBeGreaterThan(0);
      expect(measurements.length).toBeGreaterThan(0);
    },
  );

  it('have the class "Stroma: Positive" for the class Positive with the parent Stroma in a QuPath 0.3 file', async () => {
    const derived = (x: number, parents: object) => {
      const feature = cell(x, 0, null);
      const classification = { name: 'Positive', colorRGB: -377_282, ...parents };
      return { ...feature, id: 'PathCellObject', properties: { ...feature.properties, classification } };
    };
    const [tumor, stroma] = [{ parentClass: { name: 'Tumor' } }, { parentClass: { name: 'Stroma' } }];
    const immune = { parentClass: { name: 'Immune cells', parentClass: { name: 'Stroma' } } };
    const { get } = await uploadVectorFile(
      collection([derived(0, tumor), derived(20, stroma), derived(40, tumor), derived(60, immune)]),
    );
    expect(await get('counts')).toEqual({
      classes: { 'Tumor: Positive': 2, 'Stroma: Positive': 1, 'Stroma: Immune cells: Positive': 1 },
    });
    expect(await get('pick?x=25&y=5')).toMatchObject({
      object: { id: null, class: { name: 'Stroma: Positive', color: [250, 62, 62] } },
    });
  });

  it('have the cell types of an uploaded HoVerNet or CellViT file as classes', async () => {
    const contour = [
      [0, 0],
      [10, 0],
      [10, 10],
    ];
    const entry = { contour, type: 1, type_prob: 0.5, centroid: [5, 5] };
    const hoverNet = await uploadVectorFile(
      Buffer.from(JSON.stringify({ mag: 40, nuc: { 7: entry, 8: entry } })),
    );
    expect(await hoverNet.get('counts')).toEqual({ classes: { 'Type 1': 2 } });
    expect(await hoverNet.get('pick?x=8&y=3')).toMatchObject({
      object: { measurements: { type_prob: 0.5 } },
    });
    const file = { type_map: { 1: 'Neoplastic' }, cells: [entry, entry, entry] };
    const cellVit = await uploadVectorFile(Buffer.from(JSON.stringify(file)));
    expect(await cellVit.get('counts')).toEqual({ classes: { Neoplastic: 3 } });
  });

  it('have one object for each part of a MultiPolygon of 500 parts, which is more than the 64 parts that one object may have', async () => {
    const coordinates = grid.slice(0, 500).map(({ geometry }) => geometry.coordinates);
    const feature = {
      type: 'Feature',
      geometry: { type: 'MultiPolygon', coordinates },
      properties: { classification: { name: 'Tumor', color: red } },
    };
    const { layer } = await uploadVectorFile(Buffer.from(JSON.stringify([feature])));
    expect(layer.object_count).toBe(500);
  });

  it('are imported from a QuPath file with NaN and Infinity as measurements, which are left out', async () => {
    const feature = JSON.stringify(cell(0, 0, 'NaN', { Area: 100, Solidity: 'nan', Ratio: 'inf' }));
    const text = feature.replace('"nan"', 'NaN').replace('"inf"', '-Infinity');
    const { layer, get } = await uploadVectorFile(Buffer.from(`{"features":[${text}]}`));
    expect(layer).toMatchObject({ state: 'ready', object_count: 1 });
    expect(await get('pick?x=5&y=5')).toMatchObject({
      object: { class: { name: 'NaN' }, measurements: { Area: 100 } },
    });
  });

  it('place the centre of an outline at the mean of its vertices when the outline crosses itself and has almost no area', async () => {
    const { get } = await uploadVectorFile(
      collection([
        polygonFeature([
          [
            [100, 100],
            [110, 110.0001],
            [110, 100],
            [100, 110],
          ],
        ]),
      ]),
    );
    expect(await get('pick?x=109&y=105')).toMatchObject({
      object: { center: [105, expect.closeTo(105, 3)] },
    });
  });

  it('place the centre of a MultiPolygon at the mean of the centres of its parts, weighted by area, even if one part lies inside another', async () => {
    const squareAt = (x: number, side: number) => [
      [x, 0],
      [x + side, 0],
      [x + side, side],
      [x, side],
    ];
    const geometry = { type: 'MultiPolygon', coordinates: [[squareAt(0, 30)], [squareAt(20, 10)]] };
    const { get } = await uploadVectorFile(collection([{ type: 'Feature', geometry }]));
    // Areas 900 and 100, with the centroids (15, 15) and (25, 5)
    expect(await get('pick?x=10&y=10')).toMatchObject({ object: { center: [16, 14] } });
  });

  it('shorten object ids to 200 characters, for example a HoVerNet key of 70,000 characters', async () => {
    const contour = [
      [0, 0],
      [10, 0],
      [10, 10],
    ];
    const { get } = await uploadVectorFile(
      Buffer.from(JSON.stringify({ nuc: { ['k'.repeat(70_000)]: { contour, type: 1 } } })),
    );
    expect(await get('pick?x=8&y=3')).toMatchObject({ object: { id: 'k'.repeat(200) } });
  });

  it('are imported from a CSV or TSV table of points in pixels or in micrometres', async () => {
    const inPixels = await uploadVectorFile(
      Buffer.from('x,y,class,score\n10,20,Mitosis,0.5\n30,40,Other,\n'),
    );
    expect(await inPixels.get('pick?x=10&y=20')).toMatchObject({
      object: { class: { name: 'Mitosis' }, rings: [], measurements: { score: 0.5 } },
    });
    const table = 'Object ID\tClassification\tCentroid X µm\tCentroid Y µm\na\tTumor\t10\t20\n';
    const inMicrometres = await uploadVectorFile(Buffer.from(table));
    expect(await inMicrometres.get('pick?x=20&y=40')).toMatchObject({
      object: { id: 'a', center: [20, 40] },
    });
  });

  it.each([
    ['plain text', Buffer.from('no table and no JSON'), 'unknown_format'],
    ['GeoJSON that ends early', collection(grid).subarray(0, 5000), 'damaged'],
    ['GeoJSON with an unquoted word as value', Buffer.from('{"features":[{"type":Feature}]}'), 'damaged'],
    ['brackets nested 100,000 deep', Buffer.from('['.repeat(100_000)), 'too_complex'],
    [
      'a feature with 1,400,000 JSON arrays in its geometry',
      Buffer.from(`{"features":[{"geometry":[${'[],'.repeat(1_400_000)}[]]}]}`),
      'too_complex',
    ],
    [
      'a feature with 1,200,000 JSON objects and 2,700,000 numbers in its geometry',
      Buffer.from(`{"features":[{"geometry":[${'{},'.repeat(1_200_000)}${'1.5,'.repeat(2_700_000)}0]}]}`),
      'too_complex',
    ],
    [
      'a feature with 7,900,000 JSON objects in its unknown member "a"',
      Buffer.from(
        `{"features":[{"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1]]]},"a":[${'{},'.repeat(7_900_000)}0]}]}`,
      ),
      'too_complex',
    ],
    [
      'a feature with 4,100,000 numbers in its geometry',
      Buffer.from(`{"features":[{"geometry":["x",${'1.5,'.repeat(4_100_000)}0]}]}`),
      'too_complex',
    ],
    [
      'a polygon with text as a coordinate',
      collection([
        polygonFeature([
          [
            ['a', 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ]),
      ]),
      'bad_geometry',
    ],
    [
      'a polygon with the coordinate 1e300',
      collection([
        polygonFeature([
          [
            [1e300, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ]),
      ]),
      'bad_geometry',
    ],
    [
      'a polygon with a ring of two vertices',
      collection([
        polygonFeature([
          [
            [0, 0],
            [1, 0],
            [0, 0],
          ],
        ]),
      ]),
      'bad_geometry',
    ],
    ['a polygon without rings', collection([polygonFeature([])]), 'bad_geometry'],
    [
      'a feature with the unknown geometry type Curve',
      collection([{ type: 'Feature', geometry: { type: 'Curve', coordinates: [] } }]),
      'bad_geometry',
    ],
    [
      'objects of 300 classes (the maximum is 250)',
      collection(grid.slice(0, 300).map((_, i) => cell(i, 0, `Class ${i}`))),
      'too_many_classes',
    ],
    ['a damaged gzip stream', gzipSync(collection(grid)).subarray(0, 2000), 'damaged'],
    ['a gzip bomb, which expands to 40 MB of spaces', gzipBomb(), 'too_complex'],
  ])('have the state failed (problem code: $2) after the upload of %s', async (_, bytes, code) => {
    const { layer } = await uploadVectorFile(bytes as Buffer);
    expect(layer).toMatchObject({ state: 'failed', problem: { code } });
  });

  it('close open rings of the uploaded file, and ignore features without geometry', async () => {
    const open = polygonFeature([
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 10],
      ],
    ]);
    const { get } = await uploadVectorFile(
      collection([open, { type: 'Feature', geometry: null, properties: {} }]),
    );
    expect(await get('counts?bbox=5,5,5,5')).toEqual({ classes: { Unclassified: 1 } });
  });

  it('cause one image-opened audit event for the slide when an API token requests any part of the layer, for example the counts', async () => {
    const { server, image, layer } = await uploadVectorFile(collection(grid));
    const owner = await server.fixtures.user();
    const parts = ['counts', 'pick?x=5&y=5&tolerance=1', 'index', 'blocks/0', 'centers', 'measurements/0'];
    for (const part of [...parts, 'density/0/0']) {
      const { token } = await server.fixtures.apiToken(owner, { scopes: ['slides:read'] });
      const url = `/image-catalog/overlays/${layer.id}/${part}`;
      const request = () => server.as(token).inject({ method: 'GET', url });
      expect([part, (await request()).status, (await request()).status]).toEqual([part, 200, 200]);
      const events = await server.services.db
        .selectFrom('audit')
        .select(['action', 'target'])
        .where('detail', 'like', `%${token.slice(0, 12)}%`)
        .execute();
      expect([part, events]).toEqual([part, [{ action: 'image-opened', target: image.id }]]);
    }
  });

  it('send their blocks (binary groups of objects) compressed with gzip to clients that accept gzip', async () => {
    const { server, layer, overlay } = await uploadVectorFile(collection(grid));
    const plain = await overlay(layer.id, 'blocks/0');
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const encodings of ['gzip', 'br, gzip;q=0.5']) {
      const packed = await server.app.inject({
        url: String(plain.raw.req.url),
        headers: { 'accept-encoding': encodings },
      });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(packed.rawPayload)).toEqual(plain.rawPayload);
    }
  });
});

function polygonFeature(coordinates: unknown) {
  return { type: 'Feature', geometry: { type: 'Polygon', coordinates }, properties: {} };
}

/** Returns a gzip file of about 40 kB that expands to 40 MB. */
function gzipBomb(): Buffer {
  return gzipSync(Buffer.concat([Buffer.from('{"features":[{"a":'), Buffer.alloc(40_000_000, ' ')]));
}
