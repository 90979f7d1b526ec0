/** Determines which datasets a reader may not see. */
import type { User } from '@lamina/contract';
import { onlyDatasetsOf, seesEveryDataset, TokenRestrictedDatasets } from '../domain/dataset-access.ts';
import type { Connection } from '../store/database.ts';
import { noRestrictedDatasets, restrictedDatasetsOf } from '../store/datasets.ts';
import { listDatasetNames } from '../store/listed-images.ts';

/**
 * Returns the names of the datasets that the account may not see, from the database. For a call with an API token that is
 * limited to datasets, these are all other datasets, and `withoutDataset` for slides that belong to none.
 */
export async function inaccessibleDatasets(db: Connection, reader: User): Promise<ReadonlySet<string>> {
  const closed = seesEveryDataset(reader)
    ? noRestrictedDatasets
    : ((await restrictedDatasetsOf(db, [reader.uid])).get(reader.uid) ?? noRestrictedDatasets);
  const limit = onlyDatasetsOf(reader);
  return limit === null ? closed : new TokenRestrictedDatasets(limit, closed, await listDatasetNames(db));
}
