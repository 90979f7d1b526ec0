import { screen, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, refusal } from '../../testing/stub-api.ts';

const approvedAt = new Date(2026, 10, 21, 14, 5).toISOString();
const user = account({ approvalDate: approvedAt, createdAt: approvedAt, updatedAt: approvedAt });

function openProfile(api: Answers = {}, profile = user) {
  return openApp('/dashboard/profile', {
    signedInAs: profile,
    api: {
      'GET /user/profile': { user: profile },
      'GET /user/second-factor': { enabled: false, recovery_codes_left: 0 },
      'GET /user/sign-ins': { sign_ins: [] },
      'GET /user/api-tokens': { tokens: [] },
      ...api,
    },
  });
}

/** The lines of the read-only card. */
async function fields(): Promise<Record<string, string | null>> {
  const card = await screen.findByRole('region', { name: 'Hesap Bilgileri' });
  await within(card).findByText('Kullanıcı Kimliği');
  const labels = within(card).getAllByRole('term');
  const values = within(card).getAllByRole('definition');
  return Object.fromEntries(
    labels.map((label, place) => [label.textContent, values[place]?.textContent ?? null]),
  );
}

describe('the profile', () => {
  it('shows every field of the account', async () => {
    openProfile();
    expect(await fields()).toEqual({
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

  it('says that there is no display name', async () => {
    openProfile({}, { ...user, displayName: null });
    expect(await fields()).toMatchObject({ 'Görünen Ad': 'Belirtilmemiş' });
  });

  it('shows the end date of access, if there is one', async () => {
    openProfile({}, { ...user, expiresAt: approvedAt });
    expect(await fields()).toMatchObject({ 'Bitiş Tarihi': '21 Kasım 2026 14:05' });
  });

  it('shows no approval date for an account that no administrator approved', async () => {
    openProfile({}, { ...user, adminApproved: false });
    expect(await fields()).not.toHaveProperty('Onay Tarihi');
  });

  it.each([
    ['an answer without a user', {}, 'Profil bulunamadı'],
    ['a refusal', refusal('unavailable'), 'Profil alınamadı'],
  ])('says when it cannot be loaded: %s', async (_, answer, reason) => {
    openProfile({ 'GET /user/profile': answer });
    await screen.findByText('Profil bilgileri yüklenemedi.');
    screen.getByText(reason);
  });

  it('offers Retry when it cannot be loaded', async () => {
    let answer: object = refusal('unavailable');
    const { person } = openProfile({ 'GET /user/profile': () => answer });
    const retry = await screen.findByRole('button', { name: 'Tekrar Dene' });
    answer = { user };
    await person.click(retry);
    expect(await fields()).toMatchObject({ 'E-posta': 'ipek@example.org' });
  });
});

describe('changing the password', () => {
  async function submit(
    person: ReturnType<typeof openApp>['person'],
    typed: Readonly<Record<string, string>>,
  ) {
    await screen.findByLabelText('Yeni Şifre');
    for (const [label, text] of Object.entries(typed)) {
      await person.click(screen.getByLabelText(label));
      // A long text in one event: a hundred keystrokes take seconds.
      await (text.length > 40 ? person.paste(text) : person.keyboard(text));
    }
    await person.click(screen.getByRole('button', { name: 'Şifreyi Değiştir' }));
  }
  const twice = { 'Yeni Şifre': 'a new thin slice', 'Yeni Şifre (Tekrar)': 'a new thin slice' };

  it('requires only the new password, twice, and shows a message when it is changed', async () => {
    const { person, calls } = openProfile({
      'PUT /user/password': { message: 'Şifre başarıyla değiştirildi' },
    });
    await submit(person, twice);
    await screen.findByText('Şifre başarıyla değiştirildi.');
    expect(calls.at(-1)).toMatchObject({
      name: 'PUT /user/password',
      body: { new_password: 'a new thin slice' },
    });
    expect(screen.getByLabelText<HTMLInputElement>('Yeni Şifre').value).toBe('');
  });

  it.each([
    [{}, 'Yeni şifre gerekli.'],
    [{ 'Yeni Şifre': 'short' }, 'Yeni şifre en az 8 karakter olmalı.'],
    [{ 'Yeni Şifre': 'ş'.repeat(129) }, 'Yeni şifre en fazla 128 karakter olabilir.'],
    [{ ...twice, 'Yeni Şifre (Tekrar)': 'another slice' }, 'Şifreler eşleşmiyor.'],
  ])('refuses %j', async (typed, sentence) => {
    const { person, calls } = openProfile();
    await submit(person, typed);
    await screen.findByText(sentence);
    expect(calls.map(({ name }) => name)).not.toContain('PUT /user/password');
  });

  it("shows the server's objection to the password beside the field", async () => {
    const sentence = 'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.';
    const { person } = openProfile({
      'PUT /user/password': Response.json(
        { code: 'invalid_request', message: sentence, field: 'new_password' },
        { status: 400 },
      ),
    });
    await submit(person, twice);
    const field = screen.getByLabelText('Yeni Şifre');
    await vi.waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    screen.getByText(sentence);
    expect(document.activeElement).toBe(field);
  });

  it('asks for the current password when the sign-in is not recent', async () => {
    const { person, calls } = openProfile({
      'PUT /user/password': ({ body }) => {
        const { current_password: current } = body as { current_password?: string };
        if (current === undefined) return refusal('reauth_required');
        return current === 'right' ? { message: '' } : refusal('credentials_invalid');
      },
    });
    await submit(person, twice);
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
    expect(calls.at(-1)?.body).toEqual({ new_password: 'a new thin slice', current_password: 'right' });
    expect(screen.queryByLabelText('Mevcut şifre')).toBeNull();
  });

  it.each([
    [
      'the sentence of the server',
      refusal('rate_limited'),
      'Çok fazla deneme yapıldı. Lütfen biraz sonra yeniden deneyin.',
    ],
    ['one of its own', new Response('', { status: 502 }), 'Şifre değiştirilemedi'],
  ])('fails with %s', async (_, answer, sentence) => {
    const { person } = openProfile({ 'PUT /user/password': answer });
    await submit(person, twice);
    expect((await screen.findByRole('alert')).textContent).toContain(sentence);
  });
});

describe('deleting the account', () => {
  async function confirm(person: ReturnType<typeof openApp>['person'], typed: string) {
    const field = await screen.findByLabelText('Onaylamak için e-posta adresinizi yazın: ipek@example.org');
    if (typed) await person.type(field, typed);
    await person.click(screen.getByRole('button', { name: 'Hesabı Sil' }));
  }

  it.each(['', 'deniz@example.org'])('does not happen after %j was typed', async (typed) => {
    const { person, calls } = openProfile();
    await confirm(person, typed);
    await screen.findByText('Yazdığınız adres hesabınızın e-posta adresiyle aynı değil.');
    expect(calls.map(({ name }) => name)).not.toContain('DELETE /user/account');
  });

  it('removes the stored sign-in and opens the login page', async () => {
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

  it('asks for the current password when the sign-in is not recent', async () => {
    const { person, calls } = openProfile({
      'DELETE /user/account': ({ body }) =>
        (body as { current_password?: string }).current_password === 'right'
          ? { message: '' }
          : refusal('reauth_required'),
    });
    await confirm(person, 'ipek@example.org');
    await person.type(await screen.findByLabelText('Mevcut şifre'), 'right');
    await person.click(screen.getByRole('button', { name: 'Hesabı Sil' }));
    await screen.findByText('Hesap başarıyla silindi');
    expect(calls.at(-1)?.body).toEqual({ current_password: 'right' });
  });

  it.each([
    ['the sentence of the server', refusal('last_admin'), 'Son etkin yönetici kaldırılamaz.'],
    ['one of its own', new Response('', { status: 502 }), 'Hesap silinemedi'],
  ])('fails with %s', async (_, answer, sentence) => {
    const { person, address } = openProfile({ 'DELETE /user/account': answer });
    await confirm(person, 'ipek@example.org');
    expect((await screen.findByRole('alert')).textContent).toContain(sentence);
    expect(address()).toBe('/dashboard/profile');
  });
});

describe('two-step verification', () => {
  const secret = {
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/Lamina:ipek?secret=JBSWY3DP',
  };
  const codes = [...'23456789ab'].map((last) => `abcd-efgh-jkmn-pqr${last}`);

  /** The API of an account that has it on or off. */
  function switchable(isOn: boolean): { api: Answers; turn: (to: boolean) => void } {
    let enabled = isOn;
    const turn = (to: boolean) => {
      enabled = to;
    };
    return {
      turn,
      api: { 'GET /user/second-factor': () => ({ enabled, recovery_codes_left: enabled ? 10 : 0 }) },
    };
  }

  it('is set up with a QR code or the key, a first code, and recovery codes that are shown once', async () => {
    const { api, turn } = switchable(false);
    const { person, calls } = openProfile({
      ...api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': () => {
        turn(true);
        return { recovery_codes: codes, message: 'İki adımlı doğrulama açıldı.' };
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
    for (const code of codes) await screen.findByText(code);
    await person.click(screen.getByRole('button', { name: 'Kodları kaydettim' }));
    await screen.findByText(/^Açık\. .* Kalan kurtarma kodu: 10\.$/);
    expect(screen.queryByText(codes[0] ?? '')).toBeNull();
  });

  it('asks for the current password when the sign-in is not recent, and can be cancelled', async () => {
    const { person, calls } = openProfile({
      ...switchable(false).api,
      'POST /user/second-factor': ({ body }) =>
        (body as { current_password?: string }).current_password === 'right'
          ? secret
          : refusal('reauth_required'),
    });
    const begin = await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' });
    await person.click(begin);
    await person.type(await screen.findByLabelText('Mevcut şifre'), 'right');
    await person.click(begin);
    await person.click(await screen.findByRole('button', { name: 'Vazgeç' }));
    await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' });
    expect(calls.at(-1)?.body).toEqual({ current_password: 'right' });
  });

  it('shows beside the field that the first code is wrong', async () => {
    const { person } = openProfile({
      ...switchable(false).api,
      'POST /user/second-factor': secret,
      'POST /user/second-factor/confirm': refusal('second_factor_invalid'),
    });
    await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
    await person.type(await screen.findByLabelText('Doğrulama Kodu'), '123456');
    await person.click(screen.getByRole('button', { name: 'Doğrula ve Aç' }));
    await screen.findByText('Doğrulama kodu hatalı veya daha önce kullanılmış.');
  });

  it('can be switched off', async () => {
    const { api, turn } = switchable(true);
    const { person } = openProfile({
      ...api,
      'DELETE /user/second-factor': () => {
        turn(false);
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

describe('the list of own sign-ins', () => {
  const here = {
    id: 'here',
    created_at: approvedAt,
    last_used_at: approvedAt,
    address: '192.0.2.1',
    browser: 'Firefox · Windows',
    current: true,
  };
  const there = { ...here, id: 'there', browser: null, address: null, current: false };

  it('shows browser, address and times, and marks this sign-in', async () => {
    openProfile({ 'GET /user/sign-ins': { sign_ins: [here, there] } });
    const card = await screen.findByRole('region', { name: 'Oturumlar' });
    const rows = (await within(card).findAllByRole('listitem')).map((row) => row.textContent);
    const lastUsed = 'Son kullanım: 21 Kasım 2026 14:05';
    expect(rows).toEqual([
      `Firefox · WindowsBu oturumGiriş: 21 Kasım 2026 14:05 · 192.0.2.1${lastUsed}`,
      `Bilinmeyen tarayıcıGiriş: 21 Kasım 2026 14:05${lastUsed}Oturumu kapat`,
    ]);
  });

  it('ends a single sign-in', async () => {
    let list = [here, there];
    const { person } = openProfile({
      'GET /user/sign-ins': () => ({ sign_ins: list }),
      'DELETE /user/sign-ins/there': () => {
        list = [here];
        return new Response(null, { status: 204 });
      },
    });
    await person.click(await screen.findByRole('button', { name: /^Oturumu kapat: Bilinmeyen tarayıcı/ }));
    await screen.findByText('Oturum kapatıldı.');
    await vi.waitFor(() => expect(screen.queryByText('Bilinmeyen tarayıcı')).toBeNull());
  });

  it('ends all other sign-ins', async () => {
    const { person, address } = openProfile({
      'GET /user/sign-ins': { sign_ins: [here, there] },
      'DELETE /user/sign-ins': new Response(null, { status: 204 }),
    });
    await person.click(await screen.findByRole('button', { name: 'Diğer oturumları kapat' }));
    await screen.findByText('Diğer oturumlarınız kapatıldı.');
    expect(address()).toBe('/dashboard/profile');
  });

  it('ends all sign-ins, and opens the login page', async () => {
    const { person, address } = openProfile({
      'GET /user/sign-ins': { sign_ins: [here] },
      'DELETE /user/sign-ins': new Response(null, { status: 204 }),
    });
    await person.click(await screen.findByRole('button', { name: 'Tüm oturumlardan çık' }));
    await screen.findByText('Tüm oturumlarınız kapatıldı.');
    await screen.findByRole('button', { name: 'Giriş Yap' });
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
