/** Tests of the registration page. They find elements by Turkish texts, the default language of these screens. */
import { screen } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { settings } from '../../browser/settings.ts';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const pending = account({ status: 'pending', role: 'unassigned', adminApproved: false });
const registrationResponse = () =>
  Response.json({ user: pending, message: 'Kayıt başarılı! Yönetici onayı bekleniyor.' }, { status: 201 });

interface FormValues {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  readonly confirmation?: string;
}

const validValues: FormValues = {
  email: 'ipek@example.org',
  password: 'a thin slice',
  confirmation: 'a thin slice',
};
const submitButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Kayıt Ol' });

async function fillInAndSubmit(person: ReturnType<typeof openApp>['person'], values: FormValues) {
  await screen.findByLabelText('E-posta');
  const fields = [
    ['E-posta', values.email],
    ['Görünen Ad (isteğe bağlı)', values.name],
    ['Şifre', values.password],
    ['Şifre (Tekrar)', values.confirmation],
  ] as const;
  for (const [label, text] of fields) {
    if (!text) continue;
    await person.click(screen.getByLabelText(label));
    // Pasting is one event, whereas typing a hundred characters takes seconds.
    await (text.length > 40 ? person.paste(text) : person.keyboard(text));
  }
  await person.click(submitButton());
}

