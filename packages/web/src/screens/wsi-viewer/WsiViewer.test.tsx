import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter } from 'react-router';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { App } from '../../App.tsx';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { imageSessions } from '../../api/image-sessions.ts';
import { queryClient } from '../../api/query-client.ts';
import { account } from '../../testing/accounts.ts';
import { WsiViewer } from './WsiViewer.tsx';

const liver = {
  id: '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  file_name: 'IŞIK-2.svs',
  dataset_name: 'Karaciğer',
  organ_type: 'Liver',
};
const bare = { id: '22222222-bbbb-4bbb-8bbb-bbbbbbbbbbbb' };

type Answer = () => Response | Promise<Response>;

const session =
  (id: string): Answer =>
  () =>
    Response.json({ session_id: id, expires_in: 3600 }, { status: 201 });
const list =
  (...images: object[]): Answer =>
  () =>
    Response.json({ images, next_cursor: null });
const refusal =
  (status: number, body: object | string = {}): Answer =>
  () =>
    typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
const silence: Answer = () => Promise.reject(new TypeError('Failed to fetch'));

/** The API at the network edge. Answers of one call come in turn, the last for good. */
function api(answers: { sessions?: Answer[]; lists?: Answer[]; stats?: Answer; descriptors?: Answer[] }) {
  const { sessions = [session('0123456789abcdef')], lists = [list(liver, bare)], descriptors = [] } = answers;
  const asked: string[] = [];
  const next = (from: Answer[]): Answer => (from.length > 1 ? (from.shift() as Answer) : (from[0] as Answer));
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    const call = `${init.method ?? 'GET'} ${address.replace('/api/v1', '')}`;
    asked.push(call);
    if (call.startsWith('DELETE')) return new Response(null, { status: 204 });
    if (call === 'POST /auth/image-session') return next(sessions)();
    if (call.startsWith('GET /image-catalog/images')) return next(lists)();
    if (call === 'GET /auth/image-session/stats' && answers.stats) return answers.stats();
    if (call.includes('/image.dzi')) return next(descriptors)();
    throw new Error(`nobody answers ${call}`);
  });
  return { asked: (part: string) => asked.filter((call) => call.includes(part)) };
}

const viewerAt = (address: string) => (
  <App env="test">
    <MemoryRouter initialEntries={[address]}>
      <WsiViewer />
    </MemoryRouter>
  </App>
);

function show(address = '/wsi-viewer') {
  render(viewerAt(address));
  return userEvent.setup();
}

beforeEach(async () => {
  queryClient.clear();
  localStorage.setItem('auth_token', 'the token');
  // The tab has one image session; the test before gives its own back a moment after its end.
  await vi.waitUntil(() => imageSessions.state().status === 'inactive');
});

