/** Accounts and image sessions (the credentials with which viewers load tiles) for simulated viewers. */
import { callApi, signIn } from '../../services/api-client.ts';
import { createImageSession } from '../product.ts';

/** The server's limit of image sessions per account. */
const sessionsPerAccount = 10;

/** Creates one image session per viewer, ten per account. @param adminToken an administrator's bearer token @returns the sessions' ids */
export async function createViewerSessions(
  url: string,
  adminToken: string,
  viewers: number,
): Promise<string[]> {
  const sessions: string[] = [];
  for (let account = 0; sessions.length < viewers; account += 1) {
    const credentials = { email: `viewer-${account}@example.org`, password: 'a slide a day, at least' };
    const { user } = await callApi<{ user: { uid: string } }>(url, 'POST', '/auth/register', {
      body: credentials,
    });
    await callApi(url, 'POST', `/admin/users/${user.uid}/approve`, {
      token: adminToken,
      body: { role: 'viewer' },
    });
    const token = await signIn(url, credentials);
    const sessionCount = Math.min(sessionsPerAccount, viewers - sessions.length);
    for (let i = 0; i < sessionCount; i += 1) sessions.push(await createImageSession(url, token));
  }
  return sessions;
}
