/** Accounts to develop with, made through the API as a person would. */
import { callApi, untilReady } from './product-api.mjs';

const password = 'slides under glass';
export const seededAccounts = {
  admin: { email: 'admin@example.org', password, says: 'administrator' },
  user: { email: 'user@example.org', password, displayName: 'Deniz Kaya', says: 'active' },
  pending: { email: 'pending@example.org', password, displayName: 'Ekin Arslan', says: 'waits for approval' },
};

/** Make those accounts that do not exist yet. */
export async function seed(serverAddress) {
  await untilReady(serverAddress);
  const call = (...request) => callApi(serverAddress, ...request);
  const { admin, user, pending } = seededAccounts;
  const { token } = await call('POST', '/auth/login', { body: { email: admin.email, password } });
  const { users } = await call('GET', '/admin/users', { token });
  for (const { email, displayName } of [user, pending]) {
    if (users.some((known) => known.email === email)) continue;
    const made = await call('POST', '/auth/register', { body: { email, password, displayName } });
    if (email !== user.email) continue;
    await call('POST', `/admin/users/${made.user.uid}/approve`, { token, body: { role: 'user' } });
  }
}
