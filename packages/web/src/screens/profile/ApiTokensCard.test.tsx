/**
 * Tests of the API tokens on the profile and on the screen of administrators.
 * They find elements by Turkish texts, the default language of these screens.
 */
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, errorResponse } from '../../testing/stub-api.ts';

/** The whole token, which only the response to its creation contains. */
const tokenSecret = `lam_${'x'.repeat(43)}`;
const token = {
  id: 'one',
  prefix: 'lam_xxxxxxxx',
  name: 'Betik',
  scopes: ['slides:read', 'annotations:write'],
  datasets: ['Akciğer'],
  created_at: new Date(2026, 10, 21, 14, 5).toISOString(),
  expires_at: new Date(2027, 1, 19, 14, 5).toISOString(),
  last_used_at: null,
};

function openProfile(api: Answers = {}, user = account()) {
  return openApp('/dashboard/profile', {
    signedInAs: user,
    api: {
      'GET /user/profile': { user },
      'GET /user/second-factor': { enabled: false, recovery_codes_left: 0 },
      'GET /user/sign-ins': { sign_ins: [] },
      'GET /user/api-tokens': { tokens: [] },
      'GET /image-catalog/images/groups': {
        revision: 'r',
        groups: [],
        datasets: [
          { dataset_name: 'Akciğer', images: 1 },
          { dataset_name: null, images: 1 },
        ],
        organs: [],
      },
      ...api,
    },
  });
}

const findCard = () => screen.findByRole('region', { name: 'API Anahtarları' });

