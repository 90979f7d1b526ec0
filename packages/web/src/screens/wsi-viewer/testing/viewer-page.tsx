/** Renders the viewer for tests, with a stub of the API. */
import type { RequestableDataset } from '@lamina/contract';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter } from 'react-router';
import { vi } from 'vitest';
import { App } from '../../../App.tsx';
import { imageSessions } from '../../../api/image-sessions.ts';
import { queryClient } from '../../../api/query-client.ts';
import { WsiViewer } from '../WsiViewer.tsx';
import { answerCatalogue, type CaseOfStub, imageOf } from './catalogue-server.ts';

export const liver = {
  id: '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  file_name: 'IŞIK-2.svs',
  dataset_name: 'Karaciğer',
  organ_type: 'Liver',
};
/** An image without any optional field. */
export const bare = { id: '22222222-bbbb-4bbb-8bbb-bbbbbbbbbbbb' };

export type Answer = () => Response | Promise<Response>;

export const session =
  (id: string): Answer =>
  () =>
    Response.json({ session_id: id, expires_in: 3600 }, { status: 201 });
export const list =
  (...images: object[]): Answer =>
  () =>
    Response.json({ images, next_cursor: null });
export const errorResponse =
  (status: number, body: object | string = {}): Answer =>
  () =>
    typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
/** The server does not respond. */
export const silence: Answer = () => Promise.reject(new TypeError('Failed to fetch'));

/**
 * Stubs the API by replacing `fetch`. The answers to one kind of request are used in their order, and the last one repeatedly. An answer
 * of `lists` is used for a request for groups and for all other catalogue requests until the next request for groups.
 *
 * @returns `callsWith`, which returns the requests ('GET /path') that contain a text
 */
export function api(answers: {
  sessions?: Answer[];
  lists?: Answer[];
  cases?: readonly CaseOfStub[];
  stats?: Answer;
  descriptors?: Answer[];
  annotationCounts?: Readonly<Record<string, number>>;
  /** Restricted datasets that the person can request. */
  requestable?: readonly RequestableDataset[];
}) {
  const { sessions = [session('0123456789abcdef')], lists = [list(liver, bare)], descriptors = [] } = answers;
  const calls: string[] = [];
  let current: Promise<Response> | null = null;
  const catalogue = async (address: string): Promise<Response> => {
    if (address.includes('/images/groups') || current === null) {
      current = Promise.resolve(next(lists)());
    }
    const list = await current;
    const answer = list.clone();
    if (!answer.ok || !answer.headers.get('Content-Type')?.includes('json')) return answer;
    const body = (await answer.json()) as { readonly images?: readonly object[] };
    return answerCatalogue((body.images ?? []).map(imageOf), address, answers.cases) ?? list.clone();
  };
  const next = (from: Answer[]): Answer => (from.length > 1 ? (from.shift() as Answer) : (from[0] as Answer));
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    const call = `${init.method ?? 'GET'} ${address.replace('/api/v1', '')}`;
    calls.push(call);
    if (call.startsWith('DELETE')) return new Response(null, { status: 204 });
    if (call === 'POST /auth/image-session') return next(sessions)();
    if (call.startsWith('GET /image-catalog/annotation-counts')) {
      return Response.json({ counts: answers.annotationCounts ?? {} });
    }
    if (call === 'GET /image-catalog/datasets' && answers.requestable) {
      return Response.json({ datasets: answers.requestable });
    }
    if (call.startsWith('GET /image-catalog/images')) return catalogue(address);
    if (call === 'GET /auth/image-session/stats' && answers.stats) return answers.stats();
    if (call.includes('/image.dzi')) return next(descriptors)();
    throw new Error(`The stub has no answer for ${call}`);
  });
  return { callsWith: (part: string) => calls.filter((call) => call.includes(part)) };
}

export const viewerAt = (address: string) => (
  <App env="test">
    <MemoryRouter initialEntries={[address]}>
      <WsiViewer />
    </MemoryRouter>
  </App>
);

export function show(address = '/wsi-viewer') {
  render(viewerAt(address));
  return userEvent.setup();
}

/** Clears the cached responses of the previous test, and stores a sign-in. */
export async function resetPage(): Promise<void> {
  queryClient.clear();
  localStorage.setItem('auth_token', 'the token');
  // All tests share one image session, which is deleted shortly after the viewer of the previous test was closed.
  await vi.waitUntil(() => imageSessions.state().status === 'inactive');
}

/** Returns `count` images of one dataset, named slide-1.svs to slide-`count`.svs. @param fields further or other fields of each image */
export function many(count: number, fields: object = {}) {
  return Array.from({ length: count }, (_, place) => ({
    id: `00000000-0000-4000-8000-${String(place + 1).padStart(12, '0')}`,
    file_name: `slide-${place + 1}.svs`,
    dataset_name: 'Large',
    ...fields,
  }));
}

/** Returns the text of the focused element. */
export const focused = () => document.activeElement?.textContent ?? '';
