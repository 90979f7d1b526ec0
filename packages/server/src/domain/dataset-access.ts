/** Which datasets an account, or a token of it, may see. */
import { may, nameKey, type Role, type Status, type User } from '@lamina/contract';

/** Whether the account sees all datasets: an account that may edit the catalogue does, to be able to grant access. */
export function seesEveryDataset(account: { readonly status: Status; readonly role: Role }): boolean {
  return may(account, 'catalogue.write');
}

/** Name of the entries without a dataset in a set of closed datasets. No dataset has it. */
export const withoutDataset = '';

/** The account behind a call. With an API token that is limited to datasets, it sees these at most. */
export interface Reader extends User {
  /** Absent: every dataset that the account may see. */
  readonly onlyDatasets?: readonly string[];
}

/** Returns the datasets that the reader's token is limited to; null without a limit. */
export function onlyDatasetsOf(reader: User): readonly string[] | null {
  return (reader as Reader).onlyDatasets ?? null;
}

/** Whether the reader's token, if any, may put slides into the dataset. */
export function mayAddToDataset(reader: User, dataset: string): boolean {
  const limit = onlyDatasetsOf(reader);
  return limit === null || limit.some((name) => nameKey(name) === nameKey(dataset));
}

/**
 * The datasets that are closed to a token with a limit: all but the ones of the limit, and the entries without a dataset.
 * `has` also covers datasets that were created after the set.
 */
export class TokenRestrictedDatasets extends Set<string> {
  readonly #openKeys: ReadonlySet<string>;

  /**
   * @param limit names of the open datasets, in any spelling
   * @param closed datasets that are closed to the owner
   * @param all names of all datasets that have entries
   */
  constructor(limit: readonly string[], closed: ReadonlySet<string>, all: readonly string[]) {
    super(closed);
    this.#openKeys = new Set(limit.map(nameKey));
    this.add(withoutDataset);
    for (const name of all) if (!this.#openKeys.has(nameKey(name))) this.add(name);
  }

  override has(name: string): boolean {
    return super.has(name) || !this.#openKeys.has(nameKey(name));
  }
}
