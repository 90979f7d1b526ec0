import { describe, expect, it } from 'vitest';
import { addressOf, userQueryOf } from './user-address.ts';

describe('the address of All Users', () => {
  it.each(['', 'q=%C5%9Fule', 'status=pending&role=unassigned&sort=name&page=3'])(
    'is the same after reading and writing "%s"',
    (text) => {
      expect(addressOf(userQueryOf(new URLSearchParams(text))).toString()).toBe(text);
    },
  );

  it('ignores values that no filter has', () => {
    const query = userQueryOf(new URLSearchParams('status=x&role=y&sort=z&page=-1'));
    expect(query).toEqual({ search: '', status: null, role: null, sort: 'newest', page: 1 });
  });
});
