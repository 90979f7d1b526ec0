import { screen } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { settings } from '../../browser/settings.ts';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { later, refusal } from '../../testing/stub-api.ts';

const pending = account({ status: 'pending', role: 'unassigned', adminApproved: false });
const done = () =>
  Response.json({ user: pending, message: 'Kayıt başarılı! Yönetici onayı bekleniyor.' }, { status: 201 });

interface Typed {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  readonly confirmation?: string;
}

const good: Typed = { email: 'ipek@example.org', password: 'a thin slice', confirmation: 'a thin slice' };
const submit = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Kayıt Ol' });

async function fillIn(person: ReturnType<typeof openApp>['person'], typed: Typed) {
  await screen.findByLabelText('E-posta');
  const fields = [
    ['E-posta', typed.email],
    ['Görünen Ad (isteğe bağlı)', typed.name],
    ['Şifre', typed.password],
    ['Şifre (Tekrar)', typed.confirmation],
  ] as const;
  for (const [label, text] of fields) {
    if (!text) continue;
    await person.click(screen.getByLabelText(label));
    // A long text in one event: a hundred keystrokes take seconds.
    await (text.length > 40 ? person.paste(text) : person.keyboard(text));
  }
  await person.click(submit());
}

describe('the registration page', () => {
  it('registers, shows the message of the server and opens the login page', async () => {
    const { person, calls, address } = openApp('/auth/register', { api: { 'POST /auth/register': done } });
    await fillIn(person, { ...good, name: ' İpek Işık ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(address()).toBe('/auth/login');
    await screen.findByText(/^Başvurunuz alındı.* ipek@example\.org/); // stays when the toast has gone
    expect(screen.getByLabelText<HTMLInputElement>('E-posta').value).toBe('ipek@example.org');
    expect(calls[0]?.body).toEqual({
      email: 'ipek@example.org',
      password: 'a thin slice',
      displayName: 'İpek Işık',
    });
  });

  it.each([
    ['shows the data-protection notice of the deployment', 'Verileriniz hastanede kalır.', 1],
    ['shows no data-protection notice without the setting', null, 0],
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

  it('sends institution and purpose when they are filled in', async () => {
    const { person, calls } = openApp('/auth/register', { api: { 'POST /auth/register': done } });
    await person.click(await screen.findByText('Başvurunuz hakkında (isteğe bağlı)'));
    await person.type(screen.getByLabelText('Kurum'), ' Ege Üniversitesi ');
    await person.type(screen.getByLabelText('Başvuru amacı'), 'Tez');
    await fillIn(person, good);
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(calls[0]?.body).toEqual({
      email: 'ipek@example.org',
      password: 'a thin slice',
      affiliation: 'Ege Üniversitesi',
      purpose: 'Tez',
    });
  });

  it('omits an empty display name', async () => {
    const { person, calls } = openApp('/auth/register', { api: { 'POST /auth/register': done } });
    await fillIn(person, { ...good, name: '  ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(calls[0]?.body).toEqual({ email: 'ipek@example.org', password: 'a thin slice' });
  });

  it.each([
    ['an empty message', () => Response.json({ user: pending, message: '' }, { status: 201 })],
    ['no message', () => Response.json({ user: pending }, { status: 201 })],
    ['a message that is null', () => Response.json({ user: pending, message: null }, { status: 201 })],
    ['an empty object', () => Response.json({}, { status: 201 })],
    ['no body', () => new Response('', { status: 201 })],
  ])('shows that the registration succeeded when the answer has %s', async (_, answer) => {
    const { person, address } = openApp('/auth/register', { api: { 'POST /auth/register': answer } });
    await fillIn(person, good);
    await screen.findByText('Kayıt başarılı');
    expect(address()).toBe('/auth/login');
  });

  it.each<[string, Typed, string[]]>([
    ['nothing', {}, ['E-posta adresi gerekli.', 'Şifre gerekli.']],
    ['what is no address', { ...good, email: 'ipek@' }, ['Geçerli bir e-posta adresi girin.']],
    [
      'seven characters',
      { ...good, password: '1234567', confirmation: '1234567' },
      ['Şifre en az 8 karakter olmalı.'],
    ],
    ['another confirmation', { ...good, confirmation: 'a thick slice' }, ['Şifreler eşleşmiyor.']],
    [
      'a short password and another confirmation',
      { ...good, password: 'short', confirmation: 'other' },
      ['Şifre en az 8 karakter olmalı.', 'Şifreler eşleşmiyor.'],
    ],
    ['no confirmation', { ...good, confirmation: '' }, ['Şifreler eşleşmiyor.']],
    [
      'a password of more than 128 characters',
      { ...good, password: 'ş'.repeat(129), confirmation: 'ş'.repeat(129) },
      ['Şifre en fazla 128 karakter olabilir.'],
    ],
  ])('refuses %s', async (_, typed, sentences) => {
    const { person, calls } = openApp('/auth/register');
    await fillIn(person, typed);
    for (const sentence of sentences) await screen.findByText(sentence);
    expect(document.querySelectorAll('input[aria-invalid="true"]')).toHaveLength(sentences.length);
    expect(calls).toEqual([]);
  });

  it('counts characters, not UTF-16 units', async () => {
    const { person } = openApp('/auth/register');
    await fillIn(person, { ...good, password: '🔬🔬🔬🔬', confirmation: '🔬🔬🔬🔬' });
    await screen.findByText('Şifre en az 8 karakter olmalı.');
  });

  it('disables its button while it is registering', async () => {
    const registered = later();
    const { person } = openApp('/auth/register', { api: { 'POST /auth/register': registered.answer } });
    await fillIn(person, good);
    await vi.waitFor(() => expect(submit().disabled).toBe(true));
    registered.give(refusal('email_taken'));
    await vi.waitFor(() => expect(submit().disabled).toBe(false));
  });

  it.each([
    ['the sentence of the server', refusal('email_taken'), 'Bu e-posta adresiyle daha önce kayıt olunmuş.'],
    ['a refusal without a sentence', new Response('', { status: 400 }), 'Kayıt başarısız.'],
    ['no answer', () => Promise.reject(new TypeError('Failed to fetch')), 'Beklenmeyen bir hata oluştu.'],
  ])('fails with %s', async (_, answer, sentence) => {
    const { person, address } = openApp('/auth/register', { api: { 'POST /auth/register': answer } });
    await fillIn(person, good);
    expect((await screen.findByRole('alert')).textContent).toContain(sentence);
    expect(address()).toBe('/auth/register');
  });
});
