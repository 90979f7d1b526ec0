/** Tests of the collection screens. They find elements by Turkish texts, the default language of these screens. */
import { errors, type PresentationEvent } from '@lamina/contract';
import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { account } from '../../testing/accounts.ts';
import { ownCollection, ownView } from '../../testing/collections.ts';
import { expectFocusReturn } from '../../testing/expect-focus-return.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorInLanguageOfCall, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

/** `send` delivers an event of a live presentation to the screen, as if the server had sent it. */
const presentation = vi.hoisted((): { send: (event: object) => void } => ({ send: () => undefined }));
vi.mock(import('../../api/presentations.ts'), async (original) => ({
  ...(await original()),
  receivePresentation: (_, __, onEvent) => {
    presentation.send = (event) => act(() => onEvent(event as PresentationEvent));
    return () => undefined;
  },
}));
/** Whether the script of the slide viewer can be imported. */
let isViewerImportable = true;
// The real viewer draws with OpenSeadragon, which needs a browser.
vi.mock('../../viewer/SlideViewer.tsx', () => ({
  get SlideViewer() {
    if (!isViewerImportable) throw new TypeError('Failed to fetch dynamically imported module');
    return () => <p>the slide</p>;
  },
}));

/** The part of a slide that a saved view shows: its centre in level-0 pixels, screen pixels per slide pixel, and degrees clockwise. */
const field = { x: 10, y: 20, zoom: 0.5, rotation: 90, mirrored: false };

const item = {
  type: 'view',
  id: 'v-1',
  text: 'Kenara bakın.',
  question: { kind: 'choice', text: 'Hangi boya?', choices: ['PAS', 'H&E'] },
  access: true,
  title: 'Kenar',
  images: ['a'],
  field,
};

const collection = ownCollection([
  item,
  { ...item, id: 'b', type: 'slide', question: null, text: null, title: 'Dalak', field: null },
]);
const savedView = ownView(field);

const lists = {
  'GET /collections': { collections: [collection] },
  'GET /saved-views': { saved_views: [savedView] },
};

