import { beforeEach, describe, expect, it, vi } from 'vitest';
import { abortCallsAtSignOut } from './client.ts';
import { createSessionStore } from './image-sessions.ts';

const minuteMs = 60_000;

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly init: RequestInit;
}

/**
 * Stubs the API, which creates the sessions a, b and c, one per request.
 *
 * @param options `seconds` is the lifetime of each session; `failures` are the statuses of the first responses, which create no session
 */
function stubSessionApi({ seconds = 3600, failures = [] as number[] } = {}) {
  const requests: SentRequest[] = [];
  let createdSessions = 0;
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    init.signal?.throwIfAborted(); // as `fetch` does, which then sends nothing
    requests.push({ method: init.method ?? 'GET', path, init });
    if (init.method === 'DELETE') return new Response(null, { status: 204 });
    const failureStatus = failures.shift();
    if (failureStatus !== undefined) return Response.json({ message: 'no' }, { status: failureStatus });
    const session_id = 'abc'.charAt(createdSessions++);
    return Response.json({ session_id, expires_in: seconds }, { status: 201 });
  });
  return {
    creations: () => requests.filter(({ method }) => method === 'POST').length,
    revoked: () => requests.filter(({ method }) => method === 'DELETE'),
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  localStorage.setItem('auth_token', 'the token');
});

describe('the image session (credential for tiles) in the web app', () => {
  it('is created at the first use, with one request even for several simultaneous callers', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    expect(server.creations()).toBe(0);
    expect(await Promise.all([sessions.get(), sessions.get(), sessions.get()])).toEqual(['a', 'a', 'a']);
    expect(server.creations()).toBe(1);
  });

  it('is not created during sign-out: a call that needs it rejects with an AbortError', async () => {
    const server = stubSessionApi();
    const allowReadingCalls = abortCallsAtSignOut();
    const sessions = createSessionStore();
    await expect(sessions.get()).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.creations()).toBe(0);
    allowReadingCalls();
    expect(await createSessionStore().get()).toBe('a');
  });

  it('is reused until less than 5 minutes remain', async () => {
    stubSessionApi();
    const sessions = createSessionStore();
    await sessions.get();
    vi.advanceTimersByTime(55 * minuteMs - 1); // of a lifetime of 60 minutes
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(1);
    expect(await sessions.get()).toBe('b');
  });

  it('is still used after the clock of the computer was set forward by a day', async () => {
    stubSessionApi();
    const sessions = createSessionStore();
    await sessions.get();
    vi.setSystemTime(Date.now() + 24 * 60 * minuteMs);
    expect(await sessions.get()).toBe('a');
  });

  it('is renewed after half of its lifetime when the lifetime is shorter than 5 minutes', async () => {
    const server = stubSessionApi({ seconds: 60 });
    const sessions = createSessionStore();
    await sessions.get();
    vi.advanceTimersByTime(minuteMs / 2 - 1);
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(1);
    expect(await sessions.get()).toBe('b');
    expect(server.creations()).toBe(2);
  });

  it('is used until it expires when its renewal fails', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    await sessions.get();
    vi.advanceTimersByTime(56 * minuteMs);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
    expect(await sessions.get()).toBe('a');
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(4 * minuteMs);
    await expect(sessions.get()).rejects.toThrow('No response from server.');
    expect(server.creations()).toBe(1);
  });

  it('is replaced by one new session when many callers report that the server rejected it', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    const rejected = await sessions.get();
    const renewed = await Promise.all(Array.from({ length: 200 }, () => sessions.replaceRejected(rejected)));
    expect(new Set(renewed)).toEqual(new Set(['b']));
    expect(await sessions.replaceRejected(rejected)).toBe('b');
    expect(server.creations()).toBe(2);
  });

  it('is not requested again within 2 s after its creation failed: calls reject with the same error', async () => {
    const server = stubSessionApi({ failures: [503, 503] });
    const sessions = createSessionStore();
    await expect(sessions.get()).rejects.toThrow('no');
    await expect(sessions.get()).rejects.toThrow('no');
    await expect(sessions.replaceRejected('old')).rejects.toThrow('no');
    expect(server.creations()).toBe(1);
    vi.advanceTimersByTime(2000);
    await expect(sessions.get()).rejects.toThrow('no');
    expect(server.creations()).toBe(2);
    expect(await sessions.refresh()).toBe('a');
  });

  it('is replaced by a new session when `refresh` is called', async () => {
    stubSessionApi();
    const sessions = createSessionStore();
    await sessions.get();
    expect(await sessions.refresh()).toBe('b');
    expect(await sessions.get()).toBe('b');
  });
});

describe('image sessions (credentials for tiles) of the slide viewer', () => {
  it('are all revoked when the last open viewer is closed, with keepalive requests that outlive the page', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    const closeViewer = sessions.registerViewer();
    await sessions.get();
    await sessions.refresh();
    closeViewer();
    vi.runAllTimers();
    expect(server.revoked().map(({ path }) => path)).toEqual([
      '/api/v1/auth/image-session/a',
      '/api/v1/auth/image-session/b',
    ]);
    expect(server.revoked()[0]?.init).toMatchObject({
      keepalive: true,
      headers: { Authorization: 'Bearer the token' },
    });
    expect(sessions.state()).toEqual({ status: 'inactive', id: null });
  });

  it('are revoked when the last viewer is closed while their creation is still running', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    const closeViewer = sessions.registerViewer();
    const pending = sessions.get();
    closeViewer();
    vi.runAllTimers();
    await pending;
    expect(server.revoked()).toHaveLength(1);
    expect(sessions.state().id).toBeNull();
  });

  it('are revoked when the user leaves the page, and created again at the next use', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    const closeViewer = sessions.registerViewer();
    await sessions.get();
    window.dispatchEvent(new Event('pagehide'));
    expect(server.revoked()).toHaveLength(1);
    expect(await sessions.get()).toBe('b');
    closeViewer();
  });

  it('are not revoked when a viewer is opened again immediately after the last one was closed', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    sessions.registerViewer()();
    sessions.registerViewer();
    await sessions.get();
    vi.advanceTimersByTime(1000);
    expect(server.revoked()).toEqual([]);
  });

  it('cause no revocation request when the viewer is closed after the user has signed out', async () => {
    const server = stubSessionApi();
    const sessions = createSessionStore();
    const closeViewer = sessions.registerViewer();
    await sessions.get();
    localStorage.removeItem('auth_token');
    closeViewer();
    vi.runAllTimers();
    expect(server.revoked()).toEqual([]);
  });
});

describe('the state of the image session (credential for tiles)', () => {
  it('changes from inactive to refreshing and active during the creation, and to inactive after expiry', async () => {
    stubSessionApi();
    const sessions = createSessionStore();
    const states = [sessions.state()];
    sessions.subscribe(() => states.push(sessions.state()));
    await sessions.get();
    vi.advanceTimersByTime(60 * minuteMs);
    expect(states).toEqual([
      { status: 'inactive', id: null },
      { status: 'refreshing', id: null },
      { status: 'active', id: 'a' },
      { status: 'inactive', id: null },
    ]);
  });

  it('is `error` after a failed creation until a session can be created', async () => {
    stubSessionApi({ failures: [500] });
    const sessions = createSessionStore();
    await expect(sessions.get()).rejects.toThrow('no');
    expect(sessions.state()).toEqual({ status: 'error', id: null });
    await sessions.refresh();
    expect(sessions.state()).toEqual({ status: 'active', id: 'a' });
  });
});
