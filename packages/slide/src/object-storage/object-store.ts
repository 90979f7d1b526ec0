/**
 * A client for one bucket of S3-compatible object storage: it reads byte ranges, and lists, stores and deletes objects.
 *
 * Keys are relative to the prefix in the settings. They come from the catalogue of slides, never from a user's request. URLs
 * are in path style (`endpoint/bucket/key`), which every S3 server supports. The client does not follow redirects.
 *
 * The file exceeds 350 lines because all calls share the signing, the guard (limits and retries) and response checks.
 *
 * Source: Amazon S3 API Reference (2006-03-01), the pages of the calls named below.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
import { SlideError } from '../model/slide.ts';
import { checkRange } from '../source/byte-source.ts';
import { elementsAt, readXml, textAt, type XmlElement } from '../xml/read-xml.ts';
import { createStoreGuard, StoreFault, type StoreLimits, storeLimits } from './circuit-breaker.ts';

/** Metadata that identifies a version of an object. */
export interface ObjectMetadata {
  /** Size in bytes. */
  readonly size: number;
  /** The ETag without quotes; it changes whenever the bytes change. */
  readonly etag: string;
}

export interface StoredObject extends ObjectMetadata {
  readonly key: string;
}

export interface ListedObject extends StoredObject {
  /** Time in ISO 8601, UTC. */
  readonly lastModified: string;
}

