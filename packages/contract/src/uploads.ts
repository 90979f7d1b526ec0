/**
 * Slides that administrators upload from the browser. An upload is a file or a folder of files; its
 * files are sent in parts with the tus protocol, which can resume after an interruption. The upload becomes slides of
 * the catalogue when all files are complete and all checksums match.
 *
 * Source of the protocol: tus resumable upload protocol 1.0.0, https://tus.io/protocols/resumable-upload
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { ImageStatus } from './images.ts';
import { SingleLine } from './text.ts';

/** Maximum number of files in one upload, the same as of a slide. */
export const maxFilesOfUpload = 10_000;
/** Maximum number of unfinished uploads of all accounts together. */
export const maxOpenUploads = 100;
/** An upload without new data for this long is cancelled. */
export const uploadExpiryHours = 48;

/**
 * - `open`: files are being sent, or checked
 * - `placing`: all files are complete and are being moved to the slide storage
 * - `done`: the upload is in the slide storage, where the catalogue reads it
 */
export const UploadState = z.enum(['open', 'placing', 'done']);
export type UploadState = z.infer<typeof UploadState>;

/**
 * Reason why an upload does not continue:
 * - `checksum`: the checksum of a file does not match; the file has to be sent again
 * - `exists`: the target exists by now, and existing files are never overwritten
 * - `storage`: moving the files to the slide storage failed; the server tries again
 */
export const UploadProblem = z.enum(['checksum', 'exists', 'storage']);
export type UploadProblem = z.infer<typeof UploadProblem>;

const bytes = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const SlideUpload = z
  .object({
    id: z.string(),
    dataset: z.string(),
    path: z.string().meta({ description: 'Below the dataset: of the file, or of the folder' }),
    is_folder: z.boolean(),
    file_count: z.number().int(),
    checked_count: z.number().int().meta({ description: 'Files that are there and whose checksum agrees' }),
    size_bytes: bytes,
    state: UploadState,
    problem: UploadProblem.nullable(),
    begun_at: z.iso.datetime(),
    images: z
      .array(
        z.object({
          id: z.string(),
          file_name: z.string(),
          status: ImageStatus,
          error: z.string().nullable(),
        }),
      )
      .meta({ description: 'Entries of the catalogue that came of it; at most 100' }),
  })
  .meta({ id: 'SlideUpload' });
export type SlideUpload = z.infer<typeof SlideUpload>;

/**
 * - `open`: the file is not complete
 * - `checking`: the file is complete and its checksum is being computed
 * - `checked`: the checksum matches
 * - `refused`: the checksum does not match; the file has to be sent again as a new one
 */
export const UploadFileState = z.enum(['open', 'checking', 'checked', 'refused']);
export type UploadFileState = z.infer<typeof UploadFileState>;

export const UploadFile = z
  .object({
    id: z.string(),
    path: z.string().meta({ description: 'Below the folder; of a single file its name' }),
    size_bytes: bytes,
    modified_ms: z.number().meta({ description: 'Of the file where it was chosen: to know it again' }),
    state: UploadFileState,
  })
  .meta({ id: 'UploadFile' });
export type UploadFile = z.infer<typeof UploadFile>;

export const listUploads = endpoint({
  method: 'GET',
  path: '/admin/uploads',
  summary: 'Own uploads: the unfinished ones, and those of the last days',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  response: z.object({
    uploads: z.array(SlideUpload).meta({ description: 'The latest first' }),
    max_bytes: bytes.meta({ description: 'Of one upload' }),
  }),
  status: 200,
  errors: [],
});

export const beginUpload = endpoint({
  method: 'POST',
  path: '/admin/uploads',
  summary: 'Announce a file or a folder of files; an unfinished upload of the same is resumed',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  body: z.object({
    dataset: SingleLine.min(1, reason('upload_dataset_required'))
      .max(200, reason('text_too_long'))
      .meta({ description: 'One that there is, or a new one' }),
    path: z.string().max(1000).meta({ description: 'Below the dataset, with forward slashes' }),
    is_folder: z.boolean(),
    file_count: z.number().int().min(1).max(maxFilesOfUpload),
    size_bytes: bytes.meta({ description: 'Of all files together' }),
  }),
  response: z.object({
    upload: SlideUpload,
    files: z.array(UploadFile).meta({ description: 'Those that were begun before' }),
  }),
  status: 200,
  errors: ['upload_exists', 'upload_too_large', 'quota_exceeded', 'storage_full', 'too_many_uploads'],
});

export const abandonUpload = endpoint({
  method: 'DELETE',
  path: '/admin/uploads/:uploadId',
  summary: 'Give an unfinished upload up; what has come of it is removed',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  response: null,
  status: 204,
  errors: ['not_found', 'upload_ended'],
});

export const finishUploadFile = endpoint({
  method: 'PUT',
  path: '/admin/upload-files/:fileId/checksum',
  summary:
    'Say what the whole file hashes to; it is then read and compared, which the list of uploads tells of',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  body: z.object({
    sha256: z
      .string()
      .regex(/^[\da-f]{64}$/)
      .meta({ description: 'Hexadecimal, lower case' }),
  }),
  response: z.object({ state: UploadFileState }),
  status: 202,
  errors: ['not_found', 'upload_incomplete'],
});

/**
 * tus creation. `Upload-Metadata` names the `upload`, the `path` below its folder (of a single file its name) and
 * `modified`, milliseconds.
 */
export const createUploadFile = endpoint({
  method: 'POST',
  path: '/admin/upload-files',
  summary: 'tus: begin to send a file of an upload',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  response: null,
  status: 201,
  errors: ['invalid_request', 'not_found', 'upload_ended', 'storage_full'],
});

/** HEAD is what tus asks for; both carry `Upload-Offset` and `Upload-Length`. */
export const getUploadFile = endpoint({
  method: 'GET',
  path: '/admin/upload-files/:fileId',
  summary: 'tus: how much of a file has come',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  response: UploadFile.extend({ offset: bytes }),
  status: 200,
  errors: ['not_found'],
});

export const sendUploadFile = endpoint({
  method: 'PATCH',
  path: '/admin/upload-files/:fileId',
  summary: 'tus: the next part of a file',
  access: 'catalogue.write',
  scope: 'slides:upload',
  language: 'tr',
  isStreamed: true,
  response: null,
  status: 204,
  errors: ['not_found', 'upload_ended', 'storage_full'],
});
