import { screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
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
    if (text) await person.type(screen.getByLabelText(label), text);
  }
  await person.click(submit());
}

describe('the registration page', () => {
  it('registers, shows what the server says and goes to the login page', async () => {
    const { person, calls, address } = openApp('/auth/register', { api: { 'POST /auth/register': done } });
    await fillIn(person, { ...good, name: ' İpek Işık ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(address()).toBe('/auth/login');
    expect(calls[0]?.body).toEqual({
      email: 'ipek@example.org',
      password: 'a thin slice',
      displayName: 'İpek Işık',
    });
  });

  it('takes along what the person says of the application, if anything', async () => {
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

  it('leaves the display name out when it is empty', async () => {
    const { person, calls } = openApp('/auth/register', { api: { 'POST /auth/register': done } });
    await fillIn(person, { ...good, name: '  ' });
    await screen.findByText('Kayıt başarılı! Yönetici onayı bekleniyor.');
    expect(calls[0]?.body).toEqual({ email: 'ipek@example.org', password: 'a thin slice' });
  });

  it('says that it is done when the server says nothing', async () => {
    const { person } = openApp('/auth/register', {
      api: { 'POST /auth/register': { user: pending, message: '' } },
    });
    await fillIn(person, good);
    await screen.findByText('Kayıt başarılı');
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
