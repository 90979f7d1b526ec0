/** The accounts of `npm run dev`, created through the API: an administrator, an active user, and a user who waits for approval. */
import { callApi, signIn, waitUntilReady } from '../services/api-client.ts';

const password = 'slides under glass';
const members = [
  { email: 'user@example.org', password, displayName: 'Deniz Kaya', state: 'active' },
  { email: 'pending@example.org', password, displayName: 'Ekin Arslan', state: 'waits for approval' },
] as const;

/** The administrator, which the server creates at its first start. */
export const seededAdmin = { email: 'admin@example.org', password, state: 'administrator' };
/** All development accounts. `npm run dev` prints `state`; `createAccounts` approves the account with the state `active`. */
export const seededAccounts = [seededAdmin, ...members];

/** Waits for the server, and creates the accounts that do not exist yet. */
export async function createAccounts(serverUrl: string): Promise<void> {
  await waitUntilReady(serverUrl);
  const token = await signIn(serverUrl, seededAdmin);
  const { users } = await callApi<{ users: { email: string }[] }>(serverUrl, 'GET', '/admin/users', {
    token,
  });
  for (const { email, displayName, state } of members) {
    if (users.some((user) => user.email === email)) continue;
    const { user } = await callApi<{ user: { uid: string } }>(serverUrl, 'POST', '/auth/register', {
      body: { email, password, displayName },
    });
    if (state !== 'active') continue;
    await callApi(serverUrl, 'POST', `/admin/users/${user.uid}/approve`, { token, body: { role: 'user' } });
  }
}
