/**
 * Tests of the list of accounts and their cards in the user management. They are in one file because all of them open the same screen with
 * the same stubbed API. They find elements by Turkish texts, the default language of the screen.
 */
import type { User } from '@lamina/contract';
import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

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

async function findCard(name: string) {
  const heading = await screen.findByRole('heading', { name });
  const item = heading.closest('li');
  if (item === null) throw new Error(`${name} has no card`);
  return within(item);
}

const buttonLabelsOf = (card: Awaited<ReturnType<typeof findCard>>) =>
  card.getAllByRole('button').map(({ textContent }) => textContent);

describe('the list of accounts in the user management', () => {
  it('shows e-mail address, name, status, role, approval and dates of every account', async () => {
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
    const card = await findCard('Deniz Kaya');
    const values = card.getAllByRole('definition').map(({ textContent }) => textContent);
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
    const pending = await findCard('ekin@example.org');
    pending.getByText('Onay Bekliyor');
    pending.getByText('N/A');
  });

  it('shows a loading state until the accounts are loaded, and then says that there are none when the list is empty', async () => {
    const list = pendingResponse();
    openUsers([], { 'GET /admin/users': list.answer });
    await screen.findByText('Kullanıcılar yükleniyor…');
    list.respondWith({ users: [] });
    await screen.findByText('Henüz kayıtlı kullanıcı yok.');
  });

  it.each([
    [
      'the message of the server when the failed response contains one',
      errorResponse('unavailable'),
      'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    ],
    [
      'a default message when the failed response contains no message',
      new Response('', { status: 502 }),
      'Kullanıcılar yüklenemedi.',
    ],
  ])('shows a retry button and %s', async (_, failure, message) => {
    let response: object = failure;
    const { person } = openUsers([], { 'GET /admin/users': () => response });
    await screen.findByText(message);
    response = { users: [deniz], message: '' };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await findCard('Deniz Kaya');
  });

  it('shows a toast that the list was loaded after the refresh button is pressed, but not after the first load', async () => {
    const { person } = openUsers([deniz]);
    await findCard('Deniz Kaya');
    expect(screen.queryByText('Kullanıcılar başarıyla yüklendi.')).toBeNull();
    await person.click(screen.getByRole('button', { name: 'Yenile' }));
    await screen.findByText('Kullanıcılar başarıyla yüklendi.');
  });

  it('keeps the list and shows a toast when the refresh button is pressed and the list cannot be loaded', async () => {
    let response: object = { users: [deniz], message: '' };
    const { person } = openUsers([], { 'GET /admin/users': () => response });
    await findCard('Deniz Kaya');
    response = new Response('', { status: 502 });
    await person.click(screen.getByRole('button', { name: 'Yenile' }));
    await screen.findByText('Kullanıcılar yüklenemedi.');
    await findCard('Deniz Kaya');
    expect(screen.queryByRole('button', { name: 'Tekrar Dene' })).toBeNull();
  });

  it('sends search, filters, order and page to the server, and keeps them in the URL', async () => {
    const { person, calls, address } = openUsers([], {
      'GET /admin/users': {
        users: [deniz],
        total: 120,
        counts: { pending: 1200, active: 1, suspended: 0, deactivated: 0 },
        message: '',
      },
    });
    await findCard('Deniz Kaya');
    screen.getByText('120 kullanıcı');
    await person.type(screen.getByRole('searchbox', { name: 'Ara' }), 'kaya');
    await vi.waitFor(() => expect(address()).toBe('/admin/users?q=kaya'));
    await person.click(screen.getByRole('combobox', { name: 'Durum' }));
    await person.click(await screen.findByRole('option', { name: 'Onay Bekliyor (1.200)' }));
    await person.click(screen.getByRole('combobox', { name: 'Rol' }));
    await person.click(await screen.findByRole('option', { name: 'İzleyici' }));
    await person.click(screen.getByRole('combobox', { name: 'Sırala' }));
    await person.click(await screen.findByRole('option', { name: 'Ada göre' }));
    await person.click(screen.getByRole('button', { name: 'Sayfa 3' }));
    expect(address()).toBe('/admin/users?q=kaya&status=pending&role=viewer&sort=name&page=3');
    const lastQuery = () => calls.filter(({ name }) => name === 'GET /admin/users').at(-1)?.query;
    await vi.waitFor(() =>
      expect(lastQuery()).toEqual({
        q: 'kaya',
        status: 'pending',
        role: 'viewer',
        sort: 'name',
        limit: '50',
        offset: '100', // page 3
      }),
    );
    await person.click(screen.getByRole('button', { name: 'Temizle' }));
    await vi.waitFor(() => expect(address()).toBe('/admin/users?sort=name'));
  });

  it('says that no account was found when none matches the search and filters, and offers to clear both', async () => {
    const { person, address, goTo } = openUsers([], {
      'GET /admin/users': { users: [], total: 0, message: '' },
    });
    await goTo('/admin/users?q=unknown&status=active');
    await screen.findByText('Arama ve filtrelere uyan kullanıcı yok.');
    await person.click(screen.getByRole('button', { name: 'Filtreleri temizle' }));
    expect(address()).toBe('/admin/users');
  });

  it.each<[string, Partial<User>, string[]]>([
    [
      'a pending account: approve, deactivate, reject, set password',
      { status: 'pending', role: 'unassigned' },
      ['Onayla', 'Devre Dışı Bırak', 'Reddet', 'Şifre Belirle'],
    ],
    [
      'an active account: suspend, make administrator, deactivate, change role, edit access, set password',
      {},
      ['Askıya Al', 'Yönetici Yap', 'Devre Dışı Bırak', 'Rolü Değiştir', 'Erişimi Düzenle', 'Şifre Belirle'],
    ],
    [
      'an administrator: suspend, deactivate, change role, set password',
      { role: 'admin' },
      ['Askıya Al', 'Devre Dışı Bırak', 'Rolü Değiştir', 'Şifre Belirle'],
    ],
    [
      'a suspended account: reactivate, deactivate, set password',
      { status: 'suspended' },
      ['Etkinleştir', 'Devre Dışı Bırak', 'Şifre Belirle'],
    ],
    ['a deactivated account: reactivate', { status: 'deactivated' }, ['Etkinleştir']],
  ])('offers only the actions of %s', async (_, changes, labels) => {
    openUsers([{ ...deniz, ...changes }]);
    expect(buttonLabelsOf(await findCard('Deniz Kaya'))).toEqual(labels);
  });
});

describe('the card of an account in the user management', () => {
  // Action as the last part of the path, changes of the account, button, body, message after a success, message after a failure.
  const actions = [
    [
      'approve',
      { status: 'pending' },
      'Onayla',
      { role: 'user' },
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'approve',
      { status: 'suspended' },
      'Etkinleştir',
      {},
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'approve',
      { status: 'deactivated' },
      'Etkinleştir',
      {},
      'Kullanıcı başarıyla onaylandı.',
      'Kullanıcı onaylanırken hata oluştu.',
    ],
    [
      'suspend',
      { status: 'active' },
      'Askıya Al',
      undefined,
      'Kullanıcı başarıyla askıya alındı.',
      'Kullanıcı askıya alınırken hata oluştu.',
    ],
    [
      'promote',
      { status: 'active' },
      'Yönetici Yap',
      undefined,
      'Kullanıcı başarıyla yönetici yapıldı.',
      'Kullanıcı yönetici yapılırken hata oluştu.',
    ],
  ] as const;

  it.each(actions)(
    'sends the action "%s" on an account with %j, shows the result, and reloads only this account',
    async (action, changes, label, body, successMessage) => {
      const before = { ...deniz, ...changes } as User;
      const after = { ...deniz, displayName: 'Deniz Yeni' };
      const call = `POST /admin/users/uid-of-deniz/${action}`;
      const { person, calls } = openUsers([admin, before], {
        [call]: { message: 'tamam' },
        'GET /admin/users/uid-of-deniz': { user: after },
      });
      await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: label }));
      await screen.findByText(successMessage);
      expect((await screen.findByRole('alert')).textContent).toContain('Deniz Kaya');
      await findCard('Deniz Yeni');
      const lastCalls = calls.filter(({ name }) => name !== 'GET /admin/waiting').slice(-2);
      expect(lastCalls).toMatchObject([{ name: call, body }, { name: 'GET /admin/users/uid-of-deniz' }]);
      expect(calls.filter(({ name }) => name === 'GET /admin/users')).toHaveLength(1);
      await findCard('Ada Yönetir');
    },
  );

  it.each(actions)(
    'shows a default message when the action "%s" on an account with %j fails without a message from the server',
    async (action, changes, label, _body, _successMessage, failureMessage) => {
      const { person } = openUsers([{ ...deniz, ...changes } as User], {
        [`POST /admin/users/uid-of-deniz/${action}`]: new Response('', { status: 502 }),
        'GET /admin/users/uid-of-deniz': { user: deniz },
      });
      await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: label }));
      await screen.findByText(failureMessage);
    },
  );

  it('shows why the server rejects an action, and the current state of the account', async () => {
    const { person } = openUsers([{ ...deniz, status: 'pending' }], {
      'POST /admin/users/uid-of-deniz/approve': errorResponse('already_active'),
      'GET /admin/users/uid-of-deniz': { user: deniz },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Bu kullanıcı zaten aktif.');
    expect(buttonLabelsOf(await findCard('Deniz Kaya'))).toContain('Askıya Al');
  });

  it('disappears when the server responds to an action with the error that the account does not exist', async () => {
    const { person } = openUsers([admin, deniz], {
      'POST /admin/users/uid-of-deniz/suspend': errorResponse('not_found'),
      'GET /admin/users/uid-of-deniz': errorResponse('not_found'),
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Askıya Al' }));
    await screen.findByText('Bulunamadı.');
    await vi.waitFor(() => expect(screen.queryByRole('heading', { name: 'Deniz Kaya' })).toBeNull());
  });

  it('disables its buttons while an action runs', async () => {
    const suspension = pendingResponse();
    const { person } = openUsers([admin, deniz], {
      'POST /admin/users/uid-of-deniz/suspend': suspension.answer,
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, status: 'suspended' } },
    });
    const card = await findCard('Deniz Kaya');
    await person.click(card.getByRole('button', { name: 'Askıya Al' }));
    const disabled = () => card.getAllByRole<HTMLButtonElement>('button').map((button) => button.disabled);
    // An active account has six buttons, a suspended account three.
    await vi.waitFor(() => expect(disabled()).toEqual([true, true, true, true, true, true]));
    suspension.respondWith({ message: '' });
    await vi.waitFor(() => expect(disabled()).toEqual([false, false, false]), { timeout: 5000 });
  });

  it('disables its buttons for 700 ms after they have changed, so that a double click does not press another button', async () => {
    let user = { ...deniz, status: 'pending' } as User;
    const { person, calls } = openUsers([admin, user], {
      'POST /admin/users/uid-of-deniz/approve': () => {
        user = deniz;
        return { message: 'tamam' };
      },
      'GET /admin/users/uid-of-deniz': () => ({ user }),
    });
    const card = await findCard('Deniz Kaya');
    await person.click(card.getByRole('button', { name: 'Onayla' }));
    const suspend = await card.findByRole<HTMLButtonElement>('button', { name: 'Askıya Al' });
    expect(suspend.disabled).toBe(true);
    await person.click(suspend);
    expect(calls.some(({ name }) => name.endsWith('/suspend'))).toBe(false);
    await vi.waitFor(() => expect(suspend.disabled).toBe(false), { timeout: 5000 });
  });

  it.each([
    ['approve', { status: 'pending' }, ['withdraw-approval'], 'Onayla', 'Onay geri alındı.'],
    ['approve', { status: 'suspended' }, ['suspend'], 'Etkinleştir', 'Kullanıcı başarıyla askıya alındı.'],
    ['suspend', { status: 'active' }, ['approve'], 'Askıya Al', 'Kullanıcı başarıyla onaylandı.'],
    [
      'suspend',
      { role: 'admin' },
      ['approve', 'promote'],
      'Askıya Al',
      'Kullanıcı başarıyla yönetici yapıldı.',
    ],
  ] as const)(
    'undoes the action "%s" on an account with %j by sending %j when the undo button of the toast is pressed',
    async (action, changes, undoActions, label, undoMessage) => {
      const responses = Object.fromEntries(
        [action, ...undoActions].map((sentAction) => [
          `POST /admin/users/uid-of-deniz/${sentAction}`,
          { message: 'tamam' },
        ]),
      );
      const { person, calls } = openUsers([admin, { ...deniz, ...changes } as User], {
        ...responses,
        'GET /admin/users/uid-of-deniz': { user: deniz },
      });
      await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: label }));
      const undo = await screen.findByRole<HTMLButtonElement>('button', { name: 'Geri Al' });
      await vi.waitFor(() => expect(undo.disabled).toBe(false), { timeout: 5000 });
      await person.click(undo);
      await screen.findByText(undoMessage);
      const sentCalls = calls.filter(({ name }) => name.startsWith('POST /admin'));
      expect(sentCalls.map(({ name }) => name.split('/').at(-1))).toEqual([action, ...undoActions]);
    },
  );

  it('offers administrators neither suspending nor deactivating their own account, and says why', async () => {
    openUsers([admin]);
    const card = await findCard('Ada Yönetir');
    expect(buttonLabelsOf(card)).toEqual(['Şifre Belirle']);
    card.getByText('Bu sizin hesabınız: kendi hesabınızı askıya alamaz veya devre dışı bırakamazsınız.');
  });
});

