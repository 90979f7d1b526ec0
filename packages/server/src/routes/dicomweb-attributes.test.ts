/**
 * Checks the metadata of DICOMweb against the VL Whole Slide Microscopy Image IOD (information object definition), for slides of each
 * format whose tiles can be sent: every attribute of type 1 has a value, and every attribute of type 2 is present.
 *
 * Source: PS3.3 table A.32.8-1 and the modules that it names as mandatory, and table A.32.8-2 for the functional groups.
 */
import {
  buildDicom,
  buildSvs,
  buildTiledTiff,
  layOutNdpi,
  ndpiBytes,
  ndpiDirectories,
} from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { uidOf } from '../dicomweb/uids.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

// Render processes, which read the slides, may start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Element {
  readonly vr: string;
  readonly Value?: readonly unknown[];
}
type DataSet = Readonly<Record<string, Element>>;

/** Required attributes by module of the IOD: tags of type 1 and tags of type 2, as group and element in hexadecimal digits. */
const modules: readonly {
  readonly name: string;
  readonly type1: string;
  readonly type2: string;
  /** Tags of the sequences that contain the attributes, from the outside. */
  readonly within?: readonly string[];
  /** Condition under which the attributes are required (type 1C). */
  readonly when?: (dataSet: DataSet) => boolean;
}[] = [
  { name: 'Patient', type1: '', type2: '00100010 00100020 00100030 00100040' },
  { name: 'General Study', type1: '0020000D', type2: '00080020 00080030 00080090 00200010 00080050' },
  { name: 'General Series', type1: '00080060 0020000E', type2: '00200011' },
  { name: 'Frame of Reference', type1: '00200052', type2: '00201040' },
  { name: 'General Equipment', type1: '', type2: '00080070' },
  { name: 'Enhanced General Equipment', type1: '00080070 00081090 00181000 00181020', type2: '' },
  { name: 'General Image', type1: '', type2: '00200013 00080023 00080033' },
  {
    name: 'Image Pixel',
    type1: '00280002 00280004 00280010 00280011 00280100 00280101 00280102 00280103',
    type2: '',
  },
  { name: 'Image Pixel of colours', type1: '00280006', type2: '', when: (dataSet) => samplesOf(dataSet) > 1 },
  { name: 'Acquisition Context', type1: '', type2: '00400555' },
  {
    name: 'Multi-frame Functional Groups',
    type1: '52009229 00200013 00080023 00080033 00280008',
    type2: '',
  },
  { name: 'Multi-frame Dimension', type1: '00209221 00209222', type2: '' },
  { name: 'Dimension Organization', within: ['00209221'], type1: '00209164', type2: '' },
  { name: 'Dimension Index', within: ['00209222'], type1: '00209164 00209165 00209167', type2: '' },
  { name: 'Specimen', type1: '00400512 00400560', type2: '00400513 00400518' },
  {
    name: 'Specimen Description',
    within: ['00400560'],
    type1: '00400551 00400554',
    type2: '00400562 00400610',
  },
  {
    name: 'Whole Slide Microscopy Image',
    type1:
      '00080008 00480001 00480002 00480003 00480006 00480007 00480008 00480102 0008002A 00282110 00089206 00480010 00280301 00480011 00480012 00480303',
    type2: '',
  },
  {
    name: 'Whole Slide Microscopy Image of lossy compression',
    type1: '00282112 00282114',
    type2: '',
    when: (dataSet) => firstOf(dataSet, '00282110') === '01',
  },
  {
    name: 'Whole Slide Microscopy Image in grey',
    type1: '00281052 00281053 20500020',
    type2: '',
    when: (dataSet) => samplesOf(dataSet) === 1,
  },
  { name: 'Total Pixel Matrix Origin', within: ['00480008'], type1: '0040072A 0040073A', type2: '' },
  { name: 'Optical Path', type1: '00480105 00480302', type2: '' },
  { name: 'Optical Path item', within: ['00480105'], type1: '00480106 00220016 00480108', type2: '' },
  {
    name: 'Illumination Type Code',
    within: ['00480105', '00220016'],
    type1: '00080100 00080102 00080104',
    type2: '',
  },
  {
    name: 'Illumination Colour Code',
    within: ['00480105', '00480108'],
    type1: '00080100 00080102 00080104',
    type2: '',
  },
  { name: 'Container Type Code', within: ['00400518'], type1: '00080100 00080102 00080104', type2: '' },
  { name: 'Multi-Resolution Pyramid', type1: '00080019', type2: '' },
  { name: 'SOP Common', type1: '00080005 00080016 00080018', type2: '' },
  { name: 'Pixel Measures', within: ['52009229', '00289110'], type1: '00280030 00180050', type2: '' },
  {
    name: 'Whole Slide Microscopy Image Frame Type',
    within: ['52009229', '00400710'],
    type1: '00089007',
    type2: '',
  },
  { name: 'Optical Path Identification', within: ['52009229', '00480207'], type1: '00480106', type2: '' },
];