describe('the collections screen', () => {
  it('lists collections and saved views, with a link that opens a view in the slide viewer at its position', async () => {
    openApp('/collections', { signedInAs: account(), api: lists });
    const open = await screen.findByRole('link', { name: 'Aç: Kenar' });
    expect(open.getAttribute('href')).toBe('/wsi-viewer?image=a&x=10&y=20&zoom=0.5&rotation=90');
    expect(screen.getByRole('link', { name: 'Aç: Ders 3' }).getAttribute('href')).toBe('/collections/c-1');
    screen.getByText(/2 öğe · Yalnızca siz/);
    screen.getByRole('link', { name: 'Yanıtlar: Ders 3' });
  });

  it('hides the button for new collections, the edit links and the saved views from an account with the role viewer', async () => {
    const api = { 'GET /collections': { collections: [{ ...collection, own: false }] } };
    const { calls } = openApp('/collections', { signedInAs: account({ role: 'viewer' }), api });
    await screen.findByRole('link', { name: 'Aç: Ders 3' });
    expect(screen.queryByRole('button', { name: 'Yeni koleksiyon' })).toBeNull();
    expect(screen.queryByRole('link', { name: 'Düzenle: Ders 3' })).toBeNull();
    expect(calls.map(({ name }) => name)).not.toContain('GET /saved-views');
  });

  it.each([
    ['viewer', /^Sizinle paylaşılan slayt dizileri/],
    ['user', /^Slaytları, vakaları ve kayıtlı görünümleri sıraya dizin/],
  ] as const)(
    'explains to an account with the role %s what the account can do with collections',
    async (role, hint) => {
      openApp('/collections', { signedInAs: account({ role }), api: lists });
      await screen.findByText(hint);
    },
  );

  it('offers no link that opens a collection without items', async () => {
    const api = { ...lists, 'GET /collections': { collections: [{ ...collection, items: [] }] } };
    openApp('/collections', { signedInAs: account(), api });
    const open = await screen.findByRole<HTMLButtonElement>('button', { name: 'Aç: Ders 3' });
    expect(open.disabled).toBe(true);
    expect(screen.queryByRole('link', { name: 'Aç: Ders 3' })).toBeNull();
  });

  it('creates a share link to a collection with the chosen options', async () => {
    const url = 'https://example.org/shared#s';
    const { calls, person } = openApp('/collections', {
      signedInAs: account(),
      api: { ...lists, 'POST /share-links': { url } },
    });
    await person.click(await screen.findByRole('button', { name: 'Paylaş: Ders 3' }));
    await person.click(screen.getByRole('switch', { name: /^İşaretlemeler görünsün/ }));
    await person.click(screen.getByRole('button', { name: 'Bağlantı oluştur' }));
    await expect
      .poll(() => calls.find(({ name }) => name === 'POST /share-links')?.body)
      .toMatchObject({
        target: { type: 'collection', id: 'c-1' },
        title: 'Ders 3',
        free_movement: true,
        show_annotations: true,
      });
  });

  it.each([
    ['a year', '365', 365],
    ['a day', '1', 1],
    ['seven days', '', 7],
  ])(
    'creates a share link that is valid for %s when the field for the days contains "%s" (allowed: 1 to 365, default: 7)',
    async (_, typed, expectedDays) => {
      const { calls, person } = openApp('/collections', {
        signedInAs: account(),
        api: { ...lists, 'POST /share-links': { url: 'https://example.org/shared#s' } },
      });
      await person.click(await screen.findByRole('button', { name: 'Paylaş: Ders 3' }));
      const field = screen.getByLabelText('Kaç gün geçerli olsun?');
      await person.clear(field);
      await person.type(field, `${typed}{Enter}`);
      const post = () => calls.find(({ name }) => name === 'POST /share-links');
      await waitFor(() => expect(post()).toBeDefined());
      const link = post()?.body as { expires_at: string } | undefined;
      const days = (Date.parse(link?.expires_at ?? '') - Date.now()) / 86_400_000;
      expect(Math.round(days)).toBe(expectedDays);
    },
  );

  it.each([
    ['mixed', 'Paylaş: Ders 3', 'Bağlantı oluştur', errors.sharing_off.tr],
    ['en', 'Share: Ders 3', 'Create link', errors.sharing_off.en],
  ] as const)(
    'shows in the language of the screen why a share link was not created (language choice: "%s")',
    async (choice, share, create, message) => {
      chooseLanguage(choice);
      const { person } = openApp('/collections', {
        signedInAs: account(),
        api: { ...lists, 'POST /share-links': errorInLanguageOfCall('sharing_off') },
      });
      await person.click(await screen.findByRole('button', { name: share }));
      await person.click(screen.getByRole('button', { name: create }));
      await screen.findByText(message);
    },
  );

  it('shows in Turkish why a collection was not deleted when the user has chosen no language', async () => {
    const { person } = openApp('/collections', {
      signedInAs: account(),
      api: { ...lists, 'DELETE /collections/c-1': errorInLanguageOfCall('not_found') },
    });
    await person.click(await screen.findByRole('button', { name: 'Sil: Ders 3' }));
    const confirm = await screen.findByRole<HTMLButtonElement>('button', { name: 'Sil' });
    await waitFor(() => expect(confirm.disabled).toBe(false));
    await person.click(confirm);
    await screen.findByText(errors.not_found.tr);
  });

  it.each([
    ['collection', 'Ders 3', 'Koleksiyon silinemedi. Lütfen tekrar deneyin.'],
    ['saved view', 'Kenar', 'Kayıtlı görünüm silinemedi. Lütfen tekrar deneyin.'],
  ])('says that the %s was not deleted when the server is unreachable', async (_, title, message) => {
    const { person } = openApp('/collections', { signedInAs: account(), api: lists });
    await person.click(await screen.findByRole('button', { name: `Sil: ${title}` }));
    const confirm = await screen.findByRole<HTMLButtonElement>('button', { name: 'Sil' });
    await waitFor(() => expect(confirm.disabled).toBe(false));
    await person.click(confirm);
    await screen.findByText(message);
  });
});

