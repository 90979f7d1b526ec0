import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { account } from '../../testing/accounts.ts';
import {
  api,
  bare,
  errorResponse,
  list,
  liver,
  many,
  resetPage,
  session,
  show,
  silence,
  viewerAt,
} from './testing/viewer-page.tsx';

beforeEach(resetPage);

describe('the next and the previous slide', () => {
  const selected = () => screen.getByRole('region', { name: 'Selected Image' }).textContent;
  const three = [
    { ...liver, id: '1', file_name: 'liver-1.svs' },
    { ...liver, id: '2', file_name: 'liver-2.svs', status: 'failed', error: 'No.' },
    { ...liver, id: '3', file_name: 'liver-3.svs' },
    { ...bare, id: '4', file_name: 'other.svs' },
  ];

  it('open with the keys n/e and p/q, skip unreadable slides and expand their group', async () => {
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

  it('are taken from the search result while a search is set', async () => {
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

describe('returning to the viewer', () => {
  it('restores the search, the filters, the order and the open groups', async () => {
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
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Sort images by' }).value).toBe('largest');
    await user.type(screen.getByRole('searchbox'), 'meme');
    again.unmount();

    render(viewerAt('/wsi-viewer'));
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('meme');
    await waitFor(() => expect(screen.queryByText('IŞIK-2.svs')).toBeNull());
  });
});

describe('the top bar of the viewer', () => {
  it('shows the status of the image session and creates a new one on request', async () => {
    let respond: (answer: Response) => void = () => {};
    const delayedSession = () =>
      new Promise<Response>((resolve) => {
        respond = resolve;
      });
    const server = api({ sessions: [session('one'), delayedSession] });
    const user = show();
    await screen.findByText('Active');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('Refreshing...');
    respond(Response.json({ session_id: 'two', expires_in: 3600 }));
    await screen.findByText('Active');
    expect(server.callsWith('POST /auth/image-session')).toHaveLength(2);
  });

  it('shows an error when no image session can be created; the catalogue list stays visible', async () => {
    api({ sessions: [errorResponse(503)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    screen.getByText('Error');
  });

  it('reloads a failed catalogue list after the image session was renewed', async () => {
    api({ lists: [errorResponse(500), list(liver)] });
    const user = show();
    await screen.findByRole('alert');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('IŞIK-2.svs');
  });

  it('shows the statistics of the image session', async () => {
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

describe('a slide that is not in the catalogue', () => {
  it('lets the person request access to the restricted datasets', async () => {
    api({ requestable: [{ name: 'Böbrek', granted: false, request: null }] });
    const user = show(`/wsi-viewer?image=${many(9)[8]?.id}`);
    await screen.findByText('This slide is not in your catalogue');
    expect(screen.queryByRole('button', { name: 'Request access to Böbrek' })).toBeNull();
    await user.click(await screen.findByRole('button', { name: 'Datasets you can request access to' }));
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Request access to Böbrek' }));
  });
});

describe('the image view', () => {
  it('suggests selecting an image while none is selected', async () => {
    api({});
    show();
    screen.getByText('Select an image to view');
    screen.getByText('Choose an image from the sidebar to start viewing');
    expect(screen.queryByText('Selected Image')).toBeNull();
  });

  it('shows the name of the selected image and the loading state of its tiles', async () => {
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

  it('requests the descriptor when the mouse button is pressed, and not again on release', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[MouseLeft>]', target: row });
    await waitFor(() => expect(server.callsWith('/image.dzi')).toHaveLength(1));
    await user.pointer({ keys: '[/MouseLeft]', target: row });
    await screen.findByText('Loading tiles...');
    expect(server.callsWith('/image.dzi')).toHaveLength(1);
  });

  it('requests nothing when a finger touches the row, because it may scroll', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[TouchA>]', target: row });
    expect(server.callsWith('/image.dzi')).toEqual([]);
  });

  it.each([
    ['shows the thumbnail for the whole slide', '', 2],
    ['shows an empty view for a part of the slide', '&x=500&y=400&zoom=1', 1],
  ])('%s until tiles are loaded', async (_, field, imageCount) => {
    api({ descriptors: [() => new Promise(() => {})] });
    show(`/wsi-viewer?image=${liver.id}${field}`);
    await screen.findByText('Loading tiles...');
    // One of the images is the thumbnail in the catalogue.
    await waitFor(() =>
      expect(document.querySelectorAll(`img[src*="${liver.id}/thumbnail.jpg"]`)).toHaveLength(imageCount),
    );
  });

  it.each([
    ['admin', [`/admin/audit?target=${liver.id}&action=image-opened`]],
    ['user', []],
  ] as const)(
    'has a link to the audit events about openings of the slide for administrators only: role %s',
    async (role, addresses) => {
      setAuthState({ user: account({ role }) });
      onTestFinished(() => setAuthState(signedOut));
      api({ descriptors: [() => new Promise(() => {})] });
      show(`/wsi-viewer?image=${liver.id}`);
      const panel = within(await screen.findByRole('region', { name: 'Selected Image' }));
      const links = panel.queryAllByRole('link', { name: 'Who opened this slide' });
      expect(links.map((link) => link.getAttribute('href'))).toEqual(addresses);
    },
  );

  it('opens the image whose id is in the URL', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    show(`/wsi-viewer?image=${liver.id}`);
    const panel = await screen.findByRole('region', { name: 'Selected Image' });
    expect(panel.textContent).toContain('NameIŞIK-2.svs');
    await waitFor(() => expect(server.callsWith('/image.dzi')).toHaveLength(1));
  });

  it('shows administrators why a file is unreadable and requests no pixels', async () => {
    const error = 'The file ends before its last tile.';
    const server = api({ lists: [list({ ...liver, status: 'failed', error })] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    expect(screen.getAllByText(error)).not.toHaveLength(0);
    expect(server.callsWith('/proxy/')).toEqual([]);
  });

  it('opens an image once when it is selected repeatedly', async () => {
    const server = api({ descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(row);
    await user.click(row);
    expect(server.callsWith('/image.dzi')).toEqual([
      `GET /image-catalog/proxy/${liver.id}/image.dzi?session=0123456789abcdef`,
    ]);
  });

  it.each([
    [
      'the server responds with an error',
      errorResponse(404, { message: 'Not found.', code: 'not_found' }),
      'Server error (404): Not found.',
    ],
    [
      'the file cannot be read',
      () => new Response('<html/>'),
      'Failed to load image. Please try another image.',
    ],
    ['there is no response', silence, 'Error loading image. Please try again.'],
  ])('shows the reason of a failure when %s', async (_, answer, sentence) => {
    api({ descriptors: [answer] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    within(await screen.findByRole('alert')).getByText(sentence);
    expect(screen.queryByText('Loading tiles...')).toBeNull();
  });

  it('loads the image again with the Retry button after a failure', async () => {
    const server = api({ descriptors: [silence, () => new Promise(() => {})] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('Loading tiles...');
    expect(server.callsWith('/image.dzi')).toHaveLength(2);
  });

  it('replaces an ended image session and announces it', async () => {
    const server = api({
      sessions: [session('old'), session('new')],
      descriptors: [errorResponse(401), () => new Promise(() => {})],
    });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Session expired. Creating new session...');
    await waitFor(() => expect(server.callsWith('/image.dzi').at(-1)).toContain('session=new'), {
      timeout: 3000,
    });
  });

  it('shows an error when no new image session can be created', async () => {
    api({ sessions: [session('old'), errorResponse(503)], descriptors: [errorResponse(401)] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Failed to create new session. Please refresh the page.');
  });
});

it('the image session is deleted when the viewer is closed', async () => {
  const server = api({});
  const { unmount } = render(viewerAt('/wsi-viewer'));
  await screen.findByText('IŞIK-2.svs');
  unmount();
  await waitFor(() =>
    expect(server.callsWith('DELETE')).toEqual(['DELETE /auth/image-session/0123456789abcdef']),
  );
});
