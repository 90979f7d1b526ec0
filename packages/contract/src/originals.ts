/**
 * Endpoints for downloads of original slide files. The server de-identifies the files while it sends them. It sends files that cannot
 * be de-identified only if the dataset allows it. The account needs the right to download from the dataset.
 */
import { z } from 'zod';
import { type DocumentedResponse, endpoint } from './endpoint.ts';

const errors = [
  'not_found',
  'forbidden',
  'not_deidentifiable',
  'range_not_satisfiable',
  'rate_limited',
  'slide_corrupt',
  'storage_timeout',
] as const;

/** The list of files of a slide that consists of several files. The URL of a file is the URL of the list, a slash and the `path`. */
export const OriginalFiles = z
  .object({
    files: z.array(z.object({ path: z.string(), size_bytes: z.number().int() })),
    deidentified: z.boolean().meta({
      description:
        'False when the files cannot be de-identified and the dataset allows to download them unchanged',
    }),
  })
  .meta({ id: 'OriginalFiles' });
export type OriginalFiles = z.infer<typeof OriginalFiles>;

const parameters = [
  { name: 'Range', in: 'header', description: 'One range of bytes, such as `bytes=0-999`' },
  {
    name: 'If-Range',
    in: 'header',
    description: 'ETag of the file; if the file has changed since, the response is the whole file',
  },
] as const;

const fileHeaders = {
  ETag: 'Equal for identical files, so that a client may join parts of them',
  'Accept-Ranges': '`bytes`',
  'Content-Disposition': 'The name of the file',
} as const;
const wholeFile = {
  description: 'The whole file',
  content: { 'application/octet-stream': null },
  headers: fileHeaders,
} as const satisfies DocumentedResponse;
const furtherResponses = {
  206: {
    description: 'The requested range',
    content: { 'application/octet-stream': null },
    headers: { ...fileHeaders, 'Content-Range': 'The range and the length of the file' },
  },
} as const satisfies Record<number, DocumentedResponse>;

/** Supports HEAD, Range and If-Range. For a slide that consists of several files, the response is `OriginalFiles` as JSON. */
export const getOriginal = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/original',
  summary:
    'The de-identified file of a slide; for a slide that consists of several files, their list as JSON',
  access: 'slides.download',
  apiTokenScope: 'slides:download',
  defaultMessageLanguage: 'en',
  response: 'application/octet-stream',
  hasEtag: true,
  documented: {
    parameters,
    responses: {
      200: {
        ...wholeFile,
        description: 'The whole file; for a slide that consists of several files, their list as JSON',
        content: { ...wholeFile.content, 'application/json': OriginalFiles },
      },
      ...furtherResponses,
    },
  },
  status: 200,
  errors,
});

export const getOriginalFile = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/original/*',
  summary: 'One de-identified file of a slide, by its path in the list',
  access: 'slides.download',
  apiTokenScope: 'slides:download',
  defaultMessageLanguage: 'en',
  response: 'application/octet-stream',
  hasEtag: true,
  documented: { parameters, responses: { 200: wholeFile, ...furtherResponses } },
  status: 200,
  errors,
});
