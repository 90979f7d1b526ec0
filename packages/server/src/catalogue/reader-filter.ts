/** Converts the access rights of a reader (the account that requests the catalogue) to conditions of catalogue queries. */
import { createHmac } from 'node:crypto';
import { type Image, may, type User } from '@lamina/contract';
import type { Datasets } from '../datasets/datasets.ts';
import { unrestrictedRanges } from '../domain/catalogue-order.ts';
import type { Encryption } from '../platform/encryption.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { changeCount, type Database } from '../store/database.ts';
import { imageOf, type ListedImage } from '../store/listed-image.ts';
import { type ImageFilter, listDatasetNames, type Visibility } from '../store/listed-images.ts';

/** The filters of a list request. Null selects entries without a dataset or organ; undefined does not filter. */
export interface ListFilters {
  /** Search text. */
  readonly q?: string | undefined;
  readonly dataset?: string | null | undefined;
  readonly organ?: string | null | undefined;
}

interface ReaderView {
  /** Changes with the catalogue. Readers with the same access rights have the same key. */
  readonly key: string;
  readonly visibility: Visibility;
}

export interface ReaderFilters {
  /** Returns what a reader may see now: the condition for queries, and a key for caches of their results. */
  viewOf(reader: User): Promise<ReaderView>;
  /** Returns the condition for the entries that a reader may see and that match the filters. */
  filterFor(filters: ListFilters, reader: User): Promise<ImageFilter>;
  /** Returns a key for caches and ETags. It changes with the catalogue; readers with the same access rights have the same key. */
  viewKey(reader: User): Promise<string>;
  /**
   * Returns the hash of a key for an ETag or a revision, equal in all processes. The key contains names of datasets that the reader may
   * not see. The hash depends on the server's key, because otherwise a reader could hash guessed names until one matches.
   */
  hashOf(key: string): string;
}

export function createReaderFilters(
  db: Database,
  datasets: Pick<Datasets, 'inaccessibleTo'>,
  encryption: Pick<Encryption, 'deriveSecret'>,
): ReaderFilters {
  const hashKey = encryption.deriveSecret('catalogue revisions');
  let cachedNames: { readonly revision: number; readonly names: readonly string[] } | null = null;

  /** Returns all dataset names; queries them only when the catalogue has changed (`changeCount` differs then). */
  async function datasetNames(): Promise<readonly string[]> {
    const revision = await changeCount(db, 'catalogue');
    if (cachedNames?.revision !== revision) cachedNames = { revision, names: await listDatasetNames(db) };
    return cachedNames.names;
  }

  /** Returns the key of a reader's view, and the datasets that the reader may not see. */
  async function rightsOf(reader: User) {
    // The revision is read first: if the catalogue changes meanwhile, newer results are stored under a key that is not used again.
    const revision = await changeCount(db, 'catalogue');
    const inaccessibleDatasets = await datasets.inaccessibleTo(reader);
    return {
      key: JSON.stringify([revision, seesAll(reader), [...inaccessibleDatasets].sort()]),
      inaccessibleDatasets,
    };
  }

  async function viewOf(reader: User): Promise<ReaderView> {
    // The rights are read once, for the key and the condition. If they were read twice, and the reader got a
    // grant in between, results with the newly granted entries would be cached under the key of readers without the grant.
    const { key, inaccessibleDatasets } = await rightsOf(reader);
    return { key, visibility: await visibilityOf(inaccessibleDatasets, reader) };
  }

  /** Returns the condition for the entries that a reader without access to the `inaccessibleDatasets` may see. */
  async function visibilityOf(inaccessibleDatasets: ReadonlySet<string>, reader: User): Promise<Visibility> {
    return {
      status: seesAll(reader) ? null : 'ready',
      includesHidden: seesAll(reader),
      inaccessibleDatasets,
      // With these ranges of sort keys, a query skips restricted datasets instead of reading and filtering their rows.
      ranges:
        inaccessibleDatasets.size === 0
          ? null
          : unrestrictedRanges(await datasetNames(), inaccessibleDatasets),
    };
  }

  return {
    viewOf,

    async filterFor({ q, dataset, organ }, reader) {
      return {
        ...(await viewOf(reader)).visibility,
        search: q,
        // Names are replaced by their registered spellings.
        dataset: typeof dataset === 'string' ? await spellingOf(db, 'dataset', dataset) : dataset,
        organ: typeof organ === 'string' ? await spellingOf(db, 'organ', organ) : organ,
      };
    },

    viewKey: async (reader) => (await rightsOf(reader)).key,

    hashOf: (key) => createHmac('sha256', hashKey).update(key).digest('base64url'),
  };
}

/**
 * Returns whether a reader sees every entry that is not removed, as administrators do. All others see only ready entries that
 * are not hidden.
 */
export function seesAll(reader: User): boolean {
  return may(reader, 'catalogue.write');
}

/** Returns an entry as the API sends it to a reader: only administrators see why a file could not be read. */
export function imageFor(reader: User, row: ListedImage): Image {
  const image = imageOf(row);
  return seesAll(reader) ? image : { ...image, error: null };
}
