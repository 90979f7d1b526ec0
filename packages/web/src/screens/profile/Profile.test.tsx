/**
 * Tests of the profile screen, except for its API tokens and share links. They are in one file because all of them open the same screen with
 * the same stubbed API. They find elements by Turkish texts, the default language of the screen.
 */
import { screen, within } from '@testing-library/react';
import { act } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const approvedAt = new Date(2026, 10, 21, 14, 5).toISOString();
const user = account({ approvalDate: approvedAt, createdAt: approvedAt, updatedAt: approvedAt });

function openProfile(api: Answers = {}, profile = user) {
  return openApp('/dashboard/profile', {
    signedInAs: profile,
    api: {
      'HEAD /': {}, // the card loads the script of the setup only when the server responds
      'GET /user/profile': { user: profile },
      'GET /user/second-factor': { enabled: false, recovery_codes_left: 0 },
      'GET /user/sign-ins': { sign_ins: [] },
      'GET /user/api-tokens': { tokens: [] },
      'GET /share-links': { share_links: [] },
      ...api,
    },
  });
}

/** Returns the labels and values of the account card. */
async function findFields(): Promise<Record<string, string | null>> {
  const card = await screen.findByRole('region', { name: 'Hesap Bilgileri' });
  await within(card).findByText('Kullanıcı Kimliği');
  const labels = within(card).getAllByRole('term');
  const values = within(card).getAllByRole('definition');
  return Object.fromEntries(
    labels.map((label, index) => [label.textContent, values[index]?.textContent ?? null]),
  );
}

describe('the account card of the profile', () => {
  it('shows every field of the account', async () => {
    openProfile();
    expect(await findFields()).toEqual({
      'Kullanıcı Kimliği': 'uid-of-ipek',
      'E-posta': 'ipek@example.org',
      'Görünen Ad': 'İpek Işık',
      Durum: 'Aktif',
      Rol: 'Kullanıcı',
      'Kayıt Tarihi': '21 Kasım 2026',
      'Güncellenme Tarihi': '21 Kasım 2026',
      'Onay Tarihi': '21 Kasım 2026',
    });
  });

  it('shows "not given" for an account without a display name', async () => {
    openProfile({}, { ...user, displayName: null });
    expect(await findFields()).toMatchObject({ 'Görünen Ad': 'Belirtilmemiş' });
  });

  it('shows the end date of an account that has one', async () => {
    openProfile({}, { ...user, expiresAt: approvedAt });
    expect(await findFields()).toMatchObject({ 'Bitiş Tarihi': '21 Kasım 2026 14:05' });
  });

  it('shows no approval date for an account that no administrator approved', async () => {
    openProfile({}, { ...user, adminApproved: false });
    expect(await findFields()).not.toHaveProperty('Onay Tarihi');
  });

  it.each([
    ['a response without a user', {}, 'Profil bulunamadı'],
    ['an error response', errorResponse('unavailable'), 'Profil alınamadı'],
  ])('shows why the account cannot be loaded after %s', async (_, response, reason) => {
    openProfile({ 'GET /user/profile': response });
    await screen.findByText('Profil bilgileri yüklenemedi.');
    screen.getByText(reason);
  });

  it('loads the account again when the retry button is pressed after a failure', async () => {
    let response: object = errorResponse('unavailable');
    const { person } = openProfile({ 'GET /user/profile': () => response });
    const retry = await screen.findByRole('button', { name: 'Tekrar Dene' });
    response = { user };
    await person.click(retry);
    expect(await findFields()).toMatchObject({ 'E-posta': 'ipek@example.org' });
  });
});

