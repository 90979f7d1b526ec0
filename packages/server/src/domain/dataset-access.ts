/**
 * Rules for access to datasets. A dataset is restricted for an account if the account may not see it. An API token can
 * additionally be limited to some datasets; all others are then restricted for requests with that token.
 */
import { may, nameKey, type Role, type Status, type User } from '@lamina/contract';

/** Whether the account sees every dataset. Accounts that may edit the catalogue do, because they grant access to datasets. */
export function seesEveryDataset(account: { readonly status: Status; readonly role: Role }): boolean {
  return may(account, 'catalogue.write');
}

/** Stands for the images without a dataset in a set of restricted datasets. No dataset has an empty name. */
export const noDataset = '';

/** The account that sends a request. Most functions receive a reader as a `User`; `onlyDatasetsOf` reads the additional property. */
export interface Reader extends User {
  /** Datasets to which the API token of the request is limited; undefined: every dataset that the account may see. */
  readonly onlyDatasets?: readonly string[];
}

/** Returns the datasets that the reader's token is limited to; null if there is no limit. */
export function onlyDatasetsOf(reader: User): readonly string[] | null {
  return (reader as Reader).onlyDatasets ?? null;
}

/** Whether the limit of the reader's API token, if there is one, permits adding slides to the dataset. */
export function mayAddToDataset(reader: User, dataset: string): boolean {
  const limit = onlyDatasetsOf(reader);
  return limit === null || limit.some((name) => nameKey(name) === nameKey(dataset));
}

/**
 * The restricted datasets of an API token that is limited to some datasets: the datasets restricted for its owner, all datasets
 * outside the limit, and `noDataset`. `has` also returns true for datasets outside the limit that did not exist at construction.
 */
export class TokenRestrictedDatasets extends Set<string> {
  readonly #allowedKeys: ReadonlySet<string>;

  /**
   * @param limit names of the datasets to which the token is limited, in any spelling
   * @param restrictedForOwner names of the datasets that are restricted for the owner of the token
   * @param allDatasets names of all datasets that have entries
   */
  constructor(
    limit: readonly string[],
    restrictedForOwner: ReadonlySet<string>,
    allDatasets: readonly string[],
  ) {
    super(restrictedForOwner);
    this.#allowedKeys = new Set(limit.map(nameKey));
    this.add(noDataset);
    for (const name of allDatasets) if (!this.#allowedKeys.has(nameKey(name))) this.add(name);
  }

  override has(name: string): boolean {
    return super.has(name) || !this.#allowedKeys.has(nameKey(name));
  }
}