describe('a dialog of the collections screen whose action is running', () => {
  it('cannot be closed until the new collection is created', async () => {
    const creation = pendingResponse();
    const { person, address } = openApp('/collections', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection, 'POST /collections': creation.answer },
    });
    await person.click(await screen.findByRole('button', { name: 'Yeni koleksiyon' }));
    await person.type(await screen.findByLabelText('Başlık'), 'Ders 3');
    await person.click(screen.getByRole('button', { name: 'Oluştur' }));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Vazgeç' }).disabled).toBe(true);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Kapat' }).disabled).toBe(true);
    await person.keyboard('{Escape}');
    screen.getByRole('dialog');
    creation.respondWith(Response.json(collection, { status: 201 }));
    await expect.poll(address).toBe('/collections/c-1/edit');
  });

  it('cannot be closed until the collection is deleted', async () => {
    const deletion = pendingResponse();
    const { person } = openApp('/collections', {
      signedInAs: account(),
      api: { ...lists, 'DELETE /collections/c-1': deletion.answer },
    });
    await person.click(await screen.findByRole('button', { name: 'Sil: Ders 3' }));
    const confirm = await screen.findByRole<HTMLButtonElement>('button', { name: 'Sil' });
    await waitFor(() => expect(confirm.disabled).toBe(false));
    await person.click(confirm);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Vazgeç' }).disabled).toBe(true);
    await person.keyboard('{Escape}');
    screen.getByRole('dialog');
    deletion.respondWith(new Response(null, { status: 204 }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });
});

