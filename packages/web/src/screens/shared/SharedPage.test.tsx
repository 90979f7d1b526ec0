/** Tests of the page of a share link. They find elements by Turkish texts, the default language of these screens. */
import { screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { openApp } from '../../testing/open-app.tsx';
import { errorInLanguageOfCall, errorResponse } from '../../testing/stub-api.ts';

const scale = { mpp_x: 0.25, mpp_y: 0.25, objective_power: 40 };

/** Response of the API that opens a share link with two slides. */
const openedLink = {
  session_id: 's'.repeat(43),
  expires_in: 3600,
  title: 'Ders 3',
  items: [
    { image_id: 'a', title: 'Böbrek', text: 'Önce kenara bakın.', ...scale },
    { image_id: 'b', title: 'Karaciğer', text: null, ...scale },
  ],
  free_movement: true,
  show_annotations: false,
};

describe('the page of a share link', () => {
  it('opens the link without a sign-in, and shows the titles and texts of its slides one by one', async () => {
    const { calls, person } = openApp('/shared#secret-1', { api: { 'POST /share-links/open': openedLink } });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    screen.getByText('Önce kenara bakın.');
    expect(calls[0]).toMatchObject({
      name: 'POST /share-links/open',
      body: { secret: 'secret-1' },
      authorization: null,
    });
    await person.click(screen.getByRole('button', { name: 'Sonraki' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Karaciğer' });
    screen.getByText('2 / 2');
  });

  it.each([
    ['shows the button "İşaretlemeler" (hides annotations) for a link that permits annotations', true],
    [
      'shows no button "İşaretlemeler" (hides annotations) for a link that does not permit annotations',
      false,
    ],
  ] as const)('%s', async (_, showsAnnotations) => {
    openApp('/shared#secret-1', {
      api: { 'POST /share-links/open': { ...openedLink, show_annotations: showsAnnotations } },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    const buttons = screen.queryAllByRole('button', { name: 'İşaretlemeler', pressed: true });
    expect(buttons).toHaveLength(showsAnnotations ? 1 : 0);
  });

  it('keeps the shown slide and the typed answer when the visitor changes the language, without opening the link again', async () => {
    const question = { kind: 'text', text: 'Hangi lezyon?' };
    const [first, second] = openedLink.items;
    const items = [first, { ...second, item: 1, question }];
    let openings = 0;
    const { person } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': ({ body }) => {
          if ((body as { password?: string }).password === undefined) {
            return errorResponse('password_required');
          }
          openings += 1; // the link may be opened once
          return openings === 1 ? { ...openedLink, collection_id: 'c-1', items } : errorResponse('not_found');
        },
      },
    });
    await person.type(await screen.findByLabelText('Bağlantının şifresi'), 'gizli');
    await person.click(screen.getByRole('button', { name: 'Aç' }));
    await person.click(await screen.findByRole('button', { name: 'Sonraki' }));
    await person.type(await screen.findByLabelText('Yanıtınız'), 'Adenom');
    await person.click(screen.getByRole('button', { name: 'English' }));
    await screen.findByRole('button', { name: 'Previous' });
    screen.getByRole('heading', { name: 'Ders 3 · Karaciğer' });
    expect(screen.getByLabelText<HTMLTextAreaElement>('Your answer').value).toBe('Adenom');
    expect(openings).toBe(1);
  });

  it('says that the link no longer opens when the server responds that the link does not exist', async () => {
    openApp('/shared#old', { api: { 'POST /share-links/open': errorResponse('not_found') } });
    await screen.findByRole('heading', { name: 'Bu bağlantı artık açılmıyor' });
  });

  it('says within 3 s that the link has ended when the server rejects the image session (credential for tiles) of the open slide', async () => {
    openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': openedLink,
        'HEAD /image-catalog/proxy/a/image.dzi': errorResponse('session_invalid'),
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    await screen.findByRole('heading', { name: 'Bu bağlantı artık açılmıyor' }, { timeout: 3000 });
  });

  it('says that the slide of a step cannot be viewed when the link no longer opens it, and still shows the other slides', async () => {
    const { person } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': openedLink,
        'HEAD /image-catalog/proxy/a/image.dzi': errorResponse('not_found'),
        'HEAD /image-catalog/proxy/b/image.dzi': {},
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    await screen.findByText('Bu slaydı görme yetkiniz yok', undefined, { timeout: 3000 });
    await person.click(screen.getByRole('button', { name: 'Sonraki' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Karaciğer' });
    expect(screen.queryByText('Bu slaydı görme yetkiniz yok')).toBeNull();
    screen.getByText('2 / 2');
  });

  it('says that the link has ended when the link opens none of its slides any more', async () => {
    openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': openedLink,
        'HEAD /image-catalog/proxy/a/image.dzi': errorResponse('not_found'),
        'HEAD /image-catalog/proxy/b/image.dzi': errorResponse('not_found'),
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    await screen.findByRole('heading', { name: 'Bu bağlantı artık açılmıyor' }, { timeout: 5000 });
  });

  it('presents its session when it renews the session, and keeps the places of slides that the link no longer opens', async () => {
    let openings = 0;
    const { calls, person } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': () => {
          openings += 1;
          return openings === 1
            ? { ...openedLink, expires_in: 3 }
            : { ...openedLink, items: openedLink.items.slice(1) };
        },
        'HEAD /image-catalog/proxy/a/image.dzi': {},
        'HEAD /image-catalog/proxy/b/image.dzi': {},
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    await screen.findByText('Bu slaydı görme yetkiniz yok', undefined, { timeout: 5000 });
    const bodies = calls.filter(({ name }) => name === 'POST /share-links/open').map(({ body }) => body);
    expect(bodies).toEqual([
      { secret: 'secret-1' },
      { secret: 'secret-1', session_id: openedLink.session_id },
    ]);
    await person.click(screen.getByRole('button', { name: 'Sonraki' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Karaciğer' });
  });

  it('asks for the password of the link, and again after a wrong password', async () => {
    const { calls, person } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': (call, language) => {
          const { password } = call.body as { password?: string };
          if (password === 'gizli') return openedLink;
          const code = password === undefined ? 'password_required' : 'password_invalid';
          return errorInLanguageOfCall(code)(call, language);
        },
      },
    });
    const field = await screen.findByLabelText('Bağlantının şifresi');
    await person.type(field, 'yanlış');
    await person.click(screen.getByRole('button', { name: 'Aç' }));
    await screen.findByText('Şifre hatalı.');
    const emptyField = screen.getByLabelText('Bağlantının şifresi');
    await person.clear(emptyField);
    await person.type(emptyField, 'gizli');
    await person.click(screen.getByRole('button', { name: 'Aç' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    // The page opens the link three times: without a password, with the wrong password, and with the right one.
    expect(calls.filter(({ name }) => name === 'POST /share-links/open')).toHaveLength(3);
  });

  it('says that the URL is incomplete when it contains no secret', async () => {
    const { calls } = openApp('/shared');
    await screen.findByText(/Adres eksik/);
    expect(calls).toEqual([]);
  });

  it('opens the link again when the retry button is pressed after a failure', async () => {
    let attempts = 0;
    const { person } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': () => {
          attempts += 1;
          return attempts === 1 ? errorResponse('unavailable') : openedLink;
        },
      },
    });
    await person.click(await screen.findByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
  });

  it('renews the session of the link only once when the renewal does not extend the session', async () => {
    const endMs = performance.now() + 3000;
    const { calls } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': () => {
          const expires_in = Math.max(0, Math.floor((endMs - performance.now()) / 1000));
          return { ...openedLink, expires_in };
        },
        'HEAD /image-catalog/proxy/a/image.dzi': {},
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    const openings = () => calls.filter(({ name }) => name === 'POST /share-links/open').length;
    await waitFor(() => expect(openings()).toBe(2), { timeout: 5000 });
    const checks = () => calls.filter(({ name }) => name.startsWith('HEAD')).length;
    const checksBefore = checks();
    await waitFor(() => expect(checks()).toBe(checksBefore + 2), { timeout: 5000 });
    expect(openings()).toBe(2);
  });

  it('keeps showing the slide when the renewal of the session fails while the session is still valid', async () => {
    let openings = 0;
    const { calls } = openApp('/shared#secret-1', {
      api: {
        'POST /share-links/open': () => {
          openings += 1;
          return openings === 1 ? { ...openedLink, expires_in: 4 } : errorResponse('unavailable');
        },
        'HEAD /image-catalog/proxy/a/image.dzi': {},
      },
    });
    await screen.findByRole('heading', { name: 'Ders 3 · Böbrek' });
    await waitFor(() => expect(openings).toBe(2), { timeout: 5000 });
    const callsBefore = calls.length;
    await waitFor(() => expect(calls.length).toBeGreaterThan(callsBefore), { timeout: 5000 });
    screen.getByRole('heading', { name: 'Ders 3 · Böbrek' });
  });
});
