import { describe, expect, it } from 'vitest';
import { auditLogPath, readFilter, toApiFilter } from './filter.ts';

const emptyFilter = { who: '', action: '', result: '', target: '', from: '', to: '', sessions: '' };

describe('the filter of the audit log in the URL', () => {
  it('is read from the known query parameters, and ignores unknown parameters and invalid values', () => {
    const query = new URLSearchParams(
      'who=+isil@example.org&action=sign-in&result=refused&target=id-1&from=2026-05-01&to=2026-05-02&else=1',
    );
    expect(readFilter(query)).toEqual({
      who: 'isil@example.org',
      action: 'sign-in',
      result: 'refused',
      target: 'id-1',
      from: '2026-05-01',
      to: '2026-05-02',
      sessions: '',
    });
    const invalid = new URLSearchParams('action=constructor&result=maybe&from=yesterday&to=2026-5-1');
    expect(readFilter(invalid)).toEqual(emptyFilter);
  });

  it.each([
    ['2026-02-31', 'a day that does not exist'],
    ['2026-13-01', 'a month that does not exist'],
    ['2026-05-00', 'a day that does not exist'],
    ['0026-05-01', 'a year before 1000'],
  ])('contains no first and no last day when the query parameters from and to are both %s (%s)', (day) => {
    expect(readFilter(new URLSearchParams({ from: day, to: day }))).toEqual(emptyFilter);
  });

  it('is written without empty values, and the written filter is read back unchanged', () => {
    expect(auditLogPath({})).toBe('/admin/audit');
    expect(auditLogPath({ who: 'a+b@example.org', action: '' })).toBe('/admin/audit?who=a%2Bb%40example.org');
    const path = auditLogPath({ ...emptyFilter, target: 'id-1', to: '2026-05-02' });
    expect(readFilter(new URL(path, 'http://here').searchParams)).toEqual({
      ...emptyFilter,
      target: 'id-1',
      to: '2026-05-02',
    });
  });
});

describe('toApiFilter (converts the filter of the audit log to API parameters)', () => {
  it.each([
    [
      'hides entries about image sessions (credentials for tiles) when the filter is empty',
      {},
      { hide: 'sessions' },
    ],
    [
      'does not hide entries about image sessions (credentials for tiles) when the filter includes such entries',
      { sessions: '1' },
      {},
    ],
    [
      'does not hide entries about image sessions (credentials for tiles) when the filter has an action',
      { action: 'image-session-created' },
      { action: 'image-session-created' },
    ],
  ])('%s', (_, filter, query) => {
    expect(toApiFilter({ ...emptyFilter, ...filter })).toEqual(query);
  });

  it('converts the days of the filter to a period from the start of the first day to the end of the last day, in local time', () => {
    expect(toApiFilter({ ...emptyFilter, sessions: '1', from: '2026-05-01', to: '2026-05-31' })).toEqual({
      from: new Date(2026, 4, 1).toISOString(),
      to: new Date(2026, 5, 1).toISOString(),
    });
  });

  it('copies person, action, result and target of the filter unchanged', () => {
    expect(
      toApiFilter({ ...emptyFilter, who: 'uid-1', action: 'sign-in', result: 'done', target: 'id-1' }),
    ).toEqual({
      who: 'uid-1',
      action: 'sign-in',
      result: 'done',
      target: 'id-1',
    });
  });
});
