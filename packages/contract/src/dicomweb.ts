/**
 * Read-only DICOMweb endpoints (DICOM PS3.18) for other viewers. A slide whose tiles are stored as JPEG or JPEG 2000
 * appears as a study with VL (visible light) Whole Slide Microscopy images. QIDO-RS endpoints search, and WADO-RS
 * endpoints retrieve; the server offers them below `/dicom-web` and below the API base.
 */
import { z } from 'zod';
import { type DocumentedParameter, type Endpoint, endpoint } from './endpoint.ts';

const common = {
  method: 'GET',
  access: 'image.view',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  status: 200,
  cors: 'dicomweb-origins',
  hasEtag: true,
} as const satisfies Partial<Endpoint>;

/** Accepts any parameters. The handler validates them, because PS3.18 requires it to ignore some of them instead of rejecting them. */
const query = z.looseObject({});

const count = z.number().int().min(0);
const notSupported = 'Has no effect; the header Warning of the response then says so';
const searchParameters = [
  {
    name: 'attributes',
    in: 'query',
    description: 'Values to match, by keyword or tag of the attribute, such as `ModalitiesInStudy=SM`',
    schema: z.record(z.string(), z.string()),
  },
  { name: 'limit', in: 'query', description: 'Number of results; at most 100', schema: count },
  { name: 'offset', in: 'query', description: 'Number of results to skip', schema: count },
  {
    name: 'includefield',
    in: 'query',
    description: 'Has no effect, because responses contain all attributes',
    schema: z.array(z.string()),
  },
  { name: 'fuzzymatching', in: 'query', description: notSupported, schema: z.boolean() },
  { name: 'emptyvaluematching', in: 'query', description: notSupported, schema: z.boolean() },
  { name: 'multiplevaluematching', in: 'query', description: notSupported, schema: z.boolean() },
] as const satisfies readonly DocumentedParameter[];

const json = 'application/dicom+json';
const pixelErrors = ['not_acceptable', 'slide_corrupt', 'unavailable', 'storage_timeout'] as const;
const search = {
  ...common,
  query,
  response: json,
  documented: {
    parameters: searchParameters,
    responses: {
      200: {
        description: 'Done',
        content: { [json]: null },
        headers: {
          Warning:
            'What the server ignored in the query, and that there are more results than the response contains',
        },
      },
    },
  },
  errors: ['not_acceptable'],
} as const;
const metadata = { ...common, response: json, errors: pixelErrors } as const;
const bulkData = { ...common, response: 'multipart/related', errors: pixelErrors } as const;

/** Returns the documentation of a response whose body has parts of these content types, or is one such part without a multipart body. */
function bulkDataOf(...types: readonly string[]): NonNullable<Endpoint['documented']> {
  const content = Object.fromEntries(['multipart/related', ...types].map((type) => [type, null]));
  return { responses: { 200: { description: 'In the form that the header Accept prefers', content } } };
}
const thumbnails = { ...common, response: 'image/jpeg', errors: pixelErrors } as const;

const study = '/dicom-web/studies/:study';
const series = `${study}/series/:series` as const;
const instance = `${series}/instances/:instance` as const;

export const searchStudies = endpoint({
  ...search,
  path: '/dicom-web/studies',
  summary: 'QIDO-RS: search for studies, one for each slide',
});
export const searchSeries = endpoint({
  ...search,
  path: '/dicom-web/series',
  summary: 'QIDO-RS: search for series',
});
export const searchInstances = endpoint({
  ...search,
  path: '/dicom-web/instances',
  summary: 'QIDO-RS: search for instances',
});
export const searchSeriesOfStudy = endpoint({
  ...search,
  path: `${study}/series`,
  summary: 'QIDO-RS: search for series of a study',
});
export const searchInstancesOfStudy = endpoint({
  ...search,
  path: `${study}/instances`,
  summary: 'QIDO-RS: search for instances of a study',
});
export const searchInstancesOfSeries = endpoint({
  ...search,
  path: `${series}/instances`,
  summary: 'QIDO-RS: search for instances of a series',
});
export const getStudyMetadata = endpoint({
  ...metadata,
  path: `${study}/metadata`,
  summary: 'WADO-RS: metadata of a study',
});
export const getSeriesMetadata = endpoint({
  ...metadata,
  path: `${series}/metadata`,
  summary: 'WADO-RS: metadata of a series',
});
export const getInstanceMetadata = endpoint({
  ...metadata,
  path: `${instance}/metadata`,
  summary: 'WADO-RS: metadata of an instance, which is one level of the slide',
});
/** `frames` is a list of frame numbers, counted from 1 and separated by commas. */
export const getFrames = endpoint({
  ...bulkData,
  isTile: true,
  path: `${instance}/frames/:frames`,
  documented: bulkDataOf('application/octet-stream', 'image/jpeg', 'image/jp2'),
  summary: 'WADO-RS: frames, which are the native tiles of the slide file',
});
export const getIccProfile = endpoint({
  ...bulkData,
  path: `${instance}/bulkdata/icc`,
  documented: bulkDataOf('application/octet-stream', 'application/vnd.iccprofile'),
  summary: 'WADO-RS: the ICC profile of a slide',
});
export const getStudyThumbnail = endpoint({
  ...thumbnails,
  path: `${study}/thumbnail`,
  summary: 'WADO-RS: a rendered thumbnail of a study',
});
export const getSeriesThumbnail = endpoint({
  ...thumbnails,
  path: `${series}/thumbnail`,
  summary: 'WADO-RS: a rendered thumbnail of a series',
});
export const getInstanceThumbnail = endpoint({
  ...thumbnails,
  path: `${instance}/thumbnail`,
  summary: 'WADO-RS: a rendered thumbnail of an instance',
});
