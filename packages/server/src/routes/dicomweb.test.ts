/** DICOMweb through HTTP: searches that known clients send, metadata, frames compared byte for byte, content negotiation, and access. */
import { updateImage } from '@lamina/contract';
import { renderedTileCoding } from '@lamina/slide';
import { buildIcc, buildSvs, pixelsOf } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDicomWeb } from '../dicomweb/dicomweb.ts';
import { parseSearch } from '../dicomweb/search-query.ts';
import { uidOf } from '../dicomweb/uids.ts';
import { injectRequest } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';
import { missingId } from '../testing/well-formed-requests.ts';
import type { Slides } from '../tiles/slides.ts';

type DataSet = Record<
  string,
  { readonly vr: string; readonly Value?: readonly unknown[]; readonly BulkDataURI?: string }
>;

/** 480 × 400 pixels in 16 tiles of 128; two levels, at downsample 1 and 4. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const viewerOrigin = 'https://viewer.example';

let server: SlideServer;
let svs: Buffer;
let id: string;
let otherId: string;
let token: string;
let seriesPath: string;

beforeAll(async () => {
  server = await slideServer({ isShared: true, config: { dicomwebOrigins: new Set([viewerOrigin]) } });
  svs = Buffer.from(await buildSvs({ ...slideOptions, profile: buildIcc() }));
  await server.put('Tissue/good.svs', svs);
  await server.put('Tissue/other.svs', await buildSvs({ ...slideOptions, downsamples: [1] }));
  await server.rescan();
  [id, otherId] = [await server.idOf('good.svs'), await server.idOf('other.svs')];
  token = await server.fixtures.token(await server.fixtures.user());
  seriesPath = `/studies/${uidOf(id, 'study')}/series/${uidOf(id, 'series')}`;
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  injectRequest(server.app, {
    url: `/dicom-web${path}`,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
const search = async (path: string) => {
  const response = await get(path);
  expect([path, response.statusCode, response.headers['content-type']]).toEqual([
    path,
    200,
    'application/dicom+json',
  ]);
  return response.json<DataSet[]>();
};
/** Returns the study descriptions (tag 00081030), which are the names of the slide files. */
const namesOf = (found: readonly DataSet[]) =>
  found.map((dataSet) => dataSet['00081030']?.Value?.[0] as string).sort();
const instancePath = (level: number) => `${seriesPath}/instances/${uidOf(id, level)}`;
const anySyntax = 'multipart/related; type="application/octet-stream"; transfer-syntax=*';

/** Returns the parts of a multipart body (RFC 2046 section 5.1.1). */
function partsOf(response: { readonly headers: Record<string, unknown>; readonly rawPayload: Buffer }) {
  const boundary = /boundary="([^"]+)"/.exec(String(response.headers['content-type']))?.[1] ?? '';
  const text = response.rawPayload.toString('latin1');
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      return { head: part.slice(2, end), bytes: Buffer.from(part.slice(end + 4, -2), 'latin1') };
    });
}

