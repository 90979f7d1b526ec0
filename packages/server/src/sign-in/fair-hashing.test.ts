/** Tests that an account that floods the queue of password hashes does not delay the sign-ins of other accounts. */
import os from 'node:os';
import type * as argon2 from '@node-rs/argon2';
import { describe, expect, it, vi } from 'vitest';
import { findPassword } from '../store/identities.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

/** Password comparisons that have started, oldest first. While `isHeld`, each of them runs until the test calls `end`. */
const runningComparisons: { readonly password: string; readonly end: () => void }[] = [];
let isHeld = false;

vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof argon2>();
  const verify: typeof real.verify = async (hash, password, ...more) => {
    if (isHeld) {
      await new Promise<void>((end) => runningComparisons.push({ password: String(password), end }));
    }
    return real.verify(hash, password, ...more);
  };
  return { ...real, verify };
});

vi.mock('../store/identities.ts', async (original) => {
  const real = await original<typeof import('../store/identities.ts')>();
  return { ...real, findPassword: vi.fn<typeof real.findPassword>(real.findPassword) };
});

/** Number of passwords that are compared at the same time (password.ts). */
const concurrency = Math.max(1, os.availableParallelism() - 1);

async function signInFrom(address: string, { app }: TestServer, { email, password }: TestUser) {
  const response = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload: { email, password },
    remoteAddress: address,
  });
  return response.statusCode;
}

/** Resolves when the server has read the password hash of the account `times` times, which it does before it queues a comparison. */
async function untilHashRead(user: TestUser, times: number): Promise<void> {
  await vi.waitFor(() => {
    const calls = vi.mocked(findPassword).mock.calls.filter(([, uid]) => uid === user.uid);
    expect(calls.length).toBeGreaterThanOrEqual(times);
  });
  await new Promise(setImmediate);
}

/** Lets the oldest running comparison end, and waits until the next one has started. @returns its password */
async function endOldest(): Promise<string | undefined> {
  const before = runningComparisons.length;
  runningComparisons.shift()?.end();
  await vi.waitFor(() => expect(runningComparisons.length).toBe(before));
  return runningComparisons.at(-1)?.password;
}

/** Starts a server at which 60 sign-ins of one pending account wait for a password comparison. */
async function floodedServer(floodAddress: string) {
  isHeld = false;
  const server = await testServer();
  const floodingUser = await server.fixtures.user({
    status: 'pending',
    password: 'the password of the stranger',
  });
  runningComparisons.length = 0;
  isHeld = true;
  const flood = Array.from({ length: 60 }, () => signInFrom(floodAddress, server, floodingUser));
  await untilHashRead(floodingUser, 60);
  return {
    server,
    /** Lets all comparisons end. @returns the statuses of the 60 sign-ins */
    async endAll() {
      isHeld = false;
      const settled = Promise.all(flood);
      for (const { end } of runningComparisons.splice(0)) end();
      return settled;
    },
  };
}

describe('the password check of a sign-in while 60 concurrent sign-ins of another account wait', () => {
  it('runs as one of the next two checks when the sign-in comes from another network than the 60', async () => {
    const { server, endAll } = await floodedServer('198.51.100.1');
    const otherUser = await server.fixtures.user();
    const otherSignIn = signInFrom('192.0.2.1', server, otherUser);
    await untilHashRead(otherUser, 1);
    expect(runningComparisons.map(({ password }) => password)).toEqual(
      Array<string>(concurrency).fill('the password of the stranger'),
    );
    // At most one of the 32 waiting comparisons of the flooding account may run first.
    const nextPasswords = [await endOldest(), await endOldest()];
    expect(nextPasswords).toContain(otherUser.password);
    const statuses = await endAll();
    expect(await otherSignIn).toBe(200);
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  });

  it('runs as one of the next two checks even when the sign-in comes from the same network as the 60', async () => {
    const { server, endAll } = await floodedServer('192.0.2.1');
    const otherUser = await server.fixtures.user();
    const otherSignIn = signInFrom('192.0.2.1', server, otherUser);
    await untilHashRead(otherUser, 1);
    expect([await endOldest(), await endOldest()]).toContain(otherUser.password);
    await endAll();
    expect(await otherSignIn).toBe(200);
  });

  it('succeeds for each of 20 other accounts that sign in from another network', async () => {
    const { server, endAll } = await floodedServer('198.51.100.1');
    const others = await Promise.all(Array.from({ length: 20 }, () => server.fixtures.user()));
    const signIns = others.map((otherUser, place) => signInFrom(`192.0.2.${place}`, server, otherUser));
    await untilHashRead(others.at(-1) as TestUser, 1);
    await endAll();
    expect(await Promise.all(signIns)).toEqual(Array<number>(20).fill(200));
  });
});
