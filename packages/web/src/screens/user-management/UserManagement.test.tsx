import type { User } from '@lamina/contract';
import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, later, refusal } from '../../testing/stub-api.ts';

const admin = account({ uid: 'uid-of-admin', displayName: 'Ada Yönetir', role: 'admin' });
const registeredAt = new Date(2026, 10, 21, 14, 5).toISOString();
const deniz = account({ uid: 'uid-of-deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' });

function openUsers(users: readonly User[], api: Answers = {}) {
  return openApp('/admin/users', {
    signedInAs: admin,
    api: {
      'GET /admin/waiting': { applications: 0, datasetRequests: 0 },
      'GET /admin/users': { users, message: 'Kullanıcılar başarıyla yüklendi.' },
      ...api,
    },
  });
}

async function card(name: string) {
  const heading = await screen.findByRole('heading', { name });
  const item = heading.closest('li');
  if (item === null) throw new Error(`${name} has no card`);
  return within(item);
}

const buttonsOf = (shown: Awaited<ReturnType<typeof card>>) =>
  shown.getAllByRole('button').map(({ textContent }) => textContent);

describe('user management', () => {
  it('shows every account with its fields', async () => {
    openUsers([
      { ...deniz, createdAt: registeredAt, updatedAt: registeredAt, approvalDate: registeredAt },
      account({
        uid: 'uid-2',
        email: 'ekin@example.org',
        displayName: null,
        status: 'pending',
        role: 'unassigned',
        adminApproved: false,
        approvalDate: null,
      }),
    ]);
    const shown = await card('Deniz Kaya');
    const values = shown.getAllByRole('definition').map(({ textContent }) => textContent);
    expect(values).toEqual([
      'deniz@example.org',
      'Deniz Kaya',
      'Aktif',
      'Kullanıcı',
      'Evet',
      '21 Kasım 2026 14:05',
      '21 Kasım 2026 14:05',
      '21 Kasım 2026 14:05',
      'uid-of-deniz',
    ]);
    const pending = await card('ekin@example.org');
    pending.getByText('Onay Bekliyor');
    pending.getByText('N/A');
  });

  it('says when it is loading', async () => {
    const list = later();
    openUsers([], { 'GET /admin/users': list.answer });
    await screen.findByText('Kullanıcılar yükleniyor…');
    list.give({ users: [], message: '' });
    await screen.findByText('Henüz kayıtlı kullanıcı yok.');
  });

  it.each([
    [
      'the sentence of the server',
      refusal('unavailable'),
      'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    ],
    ['one of its own', new Response('', { status: 502 }), 'Kullanıcılar yüklenemedi.'],
  ])('fails with %s and can be tried again', async (_, failure, sentence) => {
    let answer: object = failure;
    const { person } = openUsers([], { 'GET /admin/users': () => answer });
    await screen.findByText(sentence);
    answer = { users: [deniz], message: '' };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await card('Deniz Kaya');
  });

  it('says that the list was loaded after the refresh button, not before', async () => {
    const { person } = openUsers([deniz]);
    await card('Deniz Kaya');
    expect(screen.queryByText('Kullanıcılar başarıyla yüklendi.')).toBeNull();
    await person.click(screen.getByRole('button', { name: 'Yenile' }));
    await screen.findByText('Kullanıcılar başarıyla yüklendi.');
  });

  it.each<[string, Partial<User>, string[]]>([
    ['pending', { status: 'pending', role: 'unassigned' }, ['Onayla', 'Devre Dışı Bırak', 'Şifre Belirle']],
    ['active', {}, ['Askıya Al', 'Yönetici Yap', 'Devre Dışı Bırak', 'Erişimi Düzenle', 'Şifre Belirle']],
    ['active admin', { role: 'admin' }, ['Askıya Al', 'Devre Dışı Bırak', 'Şifre Belirle']],
    ['suspended', { status: 'suspended' }, ['Etkinleştir', 'Devre Dışı Bırak', 'Şifre Belirle']],
    ['deactivated', { status: 'deactivated' }, ['Etkinleştir']],
  ])('offers for a %s account what its status allows', async (_, given, labels) => {
    openUsers([{ ...deniz, ...given }]);
    expect(buttonsOf(await card('Deniz Kaya'))).toEqual(labels);
  });
});

describe('an action on an account', () => {
  const actions = [
    [
      'Onayla',
      { status: 'pending' },
      'POST',
      'approve',
      { role: 'user' },
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'Etkinleştir',
      { status: 'suspended' },
      'POST',
      'approve',
      {},
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'Etkinleştir',
      { status: 'deactivated' },
      'POST',
      'approve',
      {},
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'Askıya Al',
      {},
      'POST',
      'suspend',
      undefined,
      'Kullanıcı başarıyla askıya alındı.',
      'Kullanıcı askıya alınırken hata oluştu.',
    ],
    [
      'Yönetici Yap',
      {},
      'POST',
      'promote',
      undefined,
      'Kullanıcı başarıyla yönetici yapıldı.',
      'Kullanıcı yönetici yapılırken hata oluştu.',
    ],
    [
      'Devre Dışı Bırak',
      {},
      'POST',
      'deactivate',
      undefined,
      'Kullanıcı başarıyla devre dışı bırakıldı.',
      'Kullanıcı devre dışı bırakılırken hata oluştu.',
    ],
  ] as const;

  it.each(actions)(
    '%s (%j) is called, told, and the one card loaded again',
    async (label, given, method, path, body, done) => {
      const before = { ...deniz, ...given } as User;
      const after = { ...deniz, displayName: 'Deniz Yeni' };
      const call = `${method} /admin/users/uid-of-deniz/${path}`;
      const { person, calls } = openUsers([admin, before], {
        [call]: { message: 'tamam' },
        'GET /admin/users/uid-of-deniz': { user: after },
      });
      await person.click((await card('Deniz Kaya')).getByRole('button', { name: label }));
      await screen.findByText(done);
      await card('Deniz Yeni');
      const decided = calls.filter(({ name }) => name !== 'GET /admin/waiting');
      expect(decided.slice(-2)).toMatchObject([
        { name: call, body },
        { name: 'GET /admin/users/uid-of-deniz' },
      ]);
      expect(calls.filter(({ name }) => name === 'GET /admin/users')).toHaveLength(1);
      await card('Ada Yönetir');
    },
  );

  it.each(actions)(
    '%s (%j) that fails without a sentence of the server has its own',
    async (label, given, method, path, _body, _done, failed) => {
      const { person } = openUsers([{ ...deniz, ...given } as User], {
        [`${method} /admin/users/uid-of-deniz/${path}`]: new Response('', { status: 502 }),
        'GET /admin/users/uid-of-deniz': { user: deniz },
      });
      await person.click((await card('Deniz Kaya')).getByRole('button', { name: label }));
      await screen.findByText(failed);
    },
  );

  it('that is refused shows why, and what the account is now', async () => {
    const { person } = openUsers([{ ...deniz, status: 'pending' }], {
      'POST /admin/users/uid-of-deniz/approve': refusal('already_active'),
      'GET /admin/users/uid-of-deniz': { user: deniz },
    });
    await person.click((await card('Deniz Kaya')).getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Bu kullanıcı zaten aktif.');
    expect(buttonsOf(await card('Deniz Kaya'))).toContain('Askıya Al');
  });

  it('on an account that is gone takes its card away', async () => {
    const { person } = openUsers([admin, deniz], {
      'POST /admin/users/uid-of-deniz/suspend': refusal('not_found'),
      'GET /admin/users/uid-of-deniz': refusal('not_found'),
    });
    await person.click((await card('Deniz Kaya')).getByRole('button', { name: 'Askıya Al' }));
    await screen.findByText('Bulunamadı.');
    await vi.waitFor(() => expect(screen.queryByRole('heading', { name: 'Deniz Kaya' })).toBeNull());
  });

  it('disables the buttons of the card while it runs', async () => {
    const suspended = later();
    const { person } = openUsers([admin, deniz], {
      'POST /admin/users/uid-of-deniz/suspend': suspended.answer,
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, status: 'suspended' } },
    });
    const shown = await card('Deniz Kaya');
    await person.click(shown.getByRole('button', { name: 'Askıya Al' }));
    const disabled = () => shown.getAllByRole<HTMLButtonElement>('button').map((button) => button.disabled);
    await vi.waitFor(() => expect(disabled()).toEqual([true, true, true, true, true]));
    suspended.give({ message: '' });
    await vi.waitFor(() => expect(disabled()).toEqual([false, false, false]));
  });
});