describe('DICOMweb search (QIDO-RS)', () => {
  it('finds one study for each slide, with the patient name Anonymous and empty patient attributes', async () => {
    const found = await search(
      '/studies?ModalitiesInStudy=SM&fuzzymatching=true&limit=101&offset=0&includefield=00081030,00080060',
    );
    expect(namesOf(found)).toEqual(['good.svs', 'other.svs']);
    const goodStudy = found.find((dataSet) => dataSet['0020000D']?.Value?.[0] === uidOf(id, 'study'));
    expect(goodStudy).toMatchObject({
      '00100010': { vr: 'PN', Value: [{ Alphabetic: 'Anonymous' }] }, // PatientName
      '00100030': { vr: 'DA' }, // PatientBirthDate
      '00080061': { Value: ['SM'] }, // ModalitiesInStudy
      '00201208': { Value: [2] }, // NumberOfStudyRelatedInstances
      '00081190': { Value: [`http://localhost:80/dicom-web/studies/${uidOf(id, 'study')}`] },
    });
  });

  it.each([
    ['/studies?StudyDescription=GOOD*', ['good.svs']],
    ['/studies?00081030=?ood.svs', ['good.svs']],
    ['/studies?PatientName=anon*', ['good.svs', 'other.svs']],
    ['/studies?PatientName=Doe', []],
    ['/studies?AccessionNumber=1', []],
    ['/studies?AccessionNumber=', ['good.svs', 'other.svs']],
    ['/studies?StudyDate=20200101-20301231', []],
    ['/studies?limit=0', []],
    ['/studies?offset=1&limit=1', ['good.svs or other.svs']],
    ['/studies?offset=999999999', []],
    ['/studies?ModalitiesInStudy=CT', []],
    ['/studies?ModalitiesInStudy=CT,SM', ['good.svs', 'other.svs']],
    ['/studies?ModalitiesInStudy=CT,MR', []],
    ['/studies?StudyInstanceUID=1.2.3', []],
    ['/studies?NumberOfStudyRelatedInstances=2', ['good.svs']],
    ['/studies?Modality=SM', ['good.svs', 'other.svs']],
    ['/studies?SeriesDescription=good*', ['good.svs']],
    ['/studies?includefield=all&includefield=00100010', ['good.svs', 'other.svs']],
  ])('returns for the query %s the studies of exactly these slides: %j', async (path, names) => {
    const found = await search(path);
    if (path.includes('offset=1&')) expect(found).toHaveLength(1);
    else expect(namesOf(found)).toEqual(names);
  });

  it('returns the series or instances of a study if their modality matches the query, otherwise an empty list', async () => {
    const study = uidOf(id, 'study');
    expect(await search(`/series?Modality=SM&StudyInstanceUID=${study}`)).toMatchObject([
      { '0020000E': { Value: [uidOf(id, 'series')] }, '00201209': { Value: [2] } },
    ]);
    const query = `00080016=1.2.840.10008.5.1.4.1.1.77.1.6&0020000E=${uidOf(id, 'series')}&00080060=SM&includefield=AvailableTransferSyntaxUID`;
    const instances = await search(`/studies/${study}/instances?${query}`);
    expect(instances.map((dataSet) => dataSet['00080018']?.Value?.[0])).toEqual([uidOf(id, 0), uidOf(id, 1)]);
    expect(instances[0]).toMatchObject({ '00083002': { Value: ['1.2.840.10008.1.2.4.50'] } });
    expect(await search(`/studies/${study}/series?Modality=??`)).toHaveLength(1);
    for (const path of [
      'instances?Modality=PR',
      'instances?Modality=SR',
      'series?Modality=ANN',
      'series?Modality=SEG',
    ]) {
      expect(await search(`/studies/${study}/${path}`)).toEqual([]);
    }
  });

  it('ignores the unsupported query attribute PatientComments, with a 299 warning in the response', async () => {
    const response = await get('/studies?PatientComments=x');
    expect([response.statusCode, response.headers.warning]).toEqual([200, expect.stringContaining('299')]);
  });

  it.each([
    [
      'warns that fuzzymatching=true is not supported',
      'fuzzymatching=true',
      '299 - "The fuzzymatching parameter is not supported. Only literal matching has been performed."',
    ],
    [
      'warns that emptyvaluematching=true is not supported',
      'emptyvaluematching=true',
      '299 - "The emptyvaluematching parameter is not supported. Empty Value Matching has not been performed."',
    ],
    [
      'warns of further results for limit=1 when two studies match',
      'limit=1',
      '299 - "There are additional results that can be requested"',
    ],
    [
      'warns that multiplevaluematching=true is not supported',
      'multiplevaluematching=true',
      '299 - "The multiplevaluematching parameter is not supported. Multiple Value Matching has not been performed."',
    ],
    [
      'warns that it ignores query parameters that are not attributes',
      'foo=1&constructor=1&orderby=-StudyDate',
      '299 - "Query parameters that the server does not know were ignored"',
    ],
    [
      'has no warning for limit=2 when two studies match',
      'limit=2&fuzzymatching=false&emptyvaluematching=false&multiplevaluematching=false',
      '',
    ],
    [
      'warns that it does not match by Manufacturer, an attribute of instance metadata only',
      'Manufacturer=x',
      '299 - "Attributes that the server does not match by were ignored"',
    ],
  ])('%s (header Warning)', async (_, query, warning) => {
    const response = await get(`/studies?${query}`);
    expect(response.statusCode).toBe(200);
    expect(response.headers.warning ?? '').toBe(warning);
    expect(response.json()).toHaveLength(query === 'limit=1' ? 1 : 2);
  });

  it.each([
    ['limit=x, which is not a number', 'limit=x'],
    ['the negative number limit=-1', 'limit=-1'],
    ['limit=1e9, which has an exponent', 'limit=1e9'],
    ['offset=1.5, which is a fraction', 'offset=1.5'],
    ['fuzzymatching=yes, which is neither true nor false', 'fuzzymatching=yes'],
    ['a null character in includefield', 'includefield=x%00y'],
    ['two values of PatientName', 'PatientName=a&PatientName=b'],
    ['a PatientName of 300 characters (the maximum is 256)', `PatientName=${'a'.repeat(300)}`],
    ['includefield=foo, which is not an attribute', 'includefield=foo'],
    [
      'includefield=constructor, which is a JavaScript property and not an attribute',
      'includefield=constructor',
    ],
    [
      '60 attributes (the maximum is 50)',
      `${Array.from({ length: 60 }, (_, index) => `001000${10 + index}=a`).join('&')}`,
    ],
  ])('returns 400 for a query with %s', async (_, query) => {
    expect((await get(`/studies?${query}`)).json()).toMatchObject({ code: 'invalid_request' });
  });

  it('is cancelled without opening a slide when the client has disconnected', async () => {
    const { slides, catalogue } = server.services;
    const dicomWebSlide = vi.fn<Slides['dicomWebSlide']>(slides.dicomWebSlide);
    const dicomWeb = createDicomWeb({ slides: { ...slides, dicomWebSlide }, catalogue });
    const context = {
      user: await server.fixtures.user(),
      requester: { account: 'a', session: 's' },
      base: '',
      signal: AbortSignal.abort(new Error('The client has left.')),
    };
    await expect(dicomWeb.search('study', parseSearch({}, new Set()), {}, context)).rejects.toThrow(
      'The client has left.',
    );
    expect(dicomWebSlide).not.toHaveBeenCalled();
  });

  it('answers a pattern with 100 wildcards within the time limit of the test (no exponential matching time)', async () => {
    expect(await search(`/studies?StudyDescription=${'*a'.repeat(100)}`)).toEqual([]);
  });
});

