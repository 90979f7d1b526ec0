import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createImageSessions } from './image-sessions.ts';

const minute = 60_000;

interface Made {
  readonly method: string;
  readonly path: string;
  readonly init: RequestInit;
}

/** The API at the network edge: sessions a, b, c … of `seconds`, or the given refusals first. */
function api({ seconds = 3600, refusals = [] as number[] } = {}) {
  const made: Made[] = [];
  let names = 0;
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    made.push({ method: init.method ?? 'GET', path, init });
    if (init.method === 'DELETE') return new Response(null, { status: 204 });
    const refusal = refusals.shift();
    if (refusal !== undefined) return Response.json({ message: 'no' }, { status: refusal });
    const session_id = 'abc'.charAt(names++);
    return Response.json({ session_id, expires_in: seconds }, { status: 201 });
  });
  return {
    creations: () => made.filter(({ method }) => method === 'POST').length,
    revoked: () => made.filter(({ method }) => method === 'DELETE'),
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  localStorage.setItem('auth_token', 'the token');
});

describe('an image session', () => {
  it('is made when it is first needed, and shared by all who need it at once', async () => {
    const server = api();
    const sessions = createImageSessions();
    expect(server.creations()).toBe(0);
    expect(await Promise.all([sessions.get(), sessions.get(), sessions.get()])).toEqual(['a', 'a', 'a']);
    expect(server.creations()).toBe(1);
  });

  it('is reused until less than 5 minutes of it remain', async () => {
    api();
    const sessions = createImageSessions();
    await sessions.get();
    vi.advanceTimersByTime(55 * minute - 1);
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(1);
    expect(await sessions.get()).toBe('b');
  });

  it('does not mind a computer clock that is put forward', async () => {
    api();
    const sessions = createImageSessions();
    await sessions.get();
    vi.setSystemTime(Date.now() + 24 * 60 * minute);
    expect(await sessions.get()).toBe('a');
  });

  it('is not made anew for every call when it is shorter than the 5 minutes', async () => {
    const server = api({ seconds: 60 });
    const sessions = createImageSessions();
    await sessions.get();
    vi.advanceTimersByTime(minute / 2 - 1);
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(1);
    expect(await sessions.get()).toBe('b');
    expect(server.creations()).toBe(2);
  });

  it('serves to its end when its renewal fails, and is not asked to be renewed at every call', async () => {
    const server = api();
    const sessions = createImageSessions();
    await sessions.get();
    vi.advanceTimersByTime(56 * minute);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
    expect(await sessions.get()).toBe('a');
    expect(await sessions.get()).toBe('a');
    vi.advanceTimersByTime(4 * minute);
    await expect(sessions.get()).rejects.toThrow('No response from server.');
    expect(server.creations()).toBe(1);
  });

  it('that was refused is renewed once for all who were refused it', async () => {
    const server = api();
    const sessions = createImageSessions();
    const refused = await sessions.get();
    const renewed = await Promise.all(Array.from({ length: 200 }, () => sessions.renew(refused)));
    expect(new Set(renewed)).toEqual(new Set(['b']));
    expect(await sessions.renew(refused)).toBe('b');
    expect(server.creations()).toBe(2);
  });

  it('that cannot be made is not asked for by every tile, but again after a moment', async () => {
    const server = api({ refusals: [503, 503] });
    const sessions = createImageSessions();
    await expect(sessions.get()).rejects.toThrow('no');
    await expect(sessions.get()).rejects.toThrow('no');
    await expect(sessions.renew('old')).rejects.toThrow('no');
    expect(server.creations()).toBe(1);
    vi.advanceTimersByTime(2000);
    await expect(sessions.get()).rejects.toThrow('no');
    expect(server.creations()).toBe(2);
    expect(await sessions.refresh()).toBe('a');
  });

  it('is replaced when somebody asks for a fresh one', async () => {
    api();
    const sessions = createImageSessions();
    await sessions.get();
    expect(await sessions.refresh()).toBe('b');
    expect(await sessions.get()).toBe('b');
  });
});

describe('leaving the viewer', () => {
  it('revokes every session that was made, in a way that outlives the page', async () => {
    const server = api();
    const sessions = createImageSessions();
    const leave = sessions.enter();
    await sessions.get();
    await sessions.refresh();
    leave();
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

  it('revokes a session that was still being made', async () => {
    const server = api();
    const sessions = createImageSessions();
    const leave = sessions.enter();
    const asked = sessions.get();
    leave();
    vi.runAllTimers();
    await asked;
    expect(server.revoked()).toHaveLength(1);
    expect(sessions.state().id).toBeNull();
  });

  it('happens too when the page goes away, and coming back makes a new session', async () => {
    const server = api();
    const sessions = createImageSessions();
    const leave = sessions.enter();
    await sessions.get();
    window.dispatchEvent(new Event('pagehide'));
    expect(server.revoked()).toHaveLength(1);
    expect(await sessions.get()).toBe('b');
    leave();
  });

  it('is not leaving when the viewer is entered again at once', async () => {
    const server = api();
    const sessions = createImageSessions();
    sessions.enter()();
    sessions.enter();
    await sessions.get();
    vi.advanceTimersByTime(1000);
    expect(server.revoked()).toEqual([]);
  });

  it('has nothing to revoke after signing out', async () => {
    const server = api();
    const sessions = createImageSessions();
    const leave = sessions.enter();
    await sessions.get();
    localStorage.removeItem('auth_token');
    leave();
    vi.runAllTimers();
    expect(server.revoked()).toEqual([]);
  });
});

describe('the state of the session', () => {
  it('goes from inactive over refreshing to active, and back when its time is over', async () => {
    api();
    const sessions = createImageSessions();
    const seen = [sessions.state()];
    sessions.subscribe(() => seen.push(sessions.state()));
    await sessions.get();
    vi.advanceTimersByTime(60 * minute);
    expect(seen).toEqual([
      { status: 'inactive', id: null },
      { status: 'refreshing', id: null },
      { status: 'active', id: 'a' },
      { status: 'inactive', id: null },
    ]);
  });

  it('is error when no session could be made, until one is', async () => {
    api({ refusals: [500] });
    const sessions = createImageSessions();
    await expect(sessions.get()).rejects.toThrow('no');
    expect(sessions.state()).toEqual({ status: 'error', id: null });
    await sessions.refresh();
    expect(sessions.state()).toEqual({ status: 'active', id: 'a' });
  });
});