describe('the dialog that changes the role of an account (suspends it, then approves it with the new role)', () => {
  it('suspends and then approves the account with the new role, and announces both steps beforehand', async () => {
    const { person, calls } = openUsers([admin, deniz], {
      'POST /admin/users/uid-of-deniz/suspend': { message: 'tamam' },
      'POST /admin/users/uid-of-deniz/approve': { message: 'tamam' },
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, role: 'viewer' } },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Rolü Değiştir' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Rolü Değiştir' }));
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Kaydet' }).disabled).toBe(true);
    await person.click(dialog.getByRole('radio', { name: 'İzleyici' }));
    dialog.getByText(/askıya alınıp “İzleyici” rolüyle yeniden açılır/);
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    await screen.findByText('Rol değiştirildi.');
    expect(calls.filter(({ name }) => name.startsWith('POST /admin'))).toMatchObject([
      { name: 'POST /admin/users/uid-of-deniz/suspend' },
      { name: 'POST /admin/users/uid-of-deniz/approve', body: { role: 'viewer' } },
    ]);
  });

  it.each([
    [
      'when the approval with the new role fails without a message of the server',
      new Response('', { status: 502 }),
      '',
    ],
    [
      'and adds the message of the server when the approval with the new role fails',
      errorResponse('unavailable'),
      ' Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    ],
  ])('says that the account is suspended %s', async (_, failure, reason) => {
    const { person } = openUsers([admin, { ...deniz, role: 'admin' }], {
      'POST /admin/users/uid-of-deniz/suspend': { message: 'tamam' },
      'POST /admin/users/uid-of-deniz/approve': failure,
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, status: 'suspended' } },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Rolü Değiştir' }));
    await person.click(await screen.findByRole('radio', { name: 'Kullanıcı' }));
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    const suspended = 'Hesap askıya alındı ama yeni rolle açılamadı. “Etkinleştir” düğmesiyle yeniden açın.';
    await screen.findByText(suspended + reason);
    await (await findCard('Deniz Kaya')).findByRole('button', { name: 'Etkinleştir' });
  });
});