describe('the editor of a collection', () => {
  it('saves a changed order of the items and a changed question, and sends the version number with which the collection was loaded', async () => {
    const { calls, person, address } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection, 'PATCH /collections/c-1': collection },
    });
    await person.click(await screen.findByRole('button', { name: 'Aşağı taşı: Kenar' }));
    screen.getByText('“Kenar” 2. sıraya taşındı.');
    await person.click(screen.getByRole('checkbox', { name: '2. seçenek doğru' }));
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await expect.poll(address).toBe('/collections');
    expect(calls.find(({ name }) => name === 'PATCH /collections/c-1')?.body).toMatchObject({
      version: 3,
      items: [
        { type: 'slide', id: 'b', text: null, question: null },
        { type: 'view', id: 'v-1', question: { kind: 'choice', choices: ['PAS', 'H&E'], correct: [1] } },
      ],
    });
  });

  it('shows an error instead of saving a question without a correct choice', async () => {
    const { calls, person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection },
    });
    await person.click(await screen.findByRole('button', { name: 'Kaydet' }));
    await screen.findByText(/1\. adımın sorusu eksik/);
    expect(calls.map(({ name }) => name)).not.toContain('PATCH /collections/c-1');
  });

  it('keeps the unsaved changes when the slide viewer for drawing a region cannot be loaded', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'HEAD /': {}, 'GET /collections/c-1': collection },
    });
    await person.type(await screen.findByRole('textbox', { name: 'Başlık' }), ' yeni');
    await person.click(screen.getByRole('radio', { name: 'Yer gösterme' }));
    isViewerImportable = false;
    onTestFinished(() => {
      isViewerImportable = true;
    });
    await person.click(screen.getByRole('button', { name: 'Doğru bölgeyi çiz' }));
    await screen.findByText('Slayt yüklenemedi.');
    isViewerImportable = true;
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByText('the slide');
    await person.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Vazgeç' }));
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Başlık' }).value).toBe('Ders 3 yeni');
  });

  it('says that nothing was found when no saved view matches the search of the dialog for new items', async () => {
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection },
    });
    await person.click(await screen.findByRole('button', { name: 'Öğe ekle' }));
    await screen.findByRole('checkbox', { name: 'Kenar' });
    await person.type(screen.getByRole('searchbox', { name: 'Ara' }), 'Dalak');
    await screen.findByText('Sonuç bulunamadı.');
    expect(screen.queryByText(/“Görünümü kaydet” düğmesine basın/)).toBeNull();
  });

  it('finds the saved view "IHC kontrol" when the owner searches for "ihc" in the dialog for new items', async () => {
    const views = [savedView, { ...savedView, id: 'v-2', title: 'IHC kontrol' }];
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { 'GET /collections/c-1': collection, 'GET /saved-views': { saved_views: views } },
    });
    await person.click(await screen.findByRole('button', { name: 'Öğe ekle' }));
    await screen.findByRole('checkbox', { name: 'Kenar' });
    await person.type(screen.getByRole('searchbox', { name: 'Ara' }), 'ihc');
    await waitFor(() => expect(screen.queryByRole('checkbox', { name: 'Kenar' })).toBeNull());
    screen.getByRole('checkbox', { name: 'IHC kontrol' });
  });

  it('returns the focus to its button when the dialog for new items is closed with Escape', async () => {
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection },
    });
    await expectFocusReturn(person, await screen.findByRole('button', { name: 'Öğe ekle' }));
  });

  it('moves the focus from a removed item to the next one, and from the last item to the button that adds items', async () => {
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': collection },
    });
    (await screen.findByRole('button', { name: 'Kaldır: Kenar' })).focus();
    await person.keyboard('{Enter}');
    expect(screen.queryByRole('button', { name: 'Kaldır: Kenar' })).toBeNull();
    const remaining = screen.getByRole('button', { name: 'Kaldır: Dalak' });
    expect(document.activeElement).toBe(remaining.closest('li'));
    remaining.focus();
    await person.keyboard('{Enter}');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Öğe ekle' }));
  });

  it('moves the focus from a removed choice of a question to the next choice, or to the last one when none follows', async () => {
    const question = {
      kind: 'choice',
      text: 'Hangi boya?',
      choices: ['PAS', 'H&E', 'Giemsa', 'AZAN'],
      correct: [0],
    };
    const [item] = collection.items;
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': { ...collection, items: [{ ...item, question }] } },
    });
    const rowOf = (text: string) => screen.getByDisplayValue(text).closest('[tabindex="-1"]');
    (await screen.findByRole('button', { name: '2. seçeneği kaldır' })).focus();
    await person.keyboard('{Enter}');
    expect(document.activeElement).toBe(rowOf('Giemsa'));
    screen.getByRole('button', { name: '3. seçeneği kaldır' }).focus();
    await person.keyboard('{Enter}');
    expect(document.activeElement).toBe(rowOf('Giemsa'));
    const removeQuestion = screen.getByRole('button', { name: 'Soruyu kaldır' });
    const itemElement = removeQuestion.closest('li');
    removeQuestion.focus();
    await person.keyboard('{Enter}');
    expect(document.activeElement).toBe(itemElement);
  });

  it('says that the accounts cannot be loaded instead of showing the readers as ids', async () => {
    openApp('/collections/c-1/edit', {
      signedInAs: account({ role: 'admin' }),
      api: { ...lists, 'GET /collections/c-1': { ...collection, readers: ['uid-of-deniz'] } },
    });
    await screen.findByText('Kullanıcılar yüklenemedi.');
    expect(screen.queryByText('uid-of-deniz')).toBeNull();
  });

  it('shows an error with a retry button when the items of the dialog for new items cannot be loaded', async () => {
    let isFailing = true;
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: {
        'GET /collections/c-1': collection,
        'GET /saved-views': () => (isFailing ? errorResponse('forbidden') : lists['GET /saved-views']),
      },
    });
    await person.click(await screen.findByRole('button', { name: 'Öğe ekle' }));
    await screen.findByRole('button', { name: 'Tekrar Dene' });
    isFailing = false;
    await person.click(await screen.findByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByRole('checkbox', { name: 'Kenar' });
  });

  it('keeps the typed text when the server rejects the changes because the collection was changed elsewhere', async () => {
    const { person } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: {
        ...lists,
        'GET /collections/c-1': { ...collection, items: [] },
        'PATCH /collections/c-1': errorResponse('conflict'),
      },
    });
    const title = await screen.findByLabelText('Başlık');
    await person.clear(title);
    await person.type(title, 'Ders 4');
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await screen.findByRole('alert');
    expect((title as HTMLInputElement).value).toBe('Ders 4');
  });

  it('cannot save after the collection was changed elsewhere, until the owner opens the editor again', async () => {
    let saved = collection;
    const { calls, person, address } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: {
        ...lists,
        'GET /collections/c-1': () => saved,
        'PATCH /collections/c-1': ({ body }) =>
          (body as { version: number }).version === saved.version ? saved : errorResponse('conflict'),
      },
    });
    const sentVersions = () =>
      calls
        .filter(({ name }) => name === 'PATCH /collections/c-1')
        .map(({ body }) => (body as { version: number }).version);
    const save = () => person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await screen.findByLabelText('Başlık');
    await person.click(screen.getByRole('checkbox', { name: '1. seçenek doğru' })); // completes the question
    saved = { ...collection, version: 4, title: 'Başka sekmede değişti' };
    await save();
    await screen.findByText(errors.conflict.tr);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Kaydet', busy: true })).toBeNull());
    await save();
    await waitFor(() => expect(sentVersions()).toEqual([3, 3]));

    await person.click(screen.getByRole('link', { name: 'Vazgeç' }));
    await person.click(await screen.findByRole('link', { name: 'Düzenle: Ders 3' }));
    expect((await screen.findByLabelText<HTMLInputElement>('Başlık')).value).toBe('Başka sekmede değişti');
    await person.click(screen.getByRole('checkbox', { name: '1. seçenek doğru' }));
    await save();
    await expect.poll(address).toBe('/collections');
    expect(sentVersions()).toEqual([3, 3, 4]);
  });

  it('starts with the current version of the collection when an older version is cached', async () => {
    let saved = collection;
    const { person, goTo } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: { ...lists, 'GET /collections/c-1': () => saved },
    });
    await screen.findByDisplayValue('Ders 3');
    await act(() => goTo('/collections'));
    saved = { ...collection, version: 4, title: 'Ders 4' };
    await person.click(await screen.findByRole('link', { name: 'Düzenle: Ders 3' }));
    await screen.findByDisplayValue('Ders 4');
  });

  it('leaves the owner on the screen that the owner opened while the changes were being saved', async () => {
    const response = pendingResponse();
    const { person, goTo, address } = openApp('/collections/c-1/edit', {
      signedInAs: account(),
      api: {
        ...lists,
        'GET /collections/c-1': { ...collection, items: [] },
        'PATCH /collections/c-1': response.answer,
        'GET /user/profile': { user: account() },
      },
    });
    await person.click(await screen.findByRole('button', { name: 'Kaydet' }));
    await act(() => goTo('/dashboard/profile'));
    response.respondWith(collection);
    await screen.findByText('Koleksiyon kaydedildi.');
    expect(address()).toBe('/dashboard/profile');
  });
});

