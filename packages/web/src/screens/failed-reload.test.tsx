/** Tests of all screens that load a list or an object: the loaded data stays visible when a later request for it fails. */
import { screen } from '@testing-library/react';
import { it, vi } from 'vitest';
import { account } from '../testing/accounts.ts';
import { ownCollection, ownView } from '../testing/collections.ts';
import { openApp } from '../testing/open-app.tsx';
import { reloadQueries } from '../testing/reload-queries.ts';
import { errorResponse } from '../testing/stub-api.ts';

// The real viewer draws with OpenSeadragon, which needs a browser.
vi.mock('../viewer/SlideViewer.tsx', () => ({ SlideViewer: () => <p>the slide</p> }));

const at = '2026-11-22T10:00:00.000Z';
const item = {
  type: 'slide',
  id: 'a',
  text: null,
  question: null,
  access: true,
  title: 'Dalak',
  images: ['a'],
  field: null,
};
const collection = ownCollection([item]);
const savedView = ownView({ x: 1, y: 1, zoom: 1, rotation: 0, mirrored: false });
const answer = {
  item: 0,
  question: 'Hangi organ?',
  person: 'Deniz Kaya',
  uid: 'deniz',
  answer: 'dalak',
  correct: null,
  attempts: 1,
  answered_at: at,
};
const slideCase = {
  id: 'k-1',
  version: 1,
  dataset: 'Böbrek',
  name: 'B26-1',
  description: null,
  slides: [],
  registrations: [],
  created_at: at,
  updated_at: at,
};
const dataset = {
  name: 'Böbrek',
  access: 'open',
  listed: true,
  sharing: false,
  identifiable_originals: false,
  images: 1,
  grants: [],
  requests: [],
};
const apiToken = {
  id: 'token-1',
  prefix: 'lam_x',
  name: 'Betik',
  scopes: ['slides:read'],
  datasets: null,
  created_at: at,
  expires_at: at,
  last_used_at: null,
  uid: 'deniz',
  email: 'deniz@example.org',
  displayName: null,
};
const deniz = {
  ...account({ uid: 'deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' }),
  datasets: [],
};
const applications = {
  applications: [{ user: { ...deniz, status: 'pending' }, duplicates: [] }],
  waiting: 1,
};
const activity = [{ at, action: 'image-opened', subject: 'dalak.svs', imageId: 'a' }];

const responses = {
  'GET /collections': { collections: [collection] },
  'GET /collections/c-1': collection,
  'GET /collections/c-1/answers': { answers: [answer] },
  'GET /saved-views': { saved_views: [savedView] },
  'GET /cases': { cases: [slideCase] },
  'GET /admin/datasets': { datasets: [dataset] },
  'GET /admin/api-tokens': { tokens: [apiToken] },
  'GET /admin/users': { users: [deniz], message: '' },
  'GET /admin/applications': applications,
  'GET /admin/waiting': { applications: 1, datasetRequests: 0 },
  'GET /share-links': { share_links: [] },
  'GET /user/activity': { activity },
};

it.each([
  ['the list of collections', '/collections', 'Ders 3'],
  ['the list of saved views', '/collections', 'Kenar'],
  ['the tour of a collection', '/collections/c-1', 'the slide'],
  ['the editor of a collection', '/collections/c-1/edit', 'Dalak'],
  ['the list of answers to a collection', '/collections/c-1/answers', 'Hangi organ?'],
  ['the list of cases', '/admin/cases', 'B26-1'],
  ['the list of datasets', '/admin/datasets', 'Böbrek'],
  ['the list of API tokens', '/admin/api-tokens', 'Betik'],
  ['the list of accounts', '/admin/users', 'deniz@example.org'],
  ['the queue of applicants', '/admin/users?view=waiting', 'deniz@example.org'],
  ['the list of recent activities', '/dashboard', 'dalak.svs'],
])('%s stays on the screen when a later request for the same data fails', async (_, path, text) => {
  let isFailing = false;
  const api = Object.fromEntries(
    Object.entries(responses).map(([name, response]) => [
      name,
      () => (isFailing ? errorResponse('unavailable') : response),
    ]),
  );
  openApp(path, { signedInAs: account({ role: 'admin' }), api });
  await screen.findByText((content) => content.includes(text));
  isFailing = true;
  await reloadQueries();
  screen.getByText((content) => content.includes(text));
});
