import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter, useLocation, useNavigate } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { imageSessions } from '../../api/image-sessions.ts';
import { queryClient } from '../../api/query-client.ts';
import '../../viewer/SlideViewer.tsx'; // the screen imports it on demand; loaded here, so that no test waits for it
import { answerCatalogue, imageOf } from './testing/catalogue-server.ts';
import { WsiViewer } from './WsiViewer.tsx';

/** A slide of one biopsy; its file is named after the stain. @param idDigit the digit that the id begins with */
const stainedSlide = (file_name: string, idDigit: string) => ({
  id: `${idDigit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`,
  file_name,
  dataset_name: 'Liver',
  organ_type: null,
});
const he = stainedSlide('HE.svs', '1');
const masson = stainedSlide('Masson.svs', '2');
const reticulin = stainedSlide('Reticulin.svs', '3');

/**
 * Stubs `fetch` with a catalogue of three slides. Their descriptors never arrive, so no slide becomes visible.
 *
 * @returns the ids of the slides that the viewer has begun to open
 */
function stubCatalogue(): string[] {
  const openedIds: string[] = [];
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    if (init.method === 'DELETE') return new Response(null, { status: 204 });
    if (init.method === 'POST') return Response.json({ session_id: '0123456789abcdef', expires_in: 3600 });
    if (address.includes('/image.dzi')) {
      openedIds.push(address.split('/').at(-2) ?? '');
      return new Promise<Response>(() => {});
    }
    return answerCatalogue([he, masson, reticulin].map(imageOf), address);
  });
  return openedIds;
}

/** Shows the query of the current URL, and a button that acts like the back button of the browser. */
function AddressBar() {
  const { search } = useLocation();
  const navigate = useNavigate();
  return (
    <>
      <output aria-label="address">{search}</output>
      <button type="button" onClick={() => void navigate(-1)}>
        Back
      </button>
    </>
  );
}

/** Renders the viewer at a URL with this query. @returns the user that operates it */
async function renderViewer(query: string) {
  render(
    <App env="test">
      <MemoryRouter initialEntries={[`/wsi-viewer${query}`]}>
        <WsiViewer />
        <AddressBar />
      </MemoryRouter>
    </App>,
  );
  await screen.findByRole('button', { name: /Masson/ });
  return userEvent.setup();
}

const address = () => screen.getByRole('status', { name: 'address' }).textContent;
const compareButton = () => screen.getByRole('button', { name: 'Compare' });
/** Returns the half of the viewer with this slide; throws when there is none. */
const half = (name: string) => screen.getByRole('group', { name });
/** Returns the row of a slide in the catalogue. */
const row = (name: RegExp) => screen.getByRole('button', { name });

beforeEach(async () => {
  queryClient.clear();
  localStorage.setItem('auth_token', 'the token');
  await vi.waitUntil(() => imageSessions.state().status === 'inactive');
});

describe('the comparison of two slides in the viewer', () => {
  it('can be started once a slide is open', async () => {
    stubCatalogue();
    const user = await renderViewer('');
    expect(compareButton()).toHaveProperty('disabled', true);
    await user.click(row(/HE/));
    expect(compareButton()).toHaveProperty('disabled', false);
    expect(compareButton().ariaPressed).toBe('false');
  });

  it('opens the next selected slide beside the first one, and does not load the first one again', async () => {
    const openedIds = stubCatalogue();
    const user = await renderViewer(`?image=${he.id}`);
    await waitFor(() => expect(openedIds).toEqual([he.id]));
    await user.click(compareButton());
    screen.getByText('Select a slide to compare with');
    expect(compareButton().ariaPressed).toBe('true');
    await user.click(row(/Masson/));
    expect(address()).toBe(`?image=${he.id}&beside=${masson.id}`);
    half('HE.svs');
    half('Masson.svs');
    await waitFor(() => expect(openedIds).toEqual([he.id, masson.id]));
  });

  it('begins at once when the URL contains the ids of two slides', async () => {
    const openedIds = stubCatalogue();
    await renderViewer(`?image=${he.id}&x=1&y=2&zoom=1&beside=${masson.id}&bx=3&by=4&bzoom=1`);
    half('HE.svs');
    half('Masson.svs');
    expect(compareButton().ariaPressed).toBe('true');
    await waitFor(() => expect(openedIds).toEqual([he.id, masson.id]));
  });

  it('marks the half of the view that the user clicked last as active, and opens the next selected slide in this half', async () => {
    stubCatalogue();
    const user = await renderViewer(`?image=${he.id}&beside=${masson.id}`);
    expect(half('HE.svs').ariaCurrent).toBe('true');
    await user.click(half('Masson.svs'));
    expect(half('HE.svs').ariaCurrent).toBe('false');
    expect(half('Masson.svs').ariaCurrent).toBe('true');
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain('Masson.svs');
    await user.click(row(/Reticulin/));
    expect(address()).toBe(`?image=${he.id}&beside=${reticulin.id}`);
    await user.click(half('HE.svs'));
    await user.click(row(/Masson/));
    expect(address()).toBe(`?image=${masson.id}&beside=${reticulin.id}`);
  });

  it('ends when the Compare button is pressed again, and is restored by the back button of the browser', async () => {
    stubCatalogue();
    const user = await renderViewer(`?image=${he.id}&beside=${masson.id}&bx=3&by=4&bzoom=1`);
    await user.click(compareButton());
    expect(address()).toBe(`?image=${he.id}`);
    expect(screen.queryByRole('group', { name: 'Masson.svs' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Back' }));
    half('Masson.svs');
  });

  it('is cancelled when the Compare button is pressed again before a second slide is selected', async () => {
    stubCatalogue();
    const user = await renderViewer(`?image=${he.id}`);
    await user.click(compareButton());
    await user.click(compareButton());
    expect(screen.queryByText('Select a slide to compare with')).toBeNull();
    await user.click(row(/Masson/));
    expect(address()).toBe(`?image=${masson.id}`);
  });

  it('shows the button Link after a click on Unlink, and Unlink again after a click on Link', async () => {
    stubCatalogue();
    const user = await renderViewer(`?image=${he.id}`);
    expect(screen.queryByRole('button', { name: 'Unlink' })).toBeNull();
    await user.click(compareButton());
    await user.click(row(/Masson/));
    await user.click(screen.getByRole('button', { name: 'Unlink' }));
    await user.click(screen.getByRole('button', { name: 'Link' }));
    screen.getByRole('button', { name: 'Unlink' });
  });
});
