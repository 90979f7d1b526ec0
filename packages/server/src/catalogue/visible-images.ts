/** Determines which slides an account may view, for cases, collections, saved views and share links, which refer to slides. */
import type { User } from '@lamina/contract';
import type { Datasets } from '../datasets/datasets.ts';
import { mayViewImage } from '../domain/image-session.ts';
import type { Connection, Database } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import { findImages } from '../store/managed-images.ts';
import { seesAll } from './reader-filter.ts';

export interface VisibleImages {
  /**
   * Returns the images that the account may view now, by id. Ids of other images are left out.
   *
   * @param connection the transaction that reads the images; by default they are read outside a transaction
   */
  of(
    reader: User,
    imageIds: readonly string[],
    connection?: Connection,
  ): Promise<ReadonlyMap<string, ImageRow>>;
}

export function createVisibleImages(db: Database, datasets: Pick<Datasets, 'inaccessibleTo'>): VisibleImages {
  return {
    async of(reader, imageIds, connection = db) {
      const inaccessibleDatasets = await datasets.inaccessibleTo(reader, connection);
      const rows = await findImages(connection, [...new Set(imageIds)]);
      const seesEveryEntry = seesAll(reader);
      return new Map(
        rows
          .filter(
            (row) =>
              row.removed_at === null &&
              row.missing_since === null &&
              (row.status === 'ready' || seesEveryEntry) &&
              mayViewImage(
                { inaccessibleDatasets, seesHidden: seesEveryEntry },
                { dataset: row.dataset_name, isHidden: row.hidden_at !== null },
              ),
          )
          .map((row) => [row.id, row]),
      );
    },
  };
}
