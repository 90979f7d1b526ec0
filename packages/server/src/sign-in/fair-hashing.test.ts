/** Tests that an account that floods the queue of password hashes does not delay the sign-ins of others: they are next. */
import os from 'node:os';
import type * as argon2 from '@node-rs/argon2';
import { describe, expect, it, vi } from 'vitest';
import { findPassword } from '../store/identities.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

/** Password comparisons that have started, oldest first. While `isHeld`, each of them runs until the test calls `end`. */
const running: { readonly password: string; readonly end: () => void }[] = [];
let isHeld = false;

vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof argon2>();
  const verify: typeof real.verify = async (hash, password, ...more) => {
    if (isHeld) {
      await new Promise<void>((end) => running.push({ password: String(password), end }));
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
  const answer = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload: { email, password },
    remoteAddress: address,
  });
  return answer.statusCode;
}

/** Resolves when the server has read the password hash of the account so many times. It reads the hash before it queues the comparison. */
async function untilRead(user: TestUser, times: number): Promise<void> {
  await vi.waitFor(() => {
    const calls = vi.mocked(findPassword).mock.calls.filter(([, uid]) => uid === user.uid);
    expect(calls.length).toBeGreaterThanOrEqual(times);
  });
  await new Promise(setImmediate);
}

/** Lets the oldest running comparison end, and waits until the next one has started. @returns its password */
async function endOne(): Promise<string | undefined> {
  const before = running.length;
  running.shift()?.end();
  await vi.waitFor(() => expect(running.length).toBe(before));
  return running.at(-1)?.password;
}

/** Starts a server at which 60 sign-ins of one pending account wait for a password comparison. */
async function floodedServer(floodAddress: string) {
  isHeld = false;
  const server = await testServer();
  const stranger = await server.fixtures.user({
    status: 'pending',
    password: 'the password of the stranger',
  });
  running.length = 0;
  isHeld = true;
  const flood = Array.from({ length: 60 }, () => signInFrom(floodAddress, server, stranger));
  await untilRead(stranger, 60);
  return {
    server,
    /** Lets all comparisons end. @returns the statuses of the 60 sign-ins */
    async settle() {
      isHeld = false;
      const settled = Promise.all(flood);
      for (const { end } of running.splice(0)) end();
      return settled;
    },
  };
}

describe('sixty sign-ins of one pending account at the same time', () => {
  it('let the sign-in of another account in another network have one of the next two password comparisons', async () => {
    const { server, settle } = await floodedServer('198.51.100.1');
    const other = await server.fixtures.user();
    const answer = signInFrom('192.0.2.1', server, other);
    await untilRead(other, 1);
    expect(running.map(({ password }) => password)).toEqual(
      Array<string>(concurrency).fill('the password of the stranger'),
    );
    // At most one waiting comparison of the flooding account may run before, not all 32.
    const next = [await endOne(), await endOne()];
    expect(next).toContain(other.password);
    const statuses = await settle();
    expect(await answer).toBe(200);
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  });

  it('let the sign-in of another account in the same network have one of the next two password comparisons', async () => {
    const { server, settle } = await floodedServer('192.0.2.1');
    const other = await server.fixtures.user();
    const answer = signInFrom('192.0.2.1', server, other);
    await untilRead(other, 1);
    expect([await endOne(), await endOne()]).toContain(other.password);
    await settle();
    expect(await answer).toBe(200);
  });

  it('leave places in the password-hashing queue for twenty other accounts, none of which is rejected', async () => {
    const { server, settle } = await floodedServer('198.51.100.1');
    const others = await Promise.all(Array.from({ length: 20 }, () => server.fixtures.user()));
    const answers = others.map((other, place) => signInFrom(`192.0.2.${place}`, server, other));
    await untilRead(others.at(-1) as TestUser, 1);
    await settle();
    expect(await Promise.all(answers)).toEqual(Array<number>(20).fill(200));
  });
});