describe('the catalogue', () => {
  it('shows images by dataset with their number, the first group open', async () => {
    api({});
    const user = show();
    screen.getByText('Loading images...');
    const first = await screen.findByRole('button', { name: 'Karaciğer 1 images' });
    const second = screen.getByRole('button', { name: 'Unknown 1 images' });
    expect(first.ariaExpanded).toBe('true');
    expect(second.ariaExpanded).toBe('false');
    screen.getByRole('button', { name: /IŞIK-2\.svs.*Liver.*11111111$/ });

    await user.click(second);
    screen.getByRole('button', { name: /^22222222-bbbb.*Unknown.*22222222$/ });
    await user.click(first);
    expect(screen.queryByText('IŞIK-2.svs')).toBeNull();
  });

  it('is asked for with the image session', async () => {
    const server = api({});
    show();
    await screen.findByText('IŞIK-2.svs');
    expect(server.asked('GET /image-catalog/images')).toEqual([
      'GET /image-catalog/images?session=0123456789abcdef',
    ]);
  });

  it('is searched while one types, and shows what is found whatever was open', async () => {
    api({});
    const user = show();
    await screen.findByText('IŞIK-2.svs');
    const box = screen.getByPlaceholderText('Search images...');
    await user.type(box, '22222222');
    await screen.findByText(bare.id);
    expect(screen.queryByText('Karaciğer')).toBeNull();
    await user.clear(box);
    await user.type(box, 'ışık');
    await screen.findByText('IŞIK-2.svs');
    expect(screen.queryByText('Unknown')).toBeNull();
    await user.type(box, ' nowhere');
    await screen.findByText('No images match your search');
  });

  it.each([
    ['a bare list', () => Response.json([liver])],
    ['a list under images', list(liver)],
  ])('is read from %s', async (_, answer) => {
    api({ lists: [answer] });
    show();
    await screen.findByText('IŞIK-2.svs');
  });

  it.each([
    ['an empty list', list()],
    ['a message in its place', () => Response.json({ message: 'No images found' })],
  ])('is empty with %s', async (_, answer) => {
    api({ lists: [answer] });
    show();
    await screen.findByText('No images available');
  });

  it('says which images cannot be looked at, and why', async () => {
    const error = 'This is not a slide in a format that can be read.';
    api({
      lists: [
        list(
          { ...liver, status: 'failed', error },
          { ...bare, dataset_name: 'Karaciğer', status: 'pending' },
        ),
      ],
      descriptors: [refusal(404)],
    });
    const user = show();
    await screen.findByRole('button', { name: /22222222.*Being read/ });
    await user.click(screen.getByRole('button', { name: /IŞIK-2.*Cannot be read/ }));
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain(error);
    expect(document.querySelector('img')).toBeNull();
  });

  it('shows thumbnails when they come into view, and a grey icon for one that cannot be had', async () => {
    api({});
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img') as HTMLImageElement;
    expect(thumbnail.getAttribute('src')).toBe(
      `/api/v1/image-catalog/proxy/${liver.id}/thumbnail.jpg?session=0123456789abcdef`,
    );
    fireEvent.error(thumbnail);
    expect(row.querySelector('img')).toBeNull();
    expect(row.querySelector('svg')).not.toBeNull();
  });

  it('shows a grey icon for a thumbnail until there is a session', async () => {
    api({ sessions: [refusal(503)] });
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    expect(row.querySelector('svg')).not.toBeNull();
    expect(row.querySelector('img')).toBeNull();
  });
});

/** `count` images of one dataset, slide-1 to slide-`count`. */
function many(count: number, of: object = {}) {
  return Array.from({ length: count }, (_, place) => ({
    id: `00000000-0000-4000-8000-${String(place + 1).padStart(12, '0')}`,
    file_name: `slide-${place + 1}.svs`,
    dataset_name: 'Large',
    ...of,
  }));
}

const focused = () => document.activeElement?.textContent ?? '';