describe('DICOMweb metadata (WADO-RS)', () => {
  it('has the elements of every data set and sequence item in ascending order of their tags', async () => {
    const { body } = await get(`${seriesPath}/metadata`);
    const tagsByDepth: string[][] = [];
    const dataSets: string[][] = [];
    for (const [token, tag] of body.matchAll(/"([0-9A-F]{8})":|"(?:[^"\\]|\\.)*"|[{}]/g)) {
      if (token === '{') tagsByDepth.push([]);
      else if (token === '}') dataSets.push(tagsByDepth.pop() ?? []);
      else if (tag !== undefined) tagsByDepth.at(-1)?.push(tag);
    }
    expect(dataSets.filter((tags) => tags.length > 20)).toHaveLength(2); // one for each level
    for (const tags of dataSets) expect(tags).toEqual(tags.toSorted());
    expect(JSON.parse(body)).toMatchObject([{ '52009229': { vr: 'SQ', Value: [{}] } }, {}]);
  });

  it('has every required attribute of a whole slide image', async () => {
    const found = await search(`${seriesPath}/metadata`);
    expect(found).toHaveLength(2);
    const [full, small] = found;
    expect(full).toMatchObject({
      '00080008': { Value: ['ORIGINAL', 'PRIMARY', 'VOLUME', 'NONE'] },
      '00080016': { Value: ['1.2.840.10008.5.1.4.1.1.77.1.6'] },
      '00280004': { Value: ['RGB'] },
      '00280008': { Value: [16] }, // NumberOfFrames
      '00280010': { Value: [128] }, // Rows of a frame
      '00480006': { Value: [480] }, // TotalPixelMatrixColumns
      '00480007': { Value: [400] }, // TotalPixelMatrixRows
      '00209311': { Value: ['TILED_FULL'] }, // DimensionOrganizationType
      '52009229': { Value: [{ '00289110': { Value: [{ '00280030': { Value: [0.000499, 0.000499] } }] } }] },
    });
    for (const tag of ['00200052', '00400512', '0020000D', '0020000E', '00080019']) {
      expect(small?.[tag]).toEqual(full?.[tag]);
    }
    // Attributes of type 1 and 2 in the modules of the IOD (PS3.3 table A.32.8-1).
    const type1 =
      '00080005 00080018 00080060 00080023 00080033 0008002A 00080070 00081090 00181000 00181020 00200013 00200011 00400554 00400560 00480001 00480002 00480003 00480008 00480010 00480011 00480012 00480102 00480105 00480302 00280002 00280011 00280100 00280101 00280102 00280103 00280301 00282110 00209221 00089206';
    const flat = { ...full, ...(full?.['00400560']?.Value?.[0] as DataSet) };
    for (const tag of type1.split(' ')) expect([tag, flat[tag]?.Value?.length]).not.toEqual([tag, undefined]);
    const type2 =
      '00080020 00080030 00080050 00080090 00100010 00100020 00100030 00100040 00200010 00201040 00400513 00400518 00400555 00209222';
    for (const tag of type2.split(' ')) expect(Object.keys(full ?? {})).toContain(tag);
  });

  it('returns the same attributes for an instance from the URLs of the instance, its series and its study', async () => {
    const [ofSeries, ofStudy, ofInstance] = [
      await search(`${seriesPath}/metadata`),
      await search(`/studies/${uidOf(id, 'study')}/metadata`),
      await search(`${instancePath(1)}/metadata`),
    ];
    expect(ofStudy).toEqual(ofSeries);
    expect(ofInstance).toEqual(ofSeries.slice(1));
  });

  it('contains a bulk data URL that returns the ICC profile of the file', async () => {
    const [dataSet] = await search(`${instancePath(0)}/metadata`);
    const opticalPath = dataSet?.['00480105']?.Value?.[0] as DataSet | undefined;
    const url = opticalPath?.['00282000']?.BulkDataURI;
    expect(url).toBe(`http://localhost:80/dicom-web${instancePath(0)}/bulkdata/icc`);
    const bulk = await get(`${instancePath(0)}/bulkdata/icc`, { accept: 'application/octet-stream' });
    expect(Buffer.compare(bulk.rawPayload, buildIcc())).toBe(0);
    expect(partsOf(await get(`${instancePath(0)}/bulkdata/icc`))[0]?.bytes).toEqual(bulk.rawPayload);
  });
});

