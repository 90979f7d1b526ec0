/** Accounts to develop with, made through the API as a person would. */
import { setTimeout } from 'node:timers/promises';

const password = 'slides under glass';
export const seededAccounts = {
  admin: { email: 'admin@example.org', password, says: 'administrator' },
  user: { email: 'user@example.org', password, displayName: 'Deniz Kaya', says: 'active' },
  pending: { email: 'pending@example.org', password, displayName: 'Ekin Arslan', says: 'waits for approval' },
};

/** Make those accounts that do not exist yet. */
export async function seed(serverAddress) {
  await untilReady(serverAddress);
  const call = async (method, path, { token, body } = {}) => {
    const answer = await fetch(`${serverAddress}/api/v1${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const content = await answer.json();
    if (answer.ok) return content;
    throw new Error(`${method} ${path}: ${answer.status} ${content.message}`);
  };

  const { admin, user, pending } = seededAccounts;
  const { token } = await call('POST', '/auth/login', {
    body: { email: admin.email, password: admin.password },
  });
  const { users } = await call('GET', '/admin/users', { token });
  for (const { email, displayName } of [user, pending]) {
    if (users.some((known) => known.email === email)) continue;
    const made = await call('POST', '/auth/register', { body: { email, password, displayName } });
    if (email === user.email) {
      await call('POST', `/admin/users/${made.user.uid}/approve`, { token, body: { role: 'user' } });
    }
  }
}

async function untilReady(serverAddress) {
  for (;;) {
    try {
      if ((await fetch(`${serverAddress}/health/ready`)).ok) return;
    } catch {
      // not listening yet
    }
    await setTimeout(200, undefined, { ref: false });
  }
}