describe('a catalogue of thousands', () => {
  it('has only what is in sight in the page', async () => {
    api({ lists: [list(...many(10_000))] });
    show();
    await screen.findByRole('button', { name: 'Large 10000 images' });
    screen.getByRole('button', { name: /^slide-1\.svs/ });
    const rows = screen.getAllByRole('listitem');
    expect(rows.length).toBeLessThan(40);
    expect(rows[0]?.getAttribute('aria-posinset')).toBe('1');
    expect(rows[0]?.getAttribute('aria-setsize')).toBe('10000');
  });

  it('asks for few thumbnails at a time', async () => {
    api({ lists: [list(...many(10_000))] });
    show();
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    expect(document.querySelectorAll('img')).toHaveLength(4);
    fireEvent.load(document.querySelector('img') as HTMLImageElement);
    expect(document.querySelectorAll('img')).toHaveLength(5);
  });

  it('is gone through with the keys of a tree, and the focus stays in it', async () => {
    api({ lists: [list(...many(10_000), bare)] });
    const user = show();
    const search = await screen.findByRole('searchbox');
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    await user.click(search);
    await user.keyboard('{ArrowDown}');
    expect(focused()).toContain('Large');
    for (const [key, name] of [
      ['{ArrowRight}', 'slide-1.svs'],
      ['{ArrowDown}', 'slide-2.svs'],
      ['{PageDown}', 'slide-13.svs'],
      ['{PageUp}', 'slide-2.svs'],
      ['{End}', 'Unknown'],
      ['{ArrowUp}', 'slide-10000.svs'],
      ['{ArrowLeft}', 'Large'],
      ['{End}', 'Unknown'],
      ['{ArrowRight}{ArrowRight}', bare.id],
      ['{Home}', 'Large'],
    ] as const) {
      await user.keyboard(key);
      expect(focused(), key).toContain(name);
    }
    await user.keyboard('{ArrowLeft}');
    expect(document.activeElement?.ariaExpanded).toBe('false');
    expect(screen.queryByText('slide-1.svs')).toBeNull();
    const stops = [...document.querySelectorAll('[data-line]')].filter(
      (each) => (each as HTMLElement).tabIndex === 0,
    );
    expect(stops).toEqual([document.activeElement]);
  });

  it('opens a slide with Enter, and leaves the arrows to a slide that the mouse chose', async () => {
    api({
      lists: [list(liver, { ...bare, dataset_name: 'Karaciğer' })],
      descriptors: [() => new Promise(() => {})],
    });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(screen.getByRole('button', { name: 'Karaciğer 2 images' }));
    await user.keyboard('{ArrowRight}{ArrowRight}{ArrowDown}{Enter}');
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain('NameIŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: /22222222/ }));
    await user.keyboard('{ArrowDown}');
    expect(focused()).toContain('22222222');
    expect(row.ariaCurrent).toBeNull();
  });

  it('is searched after /, wherever the focus is', async () => {
    api({});
    const user = show();
    await screen.findByText('IŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: 'Hide image catalog' }));
    await user.keyboard('/ışık');
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('ışık');
    screen.getByRole('button', { name: 'Hide image catalog' });
  });
});

describe('the filters of the catalogue', () => {
  const images = [
    { ...liver, id: '1', file_name: 'one.svs', size_bytes: 1, created_at: '2026-11-03T00:00:00.000Z' },
    {
      ...liver,
      id: '2',
      file_name: 'two.svs',
      size_bytes: 3,
      created_at: '2026-11-01T00:00:00.000Z',
      organ_type: 'Bile duct',
    },
    {
      ...liver,
      id: '3',
      file_name: 'three.svs',
      size_bytes: 2,
      created_at: '2026-11-02T00:00:00.000Z',
      dataset_name: 'TCGA',
    },
  ];
  const names = () => screen.getAllByText(/\.svs$/).map(({ textContent }) => textContent);

  it('say how many there are of each, and leave what is chosen', async () => {
    api({ lists: [list(...images)] });
    const user = show();
    const organ = await screen.findByRole('combobox', { name: 'Filter by organ' });
    expect([...organ.children].map(({ textContent }) => textContent)).toEqual([
      'All organs',
      'Bile duct (1)',
      'Liver (2)',
    ]);
    await user.selectOptions(organ, 'Liver (2)');
    await waitFor(() => expect(names()).toEqual(['one.svs', 'three.svs']));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Filter by dataset' }), 'TCGA (1)');
    await waitFor(() => expect(names()).toEqual(['three.svs']));

    await user.click(screen.getByRole('button', { name: 'Clear' }));
    await waitFor(() => expect(names()).toEqual(['one.svs', 'two.svs']));
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  });

  it('are not there where all images are of one kind', async () => {
    api({ lists: [list(liver)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    expect(screen.getAllByRole('combobox')).toEqual([
      screen.getByRole('combobox', { name: 'Sort images by' }),
    ]);
  });

  it('stand beside three orders', async () => {
    api({ lists: [list(...images)] });
    const user = show();
    const order = await screen.findByRole('combobox', { name: 'Sort images by' });
    await user.click(await screen.findByRole('button', { name: 'TCGA 1 images' }));
    for (const [label, expected] of [
      ['Newest first', ['one.svs', 'two.svs', 'three.svs']],
      ['Largest first', ['two.svs', 'one.svs', 'three.svs']],
      ['By name', ['one.svs', 'two.svs', 'three.svs']],
    ] as const) {
      await user.selectOptions(order, label);
      await waitFor(() => expect(names()).toEqual(expected));
    }
  });
});

describe('the next and the previous slide', () => {
  const selected = () => screen.getByRole('region', { name: 'Selected Image' }).textContent;
  const three = [
    { ...liver, id: '1', file_name: 'liver-1.svs' },
    { ...liver, id: '2', file_name: 'liver-2.svs', status: 'failed', error: 'No.' },
    { ...liver, id: '3', file_name: 'liver-3.svs' },
    { ...bare, id: '4', file_name: 'other.svs' },
  ];

  it('come with n and p, e and q, without those that cannot be looked at, and open their group', async () => {
    api({ lists: [list(...three)], descriptors: [() => new Promise(() => {})] });
    const user = show();
    await screen.findByText('liver-1.svs');
    for (const [key, name] of [
      ['n', 'liver-1.svs'],
      ['e', 'liver-3.svs'],
      ['n', 'other.svs'],
      ['n', 'other.svs'],
      ['p', 'liver-3.svs'],
      ['q', 'liver-1.svs'],
    ] as const) {
      await user.keyboard(key);
      await waitFor(() => expect(selected()).toContain(`Name${name}`));
    }
    expect(screen.getByRole('button', { name: 'Unknown 1 images' }).ariaExpanded).toBe('true');
  });

  it('are those of the search', async () => {
    api({ lists: [list(...three)], descriptors: [() => new Promise(() => {})] });
    const user = show();
    await user.type(await screen.findByRole('searchbox'), 'svs');
    await user.clear(screen.getByRole('searchbox'));
    await user.type(screen.getByRole('searchbox'), 'other');
    await waitFor(() => expect(screen.queryByText('liver-1.svs')).toBeNull());
    await user.click(screen.getByRole('heading', { name: 'Image Catalog' }));
    await user.keyboard('n');
    await waitFor(() => expect(selected()).toContain('Nameother.svs'));
  });
});

describe('coming back', () => {
  it('finds the search, the filters, the order and the open groups as they were', async () => {
    const images = [liver, { ...bare, dataset_name: 'Meme', organ_type: 'Breast' }];
    api({ lists: [list(...images)] });
    const { unmount } = render(viewerAt('/wsi-viewer'));
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Meme 1 images' }));
    await user.click(screen.getByRole('button', { name: 'Karaciğer 1 images' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort images by' }), 'Largest first');
    unmount();

    const again = render(viewerAt('/wsi-viewer'));
    expect((await screen.findByRole('button', { name: 'Karaciğer 1 images' })).ariaExpanded).toBe('false');
    expect(screen.getByRole('button', { name: 'Meme 1 images' }).ariaExpanded).toBe('true');
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Sort images by' }).value).toBe('size');
    await user.type(screen.getByRole('searchbox'), 'meme');
    again.unmount();

    render(viewerAt('/wsi-viewer'));
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('meme');
    await waitFor(() => expect(screen.queryByText('IŞIK-2.svs')).toBeNull());
  });
});

describe('a catalogue that grows', () => {
  it('shows what is new when the page is looked at again, and draws nothing else anew', async () => {
    const server = api({ lists: [list(liver), list({ ...liver }, { ...bare, dataset_name: 'Karaciğer' })] });
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img');
    window.dispatchEvent(new Event('visibilitychange'));
    await screen.findByRole('button', { name: /22222222/ });
    expect(screen.getByRole('button', { name: /IŞIK-2/ })).toBe(row);
    expect(row.querySelector('img')).toBe(thumbnail);
    expect(server.asked('GET /image-catalog/images').length).toBeGreaterThan(1);
  });

  it('stays as it is when it cannot be asked for again', async () => {
    const server = api({ lists: [list(liver), refusal(500)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    window.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => expect(server.asked('GET /image-catalog/images')).toHaveLength(2));
    screen.getByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('a list that cannot be loaded', () => {
  it.each([
    [
      'the server said why',
      refusal(403, { message: 'Your account is not active.', code: 'account_not_active' }),
      'Your account is not active.',
    ],
    ['somebody else said why', refusal(418, { message: 'I am a teapot.' }), 'I am a teapot.'],
    ['only a status came', refusal(502, '<html></html>'), 'Server error (502)'],
    [
      'the server failed',
      refusal(500, { message: 'Something else', code: 'internal' }),
      'Internal server error. Please try refreshing your session.',
    ],
    ['nobody answered', silence, 'No response from server. Please check your connection.'],
    ['the answer made no sense', () => new Response('<html></html>'), 'Failed to load images'],
  ])('says so when %s', async (_, answer, sentence) => {
    api({ lists: [answer] });
    show();
    within(await screen.findByRole('alert')).getByText(sentence);
  });

  it('is asked for again with Retry', async () => {
    api({ lists: [refusal(502, ''), list(liver)] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  const unauthorised = refusal(401, { message: 'expired', code: 'session_invalid' });

  it('for its session says that a new one is tried, and comes with it', async () => {
    let give: (answer: Response) => void = () => {};
    const slow = () =>
      new Promise<Response>((resolve) => {
        give = resolve;
      });
    const server = api({ sessions: [session('old'), slow], lists: [unauthorised, list(liver)] });
    show();
    await screen.findByText('Authentication error. Please log in again. Trying to create a new session...');
    give(Response.json({ session_id: 'new', expires_in: 3600 }));
    await screen.findByText('IŞIK-2.svs');
    expect(server.asked('GET /image-catalog/images').at(-1)).toContain('session=new');
  });

  it('for its session says when no new one can be made', async () => {
    api({ sessions: [session('old'), refusal(503)], lists: [unauthorised] });
    show();
    await screen.findByText('Authentication error. Please log in again. Failed to create a new session.');
  });

  it('even with a new session is not asked for a third time', async () => {
    const server = api({ sessions: [session('old'), session('new')], lists: [unauthorised] });
    show();
    await screen.findByText('Authentication error. Please log in again.');
    expect(server.asked('POST /auth/image-session')).toHaveLength(2);
    expect(server.asked('GET /image-catalog/images')).toHaveLength(2);
  });
});

describe('the top bar', () => {
  it('says how the session is, and makes a new one', async () => {
    let give: (answer: Response) => void = () => {};
    const slow = () =>
      new Promise<Response>((resolve) => {
        give = resolve;
      });
    const server = api({ sessions: [session('one'), slow] });
    const user = show();
    await screen.findByText('Active');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('Refreshing...');
    give(Response.json({ session_id: 'two', expires_in: 3600 }));
    await screen.findByText('Active');
    expect(server.asked('POST /auth/image-session')).toHaveLength(2);
  });

  it('says that no session could be made; the list is shown all the same', async () => {
    api({ sessions: [refusal(503)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    screen.getByText('Error');
  });

  it('reloads a failed list once the session is fresh', async () => {
    api({ lists: [refusal(500), list(liver)] });
    const user = show();
    await screen.findByRole('alert');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('IŞIK-2.svs');
  });

  it('shows what the server counts of the session', async () => {
    const own = {
      session_id: '01234567',
      created_at: '2026-11-21T10:00:00Z',
      expires_in: 3540,
      age: 61,
      request_count: 1234,
    };
    const other = { ...own, session_id: 'ffffffff', age: 5, request_count: 7 };
    api({ stats: () => Response.json({ active_sessions: 2, sessions: [other, own] }) });
    const user = show();
    await screen.findByText('Active');
    await user.click(screen.getByRole('button', { name: 'Show session stats' }));
    const stats = screen.getByRole('region', { name: 'Session stats' });
    await within(stats).findByText('1234');
    expect(stats.textContent).toContain('01234567');
    expect(stats.textContent).not.toContain('0123456789');
    expect(stats.textContent).toContain('Valid (59 min left)');
    expect(stats.textContent).toContain('61 s');
    await user.click(screen.getByRole('button', { name: 'Hide session stats' }));
    expect(screen.queryByRole('region', { name: 'Session stats' })).toBeNull();
  });
});

describe('looking at an image', () => {
  it('is proposed as long as none is selected', async () => {
    api({});
    show();
    screen.getByText('Select an image to view');
    screen.getByText('Choose an image from the sidebar to start viewing');
    expect(screen.queryByText('Selected Image')).toBeNull();
  });

  it('shows what is selected, and that its tiles are loading', async () => {
    api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    await screen.findByText('Karaciğer');
    await user.click(screen.getByRole('button', { name: 'Unknown 1 images' }));
    await user.click(screen.getByRole('button', { name: /22222222/ }));
    await screen.findByText('Loading tiles...');
    const panel = screen.getByRole('region', { name: 'Selected Image' });
    expect(panel.textContent).toContain('NameN/ADatasetN/AOrganN/A');
    await user.click(screen.getByRole('button', { name: /IŞIK-2/ }));
    expect(panel.textContent).toContain('NameIŞIK-2.svsDatasetKaraciğerOrganLiver');
  });

  it('asks for its descriptor when the mouse button goes down, and not again when it is let go', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[MouseLeft>]', target: row });
    await waitFor(() => expect(server.asked('/image.dzi')).toHaveLength(1));
    await user.pointer({ keys: '[/MouseLeft]', target: row });
    await screen.findByText('Loading tiles...');
    expect(server.asked('/image.dzi')).toHaveLength(1);
  });

  it('asks for nothing when a finger goes down: it may only want to scroll', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[TouchA>]', target: row });
    expect(server.asked('/image.dzi')).toEqual([]);
  });

  it.each([
    ['the whole slide is its small picture', '', 2],
    ['a part of it, which that picture does not show, is empty', '&x=500&y=400&zoom=1', 1],
  ])('until there are tiles %s', async (_, field, pictures) => {
    api({ descriptors: [() => new Promise(() => {})] });
    show(`/wsi-viewer?image=${liver.id}${field}`);
    await screen.findByText('Loading tiles...');
    // One of them is the catalogue's.
    await waitFor(() =>
      expect(document.querySelectorAll(`img[src*="${liver.id}/thumbnail.jpg"]`)).toHaveLength(pictures),
    );
  });

  it.each([
    ['admin', [`/admin/audit?target=${liver.id}&action=image-opened`]],
    ['user', []],
  ] as const)('leads a %s to who opened the slide, if they may know', async (role, addresses) => {
    setAuthState({ user: account({ role }) });
    onTestFinished(() => setAuthState(signedOut));
    api({ descriptors: [() => new Promise(() => {})] });
    show(`/wsi-viewer?image=${liver.id}`);
    const panel = within(await screen.findByRole('region', { name: 'Selected Image' }));
    const links = panel.queryAllByRole('link', { name: 'Who opened this slide' });
    expect(links.map((link) => link.getAttribute('href'))).toEqual(addresses);
  });

  it('begins with the image that the address names', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    show(`/wsi-viewer?image=${liver.id}`);
    const panel = await screen.findByRole('region', { name: 'Selected Image' });
    expect(panel.textContent).toContain('NameIŞIK-2.svs');
    await waitFor(() => expect(server.asked('/image.dzi')).toHaveLength(1));
  });

  it('tells an administrator why a file could not be read, and asks for none of its pixels', async () => {
    const error = 'The file ends before its last tile.';
    const server = api({ lists: [list({ ...liver, status: 'failed', error })] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    expect(screen.getAllByText(error)).not.toHaveLength(0);
    expect(server.asked('/proxy/')).toEqual([]);
  });

  it('opens an image once, however often it is selected', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(row);
    await user.click(row);
    expect(server.asked('/image.dzi')).toEqual([
      `GET /image-catalog/proxy/${liver.id}/image.dzi?session=0123456789abcdef`,
    ]);
  });

  it.each([
    [
      'the server refuses',
      refusal(404, { message: 'Not found.', code: 'not_found' }),
      'Server error (404): Not found.',
    ],
    [
      'the file cannot be read',
      () => new Response('<html/>'),
      'Failed to load image. Please try another image.',
    ],
    ['nobody answers', silence, 'Error loading image. Please try again.'],
  ])('says why it failed when %s', async (_, answer, sentence) => {
    api({ descriptors: [answer] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    within(await screen.findByRole('alert')).getByText(sentence);
    expect(screen.queryByText('Loading tiles...')).toBeNull();
  });

  it('can be tried again', async () => {
    const server = api({ descriptors: [silence, () => new Promise(() => {})] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('Loading tiles...');
    expect(server.asked('/image.dzi')).toHaveLength(2);
  });

  it('renews a session that has ended, and says so', async () => {
    const server = api({
      sessions: [session('old'), session('new')],
      descriptors: [refusal(401), () => new Promise(() => {})],
    });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Session expired. Creating new session...');
    await waitFor(() => expect(server.asked('/image.dzi').at(-1)).toContain('session=new'), {
      timeout: 3000,
    });
  });

  it('says when no new session could be made', async () => {
    api({ sessions: [session('old'), refusal(503)], descriptors: [refusal(401)] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Failed to create new session. Please refresh the page.');
  });
});

it('gives the session back when the viewer is left', async () => {
  const server = api({});
  const { unmount } = render(viewerAt('/wsi-viewer'));
  await screen.findByText('IŞIK-2.svs');
  unmount();
  await waitFor(() =>
    expect(server.asked('DELETE')).toEqual(['DELETE /auth/image-session/0123456789abcdef']),
  );
});
