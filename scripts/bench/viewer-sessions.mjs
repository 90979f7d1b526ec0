/** Accounts and image sessions for simulated viewers. */
import { callApi } from '../product-api.mjs';

/** As many image sessions as an account may have. */
const sessionsPerAccount = 10;

/** @param token of an administrator @returns every viewer's own image session */
export async function makeSessions({ address, token }, viewers) {
  const sessions = [];
  for (let account = 0; sessions.length < viewers; account += 1) {
    const person = { email: `viewer-${account}@example.org`, password: 'a slide a day, at least' };
    const { user } = await callApi(address, 'POST', '/auth/register', { body: person });
    await callApi(address, 'POST', `/admin/users/${user.uid}/approve`, { token, body: { role: 'viewer' } });
    const signedIn = await callApi(address, 'POST', '/auth/login', { body: person });
    const left = Math.min(sessionsPerAccount, viewers - sessions.length);
    for (let i = 0; i < left; i += 1) {
      const made = await callApi(address, 'POST', '/auth/image-session', { token: signedIn.token });
      sessions.push(made.session_id);
    }
  }
  return sessions;
}
