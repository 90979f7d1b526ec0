import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stubApi } from '../testing/stub-api.ts';
import { syncEndedToken, syncToken } from './token-sync.ts';

const told = vi.hoisted(() => ({ productName: 'Lamina', tokenSyncUrl: null as string | null }));
vi.mock('../settings.ts', () => ({ settings: told }));

const now = Date.parse('2026-11-21T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now });
  told.tokenSyncUrl = '/session/token';
});

describe('the token sync', () => {
  it('tells a new token by POST with a bearer header', () => {
    const calls = stubApi({ 'POST /session/token': {} });
    syncToken('token-1', now);
    expect(calls).toEqual([
      { name: 'POST /session/token', query: {}, authorization: 'Bearer token-1', body: undefined },
    ]);
  });

  it('tells a sign-out by DELETE', () => {
    const calls = stubApi({ 'DELETE /session/token': {} });
    syncEndedToken();
    expect(calls).toEqual([
      { name: 'DELETE /session/token', query: {}, authorization: null, body: undefined },
    ]);
  });

  it.each([
    [300_000, 1],
    [300_001, 0],
  ])('with a token that is %i ms old makes %i calls', (age, count) => {
    const calls = stubApi({ 'POST /session/token': {} });
    syncToken('token-1', now - age);
    expect(calls).toHaveLength(count);
  });

  it.each([
    ['there is no address', null],
    ['the address is of another origin', 'https://elsewhere.example.org/token'],
    ['the address only looks like this origin', '//elsewhere.example.org/token'],
  ])('tells nobody when %s', (_, tokenSyncUrl) => {
    told.tokenSyncUrl = tokenSyncUrl;
    const calls = stubApi({});
    syncToken('token-1', now);
    syncEndedToken();
    expect(calls).toEqual([]);
  });

  it('that fails changes nothing', async () => {
    const warning = vi.spyOn(console, 'warn').mockImplementation(() => {});
    stubApi({});
    syncEndedToken();
    await vi.waitFor(() => expect(warning).toHaveBeenCalledTimes(1));
  });
});
