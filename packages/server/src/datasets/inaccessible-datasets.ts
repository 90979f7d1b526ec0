/** Determines which datasets an account, or the API token of a call, may not see. */
import type { User } from '@lamina/contract';
import { onlyDatasetsOf, seesEveryDataset, TokenRestrictedDatasets } from '../domain/dataset-access.ts';
import type { Connection } from '../store/database.ts';
import { noRestrictedDatasets, restrictedDatasetsOf } from '../store/datasets.ts';
import { listDatasetNames } from '../store/listed-images.ts';

/**
 * Returns the names of the datasets that the account may not see now, from the database. A call with an API token that is
 * limited to some datasets may see no other dataset; the set then also contains `noDataset`, which stands for slides
 * without a dataset.
 */
export async function findInaccessibleDatasets(db: Connection, reader: User): Promise<ReadonlySet<string>> {
  const datasetsWithoutGrant = seesEveryDataset(reader)
    ? noRestrictedDatasets
    : ((await restrictedDatasetsOf(db, [reader.uid])).get(reader.uid) ?? noRestrictedDatasets);
  const tokenDatasets = onlyDatasetsOf(reader);
  if (tokenDatasets === null) return datasetsWithoutGrant;
  return new TokenRestrictedDatasets(tokenDatasets, datasetsWithoutGrant, await listDatasetNames(db));
}
