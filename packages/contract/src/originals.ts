/** Download of original slide files, which are de-identified while they are sent, for programs and people with the right to download. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const errors = [
  'not_found',
  'forbidden',
  'not_deidentifiable',
  'range_not_satisfiable',
  'rate_limited',
  'slide_corrupt',
  'storage_timeout',
] as const;

/** The files of a slide of several files; each is loaded by its path below the address of the list. */
export const OriginalFiles = z
  .object({
    files: z.array(z.object({ path: z.string(), size_bytes: z.number().int() })),
    deidentified: z.boolean(),
  })
  .meta({ id: 'OriginalFiles' });
export type OriginalFiles = z.infer<typeof OriginalFiles>;

/** Answers HEAD, Range and If-Range. A slide of several files answers the JSON of `OriginalFiles`. */
export const getOriginal = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/original',
  summary: 'The file of a slide, de-identified; of a slide of several files, their list as JSON',
  access: 'slides.download',
  scope: 'slides:download',
  language: 'en',
  response: 'application/octet-stream',
  status: 200,
  errors,
});

export const getOriginalFile = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/original/*',
  summary: 'One file of a slide, de-identified, by its path in the list',
  access: 'slides.download',
  scope: 'slides:download',
  language: 'en',
  response: 'application/octet-stream',
  status: 200,
  errors,
});