describe('the API token card of the profile', () => {
  it('lists the tokens with scopes, datasets, end date and last use', async () => {
    openProfile({ 'GET /user/api-tokens': { tokens: [token] } });
    const row = await within(await findCard()).findByRole('listitem');
    for (const text of [
      'Betik',
      'lam_xxxxxxxx…',
      'Katalog ve görüntüler: okuma',
      'İşaretlemeler: yazma',
      'Veri kümeleri: Akciğer',
      'Bitiş: 19 Şubat 2027 · Henüz kullanılmadı',
    ]) {
      within(row).getByText(text);
    }
  });

  it('creates a token with scopes, datasets and a lifetime, and shows the new token once with a copy button', async () => {
    let tokens: object[] = [];
    const { person, calls } = openProfile({
      'GET /user/api-tokens': () => ({ tokens }),
      'POST /user/api-tokens': () => {
        tokens = [token];
        const { created_at: _, last_used_at: __, ...created } = token;
        return Response.json({ ...created, token: tokenSecret }, { status: 201 });
      },
    });
    await person.click(await within(await findCard()).findByRole('button', { name: 'Yeni Anahtar' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Yeni Anahtar' }));
    await person.click(dialog.getByRole('button', { name: 'Anahtar Oluştur' }));
    await dialog.findByText('Anahtara bir ad verin.');
    await person.type(dialog.getByLabelText('Ad'), 'Betik');
    await person.click(dialog.getByLabelText('Katalog ve görüntüler: okuma'));
    await person.click(dialog.getByRole('button', { name: 'Anahtar Oluştur' }));
    await dialog.findByText('En az bir izin seçin.');
    await person.click(dialog.getByLabelText('Katalog ve görüntüler: okuma'));
    await person.click(dialog.getByLabelText('İşaretlemeler: yazma'));
    await person.click(dialog.getByRole('combobox', { name: 'Veri kümeleri' }));
    await person.click(await dialog.findByRole('option', { name: 'Akciğer' }));
    await person.selectOptions(dialog.getByLabelText('Geçerlilik süresi'), '30 gün');
    await person.click(dialog.getByRole('button', { name: 'Anahtar Oluştur' }));

    await screen.findByText(tokenSecret);
    expect(calls.find(({ name }) => name === 'POST /user/api-tokens')?.body).toEqual({
      name: 'Betik',
      scopes: ['slides:read', 'annotations:write'],
      datasets: ['Akciğer'],
      expires_in_days: 30,
    });
    await person.click(screen.getByRole('button', { name: 'Anahtarı Kopyala' }));
    await screen.findByText('Anahtar kopyalandı.');
    expect(await navigator.clipboard.readText()).toBe(tokenSecret);
    await person.click(screen.getByRole('button', { name: 'Anahtarı kaydettim' }));
    await vi.waitFor(() => expect(screen.queryByText(tokenSecret)).toBeNull());
    await within(await findCard()).findByText('lam_xxxxxxxx…');
  });

  it('creates no token while the datasets cannot be loaded, because the user could not limit the token to some of them', async () => {
    let response: object = errorResponse('unavailable');
    const { person, calls } = openProfile({ 'GET /image-catalog/images/groups': () => response });
    await person.click(await within(await findCard()).findByRole('button', { name: 'Yeni Anahtar' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Yeni Anahtar' }));
    const retry = await dialog.findByRole('button', { name: 'Tekrar Dene' });
    await person.type(dialog.getByLabelText('Ad'), 'Betik{Enter}');
    const create = dialog.getByRole<HTMLButtonElement>('button', { name: 'Anahtar Oluştur' });
    expect(create.disabled).toBe(true);
    expect(calls.map(({ name }) => name)).not.toContain('POST /user/api-tokens');
    response = { revision: 'r', groups: [], datasets: [{ dataset_name: 'Akciğer', images: 1 }], organs: [] };
    await person.click(retry);
    await waitFor(() => expect(create.disabled).toBe(false));
  });

  it('copies a new token on a page without TLS, where browsers have no clipboard API', async () => {
    const { created_at: _, last_used_at: __, ...created } = token;
    const { person } = openProfile({
      'GET /user/api-tokens': { tokens: [] },
      'POST /user/api-tokens': () => Response.json({ ...created, token: tokenSecret }, { status: 201 }),
    });
    await person.click(await within(await findCard()).findByRole('button', { name: 'Yeni Anahtar' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Yeni Anahtar' }));
    await person.type(dialog.getByLabelText('Ad'), 'Betik');
    await person.click(dialog.getByRole('button', { name: 'Anahtar Oluştur' }));
    await screen.findByText(tokenSecret);
    vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue(undefined as never);
    document.execCommand = () => true;
    await person.click(screen.getByRole('button', { name: 'Anahtarı Kopyala' }));
    await screen.findByText('Anahtar kopyalandı.');
  });

  it.each([
    ['viewer', 2, 'for reading'],
    ['user', 5, 'all except uploads'],
    ['admin', 6, 'all'],
  ] as const)(
    'offers an account with the role $0 a choice of $1 scopes ($2) for a new token',
    async (role, count, _) => {
      const { person } = openProfile({}, account({ role }));
      await person.click(await within(await findCard()).findByRole('button', { name: 'Yeni Anahtar' }));
      const dialog = within(await screen.findByRole('dialog', { name: 'Yeni Anahtar' }));
      expect(dialog.getAllByRole('checkbox')).toHaveLength(count);
    },
  );

  it('is hidden for an account without a role', async () => {
    openProfile({}, account({ role: 'unassigned' }));
    await screen.findByRole('region', { name: 'Oturumlar' });
    expect(screen.queryByRole('region', { name: 'API Anahtarları' })).toBeNull();
  });

  it('shows why the server does not create a token when the account has too many tokens', async () => {
    const { person } = openProfile({ 'POST /user/api-tokens': errorResponse('too_many_api_tokens') });
    await person.click(await within(await findCard()).findByRole('button', { name: 'Yeni Anahtar' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Yeni Anahtar' }));
    await person.type(dialog.getByLabelText('Ad'), 'Betik');
    await person.click(dialog.getByRole('button', { name: 'Anahtar Oluştur' }));
    await screen.findByText(/^API anahtarı sayısı sınıra ulaştı/);
  });

  it('revokes a token after a confirmation', async () => {
    let tokens = [token];
    const { person } = openProfile({
      'GET /user/api-tokens': () => ({ tokens }),
      'DELETE /user/api-tokens/one': () => {
        tokens = [];
        return new Response(null, { status: 204 });
      },
    });
    await person.click(await screen.findByRole('button', { name: 'İptal et: Betik' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'API anahtarı iptal edilsin mi?' }));
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'İptal Et' });
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('API anahtarı iptal edildi.');
    await screen.findByText('Henüz API anahtarınız yok.');
  });
});

describe('the API token screen of administrators', () => {
  const admin = account({ role: 'admin' });
  const tokenOfDeniz = { ...token, uid: 'u', email: 'deniz@example.org', displayName: 'Deniz' };

  it('lists the tokens of all accounts with their owners, and revokes a token after a confirmation', async () => {
    let tokens = [tokenOfDeniz];
    const { person } = openApp('/admin/api-tokens', {
      signedInAs: admin,
      api: {
        'GET /user/profile': { user: admin },
        'GET /admin/api-tokens': () => ({ tokens }),
        'DELETE /admin/api-tokens/one': () => {
          tokens = [];
          return new Response(null, { status: 204 });
        },
      },
    });
    await screen.findByText('Deniz · deniz@example.org');
    await person.click(screen.getByRole('button', { name: 'İptal et: Betik' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'API anahtarı iptal edilsin mi?' }));
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'İptal Et' });
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('Geçerli API anahtarı yok.');
  });
});
