/** For every endpoint that is not about pixels a request that is right, whoever sends it: by it everybody is tried. */
import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  createImageSession,
  type Endpoint,
  endpoints,
  listSignIns,
  requestPasswordReset,
  startSecondFactor,
  type User,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { insertGrant } from '../store/dataset-grants.ts';
import { saveDatasetRequest } from '../store/dataset-requests.ts';
import { saveDataset } from '../store/datasets.ts';
import { oneTimeCode } from './one-time-code.ts';
import type { Actor } from './permission-matrix.ts';
import type { TestServer, TestUser } from './test-server.ts';

/** Somebody who asks: an account, where there is one, and what is sent as the bearer token. */
export interface Asker {
  readonly user: TestUser;
  readonly token: string | null;
}

export interface WellFormedRequest {
  /** Relative to the API base. */
  readonly url: string;
  readonly payload?: object;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

/** Of the right form, and nobody's. */
export const unknownToken = 'A'.repeat(43);
export const missingId = '00000000-0000-4000-8000-000000000000';
export const newPassword = 'yepyeni-şifre';

const tus = { 'tus-resumable': '1.0.0' } as const;

interface UploadIds {
  readonly uploadId: string;
  readonly fileId: string;
  readonly path: string;
}

interface WellFormedRequests {
  /** A new account of this kind, signed in where it can be. */
  asker(actor: Actor): Promise<Asker>;
  /** To an existing target, which is made for it. `isStranger`: there is no account behind it to speak of. */
  requestFor(name: string, asker: Asker, isStranger: boolean): Promise<WellFormedRequest>;
}

/** @param server asked for when it is needed: it is made before the tests, not before they are named */
export function wellFormedRequests(server: () => TestServer): WellFormedRequests {
  async function asker(actor: Actor): Promise<Asker> {
    const { given, services } = server();
    if (actor === 'anonymous') return { user: await given.user(), token: null };
    if (actor === 'bad token') return { user: await given.user(), token: unknownToken };
    if (actor === 'pending' || actor === 'suspended') {
      const user = await given.user({ status: actor });
      return { user, token: await given.token(user) };
    }
    if (actor === 'deactivated') {
      const user = await given.user();
      const token = await given.token(user);
      await services.db.updateTable('users').set({ status: actor }).where('uid', '=', user.uid).execute();
      return { user: { ...user, status: actor }, token };
    }
    const user = await given.user({ role: actor });
    return { user, token: await given.token(user) };
  }

  let registered = 0;

  /** One that members may ask for. @param grantedTo who may see it */
  async function restrictedDataset(grantedTo?: string): Promise<string> {
    const { db } = server().services;
    const [name, now] = [`Kısıtlı ${randomUUID()}`, server().clock.now().toISOString()];
    await saveDataset(db, { name, access: 'restricted', isListed: true, now });
    if (grantedTo !== undefined) {
      await insertGrant(db, { uid: grantedTo, dataset: name, grantedBy: 'test', now });
    }
    return name;
  }

  /** Of one byte, and one of its files that is begun, or has come whole. */
  async function uploadOf(uid: string, has: 'no file' | 'a file' | 'a whole file'): Promise<UploadIds> {
    const { uploads } = server().services;
    const path = `${randomUUID()}.svs`;
    const announced = { dataset: 'Yeni', path, is_folder: false, file_count: 1, size_bytes: 1 };
    const origin = { address: '127.0.0.1', requestId: null };
    const { upload } = await uploads.begin({ uid, origin }, announced);
    const ids = { uploadId: upload.id, fileId: missingId, path };
    if (has === 'no file') return ids;
    const fileId = await uploads.beginFile(uid, { uploadId: upload.id, path, sizeBytes: 1, modifiedMs: 0 });
    if (has === 'a whole file') await uploads.parts.write(Readable.from([Buffer.from('x')]), fileId, 0);
    return { ...ids, fileId };
  }

  /** A well-formed request to an existing target. `isAnonymous`: there is no account behind it to speak of. */
  async function requestFor(
    name: string,
    { user, token }: Asker,
    isStranger: boolean,
  ): Promise<WellFormedRequest> {
    const { given, as, outbox } = server();
    const endpoint = endpoints[name] as Endpoint;
    const to = (params: Record<string, string>, payload?: object): WellFormedRequest => ({
      url: endpoint.path.replace(/:(\w+)/, (_, param: string) => params[param] ?? ''),
      ...(payload && { payload }),
    });
    const target = async (is?: Partial<User>) => ({ uid: (await given.user(is)).uid });

    switch (name) {
      case 'register':
        registered += 1;
        return to({}, { email: `new-${registered}@example.org`, password: 'uzun-bir-şifre' });
      case 'signIn':
        return to({}, { email: user.email, password: isStranger ? 'yanlış-şifre' : user.password });
      case 'verifyToken':
        return to({}, { token: isStranger || token === null ? unknownToken : token });
      case 'requestPasswordReset':
        return to({}, { email: user.email });
      case 'confirmPasswordReset': {
        if (isStranger) return to({}, { code: unknownToken, new_password: newPassword });
        // Asked for before the account was closed.
        const { db } = server().services;
        await db.updateTable('users').set({ status: 'active' }).where('uid', '=', user.uid).execute();
        await as(null).call(requestPasswordReset, { body: { email: user.email } });
        const letters = await Promise.all((await outbox()).map((letter) => postalMime.parse(letter)));
        const mine = letters.filter(({ to }) => to?.some(({ address }) => address === user.email)).at(-1);
        await db.updateTable('users').set({ status: user.status }).where('uid', '=', user.uid).execute();
        return to({}, { code: /#code=(\S+)/.exec(mine?.text ?? '')?.[1], new_password: newPassword });
      }
      case 'changePassword':
        return to({}, { new_password: newPassword });
      case 'approveUser':
        return to(await target({ status: 'pending' }), { role: 'viewer' });
      case 'getUser':
      case 'suspendUser':
      case 'deactivateUser':
      case 'promoteUser':
        return to(await target());
      case 'updateUserAccess':
        return to(await target(), { datasets: [], expires_at: null });
      case 'rejectUser':
        return to(await target({ status: 'pending' }), { reason: 'Kurumunuz doğrulanamadı.' });
      case 'updateDataset':
        return to({}, { dataset: await restrictedDataset(), access: 'open' });
      case 'grantDataset':
        return to({}, { dataset: await restrictedDataset(), uid: (await given.user()).uid });
      case 'revokeDataset': {
        const { uid } = await given.user();
        return { ...to({}), query: { dataset: await restrictedDataset(uid), uid } };
      }
      case 'requestDataset':
        return to({}, { dataset: await restrictedDataset(), reason: 'My thesis.' });
      case 'answerDatasetRequest': {
        const dataset = await restrictedDataset();
        const { uid } = await given.user();
        const id = randomUUID();
        const { db, now } = server().services;
        await saveDatasetRequest(db, { id, uid, dataset, reason: 'Tez', at: now().toISOString() });
        return to({ requestId: id }, { granted: true });
      }
      case 'resetSecondFactor':
        return to(await target());
      case 'endSignIn': {
        if (token === null) return to({ id: 'x' });
        const { body } = await as(token).call(listSignIns);
        return to({ id: body.sign_ins?.[0]?.id ?? 'x' });
      }
      case 'confirmSecondFactor': {
        if (token === null) return to({}, { code: '000000' });
        const { body } = await as(token).call(startSecondFactor);
        return to({}, { code: body.secret ? oneTimeCode(body.secret, server().clock.now()) : '000000' });
      }
      case 'setUserPassword':
        return to(await target(), { new_password: newPassword });
      case 'deleteImageSession': {
        if (token === null) return to({ sessionId: unknownToken });
        const { body } = await as(token).call(createImageSession);
        return to({ sessionId: body.session_id ?? unknownToken });
      }
      case 'changeImages':
        return to({}, { ids: [(await given.image()).id], organ_type: 'Liver' });
      case 'checkCatalogueImport':
      case 'applyCatalogueImport': {
        const file = Buffer.from(`id,organ_type\n${(await given.image()).id},Liver\n`);
        const { plan } = await server().services.catalogueImport.check(file, 'tr');
        return {
          ...to({}, file),
          headers: { 'content-type': 'text/csv' },
          ...(name === 'applyCatalogueImport' && { query: { plan } }),
        };
      }
      case 'getImage':
      case 'updateImage':
      case 'deleteImage':
        return to(
          { imageId: (await given.image()).id },
          name === 'updateImage' ? { organ_type: 'Liver' } : undefined,
        );
      case 'beginUpload': {
        const announced = { is_folder: false, file_count: 1, size_bytes: 1 };
        return to({}, { dataset: 'Yeni', path: `${randomUUID()}.svs`, ...announced });
      }
      case 'abandonUpload':
        return to({ ...(await uploadOf(user.uid, 'no file')) });
      case 'createUploadFile': {
        const { uploadId, path } = await uploadOf(user.uid, 'no file');
        const told = Object.entries({ upload: uploadId, path, modified: '0' });
        const metadata = told
          .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
          .join(',');
        return { ...to({}), headers: { ...tus, 'upload-length': '1', 'upload-metadata': metadata } };
      }
      case 'getUploadFile':
        return to({ ...(await uploadOf(user.uid, 'a file')) });
      case 'sendUploadFile': {
        const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
        return {
          ...to({ ...(await uploadOf(user.uid, 'a file')) }, Buffer.from('x')),
          headers: { ...tus, ...part },
        };
      }
      case 'finishUploadFile': {
        const sha256 = createHash('sha256').update('x').digest('hex');
        return to({ ...(await uploadOf(user.uid, 'a whole file')) }, { sha256 });
      }
      default:
        return to({});
    }
  }

  return { asker, requestFor };
}