describe('the form of the profile that changes the password', () => {
  async function submit(
    person: ReturnType<typeof openApp>['person'],
    values: Readonly<Record<string, string>>,
  ) {
    await screen.findByLabelText('Yeni Şifre');
    for (const [label, text] of Object.entries(values)) {
      await person.click(screen.getByLabelText(label));
      // Pasting is one event, whereas typing a hundred characters takes seconds.
      await (text.length > 40 ? person.paste(text) : person.keyboard(text));
    }
    await person.click(screen.getByRole('button', { name: 'Şifreyi Değiştir' }));
  }
  const validPassword = { 'Yeni Şifre': 'a new thin slice', 'Yeni Şifre (Tekrar)': 'a new thin slice' };

  it('sends only the new password when the sign-in is recent, and shows that the password was changed', async () => {
    const { person, calls } = openProfile({
      'PUT /user/password': { message: 'Şifre başarıyla değiştirildi' },
    });
    await submit(person, validPassword);
    await screen.findByText('Şifre başarıyla değiştirildi.');
    expect(calls.find(({ name }) => name === 'PUT /user/password')?.body).toEqual({
      new_password: 'a new thin slice',
    });
    expect(screen.getByLabelText<HTMLInputElement>('Yeni Şifre').value).toBe('');
  });

  it('reloads the list of sign-ins after a password change, because the server has ended all other sign-ins', async () => {
    const { person, calls } = openProfile({
      'PUT /user/password': { message: 'Şifre başarıyla değiştirildi' },
      'GET /user/sign-ins': { sign_ins: [] },
    });
    await submit(person, validPassword);
    const loads = () => calls.filter(({ name }) => name === 'GET /user/sign-ins').length;
    await vi.waitFor(() => expect(loads()).toBe(2));
  });

  it.each([
    ['an empty new password', {}, 'Yeni şifre gerekli.'],
    [
      'a password of 5 characters (minimum: 8)',
      { 'Yeni Şifre': 'short' },
      'Yeni şifre en az 8 karakter olmalı.',
    ],
    [
      'a password of 129 characters (maximum: 128)',
      { 'Yeni Şifre': 'ş'.repeat(129) },
      'Yeni şifre en fazla 128 karakter olabilir.',
    ],
    [
      'a confirmation that differs from the password',
      { ...validPassword, 'Yeni Şifre (Tekrar)': 'another slice' },
      'Şifreler eşleşmiyor.',
    ],
  ])('shows an error and does not send a password form with %s', async (_, values, message) => {
    const { person, calls } = openProfile();
    await submit(person, values);
    await screen.findByText(message);
    expect(calls.map(({ name }) => name)).not.toContain('PUT /user/password');
  });

  it('shows beside the field why the server rejects the new password', async () => {
    const message = 'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.';
    const { person } = openProfile({
      'PUT /user/password': Response.json(
        { code: 'invalid_request', message, field: 'new_password' },
        { status: 400 },
      ),
    });
    await submit(person, validPassword);
    const field = screen.getByLabelText('Yeni Şifre');
    await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    screen.getByText(message);
    expect(document.activeElement).toBe(field);
  });

  it('asks for the current password when the sign-in is not recent, and sends both passwords', async () => {
    const { person, calls } = openProfile({
      'PUT /user/password': ({ body }) => {
        const { current_password: current } = body as { current_password?: string };
        if (current === undefined) return errorResponse('reauth_required');
        return current === 'right' ? { message: '' } : errorResponse('credentials_invalid');
      },
    });
    await submit(person, validPassword);
    const current = await screen.findByLabelText('Mevcut şifre');
    await screen.findByText('Güvenliğiniz için mevcut şifrenizi de girin.');
    expect(document.activeElement).toBe(current);

    await submit(person, {});
    await screen.findByText('Mevcut şifre gerekli.');

    await submit(person, { 'Mevcut şifre': 'wrong' });
    await screen.findByText('Mevcut şifre yanlış.');
    expect(localStorage.getItem('auth_token')).toBe('token-1'); // a wrong password does not sign out

    await person.clear(current);
    await submit(person, { 'Mevcut şifre': 'right' });
    await screen.findByText('Şifre başarıyla değiştirildi.');
    expect(calls.findLast(({ name }) => name === 'PUT /user/password')?.body).toEqual({
      new_password: 'a new thin slice',
      current_password: 'right',
    });
    expect(screen.queryByLabelText('Mevcut şifre')).toBeNull();
  });

  it.each([
    [
      'the message of the server when a failed response contains one',
      errorResponse('rate_limited'),
      'Çok fazla deneme yapıldı. Lütfen biraz sonra yeniden deneyin.',
    ],
    [
      'a default message when a failed response contains none',
      new Response('', { status: 502 }),
      'Şifre değiştirilemedi',
    ],
  ])('shows %s', async (_, response, message) => {
    const { person } = openProfile({ 'PUT /user/password': response });
    await submit(person, validPassword);
    expect((await screen.findByRole('alert')).textContent).toContain(message);
  });
});