describe('DICOMweb frames (WADO-RS)', () => {
  /** Returns the entropy-coded part of a JPEG, after the marker SOS. The slide file contains it with the same bytes. */
  const scanOf = (jpeg: Buffer) => {
    const at = jpeg.indexOf(Buffer.from([0xff, 0xda]));
    return jpeg.subarray(at + 2 + jpeg.readUInt16BE(at + 2), -2);
  };

  it('are the native tiles (tiles as stored in the file) in row order', async () => {
    for (const [level, number, tile] of [
      [0, 1, '9/0_0.jpg'],
      [0, 6, '9/1_1.jpg'],
    ] as const) {
      const response = await get(`${instancePath(level)}/frames/${number}`, { accept: anySyntax });
      const [part] = partsOf(response);
      expect(part?.head).toContain(
        'Content-Type: application/octet-stream; transfer-syntax=1.2.840.10008.1.2.4.50',
      );
      expect(svs.includes(scanOf(part?.bytes ?? Buffer.alloc(0)))).toBe(true);
      const shown = await server.pixels(`${id}/image_files/${tile}`, await server.sessionOf(token));
      expect(part?.bytes).toEqual(shown.rawPayload);
    }
  });

  it('have headers that forbid framing and MIME sniffing, and CORS headers for a configured origin', async () => {
    const { headers } = await get(`${instancePath(0)}/frames/1`, { accept: anySyntax });
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    const fromViewer = await get(`${instancePath(0)}/frames/1`, { accept: anySyntax, origin: viewerOrigin });
    expect(fromViewer.headers).toMatchObject({
      'access-control-allow-origin': viewerOrigin,
      'access-control-expose-headers': 'Content-Type, ETag, Link, Retry-After, Warning, X-Request-Id',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'Origin, Accept',
    });
  });

  it('have a different ETag for each media type of the Accept header', async () => {
    const accepts = [
      'application/octet-stream',
      'image/jpeg',
      'multipart/related; type="application/octet-stream"',
      'multipart/related; type="image/jpeg"',
    ];
    const tags = await Promise.all(
      accepts.map(async (accept) => (await get(`${instancePath(0)}/frames/1`, { accept })).headers.etag),
    );
    expect(new Set(tags).size).toBe(accepts.length);
  });

  it.each(['frames/1', 'bulkdata/icc'])(
    'and ICC profiles have Cache-Control: private, no-cache and return 304 for their ETag (path %s)',
    async (path) => {
      const { statusCode, headers } = await get(`${instancePath(0)}/${path}`);
      expect([statusCode, headers['cache-control']]).toEqual([200, 'private, no-cache']);
      const revalidated = await get(`${instancePath(0)}/${path}`, { 'if-none-match': String(headers.etag) });
      expect(revalidated.statusCode).toBe(304);
    },
  );

  it('are returned in the order of the requested list', async () => {
    const several = partsOf(await get(`${instancePath(0)}/frames/3,1,16`, { accept: anySyntax }));
    const single = await Promise.all(
      [3, 1, 16].map(async (number) => {
        const accept = 'application/octet-stream; transfer-syntax=*';
        return (await get(`${instancePath(0)}/frames/${number}`, { accept })).rawPayload;
      }),
    );
    expect(several.map(({ bytes }) => bytes)).toEqual(single);
  });

  it.each(
    [
      ['', 'multipart/related; type="application/octet-stream"'],
      ['*/*', 'multipart/related; type="application/octet-stream"'],
      [anySyntax, 'multipart/related; type="application/octet-stream"'],
      ['multipart/related; type=image/jpeg', 'multipart/related; type="image/jpeg"'],
      [
        'multipart/related; type="image/jp2", multipart/related; type="image/jpeg"; transfer-syntax=1.2.840.10008.1.2.4.50',
        'multipart/related; type="image/jpeg"',
      ],
      ['image/jpeg', 'image/jpeg; transfer-syntax=1.2.840.10008.1.2.4.50'],
      ['image/*', 'image/jpeg; transfer-syntax=1.2.840.10008.1.2.4.50'],
      ['application/*', 'application/octet-stream; transfer-syntax=1.2.840.10008.1.2.4.50'],
      ['multipart/related; type="image/*"', 'multipart/related; type="image/jpeg"'],
      ['image/jpeg;q=0.1, multipart/related', 'multipart/related; type="application/octet-stream"'],
      ['multipart/related;q=0.5, image/jpeg', 'image/jpeg; transfer-syntax=1.2.840.10008.1.2.4.50'],
    ].map(([accept = '', type = '']) => [
      accept === '' ? 'no Accept header' : `Accept: ${accept}`,
      type,
      accept,
    ]),
  )('are returned for %s with the media type %s', async (_, type, accept) => {
    const response = await get(`${instancePath(0)}/frames/1`, accept === '' ? {} : { accept });
    expect(response.statusCode).toBe(200);
    expect(String(response.headers['content-type']).startsWith(type)).toBe(true);
  });

  it.each([
    [
      'uncompressed frames (transfer syntax 1.2.840.10008.1.2.1)',
      'multipart/related; type="application/octet-stream"; transfer-syntax=1.2.840.10008.1.2.1',
    ],
    ['JPEG 2000 (image/jp2)', 'multipart/related; type="image/jp2"'],
    ['DICOM files (application/dicom)', 'application/dicom'],
    ['text/plain', 'text/plain'],
    ['media types of quality 0 (*/*;q=0)', '*/*;q=0'],
    ['a media type of 3,000 characters', 'x'.repeat(3000)],
  ])('of a JPEG slide are rejected with 406 when the Accept header allows only %s', async (_, accept) => {
    expect((await get(`${instancePath(0)}/frames/1`, { accept })).json()).toMatchObject({
      code: 'not_acceptable',
    });
  });

  it.each([
    ...['0', '-1', 'x', '1,,2', '1,', '01', '1.5', '1e3'].map((list) => [JSON.stringify(list), list]),
    ['that has 65 numbers (the maximum is 64)', Array.from({ length: 65 }, () => 1).join(',')],
  ])('are rejected with 400 for the list of frame numbers %s', async (_, list) => {
    expect((await get(`${instancePath(0)}/frames/${list}`)).json()).toMatchObject({
      code: 'invalid_request',
    });
  });

  it('each state their own media type in a response with a JPEG 2000 frame and a JPEG frame (rendered for a missing tile)', async () => {
    const size = { level: 0, width: 480, height: 400, tileWidth: 128, tileHeight: 128 };
    const layout = { ...size, columns: 4, rows: 4, downsample: 1 };
    const jpeg2000 = { ...layout, codec: 'jpeg2000', process: 'reversible', colour: 'rct' } as const;
    const frame = { bytes: Buffer.from('frame'), fingerprint: 'x' };
    const nativeLevelTile = vi.spyOn(server.services.slides, 'nativeLevelTile');
    const getFrames = (accept: string) => {
      nativeLevelTile
        .mockResolvedValueOnce({ ...frame, level: jpeg2000 })
        .mockResolvedValueOnce({ ...frame, level: { ...layout, ...renderedTileCoding } });
      return get(`${instancePath(0)}/frames/1,2`, { accept });
    };
    const acceptJpeg2000 = 'multipart/related; type="image/jp2"; transfer-syntax=*';
    const acceptJpeg = 'multipart/related; type="image/jpeg"; transfer-syntax=*';
    const [first, second] = partsOf(await getFrames(`${acceptJpeg2000}, ${acceptJpeg}`));
    expect(first?.head).toContain('Content-Type: image/jp2; transfer-syntax=1.2.840.10008.1.2.4.90');
    expect(second?.head).toContain('Content-Type: image/jpeg; transfer-syntax=1.2.840.10008.1.2.4.50');
    expect((await getFrames(acceptJpeg2000)).statusCode).toBe(406);
    nativeLevelTile.mockRestore();
  });

  it('have the full frame size, padded with white, when the file lacks the tile at the edge of a level', async () => {
    // The smaller level has 120 × 100 pixels in 2 × 2 tiles of 64. Without its last tile, whose part of the level has 56 × 36 pixels.
    const isEmpty = (level: number, column: number, row: number) => level === 1 && column === 1 && row === 1;
    const gapServer = await slideServer();
    await gapServer.put('gap.svs', await buildSvs({ ...slideOptions, tileSize: 64, isEmpty }));
    await gapServer.rescan();
    const gapId = await gapServer.idOf('gap.svs');
    const reader = await gapServer.fixtures.token(await gapServer.fixtures.user());
    const [study, series, instance] = [uidOf(gapId, 'study'), uidOf(gapId, 'series'), uidOf(gapId, 1)];
    const frames = await injectRequest(gapServer.app, {
      url: `/dicom-web/studies/${study}/series/${series}/instances/${instance}/frames/1,4`,
      headers: { authorization: `Bearer ${reader}` },
    });
    const [stored, rendered] = partsOf(frames);
    for (const part of [stored, rendered]) {
      expect(await pixelsOf(part?.bytes ?? Buffer.alloc(0))).toMatchObject({ width: 64, height: 64 });
    }
    const { rgb } = await pixelsOf(rendered?.bytes ?? Buffer.alloc(0));
    expect([...rgb.subarray(-3)]).toEqual([255, 255, 255]); // the bottom right pixel is padding
  });

  it('are returned to 300 concurrent requests for 64 frames each', async () => {
    const list = Array.from({ length: 64 }, (_, at) => 1 + (at % 16)).join(',');
    const responses = await Promise.all(
      Array.from({ length: 300 }, () => get(`${instancePath(0)}/frames/${list}`, { accept: anySyntax })),
    );
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    for (const response of responses.slice(0, 2)) expect(partsOf(response)).toHaveLength(64);
  });

  it('are rejected with 404 when the frame number or the instance does not exist', async () => {
    for (const path of [
      `${instancePath(0)}/frames/17`,
      `${instancePath(7)}/frames/1`,
      `${seriesPath}0/instances/1.2/frames/1`,
    ]) {
      expect((await get(path)).json()).toMatchObject({ code: 'not_found' });
    }
  });
});