describe('the tour (step-by-step view) of a collection', () => {
  const api = {
    ...lists,
    'GET /collections/c-1': { ...collection, own: false },
    'POST /collections/c-1/answers': { correct: true, explanation: 'Çekirdekler mavi.' },
  };

  it('still shows the explanation of an answer after the reader goes to the next item and back', async () => {
    const { calls, person, address } = openApp('/collections/c-1', { signedInAs: account(), api });
    await screen.findByRole('heading', { name: 'Ders 3 · Kenar' });
    screen.getByText('Kenara bakın.');
    await person.click(screen.getByRole('checkbox', { name: 'H&E' }));
    await person.click(screen.getByRole('button', { name: 'Yanıtla' }));
    await screen.findByText('Çekirdekler mavi.');
    expect(calls.find(({ name }) => name === 'POST /collections/c-1/answers')?.body).toEqual({
      item: 0,
      answer: [1],
    });
    await person.click(screen.getByRole('button', { name: 'Sonraki' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Dalak' });
    expect(address()).toBe('/collections/c-1?step=2');
    await person.click(screen.getByRole('button', { name: 'Önceki' }));
    screen.getByText('Çekirdekler mavi.');
  });

  it('says that access can be requested when the reader may not view the slide of an item', async () => {
    const inaccessible = { ...item, access: false, title: null, images: [], field: null };
    openApp('/collections/c-1', {
      signedInAs: account({ role: 'viewer' }),
      api: { ...api, 'GET /collections/c-1': { ...collection, own: false, items: [inaccessible] } },
    });
    await screen.findByText('Bu slaydı görme yetkiniz yok');
    screen.getByText(/erişim isteyebilirsiniz/);
    expect(screen.queryByRole('form')).toBeNull();
  });

  it('shows the item that the owner presents until the reader stops following, and again after the reader resumes', async () => {
    const { person } = openApp('/collections/c-1', { signedInAs: account(), api });
    await screen.findByRole('heading', { name: 'Ders 3 · Kenar' });
    presentation.send({ field: null, item: 1 });
    await screen.findByRole('heading', { name: 'Ders 3 · Dalak' });
    await person.click(screen.getByRole('button', { name: 'İzlemeyi bırak' }));
    presentation.send({ field: null, item: 0 });
    await screen.findByText('Canlı sunum var.');
    screen.getByRole('heading', { name: 'Ders 3 · Dalak' });
    await person.click(screen.getByRole('button', { name: 'Sunumu izle' }));
    await screen.findByRole('heading', { name: 'Ders 3 · Kenar' });
  });

  it('sends the current item to the server while the owner presents, and null when the presentation ends', async () => {
    const { calls, person } = openApp('/collections/c-1', {
      signedInAs: account(),
      api: {
        ...lists,
        'GET /collections/c-1': collection,
        'POST /collections/c-1/presentation': new Response(null, { status: 204 }),
      },
    });
    const sentEvents = () =>
      calls.filter(({ name }) => name === 'POST /collections/c-1/presentation').map(({ body }) => body);
    await person.click(await screen.findByRole('button', { name: 'Sunumu başlat' }));
    await expect.poll(sentEvents).toContainEqual({ field: null, item: 0 });
    await person.click(screen.getByRole('button', { name: 'Sonraki' }));
    await expect.poll(sentEvents).toContainEqual({ field: null, item: 1 });
    await person.click(screen.getByRole('button', { name: 'Sunumu bitir' }));
    await expect.poll(() => sentEvents().at(-1)).toEqual({ field: null, item: null });
  });

  it('ends the presentation of the owner with a request that outlives the page when the page is closed', async () => {
    const { calls, person } = openApp('/collections/c-1', {
      signedInAs: account(),
      api: {
        ...lists,
        'GET /collections/c-1': collection,
        'POST /collections/c-1/presentation': new Response(null, { status: 204 }),
      },
    });
    const sentEvents = () =>
      calls.filter(({ name }) => name === 'POST /collections/c-1/presentation').map(({ body }) => body);
    await person.click(await screen.findByRole('button', { name: 'Sunumu başlat' }));
    await expect.poll(sentEvents).toEqual([{ field: null, item: 0 }]);
    window.dispatchEvent(new Event('pagehide'));
    await expect.poll(() => sentEvents().at(-1)).toEqual({ field: null, item: null });
  });
});

describe('the answers screen of a collection', () => {
  /** The answer of a visitor to the question of the first item: the second choice. */
  const visitorAnswer = {
    item: 0,
    question: 'Hangi boya?',
    person: 'Visitor 1',
    uid: null,
    answer: [1],
    correct: true,
    attempts: 2,
    answered_at: '2026-11-22T10:00:00.000Z',
  };
  function openAnswers(...answers: object[]) {
    openApp('/collections/c-1/answers', {
      signedInAs: account(),
      api: { 'GET /collections/c-1': collection, 'GET /collections/c-1/answers': { answers } },
    });
  }

  it('shows an error instead of the answers while the collection cannot be loaded', async () => {
    let response: object = errorResponse('unavailable');
    const { person } = openApp('/collections/c-1/answers', {
      signedInAs: account(),
      api: {
        'GET /collections/c-1': () => response,
        'GET /collections/c-1/answers': { answers: [visitorAnswer] },
      },
    });
    await screen.findByText(/Hizmet şu anda kullanılamıyor/);
    expect(screen.queryByRole('table')).toBeNull();
    response = collection;
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByRole('row', { name: /1\. ziyaretçi/ });
  });

  it('shows the answers in a table, with the wording of the chosen choices instead of their indexes', async () => {
    openAnswers(visitorAnswer);
    const row = await screen.findByRole('row', { name: /1\. ziyaretçi/ });
    within(row).getByText('H&E');
    within(row).getByText('Doğru');
    screen.getByText('1 yanıttan 1 tanesi doğru.');
  });

  it('shows the answer to a removed question as the number of the choice (from 1), or as the coordinates of the point', async () => {
    const removed = { ...visitorAnswer, item: null, question: null };
    openAnswers(removed, { ...removed, person: 'Visitor 2', answer: [1200.4, 80.2] });
    within(await screen.findByRole('row', { name: /1\. ziyaretçi/ })).getByText('2. seçenek');
    within(screen.getByRole('row', { name: /2\. ziyaretçi/ })).getByText('1200, 80');
  });
});
