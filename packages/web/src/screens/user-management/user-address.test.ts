import { describe, expect, it } from 'vitest';
import { readUserQuery, writeUserQuery } from './user-address.ts';

describe('the query parameters of the list of accounts', () => {
  it.each(['', 'q=%C5%9Fule', 'status=pending&role=unassigned&sort=name&page=3'])(
    'stay the same when readUserQuery reads them and writeUserQuery writes them again: "%s"',
    (text) => {
      expect(writeUserQuery(readUserQuery(new URLSearchParams(text))).toString()).toBe(text);
    },
  );

  it.each(['-1', '20002'])(
    'get their defaults when status, role and order are unknown and the page (%s) is out of range',
    (page) => {
      const query = readUserQuery(new URLSearchParams(`status=x&role=y&sort=z&page=${page}`));
      expect(query).toEqual({ search: '', status: null, role: null, sort: 'newest', page: 1 });
    },
  );

  it('may contain page=20001, the last page that the API can return (offset 1,000,000)', () => {
    expect(readUserQuery(new URLSearchParams('page=20001')).page).toBe(20_001);
  });
});