const firstOf = (dataSet: DataSet, tag: string) => dataSet[tag]?.Value?.[0];
const samplesOf = (dataSet: DataSet) => Number(firstOf(dataSet, '00280002'));
const tagsOf = (text: string) => text.split(' ').filter(Boolean);

/** Returns the attributes that the IOD requires and that are missing in the data set. */
function findingsOf(dataSet: DataSet): readonly string[] {
  return modules.flatMap(({ name, type1, type2, within = [], when }) => {
    if (when !== undefined && !when(dataSet)) return [];
    const items = within.reduce<readonly DataSet[]>(
      (outer, tag) => outer.flatMap((item) => (item[tag]?.Value ?? []) as readonly DataSet[]),
      [dataSet],
    );
    if (items.length === 0) return [`${name}: no item`];
    return items.flatMap((item) => [
      ...tooLongNumbersOf(item),
      ...tagsOf(type1).flatMap((tag) => (hasValue(item[tag]) ? [] : [`${name}: ${tag} has no value`])),
      ...tagsOf(type2).flatMap((tag) => (item[tag] === undefined ? [`${name}: ${tag} is absent`] : [])),
    ]);
  });
}

/** Names the decimal strings (VR DS) of more than 16 characters (PS3.5 section 6.2). */
const tooLongNumbersOf = (item: DataSet) =>
  Object.entries(item).flatMap(([tag, { vr, Value = [] }]) =>
    vr === 'DS' && Value.some((value) => String(value).length > 16)
      ? [`${tag}: ${String(Value)} is too long`]
      : [],
  );

const hasValue = (element: Element | undefined) =>
  (element?.Value ?? []).length > 0 &&
  element?.Value?.every((value) => value !== null && value !== '' && JSON.stringify(value) !== '{}');

/** ImageOrientationSlide of a slide with the label on the left. */
const orientationElement = { tag: 0x0048_0102, vr: 'DS', value: Buffer.from('0\\1\\0\\1\\0\\0 ') };

const files: Readonly<Record<string, () => Promise<Uint8Array>>> = {
  'slide.svs': () => buildSvs(),
  'odd-scale.svs': () => buildSvs({ properties: { AppMag: '20', MPP: '0.5026' }, downsamples: [1, 3] }), // 0.5026 / 1000 has rounding errors
  'slide.tiff': () => buildTiledTiff(),
  'grey.tiff': () => buildTiledTiff({ colour: 'grey' }),
  'slide.ndpi': async () => ndpiBytes(layOutNdpi(await ndpiDirectories({}))),
  'slide.dcm': () => buildDicom({ codec: 'jpeg' }),
  'turned.dcm': () => buildDicom({ codec: 'jpeg', series: '2', pyramid: '2', more: [orientationElement] }),
};

let server: SlideServer;
let token: string;
beforeAll(async () => {
  server = await slideServer({ isShared: true });
  for (const [name, build] of Object.entries(files))
    await server.put(`${name} dataset/${name}`, await build());
  await server.rescan();
  token = await server.fixtures.token(await server.fixtures.user());
});
afterAll(() => server.close());

describe('the DICOMweb metadata of a slide', () => {
  it.each(Object.keys(files))(
    'from the file %s has every attribute that the VL Whole Slide Microscopy IOD requires (types 1 and 2)',
    async (name) => {
      const response = await server.app.inject({
        url: `/dicom-web/studies/${uidOf(await server.idOf(name), 'study')}/metadata`,
        headers: { authorization: `Bearer ${token}` },
      });
      const dataSets = response.json<DataSet[]>();
      expect(response.statusCode).toBe(200);
      expect(dataSets.length).toBeGreaterThan(0);
      for (const dataSet of dataSets) expect(findingsOf(dataSet)).toEqual([]);
    },
  );

  it.each([
    ['turned.dcm', 'the values in the DICOM file', [0, 1, 0, 1, 0, 0], [20, 40]],
    ['slide.svs', 'the defaults, because the file has no such values', [0, -1, 0, -1, 0, 0], [0, 0]],
  ])(
    'from the file %s states the orientation and origin of the image on the glass slide: %s',
    async (name, _, orientation, origin) => {
      const response = await server.app.inject({
        url: `/dicom-web/studies/${uidOf(await server.idOf(name), 'study')}/metadata`,
        headers: { authorization: `Bearer ${token}` },
      });
      const [dataSet] = response.json<DataSet[]>();
      expect(dataSet?.['00480102']?.Value).toEqual(orientation);
      const [matrixOrigin] = (dataSet?.['00480008']?.Value ?? []) as DataSet[];
      expect([firstOf(matrixOrigin ?? {}, '0040072A'), firstOf(matrixOrigin ?? {}, '0040073A')]).toEqual(
        origin,
      );
    },
  );
});