describe('the form of the profile that deletes the account', () => {
  async function confirm(person: ReturnType<typeof openApp>['person'], email: string) {
    const field = await screen.findByLabelText('Onaylamak için e-posta adresinizi yazın: ipek@example.org');
    if (email) await person.type(field, email);
    await person.click(screen.getByRole('button', { name: 'Hesabı Sil' }));
  }

  it.each(['', 'deniz@example.org'])(
    'deletes nothing when the typed e-mail address is %j instead of that of the account',
    async (email) => {
      const { person, calls } = openProfile();
      await confirm(person, email);
      await screen.findByText('Yazdığınız adres hesabınızın e-posta adresiyle aynı değil.');
      expect(calls.map(({ name }) => name)).not.toContain('DELETE /user/account');
    },
  );

  it('deletes the account, removes the stored sign-in and opens the login page', async () => {
    const { person, calls, address } = openProfile({
      'DELETE /user/account': { message: 'Hesap başarıyla silindi' },
    });
    await confirm(person, ' IPEK@example.org ');
    await screen.findByText('Hesap başarıyla silindi');
    expect(calls.at(-1)).toMatchObject({ name: 'DELETE /user/account', body: {} });
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
    expect(localStorage.getItem('user_data')).toBeNull();
  });

  it('asks for the current password when the sign-in is not recent, and sends this password with the deletion', async () => {
    const { person, calls } = openProfile({
      'DELETE /user/account': ({ body }) =>
        (body as { current_password?: string }).current_password === 'right'
          ? { message: '' }
          : errorResponse('reauth_required'),
    });
    await confirm(person, 'ipek@example.org');
    await person.type(await screen.findByLabelText('Mevcut şifre'), 'right');
    await person.click(screen.getByRole('button', { name: 'Hesabı Sil' }));
    await screen.findByText('Hesap başarıyla silindi');
    expect(calls.at(-1)?.body).toEqual({ current_password: 'right' });
  });

  it.each([
    [
      'the message of the server when a failed response contains one',
      errorResponse('last_admin'),
      'Son aktif yönetici kaldırılamaz.',
    ],
    [
      'a default message when a failed response contains none',
      new Response('', { status: 502 }),
      'Hesap silinemedi',
    ],
  ])('shows %s', async (_, response, message) => {
    const { person, address } = openProfile({ 'DELETE /user/account': response });
    await confirm(person, 'ipek@example.org');
    expect((await screen.findByRole('alert')).textContent).toContain(message);
    expect(address()).toBe('/dashboard/profile');
  });
});