/** Every method may throw SlideError STORE_UNAVAILABLE, STORE_TIMEOUT or BUSY; those with a key also FILE_MISSING. */
export interface ObjectStore {
  /** Returns the current size and ETag of an object. */
  head(key: string, signal?: AbortSignal): Promise<ObjectMetadata>;
  /**
   * Reads exactly these bytes of exactly this version of an object.
   *
   * @throws SlideError FILE_CHANGED when the object was replaced
   */
  read(object: StoredObject, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Lists all objects whose keys start with the prefix, in byte order of their keys; '' lists all objects. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ListedObject>;
  /**
   * Stores a file atomically, in one request or as a multipart upload, and replaces an existing object.
   *
   * @param file absolute path; the file must not change during the upload
   * @throws SlideError FILE_MISSING when the file cannot be read; FILE_CHANGED when it becomes shorter
   */
  put(key: string, file: string, signal?: AbortSignal): Promise<ObjectMetadata>;
  /** Deletes an object; a missing one counts as deleted. */
  delete(key: string, signal?: AbortSignal): Promise<void>;
}

export interface ObjectStoreSettings {
  /** Base URL of the server, for example `https://s3.example.org`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Prefix of the keys of all slides, for example `slides/`; may be empty. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface TransferLimits {
  /** Bytes of a part of a multipart upload. A file of at most this size is sent in one request. */
  readonly partBytes: number;
  /** Time limit for sending one part. */
  readonly partMs: number;
  /** Keys per page of a list; S3 allows at most 1,000. */
  readonly pageKeys: number;
}

const transferLimits: TransferLimits = { partBytes: 16 * 2 ** 20, partMs: 120_000, pageKeys: 1000 };
/** Maximum parts of a multipart upload. Source: Amazon S3 User Guide, "Multipart upload limits". */
const MAX_PARTS = 10_000;
/** Maximum bytes of an XML response. The longest is a list of 1,000 keys of 1,000 bytes each, with their XML elements. */
const MAX_XML_BYTES = 8 * 2 ** 20;
/** Maximum bytes of an error response, from which only the error code is read. */
const MAX_ERROR_BYTES = 4096;

interface RequestOptions {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

/** Creates a client. @param overrides limits that differ from the defaults */
export function createObjectStore(
  settings: ObjectStoreSettings,
  overrides: Partial<StoreLimits & TransferLimits> = {},
): ObjectStore {
  const limits = { ...storeLimits, ...transferLimits, ...overrides };
  const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = settings;
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const guard = createStoreGuard(limits);
  const root = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;

  /** Returns the URL of an object. @throws SlideError FILE_MISSING for a key that a URL cannot contain */
  function urlOf(key: string): string {
    const segments = (prefix + key).split('/');
    // A URL parser removes the segments "." and "..", so the URL would name another object.
    if (key === '' || segments.some((segment) => segment === '.' || segment === '..')) {
      throw new SlideError('FILE_MISSING', 'The key of the object is empty or has a segment "." or ".."');
    }
    return `${root}/${segments.map(encodeURIComponent).join('/')}`;
  }

  /** Sends one signed request. @param url URL without its query @throws StoreFault; errors of `fetch` */
  async function request(url: string, options: RequestOptions, signal: AbortSignal): Promise<Response> {
    const { method, headers, query, body } = options;
    const urlWithQuery = query ? `${url}?${queryOf(query)}` : url;
    const signed = await signer.sign(urlWithQuery, {
      method,
      headers: {
        // Without this header, aws4fetch does not include the body in the signature.
        ...(body !== undefined && { 'x-amz-content-sha256': digest('sha256', body, 'hex') }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal,
    });
    // Asks for an uncompressed response, whose Content-Length is the size of the object. The header is not signed, because
    // proxies rewrite it. For range requests, `fetch` sets it itself.
    if (headers?.range === undefined) signed.headers.set('accept-encoding', 'identity');
    // The signal is passed again: Node drops the signal of a Request once the Request is garbage-collected, and a slow body
    // would then never time out.
    return fetch(signed, { signal });
  }

  /** Throws the error for an error response. @throws SlideError FILE_MISSING, FILE_CHANGED; StoreFault */
  async function throwErrorOf(response: Response): Promise<never> {
    const { status } = response;
    if (status === 404) {
      await response.body?.cancel();
      throw new SlideError('FILE_MISSING', 'The object does not exist');
    }
    // 412: the ETag differs; 416: the requested range lies beyond the end, because the new object is shorter.
    if (status === 412 || status === 416) {
      await response.body?.cancel();
      throw new SlideError('FILE_CHANGED', 'The object was replaced');
    }
    // The code is only a detail of the message, so a failure to read it is ignored.
    const errorBody = await textOf(response, MAX_ERROR_BYTES).catch(() => '');
    const code = /<Code>(\w{1,64})<\/Code>/.exec(errorBody)?.[1];
    const isTransient = status === 429 || status >= 500;
    throw new StoreFault(
      'STORE_UNAVAILABLE',
      `The object store responded with status ${status}${code === undefined ? '' : ` (${code})`}`,
      isTransient,
    );
  }

  async function head(key: string, signal?: AbortSignal): Promise<ObjectMetadata> {
    const url = urlOf(key);
    return guard.run(async (attemptSignal) => {
      const response = await request(url, { method: 'HEAD' }, attemptSignal);
      if (response.status !== 200) await throwErrorOf(response);
      const size = Number(response.headers.get('content-length') ?? Number.NaN);
      const etag = etagIn(response);
      if (!Number.isSafeInteger(size) || etag === null) throw unexpectedResponse('it has no size or no ETag');
      return { size, etag };
    }, signal);
  }

  /** Reads a range of an object. Source: GetObject; RFC 9110, sections 13.1.1 (If-Match) and 14 (range requests). */
  async function readRange(
    url: string,
    { etag, size }: StoredObject,
    offset: number,
    length: number,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const range = `${offset}-${offset + length - 1}`;
    const headers = { range: `bytes=${range}`, 'if-match': `"${etag}"` };
    const response = await request(url, { method: 'GET', headers }, signal);
    if (response.status !== 206 && response.status !== 200) await throwErrorOf(response);
    try {
      const returnedEtag = etagIn(response);
      if (returnedEtag !== null && returnedEtag !== etag) {
        throw new SlideError('FILE_CHANGED', 'The object was replaced');
      }
      // Status 200 means that the body is the whole object, which may have many gigabytes, so it is not read.
      if (response.status === 200) throw unexpectedResponse('the store ignores range requests');
      if (response.headers.get('content-range') !== `bytes ${range}/${size}`) {
        throw unexpectedResponse('it contains another range than requested');
      }
      if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') {
        throw unexpectedResponse('its bytes are compressed');
      }
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    return readExactly(response, length);
  }

  async function* list(keyPrefix: string, signal?: AbortSignal): AsyncGenerator<ListedObject> {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(limits.pageKeys),
      prefix: prefix + keyPrefix,
    };
    // The continuation token: '' for the first page, null after the last one.
    for (let token: string | null = ''; token !== null; ) {
      const continuation: Record<string, string> = token === '' ? {} : { 'continuation-token': token };
      const page = await readPage({ ...query, ...continuation }, signal);
      yield* objectsIn(page, prefix);
      const hasNextPage = textAt(page, 'IsTruncated') === 'true';
      token = hasNextPage ? (textAt(page, 'NextContinuationToken') ?? '') : null;
      if (token === '') throw unexpectedResponse('a page of a list has no continuation token');
    }
  }

  /** Reads one page of a list. Source: ListObjectsV2. */
  function readPage(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<XmlElement> {
    // Listing 1,000 keys takes longer than reading one object, so one attempt may use the whole time limit.
    return guard.run(
      async (attemptSignal) => {
        const response = await request(`${root}/`, { method: 'GET', query }, attemptSignal);
        if (response.status === 404) {
          await response.body?.cancel();
          throw unexpectedResponse('the bucket does not exist');
        }
        if (response.status !== 200) await throwErrorOf(response);
        return xmlOf(response, MAX_XML_BYTES);
      },
      signal,
      { attemptMs: limits.totalMs },
    );
  }

  // Uploads have longer time limits than the other requests.
  const uploadLimits = { attemptMs: limits.partMs, totalMs: limits.partMs * (limits.retries + 1) };

  /** Sends a file or one part of it. @returns the ETag of the response */
  function send(url: string, options: RequestOptions, signal?: AbortSignal): Promise<string> {
    return guard.run(
      async (attemptSignal) => {
        const response = await request(url, options, attemptSignal);
        if (response.status !== 200) await throwErrorOf(response);
        await response.body?.cancel();
        const etag = etagIn(response);
        if (etag === null) throw unexpectedResponse('it has no ETag');
        return etag;
      },
      signal,
      uploadLimits,
    );
  }

  /** Sends a request of a multipart upload, and returns the XML of the response. */
  function sendForXml(
    url: string,
    options: RequestOptions,
    signal: AbortSignal | undefined,
    retries: number,
  ): Promise<XmlElement> {
    return guard.run(
      async (attemptSignal) => {
        const response = await request(url, options, attemptSignal);
        if (response.status !== 200) await throwErrorOf(response);
        return xmlOf(response, MAX_XML_BYTES);
      },
      signal,
      { ...uploadLimits, retries },
    );
  }

  /** Uploads a file in parts. Source: CreateMultipartUpload, UploadPart, CompleteMultipartUpload, AbortMultipartUpload. */
  async function putParts(
    url: string,
    file: FileHandle,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const partBytes = Math.max(limits.partBytes, Math.ceil(size / MAX_PARTS));
    const started = await sendForXml(url, { method: 'POST', query: { uploads: '' } }, signal, limits.retries);
    const uploadId = textAt(started, 'UploadId');
    if (uploadId === null) throw unexpectedResponse('it contains no id of the multipart upload');
    try {
      const parts: string[] = [];
      for (let offset = 0; offset < size; offset += partBytes) {
        const partNumber = parts.length + 1;
        const body = await readPart(file, offset, Math.min(partBytes, size - offset));
        const query = { partNumber: String(partNumber), uploadId };
        const headers = { 'content-md5': digest('md5', body, 'base64') };
        const etag = await send(url, { method: 'PUT', query, headers, body }, signal);
        parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>&quot;${etag}&quot;</ETag></Part>`);
      }
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
      // Not retried (0): if only the response was lost, the upload has succeeded.
      const completed = await sendForXml(url, { method: 'POST', query: { uploadId }, body }, signal, 0);
      // If S3 fails after it has sent status 200, it reports the failure in the body.
      if (completed.name !== 'CompleteMultipartUploadResult')
        throw unexpectedResponse('it does not confirm that the multipart upload is complete');
    } catch (error) {
      // Aborts the upload, because unfinished uploads use paid storage; without `signal`, which the caller may have aborted.
      // If this request fails too, the lifecycle rules of the bucket remove the parts.
      const query = { uploadId };
      await guard
        .run(async (attemptSignal) => {
          const response = await request(url, { method: 'DELETE', query }, attemptSignal);
          await response.body?.cancel();
        })
        .catch(() => {});
      throw error;
    }
  }

  return {
    head,

    async read(object, offset, length, signal) {
      checkRange(offset, length, object.size);
      if (length === 0) return new Uint8Array();
      const url = urlOf(object.key);
      return guard.run((attemptSignal) => readRange(url, object, offset, length, attemptSignal), signal);
    },

    list,

    async put(key, filePath, signal) {
      const url = urlOf(key);
      const file = await open(filePath).catch((cause: unknown) => {
        throw new SlideError('FILE_MISSING', 'The file to upload cannot be read', { cause });
      });
      try {
        const { size } = await file.stat();
        if (size > limits.partBytes) {
          await putParts(url, file, size, signal);
        } else {
          const body = await readPart(file, 0, size);
          const headers = { 'content-md5': digest('md5', body, 'base64') };
          await send(url, { method: 'PUT', headers, body }, signal);
        }
        const metadata = await head(key, signal);
        if (metadata.size !== size)
          throw unexpectedResponse('the stored object has another size than the file');
        return metadata;
      } finally {
        await file.close();
      }
    },

    async delete(key, signal) {
      const url = urlOf(key);
      await guard.run(async (attemptSignal) => {
        const response = await request(url, { method: 'DELETE' }, attemptSignal);
        if (response.status !== 404 && !response.ok) await throwErrorOf(response);
        await response.body?.cancel();
      }, signal);
    },
  };
}

/** Returns the query string of a URL. It encodes spaces as `%20`, because not every server decodes a plus sign. */
function queryOf(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

/** Returns the ETag of a response without quotes; null when it has none. */
function etagIn({ headers }: Response): string | null {
  const etag = withoutQuotes(headers.get('etag') ?? '');
  return etag === '' ? null : etag;
}

/** Removes quotes and the prefix `W/` of a weak ETag, which proxies add when they compress the body. */
function withoutQuotes(etag: string): string {
  return etag.replace(/^(W\/)?"|"$/g, '');
}

/** Returns the fault for an unexpected response, which a retry would not change (`false`). @param reason a clause about the response */
function unexpectedResponse(reason: string): StoreFault {
  return new StoreFault('STORE_UNAVAILABLE', `Unexpected response of the object store: ${reason}`, false);
}

/** Reads a body of exactly `length` bytes. @throws StoreFault for another length, transient (`true`) if shorter */
async function readExactly({ body }: Response, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let received = 0;
  for await (const chunk of body ?? []) {
    if (received + chunk.length > length) throw unexpectedResponse('it has more bytes than requested');
    bytes.set(chunk, received);
    received += chunk.length;
  }
  if (received === length) return bytes;
  throw new StoreFault('STORE_UNAVAILABLE', 'The object store returned fewer bytes than requested', true);
}

/** Reads a body as UTF-8 text. @throws StoreFault when it has more than `maxBytes` */
async function textOf({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body ?? []) {
    received += chunk.length;
    if (received > maxBytes) throw unexpectedResponse(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function xmlOf(response: Response, maxBytes: number): Promise<XmlElement> {
  const text = await textOf(response, maxBytes);
  try {
    return readXml(text);
  } catch (cause) {
    throw new StoreFault('STORE_UNAVAILABLE', 'The object store returned invalid XML', false, cause);
  }
}

/** Returns the objects of a page of a list. Objects whose key ends in a slash, which stand for folders, are omitted. */
function objectsIn(page: XmlElement, prefix: string): ListedObject[] {
  const isEncoded = textAt(page, 'EncodingType') === 'url';
  return elementsAt(page, 'Contents').flatMap((element) => {
    const encodedKey = textAt(element, 'Key') ?? '';
    // In the encoding `url`, a plus sign is a space too.
    const key = isEncoded ? decodeURIComponent(encodedKey.replaceAll('+', ' ')) : encodedKey;
    const size = Number(textAt(element, 'Size') ?? Number.NaN);
    const etag = withoutQuotes(textAt(element, 'ETag') ?? '');
    const lastModified = new Date(textAt(element, 'LastModified') ?? '');
    if (!key.startsWith(prefix) || !Number.isSafeInteger(size) || Number.isNaN(lastModified.getTime())) {
      throw unexpectedResponse('a list contains invalid entries');
    }
    if (key === prefix || key.endsWith('/')) return [];
    return [{ key: key.slice(prefix.length), size, etag, lastModified: lastModified.toISOString() }];
  });
}

/** Reads exactly these bytes of a file; a single call of `read` may return fewer. @throws SlideError FILE_CHANGED when the file ends before */
async function readPart(file: FileHandle, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(length);
  for (let received = 0; received < length; ) {
    const { bytesRead } = await file.read(part, received, length - received, offset + received);
    if (bytesRead === 0) throw new SlideError('FILE_CHANGED', 'The file to upload has become shorter');
    received += bytesRead;
  }
  return part;
}

function digest(algorithm: 'md5' | 'sha256', bytes: Uint8Array | string, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}
