import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stubApi } from '../testing/stub-api.ts';
import { syncEndedToken, syncToken } from './token-sync.ts';

const stubbedSettings = vi.hoisted(() => ({ productName: 'Lamina', tokenSyncUrl: null as string | null }));
vi.mock('../browser/settings.ts', () => ({ settings: stubbedSettings }));

const now = Date.parse('2026-11-21T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now });
  stubbedSettings.tokenSyncUrl = '/session/token';
});

describe('token synchronisation (forwards the bearer token to the URL in the setting TOKEN_SYNC_URL)', () => {
  it('sends a new token by POST with an Authorization header', () => {
    const calls = stubApi({ 'POST /session/token': {} });
    syncToken('token-1', now);
    expect(calls).toEqual([
      { name: 'POST /session/token', query: {}, authorization: 'Bearer token-1', body: undefined },
    ]);
  });

  it('sends a DELETE request to the URL when the sign-in ends', () => {
    const calls = stubApi({ 'DELETE /session/token': {} });
    syncEndedToken();
    expect(calls).toEqual([
      { name: 'DELETE /session/token', query: {}, authorization: null, body: undefined },
    ]);
  });

  it.each([
    [300_000, 'sends the token', 1],
    [300_001, 'sends no request', 0],
  ])('$1 when the token was obtained $0 ms ago (limit: 5 minutes)', (ageMs, _, count) => {
    const calls = stubApi({ 'POST /session/token': {} });
    syncToken('token-1', now - ageMs);
    expect(calls).toHaveLength(count);
  });

  it.each([
    ['no URL is configured', null],
    ['the URL has another origin than the page', 'https://elsewhere.example.org/token'],
    ['the URL is protocol-relative to another host', '//elsewhere.example.org/token'],
  ])('sends no request when %s', (_, tokenSyncUrl) => {
    stubbedSettings.tokenSyncUrl = tokenSyncUrl;
    const calls = stubApi({});
    syncToken('token-1', now);
    syncEndedToken();
    expect(calls).toEqual([]);
  });

  it('logs a warning when the request fails', async () => {
    const warning = vi.spyOn(console, 'warn').mockImplementation(() => {});
    stubApi({});
    syncEndedToken();
    await vi.waitFor(() => expect(warning).toHaveBeenCalledTimes(1));
  });
});
