import { may, type Role, type Status } from '@lamina/contract';

/** Who may edit the catalogue sees all of it: nobody else can open a dataset to others. */
export function seesEveryDataset(account: { readonly status: Status; readonly role: Role }): boolean {
  return may(account, 'catalogue.write');
}
