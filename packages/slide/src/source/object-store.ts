/**
 * The objects of one bucket, by range requests over HTTP: what an S3 server has in common with a folder of slides.
 *
 * Keys are those below the prefix of the settings; they come from the catalogue, never from a request. Addresses are
 * in path style, which every server understands, and no redirect is followed.
 *
 * Source: Amazon S3 API Reference (2006-03-01), the pages of the calls named below.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { AwsClient } from 'aws4fetch';
import { SlideError } from '../slide.ts';
import { elementsAt, readXml, textAt, type XmlElement } from '../xml/read-xml.ts';
import { checkRange } from './byte-source.ts';
import { createStoreGuard, StoreFault, type StoreLimits, storeLimits } from './store-guard.ts';

/** What an object is now. */
export interface ObjectFacts {
  /** Bytes. */
  readonly size: number;
  /** As the store writes it, without quotes; changes whenever the bytes do. */
  readonly etag: string;
}

export interface StoredObject extends ObjectFacts {
  readonly key: string;
}

export interface ListedObject extends StoredObject {
  /** ISO 8601, UTC. */
  readonly lastModified: string;
}

export interface ObjectStore {
  /** @throws SlideError FILE_MISSING, STORE_UNAVAILABLE, STORE_TIMEOUT, BUSY; so do all of these */
  head(key: string, signal?: AbortSignal): Promise<ObjectFacts>;
  /**
   * Exactly these bytes of exactly this object.
   *
   * @throws SlideError FILE_CHANGED when it is another one by now, FILE_MISSING
   */
  read(object: StoredObject, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** All objects whose keys begin so, in the order of the bytes of their keys; '' lists everything. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ListedObject>;
  /**
   * Puts a file there, in the place of whatever was: in one piece or in several, whole or not at all.
   *
   * @param file absolute path; must not change meanwhile
   * @throws SlideError FILE_MISSING when there is no such file
   */
  put(key: string, file: string, signal?: AbortSignal): Promise<ObjectFacts>;
  /** One that is not there counts as deleted. */
  delete(key: string, signal?: AbortSignal): Promise<void>;
}

export interface ObjectStoreSettings {
  /** Where the server answers, e.g. `https://s3.example.org`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** What the keys of all slides begin with, e.g. `slides/`; may be empty. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface TransferLimits {
  /** A file is put in pieces of so many bytes, each of which may take so many milliseconds. */
  readonly partBytes: number;
  readonly partMs: number;
  /** Of one page of a list; a thousand is the most there may be. */
  readonly pageKeys: number;
}

const transferLimits: TransferLimits = { partBytes: 16 * 2 ** 20, partMs: 120_000, pageKeys: 1000 };
/** Source: Amazon S3 User Guide, "Multipart upload limits". */
const MOST_PARTS = 10_000;
/** A thousand keys of a thousand bytes each, and what stands between them. */
const LIST_BYTES = 8 * 2 ** 20;
/** Of an answer that refuses: enough for its code. */
const REFUSAL_BYTES = 4096;

interface Wanted {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

export function createObjectStore(
  settings: ObjectStoreSettings,
  changed: Partial<StoreLimits & TransferLimits> = {},
): ObjectStore {
  const limits = { ...storeLimits, ...transferLimits, ...changed };
  const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = settings;
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const guard = createStoreGuard(limits);
  const root = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;

  /** @throws SlideError FILE_MISSING for a key that no address can name */
  function addressOf(key: string): string {
    const segments = (prefix + key).split('/');
    // An address loses such segments on its way, and would then name another object.
    if (key === '' || segments.some((segment) => segment === '.' || segment === '..')) {
      throw new SlideError('FILE_MISSING', 'No object can be called so');
    }
    return `${root}/${segments.map(encodeURIComponent).join('/')}`;
  }

  /** One request. @throws StoreFault, what `fetch` throws */
  async function request(address: string, wanted: Wanted, signal: AbortSignal): Promise<Response> {
    const { method, headers, query, body } = wanted;
    const url = query ? `${address}?${queryOf(query)}` : address;
    const signed = await signer.sign(url, {
      method,
      headers: {
        ...(body !== undefined && { 'x-amz-content-sha256': digest('sha256', body, 'hex') }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal,
    });
    // The length of what is packed on the way says nothing. Not signed, for proxies write it anew; said of ranges by `fetch`.
    if (headers?.range === undefined) signed.headers.set('accept-encoding', 'identity');
    return fetch(signed);
  }

  /** @throws SlideError FILE_MISSING, FILE_CHANGED, StoreFault */
  async function refuse(response: Response): Promise<never> {
    const { status } = response;
    if (status === 404) {
      await response.body?.cancel();
      throw new SlideError('FILE_MISSING', 'The object is not there');
    }
    if (status === 412 || status === 416) {
      await response.body?.cancel();
      throw new SlideError('FILE_CHANGED', 'The object is another one by now');
    }
    const code = /<Code>(\w{1,64})<\/Code>/.exec(await textOf(response, REFUSAL_BYTES).catch(() => ''))?.[1];
    const isPassing = status === 429 || status >= 500;
    throw new StoreFault(
      'STORE_UNAVAILABLE',
      `The object store answered ${status}${code === undefined ? '' : ` (${code})`}`,
      isPassing,
    );
  }

  async function head(key: string, signal?: AbortSignal): Promise<ObjectFacts> {
    const address = addressOf(key);
    return guard.ask(async (attempt) => {
      const response = await request(address, { method: 'HEAD' }, attempt);
      if (response.status !== 200) await refuse(response);
      const size = Number(response.headers.get('content-length') ?? Number.NaN);
      const etag = etagIn(response);
      if (!Number.isSafeInteger(size) || etag === null) throw strange('it does not say what an object is');
      return { size, etag };
    }, signal);
  }

  /** Source: GetObject; RFC 9110, sections 13.1.1 (If-Match) and 14 (ranges). */
  async function readRange(
    address: string,
    { etag, size }: StoredObject,
    offset: number,
    length: number,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const range = `${offset}-${offset + length - 1}`;
    const headers = { range: `bytes=${range}`, 'if-match': `"${etag}"` };
    const response = await request(address, { method: 'GET', headers }, signal);
    if (response.status !== 206 && response.status !== 200) await refuse(response);
    try {
      const given = etagIn(response);
      if (given !== null && given !== etag) {
        throw new SlideError('FILE_CHANGED', 'The object is another one by now');
      }
      // The whole object may be many gigabytes: nothing of it is read.
      if (response.status === 200) throw strange('it sends whole objects instead of parts');
      if (response.headers.get('content-range') !== `bytes ${range}/${size}`) {
        throw strange('it sends another part than was asked for');
      }
      if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') {
        throw strange('it sends packed bytes');
      }
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    return exactly(response, length);
  }

  async function* list(from: string, signal?: AbortSignal): AsyncGenerator<ListedObject> {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(limits.pageKeys),
      prefix: prefix + from,
    };
    for (let token: string | null = ''; token !== null; ) {
      const more: Record<string, string> = token === '' ? {} : { 'continuation-token': token };
      const page = await listPage({ ...query, ...more }, signal);
      yield* objectsIn(page, prefix);
      token = textAt(page, 'IsTruncated') === 'true' ? textAt(page, 'NextContinuationToken') : null;
      if (token === '') throw strange('its list has no end');
    }
  }

  /** Source: ListObjectsV2. */
  function listPage(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<XmlElement> {
    // Looking for a thousand keys takes a store longer than reading one object.
    return guard.ask(
      async (attempt) => {
        const response = await request(`${root}/`, { method: 'GET', query }, attempt);
        if (response.status === 404) {
          await response.body?.cancel();
          throw strange('it has no such bucket');
        }
        if (response.status !== 200) await refuse(response);
        return xmlOf(response, LIST_BYTES);
      },
      signal,
      { attemptMs: limits.totalMs },
    );
  }

  const patiently = { attemptMs: limits.partMs, totalMs: limits.partMs * (limits.retries + 1) };

  /** @returns the answer's ETag */
  function send(address: string, wanted: Wanted, signal?: AbortSignal): Promise<string> {
    return guard.ask(
      async (attempt) => {
        const response = await request(address, wanted, attempt);
        if (response.status !== 200) await refuse(response);
        await response.body?.cancel();
        const etag = etagIn(response);
        if (etag === null) throw strange('it does not say what it has stored');
        return etag;
      },
      signal,
      patiently,
    );
  }

  function sendForXml(
    address: string,
    wanted: Wanted,
    signal: AbortSignal | undefined,
    retries: number,
  ): Promise<XmlElement> {
    return guard.ask(
      async (attempt) => {
        const response = await request(address, wanted, attempt);
        if (response.status !== 200) await refuse(response);
        return xmlOf(response, LIST_BYTES);
      },
      signal,
      { ...patiently, retries },
    );
  }

  /** Source: CreateMultipartUpload, UploadPart, CompleteMultipartUpload, AbortMultipartUpload. */
  async function putParts(
    address: string,
    file: FileHandle,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const partBytes = Math.max(limits.partBytes, Math.ceil(size / MOST_PARTS));
    const begun = await sendForXml(
      address,
      { method: 'POST', query: { uploads: '' } },
      signal,
      limits.retries,
    );
    const uploadId = textAt(begun, 'UploadId');
    if (uploadId === null) throw strange('it does not begin an upload');
    try {
      const parts: string[] = [];
      for (let at = 0; at < size; at += partBytes) {
        const number = parts.length + 1;
        const body = await readPart(file, at, Math.min(partBytes, size - at));
        const query = { partNumber: String(number), uploadId };
        const headers = { 'content-md5': digest('md5', body, 'base64') };
        const etag = await send(address, { method: 'PUT', query, headers, body }, signal);
        parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>&quot;${etag}&quot;</ETag></Part>`);
      }
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
      // Not tried again: an answer that was lost on its way may have been a good one.
      const ended = await sendForXml(address, { method: 'POST', query: { uploadId }, body }, signal, 0);
      // A failure after the answer has begun is told in it.
      if (ended.name !== 'CompleteMultipartUploadResult')
        throw strange('it could not put the parts together');
    } catch (error) {
      // What is left of it would be paid for; where that fails too, the store's own rules clear it away.
      const query = { uploadId };
      await guard
        .ask(async (attempt) => {
          const response = await request(address, { method: 'DELETE', query }, attempt);
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
      const address = addressOf(object.key);
      return guard.ask((attempt) => readRange(address, object, offset, length, attempt), signal);
    },

    list,

    async put(key, path, signal) {
      const address = addressOf(key);
      const file = await open(path).catch((cause: unknown) => {
        throw new SlideError('FILE_MISSING', 'The file to be stored cannot be read', { cause });
      });
      try {
        const { size } = await file.stat();
        if (size > limits.partBytes) {
          await putParts(address, file, size, signal);
        } else {
          const body = await readPart(file, 0, size);
          const headers = { 'content-md5': digest('md5', body, 'base64') };
          await send(address, { method: 'PUT', headers, body }, signal);
        }
        const facts = await head(key, signal);
        if (facts.size !== size) throw strange('what it has stored is not what it was given');
        return facts;
      } finally {
        await file.close();
      }
    },

    async delete(key, signal) {
      const address = addressOf(key);
      await guard.ask(async (attempt) => {
        const response = await request(address, { method: 'DELETE' }, attempt);
        if (response.status !== 404 && !response.ok) await refuse(response);
        await response.body?.cancel();
      }, signal);
    },
  };
}

/** Spaces as `%20`: not every server takes a plus sign for one. */
function queryOf(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

/** @returns null where there is none */
function etagIn({ headers }: Response): string | null {
  const etag = withoutQuotes(headers.get('etag') ?? '');
  return etag === '' ? null : etag;
}

/** A proxy that may pack what it passes on calls every tag weak; the store knows it as it was. */
function withoutQuotes(etag: string): string {
  return etag.replace(/^(W\/)?"|"$/g, '');
}

/** The store answers, but not as one does. */
function strange(how: string): StoreFault {
  return new StoreFault('STORE_UNAVAILABLE', `The object store cannot be used: ${how}`, false);
}

/** @throws StoreFault when there are fewer or more; then the rest is not read */
async function exactly({ body }: Response, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const piece of body ?? []) {
    if (at + piece.length > length) throw strange('it sends more than was asked for');
    bytes.set(piece, at);
    at += piece.length;
  }
  if (at === length) return bytes;
  throw new StoreFault('STORE_UNAVAILABLE', 'The object store sent less than was asked for', true);
}

/** @throws StoreFault when it is longer */
async function textOf({ body }: Response, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > most) throw strange('its answer is too long');
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

async function xmlOf(response: Response, most: number): Promise<XmlElement> {
  const text = await textOf(response, most);
  try {
    return readXml(text);
  } catch (cause) {
    throw new StoreFault('STORE_UNAVAILABLE', 'The object store answers in no XML', false, cause);
  }
}

/** Without those that stand for a folder. */
function objectsIn(page: XmlElement, prefix: string): ListedObject[] {
  const isEncoded = textAt(page, 'EncodingType') === 'url';
  return elementsAt(page, 'Contents').flatMap((element) => {
    const written = textAt(element, 'Key') ?? '';
    const key = isEncoded ? decodeURIComponent(written.replaceAll('+', ' ')) : written;
    const size = Number(textAt(element, 'Size') ?? Number.NaN);
    const etag = withoutQuotes(textAt(element, 'ETag') ?? '');
    const lastModified = new Date(textAt(element, 'LastModified') ?? '');
    if (!key.startsWith(prefix) || !Number.isSafeInteger(size) || Number.isNaN(lastModified.getTime())) {
      throw strange('its list cannot be read');
    }
    if (key === prefix || key.endsWith('/')) return [];
    return [{ key: key.slice(prefix.length), size, etag, lastModified: lastModified.toISOString() }];
  });
}

async function readPart(file: FileHandle, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, at);
  if (bytesRead === length) return buffer;
  throw new SlideError('FILE_CHANGED', 'The file to be stored has become shorter');
}

function digest(algorithm: 'md5' | 'sha256', bytes: Uint8Array | string, as: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(as);
}