describe('DICOMweb thumbnail', () => {
  it('is a JPEG of the slide, and a request that accepts only PNG gets 406', async () => {
    for (const path of [`/studies/${uidOf(id, 'study')}`, seriesPath, instancePath(1)]) {
      const response = await get(`${path}/thumbnail`, { accept: 'image/jpeg' });
      expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/jpeg']);
    }
    expect((await get(`${seriesPath}/thumbnail`, { accept: 'image/png' })).json()).toMatchObject({
      code: 'not_acceptable',
    });
  });
});

describe('access to DICOMweb', () => {
  it('without a bearer token returns an error with the code token_missing', async () => {
    for (const path of ['/studies', `${seriesPath}/metadata`, `${instancePath(0)}/frames/1`]) {
      const response = await server.app.inject({ url: `/dicom-web${path}` });
      expect(response.json()).toMatchObject({ code: 'token_missing' });
    }
  });

  it('to a hidden slide returns 404, and no search finds the slide', async () => {
    const admin = server.as(await server.fixtures.admin());
    await admin.call(updateImage, { params: { imageId: otherId }, body: { hidden: true } });
    expect(namesOf(await search('/studies'))).toEqual(['good.svs']);
    for (const inaccessibleId of [otherId, missingId]) {
      expect(await search(`/studies?StudyInstanceUID=${uidOf(inaccessibleId, 'study')}`)).toEqual([]);
      expect((await get(`/studies/${uidOf(inaccessibleId, 'study')}/metadata`)).json()).toMatchObject({
        code: 'not_found',
      });
    }
  });

  it('from scripts in a browser is allowed only for the configured origins', async () => {
    for (const [origin, allowed] of [
      [viewerOrigin, viewerOrigin],
      ['https://other.example', undefined],
    ] as const) {
      const response = await get('/studies', { origin });
      expect(response.headers['access-control-allow-origin']).toBe(allowed);
      const preflight = await server.app.inject({
        method: 'OPTIONS',
        url: '/dicom-web/studies',
        headers: { origin },
      });
      expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([
        204,
        allowed,
      ]);
    }
  });
});
