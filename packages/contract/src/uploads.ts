/**
 * Endpoints with which administrators upload slides. An upload is a file or a folder of files. Its files are sent in parts with
 * the tus resumable upload protocol 1.0.0 (https://tus.io/protocols/resumable-upload), which can resume after an interruption.
 * When all files are complete and their checksums match, the slides appear in the catalogue.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { ImageStatus } from './images.ts';
import { SingleLine } from './text.ts';
import { tusCreation, tusPart, tusState } from './tus.ts';

/** Maximum number of files in one upload, which is also the maximum number of files of a slide. */
export const maxFilesOfUpload = 10_000;
/** Maximum number of unfinished uploads of all accounts together. */
export const maxOpenUploads = 100;
/** The server cancels an upload that has not received data for this number of hours. */
export const uploadExpiryHours = 48;

/**
 * The state of an upload:
 * - `open`: files are being sent, or checked
 * - `placing`: all files are complete and are being moved to the slide storage
 * - `done`: the upload is in the slide storage, where the catalogue reads it
 */
export const UploadState = z.enum(['open', 'placing', 'done']);
export type UploadState = z.infer<typeof UploadState>;

/**
 * Reason why an upload does not continue:
 * - `checksum`: the checksum of a file does not match; the file has to be sent again
 * - `exists`: the dataset has meanwhile received a file or folder with the same path; existing files are never overwritten
 * - `storage`: moving the files to the slide storage failed; the server tries again
 */
export const UploadProblem = z.enum(['checksum', 'exists', 'storage']);
export type UploadProblem = z.infer<typeof UploadProblem>;

const byteCount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const SlideUpload = z
  .object({
    id: z.string(),
    dataset: z.string(),
    path: z.string().meta({ description: 'Path of the file or folder below the dataset' }),
    is_folder: z.boolean(),
    file_count: z.number().int(),
    checked_count: z.number().int().meta({ description: 'Complete files whose checksum matches' }),
    size_bytes: byteCount,
    state: UploadState,
    problem: UploadProblem.nullable(),
    begun_at: z.iso.datetime(),
    last_progress_at: z.iso.datetime().meta({
      description: 'Time of the last received or stored part; in the state `done`, of the completion',
    }),
    images: z
      .array(
        z.object({
          id: z.string(),
          file_name: z.string(),
          status: ImageStatus,
          error: z.string().nullable(),
          error_code: z
            .string()
            .optional()
            .meta({ description: 'As in the catalogue, such as `FILE_TRUNCATED`' }),
        }),
      )
      .meta({ description: 'Catalogue entries of the uploaded slides; at most 100' }),
  })
  .meta({ id: 'SlideUpload' });
export type SlideUpload = z.infer<typeof SlideUpload>;

/**
 * The state of a file of an upload:
 * - `open`: the file is not complete
 * - `checking`: the file is complete and its checksum is being computed
 * - `checked`: the checksum matches
 * - `refused`: the checksum does not match; the client has to send the file again, as a new one
 */
export const UploadFileState = z.enum(['open', 'checking', 'checked', 'refused']);
export type UploadFileState = z.infer<typeof UploadFileState>;

export const UploadFile = z
  .object({
    id: z.string(),
    path: z.string().meta({ description: 'Path below the folder; for a single file its name' }),
    size_bytes: byteCount,
    modified_ms: z.number().meta({
      description: 'Modification time of the original file, by which it is recognised when resuming',
    }),
    state: UploadFileState,
  })
  .meta({ id: 'UploadFile' });
export type UploadFile = z.infer<typeof UploadFile>;

export const listUploads = endpoint({
  method: 'GET',
  path: '/admin/uploads',
  summary: "The caller's uploads: unfinished uploads, and uploads that ended in the last 3 days",
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  response: z.object({
    uploads: z.array(SlideUpload).meta({ description: 'Newest first' }),
    max_bytes: byteCount.meta({ description: 'Maximum size of one upload' }),
  }),
  status: 200,
  errors: [],
});

export const beginUpload = endpoint({
  method: 'POST',
  path: '/admin/uploads',
  summary: 'Begin the upload of a file or a folder; an unfinished upload of the same files is resumed',
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  body: z.object({
    dataset: SingleLine.min(1, reason('upload_dataset_required'))
      .max(200, reason('text_too_long'))
      .meta({ description: 'An existing dataset or a new one' }),
    path: z.string().max(1000).meta({ description: 'Path below the dataset, with forward slashes' }),
    is_folder: z.boolean(),
    file_count: z.number().int().min(1).max(maxFilesOfUpload),
    size_bytes: byteCount.meta({ description: 'Size of all files together' }),
  }),
  response: z.object({
    upload: SlideUpload,
    files: z.array(UploadFile).meta({ description: 'Files of which parts have been sent before' }),
  }),
  status: 200,
  errors: ['upload_exists', 'upload_too_large', 'quota_exceeded', 'storage_full', 'too_many_uploads'],
});

export const abandonUpload = endpoint({
  method: 'DELETE',
  path: '/admin/uploads/:uploadId',
  summary: 'Cancel an unfinished upload and delete the parts that have been sent',
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found', 'upload_ended'],
});

export const finishUploadFile = endpoint({
  method: 'PUT',
  path: '/admin/upload-files/:fileId/checksum',
  summary:
    'State the checksum of a complete file. The server verifies it; the list of uploads contains the result',
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
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

/** Creates a tus upload for one file of a slide upload. */
export const createUploadFile = endpoint({
  method: 'POST',
  path: '/admin/upload-files',
  summary: 'tus: create a file of an upload',
  documented: tusCreation(
    'Pairs of a key and a value in Base64: `upload` (id of the upload), `path` (below the folder; for a single file its name) and `modified` (modification time in milliseconds)',
  ),
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 201,
  errors: ['invalid_request', 'not_found', 'upload_ended', 'storage_full'],
});

const UploadFileProgress = UploadFile.extend({ offset: byteCount });

/** tus clients send HEAD. The responses to HEAD and GET have the headers `Upload-Offset` and `Upload-Length`. */
export const getUploadFile = endpoint({
  method: 'GET',
  path: '/admin/upload-files/:fileId',
  summary: 'tus: number of bytes of a file that the server has received',
  documented: tusState(UploadFileProgress),
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  response: UploadFileProgress,
  status: 200,
  errors: ['not_found'],
});

export const sendUploadFile = endpoint({
  method: 'PATCH',
  path: '/admin/upload-files/:fileId',
  summary: 'tus: send the next part of a file',
  documented: tusPart(),
  access: 'catalogue.write',
  apiTokenScope: 'slides:upload',
  defaultMessageLanguage: 'tr',
  isStreamed: true,
  response: null,
  status: 204,
  errors: ['not_found', 'upload_ended', 'storage_full'],
});