describe('the dialog that rejects an applicant, opened from the card of the account', () => {
  it('sends the reason that the user has filled in with a template button', async () => {
    const { person, calls } = openUsers([admin, { ...deniz, status: 'pending' }], {
      'POST /admin/users/uid-of-deniz/reject': { message: 'tamam' },
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, status: 'suspended' } },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Reddet' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Başvuruyu Reddet' }));
    await person.click(dialog.getByRole('button', { name: 'Kurum doğrulanamadı' }));
    await person.click(dialog.getByRole('button', { name: 'Reddet' }));
    await screen.findByText('Başvuru reddedildi.');
    const reason = 'Kurumunuzu doğrulayamadık. Lütfen kurumsal e-posta adresinizle yeniden başvurun.';
    expect(calls.find(({ name }) => name.endsWith('/reject'))?.body).toEqual({ reason });
  });
});

describe('the dialog that deactivates an account', () => {
  const member = { ...deniz, datasets: ['Böbrek', 'Deri'] } as User;

  it('names the datasets to which the account loses access, and deactivates the account after the confirmation', async () => {
    const { person, calls } = openUsers([admin, member], {
      'POST /admin/users/uid-of-deniz/deactivate': { message: 'tamam' },
      'GET /admin/users/uid-of-deniz': { user: { ...deniz, status: 'deactivated' } },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Devre Dışı Bırak' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Hesap devre dışı bırakılsın mı?' }));
    dialog.getByText(/Deniz Kaya artık giriş yapamaz/);
    dialog.getByText(/Böbrek, Deri.*geri getirmez/);
    expect(calls.some(({ name }) => name.endsWith('/deactivate'))).toBe(false);
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'Devre Dışı Bırak' });
    expect(confirm.disabled).toBe(true);
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('Kullanıcı başarıyla devre dışı bırakıldı.');
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await (await findCard('Deniz Kaya')).findByRole('button', { name: 'Etkinleştir' });
  });

  it('changes nothing when the cancel button is pressed, and shows a message when the call to the server fails', async () => {
    const { person, calls } = openUsers([admin, member], {
      'POST /admin/users/uid-of-deniz/deactivate': new Response('', { status: 502 }),
      'GET /admin/users/uid-of-deniz': { user: member },
    });
    const deactivateButton = () => screen.getByRole('button', { name: 'Devre Dışı Bırak' });
    await findCard('Deniz Kaya');
    await person.click(deactivateButton());
    await person.click(await screen.findByRole('button', { name: 'Vazgeç' }));
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(calls.some(({ name }) => name.endsWith('/deactivate'))).toBe(false);
    await person.click(deactivateButton());
    const dialog = within(await screen.findByRole('dialog'));
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'Devre Dışı Bırak' });
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('Kullanıcı devre dışı bırakılırken hata oluştu.');
  });
});

