/**
 * Tests that every endpoint can return each error code that it declares: for each code, a case below provokes it, or `testedElsewhere`
 * names another test that does. The reverse, that no endpoint returns a code that it does not declare, is checked by the test server
 * for every response in every test.
 */
import fs from 'node:fs';
import {
  beginUpload,
  confirmSecondFactor,
  type Endpoint,
  type ErrorCode,
  endpoints,
  errors as errorDefinitions,
  finishUploadFile,
  maxApiTokens,
  maxOwnCollections,
  maxSavedViews,
  resultLimits,
  startSecondFactor,
} from '@lamina/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { oneTimeCode } from '../testing/one-time-code.ts';
import { insertCollections, insertSavedViews } from '../testing/own-resources.ts';
import { endpointLabel } from '../testing/permission-matrix.ts';
import { type Answer, type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import {
  missingId,
  newPassword,
  unknownToken,
  type WellFormedRequest,
  wellFormedRequests,
} from '../testing/well-formed-requests.ts';

/** Error codes that need a fault, a race or many requests, with the tests that provoke them. */
const testedElsewhere: Readonly<Record<string, string>> = {
  unavailable: 'system-tests/faults/database-down.test.ts, sign-in/fair-hashing.test.ts',
  rate_limited: 'sign-in/throttle.test.ts, audit/audit-flood.test.ts',
  slide_corrupt: 'system-tests/faults/slides.test.ts',
  storage_timeout: 'system-tests/faults/slides.test.ts',
  forbidden: 'sign-in/external-sign-in.test.ts (SIGN_IN=external)',
  storage_full: 'uploads/part-store.test.ts',
  too_many_uploads: 'uploads/uploads.test.ts',
  token_unverifiable: 'sign-in/identity-provider.test.ts',
  'verifyToken account_not_active': 'sign-in/external-sign-in.test.ts',
  'verifyToken email_taken': 'sign-in/external-sign-in.test.ts',
  // The calling administrator is active, so another administrator can only be the last one in a race.
  'suspendUser last_admin': 'domain/account.test.ts',
  'deactivateUser last_admin': 'domain/account.test.ts',
};

let server: TestServer;
const { caller, requestFor } = wellFormedRequests(() => server);
beforeAll(async () => {
  server = await testServer({
    isShared: true,
    config: { uploadQuotaBytes: 1_000_000_000 },
  });
  return () => server.close();
});

type Person = Awaited<ReturnType<typeof caller>>;
type Change = Partial<WellFormedRequest>;

const declarations: Readonly<Record<string, Endpoint>> = endpoints;

function endpointNamed(name: string): Endpoint {
  const endpoint = declarations[name];
  if (endpoint === undefined) throw new Error(`There is no endpoint ${name}.`);
  return endpoint;
}

/** Sends the well-formed request of a user to an endpoint, with changes. */
async function send(name: string, person: Person, change: Change = {}): Promise<Answer> {
  const request = { ...(await requestFor(name, person, false)), ...change };
  return server.as(person.token).inject({ method: endpointNamed(name).method, ...request });
}

const pathOf = (name: string, id: string) => endpointNamed(name).path.replace(/:\w+/, id);
const userPath = (name: string, { uid }: Pick<TestUser, 'uid'>) => pathOf(name, uid);
const admin = () => caller('admin');
/** Sends an administrator's request about an account with these fields. */
const about = async (name: string, fields: Parameters<TestServer['fixtures']['user']>[0]) =>
  send(name, await admin(), { url: userPath(name, await server.fixtures.user(fields)) });
/** Sends an administrator's request about the administrator's own account. */
const aboutOneself = async (name: string) => {
  const person = await admin();
  return send(name, person, { url: userPath(name, person.user) });
};

/** Creates a user with two-step verification. @returns also the secret of the authenticator app */
async function withSecondFactor(): Promise<Person & { readonly secret: string }> {
  const person = await caller('user');
  const client = server.as(person.token);
  const { secret } = (await client.call(startSecondFactor)).body;
  await client.call(confirmSecondFactor, { body: { code: oneTimeCode(secret, server.clock.now()) } });
  return { ...person, secret };
}

const logIn = ({ user: { email, password } }: Person, code?: string) =>
  server.as(null).inject({
    method: 'POST',
    url: endpointNamed('signIn').path,
    payload: { email, password, ...(code !== undefined && { code }) },
  });

/** Creates a user whose account has no password on this server, as after an external sign-in. */
async function withoutPassword(): Promise<Person> {
  const person = await caller('user');
  await server.services.db.deleteFrom('identities').where('uid', '=', person.user.uid).execute();
  return person;
}

/** Confirms a registration with a wrong password, or after its e-mail address got an account. */
async function confirm(fault: 'password' | 'address taken'): Promise<Answer> {
  const person = await caller('anonymous');
  const request = await requestFor('confirmRegistration', person, false);
  if (fault === 'address taken') {
    const { db } = server.services;
    for (const { email } of await db.selectFrom('registrations').select('email').execute()) {
      await server.fixtures.user({ email });
    }
  }
  const payload = { ...request.payload, ...(fault === 'password' && { password: 'başka-bir-şifre' }) };
  return server.as(null).inject({ method: 'POST', url: request.url, payload });
}

/** Size in bytes that is larger than the maximum of one upload. */
const tooLong = '900000000000000';
/** Size in bytes that is larger than the quota of all uploads together. */
const beyondQuota = '2000000000';

/** Changes the database row of a result layer, and sends a request about its file. */
async function sendToResult(
  name: 'createResultFile' | 'sendResultFile',
  changes: { readonly state?: 'ready'; readonly upload_bytes?: number | null },
  length = '2',
  furtherHeaders: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const person = await caller('user');
  const request = await requestFor(name, person, false);
  const [layerId = ''] = /[\da-f-]{36}/.exec(request.url) ?? [];
  await server.services.db.updateTable('result_layers').set(changes).where('id', '=', layerId).execute();
  const headers = { ...request.headers, 'upload-length': length, ...furtherHeaders };
  return send(name, person, { ...request, headers });
}

/** Creates an upload whose only file has been sent completely. */
async function finishedFile(): Promise<{ readonly person: Person; readonly fileId: string }> {
  const person = await admin();
  const request = await requestFor('finishUploadFile', person, false);
  await server.as(person.token).inject({ method: finishUploadFile.method, ...request });
  return { person, fileId: /[\w-]{36}/.exec(request.url)?.[0] ?? '' };
}

/** Opens a share link that has a password. */
async function openProtectedLink(password: string | undefined): Promise<Answer> {
  const person = await caller('user');
  const made = await requestFor('createShareLink', person, false);
  const { body } = await send('createShareLink', person, {
    payload: { ...made.payload, password: 'bir-şifre' },
  });
  const secret = (body as { url: string }).url.split('#')[1];
  return send('openShareLink', await caller('anonymous'), { payload: { secret, password } });
}

const metadataOf = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

/** Sends a request for an original file that cannot be sent: because of the file, or because of the range. */
async function originalOf(name: string, fault: 'a picture' | 'a range behind the end'): Promise<Answer> {
  const person = await caller('user');
  const request = await requestFor(name, person, false);
  if (fault === 'a range behind the end')
    return send(name, person, { ...request, headers: { range: 'bytes=999999999-' } });
  const { db } = server.services;
  const [, id = ''] = /images\/([\w-]+)/.exec(request.url) ?? [];
  const { path } = await db
    .selectFrom('images')
    .select('path')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  fs.writeFileSync(`${server.config.slidesDir}/${path}`, 'neither TIFF nor DICOM'.repeat(30));
  return send(name, person, request);
}

const csv = { 'content-type': 'text/csv' };

const cases: Readonly<Record<string, () => Promise<Answer>>> = {
  'checkPasswordReset reset_link_invalid': async () =>
    send('checkPasswordReset', await caller('anonymous'), { payload: { code: unknownToken } }),
  'confirmPasswordReset reset_link_invalid': async () =>
    send('confirmPasswordReset', await caller('anonymous'), {
      payload: { code: unknownToken, new_password: newPassword },
    }),
  'confirmRegistration confirmation_link_invalid': async () =>
    send('confirmRegistration', await caller('anonymous'), {
      payload: { code: unknownToken, password: newPassword },
    }),
  'confirmRegistration credentials_invalid': () => confirm('password'),
  'confirmRegistration email_taken': () => confirm('address taken'),
  'register email_taken': async () => {
    const person = await caller('anonymous');
    return send('register', person, { payload: { email: person.user.email, password: newPassword } });
  },
  'signIn credentials_invalid': async () => {
    const person = await caller('user');
    return logIn({ ...person, user: { ...person.user, password: newPassword } });
  },
  'signIn second_factor_required': async () => logIn(await withSecondFactor()),
  'signIn second_factor_invalid': async () => logIn(await withSecondFactor(), '000000'),
  'signIn account_not_active': async () => logIn(await caller('deactivated')),
  'verifyToken token_invalid': async () =>
    send('verifyToken', await caller('anonymous'), { payload: { token: unknownToken } }),
  'approveUser already_active': () => about('approveUser', {}),
  'changePassword password_elsewhere': async () => send('changePassword', await withoutPassword()),
  'deactivateUser self_change': () => aboutOneself('deactivateUser'),
  'deleteAccount last_admin': async () => {
    const alone = await testServer();
    return alone.as(await alone.fixtures.admin()).inject({ method: 'DELETE', url: '/user/account' });
  },
  'promoteUser not_active': () => about('promoteUser', { status: 'pending' }),
  'rejectUser not_pending': () => about('rejectUser', {}),
  'setUserPassword closed': () => about('setUserPassword', { status: 'deactivated' }),
  'setUserPassword self_change': () => aboutOneself('setUserPassword'),
  'setUserPassword password_elsewhere': async () =>
    send('setUserPassword', await admin(), {
      url: userPath('setUserPassword', (await withoutPassword()).user),
    }),
  'suspendUser closed': () => about('suspendUser', { status: 'deactivated' }),
  'suspendUser self_change': () => aboutOneself('suspendUser'),
  'updateUserAccess not_active': () => about('updateUserAccess', { status: 'pending' }),
  'withdrawApproval not_active': () => about('withdrawApproval', { status: 'pending' }),
  'withdrawApproval approval_settled': () => about('withdrawApproval', { role: 'admin' }),
  'confirmSecondFactor second_factor_on': async () => {
    const person = await withSecondFactor();
    return send('confirmSecondFactor', person, { payload: { code: '123456' } });
  },
  'confirmSecondFactor second_factor_invalid': async () => {
    const person = await caller('user');
    await server.as(person.token).call(startSecondFactor);
    return send('confirmSecondFactor', person, { payload: { code: '000000' } });
  },
  'startSecondFactor second_factor_on': async () => send('startSecondFactor', await withSecondFactor()),
  'resetSecondFactor self_change': () => aboutOneself('resetSecondFactor'),
  'answerDatasetRequest already_answered': async () => {
    const person = await admin();
    const request = await requestFor('answerDatasetRequest', person, false);
    await send('answerDatasetRequest', person, request);
    return send('answerDatasetRequest', person, request);
  },
  ...Object.fromEntries(
    ['getOriginal', 'getOriginalFile'].flatMap((name) => [
      [`${name} not_deidentifiable`, () => originalOf(name, 'a picture')],
      [`${name} range_not_satisfiable`, () => originalOf(name, 'a range behind the end')],
    ]),
  ),
  'createApiToken not_found': async () =>
    send('createApiToken', await caller('user'), {
      payload: { name: 'Betik', scopes: ['slides:read'], datasets: ['Yok'] },
    }),
  'createApiToken too_many_api_tokens': async () => {
    const person = await caller('user');
    for (let i = 0; i < maxApiTokens; i++) await server.fixtures.apiToken(person.user);
    return send('createApiToken', person);
  },
  'grantDataset not_found': async () =>
    send('grantDataset', await admin(), { payload: { dataset: 'Yok', uid: missingId } }),
  'requestDataset not_found': async () =>
    send('requestDataset', await caller('user'), { payload: { dataset: 'Yok', reason: 'Tez' } }),
  'updateDataset not_found': async () =>
    send('updateDataset', await admin(), { payload: { dataset: 'Yok', access: 'open' } }),
  'createCase not_found': async () =>
    send('createCase', await admin(), { payload: { dataset: 'Yok', name: 'V-1', slides: [] } }),
  'updateCase conflict': async () => send('updateCase', await admin(), { payload: { version: 99 } }),
  'createSavedView not_found': async () =>
    send('createSavedView', await caller('user'), {
      payload: { image_id: missingId, title: 'G', field: { x: 0, y: 0, zoom: 1 } },
    }),
  'createSavedView too_many_saved_views': async () => {
    const person = await caller('user');
    await insertSavedViews(server.services.db, person.user.uid, maxSavedViews);
    return send('createSavedView', person);
  },
  'updateSavedView conflict': async () =>
    send('updateSavedView', await caller('user'), { payload: { version: 99 } }),
  'createCollection not_found': async () =>
    send('createCollection', await caller('user'), {
      payload: { title: 'K', items: [{ type: 'case', id: missingId }], readers: [] },
    }),
  'createCollection too_many_collections': async () => {
    const person = await caller('user');
    await insertCollections(server.services.db, person.user.uid, maxOwnCollections);
    return send('createCollection', person);
  },
  'updateCollection conflict': async () =>
    send('updateCollection', await caller('user'), { payload: { version: 99 } }),
  'createShareLink not_found': async () =>
    send('createShareLink', await caller('user'), {
      payload: { target: { type: 'slide', id: missingId }, title: 'B' },
    }),
  'createShareLink sharing_off': async () => {
    const { id } = await server.fixtures.image({ dataset_name: 'Paylaşılmayan' });
    const payload = { target: { type: 'slide', id }, title: 'B' };
    return send('createShareLink', await caller('user'), { payload });
  },
  'openShareLink not_found': async () =>
    send('openShareLink', await caller('anonymous'), { payload: { secret: unknownToken } }),
  'openShareLink password_required': () => openProtectedLink(undefined),
  'openShareLink password_invalid': () => openProtectedLink('yanlış'),
  'changeImages not_found': async () =>
    send('changeImages', await admin(), { payload: { ids: [missingId], organ_type: 'Liver' } }),
  ...Object.fromEntries(
    ['checkCatalogueImport', 'applyCatalogueImport'].flatMap((name) => [
      [`${name} invalid_request`, async () => send(name, await admin(), { payload: Buffer.from('x') })],
      [
        `${name} too_large`,
        async () => send(name, await admin(), { headers: { ...csv, 'content-length': String(2 ** 40) } }),
      ],
      [
        `${name} unsupported_type`,
        async () =>
          send(name, await admin(), { payload: {}, headers: { 'content-type': 'application/json' } }),
      ],
    ]),
  ),
  'applyCatalogueImport import_changed': async () =>
    send('applyCatalogueImport', await admin(), { query: { plan: 'x'.repeat(43) } }),
  ...Object.fromEntries(
    (
      [
        'updateAnnotationLayer',
        'deleteAnnotationLayer',
        'changeAnnotations',
        'importAnnotationFile',
        'restoreAnnotation',
      ] as const
    ).map((name) => [
      `${name} layer_locked`,
      async () => {
        const person = await caller('user');
        const request = await requestFor(name, person, false);
        await server.services.db.updateTable('annotation_layers').set({ locked_by: 'owner' }).execute();
        return send(name, person, request);
      },
    ]),
  ),
  ...Object.fromEntries(
    (['changeAnnotations', 'importAnnotationFile', 'restoreAnnotation'] as const).map((name) => [
      `${name} layer_full`,
      async () => {
        const person = await caller('user');
        const request = await requestFor(name, person, false);
        await server.services.db.updateTable('annotation_layers').set({ annotation_count: 50_000 }).execute();
        return send(name, person, request);
      },
    ]),
  ),
  'updateAnnotationClasses conflict': async () =>
    send('updateAnnotationClasses', await admin(), { payload: { classes: [], version: 9 } }),
  'updateAnnotationLayer conflict': async () =>
    send('updateAnnotationLayer', await caller('user'), { payload: { name: 'Stroma', version: 0 } }),
  'changeAnnotations conflict': async () => {
    const change = { op: 'delete', id: missingId, base_revision: 1 };
    return send('changeAnnotations', await caller('user'), { payload: { changes: [change] } });
  },
  'createAnnotationLayer too_many_layers': async () => {
    const person = await caller('user');
    const request = await requestFor('createAnnotationLayer', person, false);
    const [imageId = ''] = /[\da-f-]{36}/.exec(request.url) ?? [];
    for (let i = 0; i < 200; i++) {
      await server.fixtures.layer({ owner_uid: person.user.uid, image_id: imageId });
    }
    return send('createAnnotationLayer', person, request);
  },
  'abandonUpload upload_ended': async () => {
    const person = await admin();
    const request = await requestFor('abandonUpload', person, false);
    const { db } = server.services;
    await db.updateTable('uploads').set({ state: 'done' }).where('uid', '=', person.user.uid).execute();
    return send('abandonUpload', person, request);
  },
  'beginUpload upload_exists': async () => {
    const request = await requestFor('beginUpload', await admin(), false);
    await send('beginUpload', await admin(), request);
    return send('beginUpload', await admin(), request);
  },
  ...Object.fromEntries(
    (
      [
        ['upload_too_large', { uploadMaxBytes: 1 }],
        ['quota_exceeded', { uploadQuotaBytes: 1 }],
      ] as const
    ).map(([code, config]) => [
      `beginUpload ${code}`,
      async () => {
        const limited = await testServer({ config });
        const body = { dataset: 'Yeni', path: 'a.svs', is_folder: false, file_count: 1, size_bytes: 2 };
        return limited.as(await limited.fixtures.admin()).call(beginUpload, { body });
      },
    ]),
  ),
  ...Object.fromEntries(
    (['createResultFile', 'sendResultFile'] as const).flatMap((name) => [
      [`${name} upload_ended`, () => sendToResult(name, { state: 'ready' })],
      [`${name} upload_too_large`, () => sendToResult(name, { upload_bytes: null }, tooLong)],
      [`${name} quota_exceeded`, () => sendToResult(name, { upload_bytes: null }, beyondQuota)],
    ]),
  ),
  'sendResultFile conflict': () =>
    sendToResult('sendResultFile', { upload_bytes: 2 }, '2', { 'upload-offset': '1' }), // no byte has been received
  'createResultLayer too_many_layers': async () => {
    const person = await caller('user');
    const request = await requestFor('createResultLayer', person, false);
    for (let i = 0; i < resultLimits.layersPerSlide; i++) {
      expect((await send('createResultLayer', person, request)).status).toBe(201);
    }
    return send('createResultLayer', person, request);
  },
  'createUploadFile invalid_request': async () => send('createUploadFile', await admin(), { headers: {} }),
  'createUploadFile not_found': async () =>
    send('createUploadFile', await admin(), {
      headers: { 'upload-length': '1', 'upload-metadata': metadataOf({ upload: missingId, path: 'a.svs' }) },
    }),
  'createUploadFile upload_ended': async () => {
    const person = await admin();
    const request = await requestFor('createUploadFile', person, false);
    await send('createUploadFile', person, request);
    const { db } = server.services;
    await db.updateTable('upload_files').set({ state: 'checked' }).where('state', '=', 'open').execute();
    return send('createUploadFile', person, request);
  },
  'finishUploadFile upload_incomplete': async () => {
    const person = await admin();
    const { url } = await requestFor('getUploadFile', person, false);
    const fileId = /[\w-]{36}/.exec(url)?.[0] ?? '';
    return send('finishUploadFile', person, { url: pathOf('finishUploadFile', fileId) });
  },
  'sendUploadFile upload_ended': async () => {
    const { person, fileId } = await finishedFile();
    return send('sendUploadFile', person, { url: pathOf('sendUploadFile', fileId) });
  },
};

/** Returns the case of an error code that many endpoints return for the same reason; null for other codes. */
function commonCase(name: string, code: ErrorCode): (() => Promise<Answer>) | null {
  const { path, needsFreshSignIn, access } = endpointNamed(name);
  if (code === 'not_found' && path.includes(':')) {
    const template = path.replace(':dziLevel', '0').replace(':tile', '0_0.jpeg');
    const url = template.replace(/:(?!session)\w+/, missingId);
    return async () => {
      const person = await admin();
      if (access !== 'image-session') return send(name, person, { url });
      const created = await server.as(person.token).inject({ method: 'POST', url: '/auth/image-session' });
      const { session_id: session } = created.body as { session_id: string };
      return server.as(null).inject({ url: url.replace(':sessionId', session), query: { session } });
    };
  }
  if (code === 'not_acceptable') {
    return async () => send(name, await admin(), { headers: { accept: 'text/plain' } });
  }
  if (code === 'session_invalid' && access === 'catalogue.read') {
    const url = path.replace(/:\w+/, missingId);
    return async () => send(name, await caller('user'), { url, query: { session: unknownToken } });
  }
  if (code === 'reauth_required' && needsFreshSignIn) {
    return async () => {
      const person = await caller('user');
      server.clock.advance(16 * 60_000);
      return send(name, person);
    };
  }
  return null;
}

/** The causes of the errors, for test names: by endpoint and code, or by code when the cause is the same for all endpoints. */
const causes: Readonly<Record<string, string>> = {
  account_not_active: 'the account is deactivated',
  already_active: 'the account is already active',
  already_answered: 'the request for access has already been answered',
  approval_settled: 'the account belongs to an administrator',
  closed: 'the account is deactivated',
  confirmation_link_invalid: 'the confirmation code is unknown',
  conflict: 'the request states a version that is not the current one',
  'changeAnnotations conflict': 'the annotation to delete does not exist',
  'sendResultFile conflict': 'the request continues at a byte that the server has not reached',
  credentials_invalid: 'the password is wrong',
  email_taken: 'another account has the e-mail address',
  import_changed: 'the catalogue file is not the one whose changes were previewed',
  invalid_request: 'the body is a CSV file without any known column',
  'createUploadFile invalid_request': 'the headers of the upload are missing',
  last_admin: 'the caller is the only active administrator',
  layer_full: 'the layer contains the maximum of 50,000 annotations',
  layer_locked: 'the layer is locked',
  not_acceptable: 'the Accept header contains only text/plain',
  not_active: 'the account is pending',
  not_deidentifiable: 'the file is neither TIFF nor DICOM',
  not_found: 'no object has the id in the path',
  'createApiToken not_found': 'the dataset does not exist',
  'grantDataset not_found': 'the dataset does not exist',
  'requestDataset not_found': 'the dataset does not exist',
  'updateDataset not_found': 'the dataset does not exist',
  'createCase not_found': 'the dataset does not exist',
  'createSavedView not_found': 'the image does not exist',
  'createCollection not_found': 'the case in the collection does not exist',
  'createShareLink not_found': 'the image does not exist',
  'openShareLink not_found': 'the secret of the link is unknown',
  'changeImages not_found': 'the image does not exist',
  'createUploadFile not_found': 'the upload does not exist',
  not_pending: 'the account is active',
  password_elsewhere: 'the account has no password on this server',
  password_invalid: 'the password of the link is wrong',
  password_required: 'the link has a password and the request has none',
  quota_exceeded: 'the file is larger than the quota for all uploads',
  range_not_satisfiable: 'the requested byte range starts after the end of the file',
  reauth_required: 'the sign-in is older than 15 minutes',
  reset_link_invalid: 'the reset code is unknown',
  second_factor_invalid: 'the code of the authenticator app is wrong',
  second_factor_on: 'two-step verification is already on',
  second_factor_required: 'two-step verification is on and the request has no code',
  self_change: 'the target is the account of the caller',
  session_invalid: 'the image session in the query is unknown',
  sharing_off: 'sharing is off for the dataset of the slide',
  token_invalid: 'the token in the body is unknown',
  too_large: 'the Content-Length is 1 TiB',
  too_many_api_tokens: 'the account has the maximum number of API tokens',
  too_many_collections: 'the account has the maximum number of collections',
  too_many_layers: 'the slide has the maximum number of layers',
  too_many_saved_views: 'the account has the maximum number of saved views',
  unsupported_type: 'the content type is application/json',
  upload_ended: 'the upload is complete',
  upload_exists: 'another upload has the same path',
  upload_incomplete: 'the server has not received the whole file',
  upload_too_large: 'the file is larger than the maximum for one upload',
};

function causeOf(name: string, code: ErrorCode): string {
  const cause = causes[`${name} ${code}`] ?? causes[code];
  if (cause === undefined) throw new Error(`Add the cause of ${name} ${code} to the list of causes.`);
  return cause;
}

const pairs = Object.entries(declarations).flatMap(([name, { errors }]) =>
  errors.map((code) => [name, code] as const),
);
const isTestedElsewhere = (name: string, code: string) =>
  code in testedElsewhere || `${name} ${code}` in testedElsewhere;

const testedHere = pairs
  .filter((pair) => !isTestedElsewhere(...pair))
  .map(([name, code]) => {
    const error = `${errorDefinitions[code].status} ${code}`;
    return [endpointLabel(name), error, causeOf(name, code), name, code] as const;
  });

/** Describes a key of `testedElsewhere`, for test names. */
function descriptionOf(key: string): string {
  const [code = '', name] = key.split(' ').reverse();
  return `the error ${code} of ${name === undefined ? 'at least one endpoint' : `the endpoint ${name}`}`;
}

describe('errors that endpoints declare in the API contract:', () => {
  it.each(testedHere)('%s returns its declared error %s when %s', async (_, __, ___, name, code) => {
    const attempt = cases[`${name} ${code}`] ?? commonCase(name, code);
    if (!attempt) throw new Error(`Add a case for ${name} ${code}, or name the test that has one.`);
    expect(await attempt()).toMatchObject({ body: { code } });
  });

  it.each(Object.keys(cases).map((key) => [...(key.split(' ') as [string, string]), key] as const))(
    'the endpoint %s declares the error %s, for which this file has a test case',
    (_, __, key) => {
      expect(pairs.map(([name, code]) => `${name} ${code}`)).toContain(key);
    },
  );

  it.each(Object.keys(testedElsewhere).map((key) => [descriptionOf(key), key] as const))(
    'the contract still declares %s, which is tested in another file',
    (_, key) => {
      expect(pairs.some(([name, code]) => key === code || key === `${name} ${code}`)).toBe(true);
    },
  );
});