describe('the card of the profile for two-step verification', () => {
  const secret = {
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/Lamina:ipek?secret=JBSWY3DP',
  };
  const recoveryCodes = [...'23456789ab'].map((lastCharacter) => `abcd-efgh-jkmn-pqr${lastCharacter}`);

  /** Returns the API of an account whose two-step verification is on or off, and a function that changes it. */
  function secondFactorApi(isInitiallyEnabled: boolean): {
    api: Answers;
    setEnabled: (isEnabled: boolean) => void;
  } {
    let enabled = isInitiallyEnabled;
    return {
      setEnabled: (isEnabled) => {
        enabled = isEnabled;
      },
      api: { 'GET /user/second-factor': () => ({ enabled, recovery_codes_left: enabled ? 10 : 0 }) },
    };
  }

  it('shows a QR code and the key, switches the verification on with a first code, and shows the recovery codes once', async () => {
    const { api, setEnabled } = secondFactorApi(false);
    const { person, calls } = openProfile({
      ...api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': () => {
        setEnabled(true);
        return { recovery_codes: recoveryCodes, message: 'İki adımlı doğrulama açıldı.' };
      },
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
    await screen.findByRole('img', { name: 'Doğrulama uygulaması için QR kodu' });
    screen.getByText('JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP');

    await person.type(screen.getByLabelText('Doğrulama Kodu'), '12');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));
    await screen.findByText('Doğrulama kodu 6 haneli olmalı.');
    await person.type(screen.getByLabelText('Doğrulama Kodu'), '3 456');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));

    await screen.findByText('İki adımlı doğrulama açıldı.');
    expect(calls.at(-1)).toMatchObject({
      name: 'POST /user/second-factor/confirm',
      body: { code: '123456' },
    });
    for (const code of recoveryCodes) await screen.findByText(code);
    await person.click(screen.getByRole('button', { name: 'Kodları kaydettim' }));
    await screen.findByText(/^Açık\. .* Kalan kurtarma kodu: 10\.$/);
    expect(screen.queryByText(recoveryCodes[0] ?? '')).toBeNull();
  });

  it('asks for the current password when the sign-in is not recent, and lets the user cancel the setup', async () => {
    const { person, calls } = openProfile({
      ...secondFactorApi(false).api,
      'POST /user/second-factor': ({ body }) =>
        (body as { current_password?: string }).current_password === 'right'
          ? secret
          : errorResponse('reauth_required'),
    });
    const begin = await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' });
    await person.click(begin);
    await person.type(await screen.findByLabelText('Mevcut şifre'), 'right');
    await person.click(begin);
    await person.click(await screen.findByRole('button', { name: 'Vazgeç' }));
    await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' });
    expect(calls.findLast(({ name }) => name === 'POST /user/second-factor')?.body).toEqual({
      current_password: 'right',
    });
  });

  it('shows the recovery codes although the user has pressed Cancel while the server was checking the code', async () => {
    const confirmation = pendingResponse();
    const { person } = openProfile({
      ...secondFactorApi(false).api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': confirmation.answer,
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
    await person.type(await screen.findByLabelText('Doğrulama Kodu'), '123456');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));
    await person.click(screen.getByRole('button', { name: 'Vazgeç' }));
    confirmation.respondWith({ recovery_codes: recoveryCodes, message: 'İki adımlı doğrulama açıldı.' });
    for (const code of recoveryCodes) await screen.findByText(code);
    act(() => chooseLanguage('en'));
    await screen.findByRole('button', { name: 'I have saved the codes' });
    for (const code of recoveryCodes) screen.getByText(code);
  });

  it('shows the verification as on when the response to a correct code was lost and the user cancels the setup', async () => {
    const { api, setEnabled } = secondFactorApi(false);
    const { person } = openProfile({
      ...api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': () => {
        setEnabled(true);
        throw new TypeError('Failed to fetch');
      },
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
    await person.type(await screen.findByLabelText('Doğrulama Kodu'), '123456');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));
    await screen.findByRole('alert');
    await person.click(screen.getByRole('button', { name: 'Vazgeç' }));
    await screen.findByText(/^Açık\./);
  });

  it('shows an error beside the code field when the first code is wrong', async () => {
    const { person } = openProfile({
      ...secondFactorApi(false).api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': errorResponse('second_factor_invalid'),
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
    await person.type(await screen.findByLabelText('Doğrulama Kodu'), '123456');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));
    await screen.findByText('Doğrulama kodu hatalı veya daha önce kullanılmış.');
  });

  it('switches the verification off after a confirmation', async () => {
    const { api, setEnabled } = secondFactorApi(true);
    const { person } = openProfile({
      ...api,
      'DELETE /user/second-factor': () => {
        setEnabled(false);
        return { message: 'İki adımlı doğrulama kapatıldı.' };
      },
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Kapat' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'İki adımlı doğrulama kapatılsın mı?' }));
    const confirm = dialog.getByRole<HTMLButtonElement>('button', { name: 'İki Adımlı Doğrulamayı Kapat' });
    await vi.waitFor(() => expect(confirm.disabled).toBe(false), { timeout: 5000 });
    await person.click(confirm);
    await screen.findByText('İki adımlı doğrulama kapatıldı.');
    await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' });
  });
});