describe('the registration page', () => {
  it('registers an account, shows the message of the server and opens the login page', async () => {
    const { person, calls, address } = openApp('/auth/register', {
      api: { 'POST /auth/register': registrationResponse },
    });
    await fillInAndSubmit(person, { ...validValues, name: ' İpek Işık ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(address()).toBe('/auth/login');
    await screen.findByText(/^Başvurunuz alındı.* ipek@example\.org/); // stays after the toast has disappeared
    expect(screen.getByLabelText<HTMLInputElement>('E-posta').value).toBe('ipek@example.org');
    expect(calls[0]?.body).toEqual({
      email: 'ipek@example.org',
      password: 'a thin slice',
      displayName: 'İpek Işık',
    });
  });

  it('says on the login page that the user must open the link in an e-mail, when the settings require a confirmed e-mail address', async () => {
    Object.assign(settings, { confirmsRegistrations: true });
    onTestFinished(() => void Object.assign(settings, { confirmsRegistrations: false }));
    const { person } = openApp('/auth/register', { api: { 'POST /auth/register': registrationResponse } });
    await fillInAndSubmit(person, validValues);
    await screen.findByText(/ipek@example\.org adresine gelen e-postadaki bağlantıyı/);
    expect(screen.queryByText(/^Başvurunuz alındı/)).toBeNull();
  });

  it.each([
    ['shows the data-protection notice from the settings', 'Verileriniz hastanede kalır.', 1],
    ['shows no data-protection notice when the settings contain none', null, 0],
  ])('%s', async (_, privacyNotice, count) => {
    Object.assign(settings, { privacyNotice });
    onTestFinished(() => void Object.assign(settings, { privacyNotice: null }));
    openApp('/auth/register');
    await screen.findByText('Başvurunuz hakkında (isteğe bağlı)');
    expect(screen.queryAllByText('Kişisel verilerin korunması')).toHaveLength(count);
    expect(screen.queryAllByText('Verileriniz hastanede kalır.')).toHaveLength(count);
  });

  it('shows the strength of the password while it is typed', async () => {
    const { person } = openApp('/auth/register');
    await person.type(await screen.findByLabelText('Şifre'), 'ince');
    await screen.findByText('Çok kısa');
    await person.type(screen.getByLabelText('Şifre'), ' bir kesit daha');
    await screen.findByText('Güçlü');
  });

  it('sends the trimmed institution and purpose when they are filled in', async () => {
    const { person, calls } = openApp('/auth/register', {
      api: { 'POST /auth/register': registrationResponse },
    });
    await person.click(await screen.findByText('Başvurunuz hakkında (isteğe bağlı)'));
    await person.type(screen.getByLabelText('Kurum'), ' Ege Üniversitesi ');
    await person.type(screen.getByLabelText('Başvuru amacı'), 'Tez');
    await fillInAndSubmit(person, validValues);
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(calls[0]?.body).toEqual({
      email: 'ipek@example.org',
      password: 'a thin slice',
      affiliation: 'Ege Üniversitesi',
      purpose: 'Tez',
    });
  });

  it('does not send a display name that consists of spaces', async () => {
    const { person, calls } = openApp('/auth/register', {
      api: { 'POST /auth/register': registrationResponse },
    });
    await fillInAndSubmit(person, { ...validValues, name: '  ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(calls[0]?.body).toEqual({ email: 'ipek@example.org', password: 'a thin slice' });
  });

  it.each([
    ['an empty message', () => Response.json({ user: pending, message: '' }, { status: 201 })],
    ['no message', () => Response.json({ user: pending }, { status: 201 })],
    ['a message that is null', () => Response.json({ user: pending, message: null }, { status: 201 })],
    ['an empty JSON object as its body', () => Response.json({}, { status: 201 })],
    ['no body', () => new Response('', { status: 201 })],
  ])('shows that the registration succeeded when the response has %s', async (_, response) => {
    const { person, address } = openApp('/auth/register', { api: { 'POST /auth/register': response } });
    await fillInAndSubmit(person, validValues);
    await screen.findByText('Kayıt başarılı');
    expect(address()).toBe('/auth/login');
  });

  it.each<[string, FormValues, string[]]>([
    ['empty fields', {}, ['E-posta adresi gerekli.', 'Şifre gerekli.']],
    ['an invalid e-mail address', { ...validValues, email: 'ipek@' }, ['Geçerli bir e-posta adresi girin.']],
    [
      'a password of seven characters (minimum: 8)',
      { ...validValues, password: '1234567', confirmation: '1234567' },
      ['Şifre en az 8 karakter olmalı.'],
    ],
    [
      'a confirmation that differs from the password',
      { ...validValues, confirmation: 'a thick slice' },
      ['Şifreler eşleşmiyor.'],
    ],
    [
      'a password of five characters and a different confirmation',
      { ...validValues, password: 'short', confirmation: 'other' },
      ['Şifre en az 8 karakter olmalı.', 'Şifreler eşleşmiyor.'],
    ],
    ['an empty confirmation of the password', { ...validValues, confirmation: '' }, ['Şifreler eşleşmiyor.']],
    [
      'a password of 129 characters (maximum: 128)',
      { ...validValues, password: 'ş'.repeat(129), confirmation: 'ş'.repeat(129) },
      ['Şifre en fazla 128 karakter olabilir.'],
    ],
  ])('shows errors at the fields and does not send a form with %s', async (_, values, messages) => {
    const { person, calls } = openApp('/auth/register');
    await fillInAndSubmit(person, values);
    for (const message of messages) await screen.findByText(message);
    expect(document.querySelectorAll('input[aria-invalid="true"]')).toHaveLength(messages.length);
    expect(calls).toEqual([]);
  });

  it('rejects a password of four emoji (8 UTF-16 code units), because 8 characters are required', async () => {
    const { person } = openApp('/auth/register');
    await fillInAndSubmit(person, { ...validValues, password: '🔬🔬🔬🔬', confirmation: '🔬🔬🔬🔬' });
    await screen.findByText('Şifre en az 8 karakter olmalı.');
  });

  it('disables the register button while the registration is running', async () => {
    const registration = pendingResponse();
    const { person } = openApp('/auth/register', { api: { 'POST /auth/register': registration.answer } });
    await fillInAndSubmit(person, validValues);
    await vi.waitFor(() => expect(submitButton().disabled).toBe(true));
    registration.respondWith(errorResponse('email_taken'));
    await vi.waitFor(() => expect(submitButton().disabled).toBe(false));
  });

  it.each([
    [
      'an error response with a message',
      errorResponse('email_taken'),
      'Bu e-posta adresiyle daha önce kayıt olunmuş.',
    ],
    ['an error response without a message', new Response('', { status: 400 }), 'Kayıt başarısız.'],
    [
      'a request without a response',
      () => Promise.reject(new TypeError('Failed to fetch')),
      'Beklenmeyen bir hata oluştu.',
    ],
  ])('stays open and shows why the registration failed after %s', async (_, response, message) => {
    const { person, address } = openApp('/auth/register', { api: { 'POST /auth/register': response } });
    await fillInAndSubmit(person, validValues);
    expect((await screen.findByRole('alert')).textContent).toContain(message);
    expect(address()).toBe('/auth/register');
  });
});
