/** Tests of the sign-in with an external identity provider. They find elements by Turkish texts, the default language of these screens. */
import { screen } from '@testing-library/react';
import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const mockedSettings = vi.hoisted(() => ({
  productName: 'Lamina',
  tokenSyncUrl: null,
  signIn: {
    embedded: true,
    external: { issuer: 'https://id.example.org', clientId: 'slides', name: null as string | null },
  },
}));
vi.mock('../../browser/settings.ts', () => ({ settings: mockedSettings }));

beforeEach(() => {
  sessionStorage.clear();
  mockedSettings.signIn.embedded = true;
  mockedSettings.signIn.external.name = null;
});

const pending = account({ status: 'pending', role: 'unassigned' });
const provider = {
  'GET /.well-known/openid-configuration': {
    issuer: 'https://id.example.org',
    authorization_endpoint: 'https://id.example.org/authorize',
    token_endpoint: 'https://id.example.org/token',
  },
  'POST /token': { id_token: 'a.b.c' },
};

/** Stores what the browser keeps while the user signs in on the page of the identity provider. */
function storeStartedSignIn() {
  sessionStorage.setItem('external_sign_in', JSON.stringify({ state: 's-1', nonce: 'n-1', verifier: 'v-1' }));
}

describe('the login page with an identity provider', () => {
  it('offers the external sign-in beside e-mail and password', async () => {
    openApp('/auth/login');
    await screen.findByRole('button', { name: 'Kurum hesabıyla giriş yap' });
    screen.getByLabelText('E-posta');
    screen.getByRole('link', { name: 'Kayıt ol' });
  });

  it('offers only the external sign-in, with the name of the provider, when the embedded sign-in service is off', async () => {
    mockedSettings.signIn.embedded = false;
    mockedSettings.signIn.external.name = 'Keycloak';
    openApp('/auth/login');
    await screen.findByRole('button', { name: 'Keycloak ile giriş yap' });
    expect(screen.queryByLabelText('E-posta')).toBeNull();
    expect(screen.queryAllByRole('link')).toEqual([]);
  });

  it('shows that the identity provider cannot be reached, and enables the sign-in button again', async () => {
    const { person } = openApp('/auth/login');
    const button = await screen.findByRole<HTMLButtonElement>('button', {
      name: 'Kurum hesabıyla giriş yap',
    });
    await person.click(button);
    expect((await screen.findByRole('alert')).textContent).toContain(
      'Kimlik doğrulama hizmetine ulaşılamıyor.',
    );
    expect(button.disabled).toBe(false);
  });

  it('enables the sign-in button again when the browser shows the page from its back/forward cache', async () => {
    // The response of the provider stays pending, because jsdom cannot leave the page for that of the provider.
    const { answer } = pendingResponse();
    const { person } = openApp('/auth/login', { api: { 'GET /.well-known/openid-configuration': answer } });
    const button = await screen.findByRole<HTMLButtonElement>('button', {
      name: 'Kurum hesabıyla giriş yap',
    });
    await person.click(button);
    expect(button.disabled).toBe(true);
    act(() => {
      window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    });
    expect(button.disabled).toBe(false);
  });
});

describe('the return from the identity provider', () => {
  it('exchanges the token of the provider for a token of the server, and opens the account status page for a pending account', async () => {
    storeStartedSignIn();
    const { calls, address } = openApp('/auth/callback?code=c-1&state=s-1', {
      api: {
        ...provider,
        'POST /auth/verify': { user: pending, token: 'server-token' },
        'GET /user/profile': { user: pending },
      },
    });
    await screen.findByText('Onay Bekliyor');
    expect(address()).toBe('/account-status');
    expect(calls.find(({ name }) => name === 'POST /auth/verify')?.body).toEqual({
      token: 'a.b.c',
      nonce: 'n-1',
    });
    expect(localStorage.getItem('auth_token')).toBe('server-token');
    expect(sessionStorage.length).toBe(0);
  });

  it.each([
    ['the token cannot be verified', errorResponse('token_unverifiable'), 'Token doğrulanamadı'],
    [
      'the e-mail address belongs to another account',
      errorResponse('email_taken', 'Bu adres başka bir hesabın.'),
      'Bu adres başka bir hesabın.',
    ],
  ])('opens the login page and shows why the sign-in failed when %s', async (_, response, message) => {
    storeStartedSignIn();
    const { address } = openApp('/auth/callback?code=c-1&state=s-1', {
      api: { ...provider, 'POST /auth/verify': response },
    });
    expect((await screen.findByRole('alert')).textContent).toContain(message);
    await screen.findByLabelText('E-posta');
    expect(address()).toBe('/auth/login');
    expect(localStorage.length).toBe(0);
  });

  it('opens the login page and calls no API when this browser did not start the sign-in', async () => {
    const { calls, address } = openApp('/auth/callback?code=c-1&state=s-1', { api: provider });
    await screen.findByText('Bu giriş isteği geçersiz veya süresi dolmuş. Lütfen yeniden deneyin.');
    expect(address()).toBe('/auth/login');
    expect(calls).toEqual([]);
  });
});