describe('the card of the profile with the sign-ins of the account', () => {
  const currentSignIn = {
    id: 'here',
    created_at: approvedAt,
    last_used_at: approvedAt,
    address: '192.0.2.1',
    browser: 'Firefox · Windows',
    current: true,
  };
  const otherSignIn = { ...currentSignIn, id: 'there', browser: null, address: null, current: false };

  it('shows browser, IP address and times of each sign-in, and marks the current one', async () => {
    openProfile({ 'GET /user/sign-ins': { sign_ins: [currentSignIn, otherSignIn] } });
    const card = await screen.findByRole('region', { name: 'Oturumlar' });
    const rows = (await within(card).findAllByRole('listitem')).map((row) => row.textContent);
    const lastUsed = 'Son kullanım: 21 Kasım 2026 14:05';
    expect(rows).toEqual([
      `Firefox · WindowsBu oturumGiriş: 21 Kasım 2026 14:05 · 192.0.2.1${lastUsed}`,
      `Bilinmeyen tarayıcıGiriş: 21 Kasım 2026 14:05${lastUsed}Oturumu kapat`,
    ]);
  });

  it('ends one sign-in when its button is pressed', async () => {
    let list = [currentSignIn, otherSignIn];
    const { person } = openProfile({
      'GET /user/sign-ins': () => ({ sign_ins: list }),
      'DELETE /user/sign-ins/there': () => {
        list = [currentSignIn];
        return new Response(null, { status: 204 });
      },
    });
    await person.click(await screen.findByRole('button', { name: /^Oturumu kapat: Bilinmeyen tarayıcı/ }));
    await screen.findByText('Oturum kapatıldı.');
    await vi.waitFor(() => expect(screen.queryByText('Bilinmeyen tarayıcı')).toBeNull());
  });

  it('disables its buttons for 700 ms after a row has disappeared, so that a double click does not end another sign-in', async () => {
    const thirdSignIn = { ...otherSignIn, id: 'third', browser: 'Safari · macOS' };
    let list = [currentSignIn, otherSignIn, thirdSignIn];
    const deletion = pendingResponse();
    const reload = pendingResponse();
    let isEnded = false;
    const { person } = openProfile({
      'GET /user/sign-ins': () => (isEnded ? reload.answer() : { sign_ins: list }),
      'DELETE /user/sign-ins/there': deletion.answer,
    });
    const end = await screen.findByRole<HTMLButtonElement>('button', {
      name: /^Oturumu kapat: Bilinmeyen tarayıcı/,
    });
    const endThird = screen.getByRole<HTMLButtonElement>('button', { name: /^Oturumu kapat: Safari/ });
    await person.click(end);
    isEnded = true;
    list = [currentSignIn, thirdSignIn];
    deletion.respondWith(new Response(null, { status: 204 }));
    await screen.findByText('Oturum kapatıldı.');
    expect(end.isConnected).toBe(false); // although the list has not been reloaded yet
    expect(endThird.disabled).toBe(true);
    reload.respondWith({ sign_ins: list });
    await vi.waitFor(() => expect(endThird.disabled).toBe(false), { timeout: 5000 });
  });

  it('ends all other sign-ins and keeps the current one', async () => {
    const { person, address } = openProfile({
      'GET /user/sign-ins': { sign_ins: [currentSignIn, otherSignIn] },
      'DELETE /user/sign-ins': new Response(null, { status: 204 }),
    });
    await person.click(await screen.findByRole('button', { name: 'Diğer oturumları kapat' }));
    await screen.findByText('Diğer oturumlarınız kapatıldı.');
    expect(address()).toBe('/dashboard/profile');
  });

  it('ends all sign-ins, and opens the login page', async () => {
    const { person, address } = openProfile({
      'GET /user/sign-ins': { sign_ins: [currentSignIn] },
      'DELETE /user/sign-ins': new Response(null, { status: 204 }),
    });
    await person.click(await screen.findByRole('button', { name: 'Tüm oturumlardan çık' }));
    await screen.findByText('Tüm oturumlarınız kapatıldı.');
    await screen.findByRole('button', { name: 'Giriş Yap' });
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
