/**
 * Read-only DICOMweb endpoints (DICOM PS3.18) for other viewers. A slide whose tiles are stored as JPEG or JPEG 2000
 * appears as a study with VL (visible light) Whole Slide Microscopy images. QIDO-RS endpoints search, and WADO-RS
 * endpoints retrieve; the server offers them below `/dicom-web` and below the API base.
 */
import { z } from 'zod';
import { type Endpoint, endpoint } from './endpoint.ts';

const common = {
  method: 'GET',
  access: 'image.view',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  status: 200,
  cors: 'dicomweb-origins',
} as const satisfies Partial<Endpoint>;

/** Attributes by keyword or tag, `includefield`, `fuzzymatching`, `limit` and `offset`. The handler validates them. */
const query = z.looseObject({});

const json = 'application/dicom+json';
const pixelErrors = ['not_acceptable', 'slide_corrupt', 'unavailable', 'storage_timeout'] as const;
const search = { ...common, query, response: json, errors: ['not_acceptable'] } as const;
const metadata = { ...common, response: json, errors: pixelErrors } as const;
const bulkData = { ...common, response: 'multipart/related', errors: pixelErrors } as const;
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
  summary: 'WADO-RS: frames, which are the native tiles of the slide file',
});
export const getIccProfile = endpoint({
  ...bulkData,
  path: `${instance}/bulkdata/icc`,
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