describe('setting the password of an account', () => {
  it('sends the new password and closes', async () => {
    const { person, calls } = openUsers([deniz], {
      'PUT /admin/users/uid-of-deniz/password': { message: 'Şifre başarıyla değiştirildi' },
      'GET /admin/users/uid-of-deniz': { user: deniz },
    });
    await person.click((await card('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Şifre Belirle' }));
    await person.type(dialog.getByLabelText('Yeni Şifre'), 'a new thin slice');
    await person.type(dialog.getByLabelText('Yeni Şifre (Tekrar)'), 'a new thin slice');
    await person.click(dialog.getByRole('button', { name: 'Şifreyi Kaydet' }));
    await screen.findByText('Şifre başarıyla değiştirildi.');
    expect(calls.find(({ name }) => name.startsWith('PUT'))?.body).toEqual({
      new_password: 'a new thin slice',
    });
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('gives the focus back to the button it was opened with', async () => {
    const { person } = openUsers([deniz]);
    const opener = (await card('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' });
    await person.click(opener);
    await screen.findByRole('dialog');
    await person.keyboard('{Escape}');
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await vi.waitFor(() => expect(document.activeElement).toBe(opener));
  });

  it('keeps to the rules of a new password', async () => {
    const { person } = openUsers([deniz]);
    await person.click((await card('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.type(dialog.getByLabelText('Yeni Şifre'), 'short');
    await person.click(dialog.getByRole('button', { name: 'Şifreyi Kaydet' }));
    await dialog.findByText('Yeni şifre en az 8 karakter olmalı.');
    dialog.getByText('Şifreler eşleşmiyor.');
  });

  it('takes two-step verification off for somebody who has lost the telephone', async () => {
    let on = true;
    const api: Answers = {
      'GET /admin/users': () => ({ users: [{ ...deniz, secondFactor: on }], message: '' }),
      'GET /admin/users/uid-of-deniz': () => ({ user: { ...deniz, secondFactor: on } }),
      'DELETE /admin/users/uid-of-deniz/second-factor': () => {
        on = false;
        return { message: '' };
      },
    };
    const { person } = openUsers([], api);
    const shown = await card('Deniz Kaya');
    await person.click(shown.getByRole('button', { name: 'İki Adımlı Doğrulamayı Kaldır' }));
    await screen.findByText('Kullanıcının iki adımlı doğrulaması kaldırıldı.');
    await vi.waitFor(() =>
      expect(shown.queryByRole('button', { name: 'İki Adımlı Doğrulamayı Kaldır' })).toBeNull(),
    );
  });
});
