import { describe, expect, it } from 'vitest';
import { readUserQuery, writeUserQuery } from './user-address.ts';

describe('the query parameters of the list of accounts', () => {
  it.each(['', 'q=%C5%9Fule', 'status=pending&role=unassigned&sort=name&page=3'])(
    'stay the same when readUserQuery reads them and writeUserQuery writes them again: "%s"',
    (text) => {
      expect(writeUserQuery(readUserQuery(new URLSearchParams(text))).toString()).toBe(text);
    },
  );

  it('are replaced by their defaults when they have invalid values', () => {
    const query = readUserQuery(new URLSearchParams('status=x&role=y&sort=z&page=-1'));
    expect(query).toEqual({ search: '', status: null, role: null, sort: 'newest', page: 1 });
  });
});
