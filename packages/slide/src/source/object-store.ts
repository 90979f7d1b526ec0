/**
 * The objects of one bucket, by range requests over HTTP: what an S3 server has in common with a folder of slides.
 *
 * Keys are those below the prefix of the settings; they come from the catalogue, never from a request.
 */

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
