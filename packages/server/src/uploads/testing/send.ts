/** Test client for uploads: one function for each API call that the web app makes. */
import { createHash } from 'node:crypto';
import {
  apiBase,
  type beginUpload,
  createUploadFile,
  type listUploads,
  type ResponseOf,
  type SlideUpload,
} from '@lamina/contract';

/** Sends a request to the API; the URL is relative to its base. */
export type SendRequest = (
  method: string,
  url: string,
  request?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: Uint8Array | object },
) => Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}>;

/** An upload as the web app announces it, and the content of its files. */
interface Announcement {
  readonly dataset: string;
  /** Path of the file or folder below the dataset. */
  readonly path: string;
  readonly isFolder?: boolean;
  /** Content of the files by their path below the folder; for a single file, by its name. */
  readonly files: Readonly<Record<string, Uint8Array>>;
}

export const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Returns functions that send the requests of an upload. @param send sends a request as one administrator */
export function sender(send: SendRequest) {
  const tus = { 'tus-resumable': '1.0.0' }; // header of the upload protocol (tus.io)

  /** Announces an upload. @returns the response, with its body also as `begun` */
  async function begin({ dataset, path, isFolder = false, files }: Announcement) {
    const sizes = Object.values(files).map(({ length }) => length);
    const size_bytes = sizes.reduce((sum, size) => sum + size, 0);
    const body = { dataset, path, is_folder: isFolder, file_count: sizes.length, size_bytes };
    const response = await send('POST', '/admin/uploads', { body });
    return { ...response, begun: response.body as ResponseOf<typeof beginUpload> };
  }

  /** Creates a file of an upload. @returns the response, and the id of the file */
  async function create(uploadId: string, path: string, sizeBytes: number) {
    const metadataValues = Object.entries({ upload: uploadId, path, modified: '1700000000000' }); // any time stamp
    // The tus protocol defines the format: comma-separated pairs of a key and a base64 value.
    const metadata = metadataValues
      .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
      .join(',');
    const headers = { ...tus, 'upload-length': String(sizeBytes), 'upload-metadata': metadata };
    const response = await send('POST', createUploadFile.path, { headers });
    const location = response.headers.location ?? '';
    return { ...response, fileId: location.replace(`${apiBase}${createUploadFile.path}/`, '') };
  }

  function part(fileId: string, offset: number, bytes: Uint8Array) {
    const type = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
    return send('PATCH', `/admin/upload-files/${fileId}`, { headers: { ...tus, ...type }, body: bytes });
  }

  /** Returns the number of bytes of a file that the server has received; NaN for an unknown file. */
  async function offsetOf(fileId: string): Promise<number> {
    const { headers } = await send('HEAD', `/admin/upload-files/${fileId}`, { headers: tus });
    return Number(headers['upload-offset'] ?? Number.NaN);
  }

  /** Sends the checksum of a file whose parts have all been sent. */
  function finish(fileId: string, sha256: string) {
    return send('PUT', `/admin/upload-files/${fileId}/checksum`, { body: { sha256 } });
  }

  async function list(): Promise<readonly SlideUpload[]> {
    return ((await send('GET', '/admin/uploads')).body as ResponseOf<typeof listUploads>).uploads;
  }

  /** Sends all files, from the announcement to the last checksum. @returns id of the upload */
  async function sendAll(announcement: Announcement): Promise<string> {
    const { status, body, begun } = await begin(announcement);
    if (status !== 200) throw new Error(`the upload was rejected: ${JSON.stringify(body)}`);
    for (const [path, bytes] of Object.entries(announcement.files)) {
      const { fileId } = await create(begun.upload.id, path, bytes.length);
      if (bytes.length > 0) await part(fileId, 0, bytes);
      await finish(fileId, sha256Of(bytes));
    }
    return begun.upload.id;
  }

  return { begin, create, part, offsetOf, finish, list, sendAll };
}