describe('the dialog that sets the password of an account', () => {
  it('sends the new password, and closes after the response', async () => {
    const { person, calls } = openUsers([deniz], {
      'PUT /admin/users/uid-of-deniz/password': { message: 'Şifre başarıyla değiştirildi' },
      'GET /admin/users/uid-of-deniz': { user: deniz },
    });
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' }));
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

  it('returns the keyboard focus to the button that opened the dialog when the dialog is closed with Escape', async () => {
    const { person } = openUsers([deniz]);
    const opener = (await findCard('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' });
    await person.click(opener);
    await screen.findByRole('dialog');
    await person.keyboard('{Escape}');
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await vi.waitFor(() => expect(document.activeElement).toBe(opener));
  });

  it('rejects a password that is too short or does not match its confirmation', async () => {
    const { person } = openUsers([deniz]);
    await person.click((await findCard('Deniz Kaya')).getByRole('button', { name: 'Şifre Belirle' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.type(dialog.getByLabelText('Yeni Şifre'), 'short');
    await person.click(dialog.getByRole('button', { name: 'Şifreyi Kaydet' }));
    await dialog.findByText('Yeni şifre en az 8 karakter olmalı.');
    dialog.getByText('Şifreler eşleşmiyor.');
  });
});

describe('the dialog that removes the two-step verification of an account', () => {
  it('removes the verification after the confirmation, and hides the button on the card that opened the dialog', async () => {
    let isEnabled = true;
    const api: Answers = {
      'GET /admin/users': () => ({ users: [{ ...deniz, secondFactor: isEnabled }], message: '' }),
      'GET /admin/users/uid-of-deniz': () => ({ user: { ...deniz, secondFactor: isEnabled } }),
      'DELETE /admin/users/uid-of-deniz/second-factor': () => {
        isEnabled = false;
        return { message: '' };
      },
    };
    const { person } = openUsers([], api);
    const card = await findCard('Deniz Kaya');
    await person.click(card.getByRole('button', { name: 'İki Adımlı Doğrulamayı Kaldır' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'İki Adımlı Doğrulamayı Kaldır' }));
    dialog.getByText(/Deniz Kaya bundan sonra yalnızca şifresiyle giriş yapar/);
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'Doğrulamayı Kaldır' });
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('Kullanıcının iki adımlı doğrulaması kaldırıldı.');
    await vi.waitFor(() =>
      expect(card.queryByRole('button', { name: 'İki Adımlı Doğrulamayı Kaldır' })).toBeNull(),
    );
  });
});
