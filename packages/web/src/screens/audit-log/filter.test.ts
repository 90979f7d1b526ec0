import { describe, expect, it } from 'vitest';
import { addressOfFilter, askedBy, filterOfAddress } from './filter.ts';

const none = { who: '', action: '', result: '', target: '', from: '', to: '', sessions: '' };

describe('the audit filter in the address', () => {
  it('is read from known parameters, and ignores unknown ones', () => {
    const search = new URLSearchParams(
      'who=+isil@example.org&action=sign-in&result=refused&target=id-1&from=2026-05-01&to=2026-05-02&else=1',
    );
    expect(filterOfAddress(search)).toEqual({
      who: 'isil@example.org',
      action: 'sign-in',
      result: 'refused',
      target: 'id-1',
      from: '2026-05-01',
      to: '2026-05-02',
      sessions: '',
    });
    const odd = new URLSearchParams('action=constructor&result=maybe&from=yesterday&to=2026-5-1');
    expect(filterOfAddress(odd)).toEqual(none);
  });

  it('is written as the same address', () => {
    expect(addressOfFilter({})).toBe('/admin/audit');
    expect(addressOfFilter({ who: 'a+b@example.org', action: '' })).toBe(
      '/admin/audit?who=a%2Bb%40example.org',
    );
    const address = addressOfFilter({ ...none, target: 'id-1', to: '2026-05-02' });
    expect(filterOfAddress(new URL(address, 'http://here').searchParams)).toEqual({
      ...none,
      target: 'id-1',
      to: '2026-05-02',
    });
  });
});

describe('the query for the audit API', () => {
  it.each([
    ['leaves out image sessions for an empty filter', {}, { hide: 'sessions' }],
    ['has image sessions when the person asks for them', { sessions: '1' }, {}],
    [
      'has image sessions when the action is one of theirs',
      { action: 'image-session-created' },
      { action: 'image-session-created' },
    ],
  ])('%s', (_, filter, query) => {
    expect(askedBy({ ...none, ...filter })).toEqual(query);
  });

  it('covers whole local days, including the last one', () => {
    expect(askedBy({ ...none, sessions: '1', from: '2026-05-01', to: '2026-05-31' })).toEqual({
      from: new Date(2026, 4, 1).toISOString(),
      to: new Date(2026, 5, 1).toISOString(),
    });
  });

  it('passes other values on unchanged', () => {
    expect(askedBy({ ...none, who: 'uid-1', action: 'sign-in', result: 'done', target: 'id-1' })).toEqual({
      who: 'uid-1',
      action: 'sign-in',
      result: 'done',
      target: 'id-1',
    });
  });
});
