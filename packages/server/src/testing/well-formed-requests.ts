/**
 * Builds a valid request for every endpoint except those for pixels, to test the permissions of every actor.
 *
 * Longer than 350 lines because every endpoint has its request here.
 */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  type AnnotationFeature,
  createImageSession,
  type Endpoint,
  endpoints,
  listSignIns,
  openShareLink,
  requestPasswordReset,
  type ShareTargetType,
  startSecondFactor,
  type User,
} from '@lamina/contract';
import { buildIcc, buildSvs } from '@lamina/slide/testing';
import postalMime from 'postal-mime';
import { applyChanges } from '../annotations/apply-changes.ts';
import { parseFeature } from '../annotations/parse-feature.ts';
import { uidOf } from '../dicomweb/uids.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import { lockLayer } from '../store/annotation-layers.ts';
import { saveCase } from '../store/cases.ts';
import { saveCollection } from '../store/collections.ts';
import { insertGrant, setDownloadGrant } from '../store/dataset-grants.ts';
import { saveDatasetRequest } from '../store/dataset-requests.ts';
import { saveDataset } from '../store/datasets.ts';
import { insertRegistration } from '../store/registrations.ts';
import { insertResultLayer, newResultColumns } from '../store/result-layers.ts';
import { saveSavedView } from '../store/saved-views.ts';
import { insertShareLink } from '../store/share-links.ts';
import { oneTimeCode } from './one-time-code.ts';
import type { Actor } from './permission-matrix.ts';
import type { TestServer, TestUser } from './test-server.ts';

/** A caller: its account, if any, and its bearer token. */
export interface Caller {
  readonly user: TestUser;
  readonly token: string | null;
  /** Data of the share link, if the caller is a visitor. */
  readonly visitor?: GivenVisitor;
}

/** A visitor who has opened the share link of a collection. */
export interface GivenVisitor {
  readonly session: string;
  readonly secret: string;
  readonly linkId: string;
  readonly collectionId: string;
  /** The slide of the collection, whose annotations the link shows. */
  readonly imageId: string;
}

export interface WellFormedRequest {
  /** Relative to the API base. */
  readonly url: string;
  readonly payload?: object;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

/** Well-formed ids and values of things that do not exist. */
export const unknownToken = 'A'.repeat(43);
export const missingId = '00000000-0000-4000-8000-000000000000';
export const newPassword = 'yepyeni-şifre';

/** An annotation at the upper left corner of a slide. */
export function pointFeature(id: string = randomUUID()): AnnotationFeature {
  return {
    type: 'Feature',
    id,
    geometry: { type: 'Point', coordinates: [1, 1] },
    properties: { objectType: 'annotation' },
  };
}

const tus = { 'tus-resumable': '1.0.0' } as const;

interface UploadIds {
  readonly uploadId: string;
  readonly fileId: string;
  readonly path: string;
}

interface WellFormedRequests {
  /** Creates a caller of this kind with a new account, and signs it in if its status allows that. */
  caller(actor: Actor): Promise<Caller>;
  /** Creates a target and returns a request to it. @param isAnonymous the caller is not signed in to an account */
  requestFor(name: string, caller: Caller, isAnonymous: boolean): Promise<WellFormedRequest>;
}

/** @param server returns the server; it starts before the tests run, but after their names are collected */
export function wellFormedRequests(server: () => TestServer): WellFormedRequests {
  async function caller(actor: Actor): Promise<Caller> {
    const { fixtures, services } = server();
    if (actor === 'anonymous') return { user: await fixtures.user(), token: null };
    if (actor === 'visitor')
      return { user: await fixtures.user(), token: null, visitor: await createVisitorFixture() };
    if (actor === 'bad token') return { user: await fixtures.user(), token: unknownToken };
    if (actor === 'pending' || actor === 'suspended') {
      const user = await fixtures.user({ status: actor });
      return { user, token: await fixtures.token(user) };
    }
    if (actor === 'deactivated') {
      const user = await fixtures.user();
      const token = await fixtures.token(user);
      await services.db.updateTable('users').set({ status: actor }).where('uid', '=', user.uid).execute();
      return { user: { ...user, status: actor }, token };
    }
    const user = await fixtures.user({ role: actor });
    return { user, token: await fixtures.token(user) };
  }

  /** Creates an image without a file. It first waits for scans that a call has started, which would mark the image as missing. */
  async function createImageFixture(is?: Parameters<TestServer['fixtures']['image']>[0]) {
    const { fixtures, services } = server();
    await services.catalogue.settled();
    return fixtures.image(is);
  }

  /** Creates a slide in an open dataset whose slides may be shared. */
  async function sharedImage(): Promise<string> {
    const { services, clock } = server();
    const [name, now] = [`Paylaşılan ${randomUUID()}`, clock.now().toISOString()];
    await saveDataset(services.db, { name, access: 'open', isListed: false, isShared: true, now });
    return (await createImageFixture({ dataset_name: name })).id;
  }

  async function createViewFixture(uid: string): Promise<string> {
    const { services, clock } = server();
    const at = clock.now().toISOString();
    const id = randomUUID();
    const field = JSON.stringify({ x: 1, y: 1, zoom: 1, rotation: 0, mirrored: false });
    const shown = {
      image_id: await sharedImage(),
      title: 'G',
      text: null,
      field,
      colours: null,
      layers: null,
    };
    const row = { id, uid, ...shown, version: 1, created_at: at, updated_at: at };
    await services.db.transaction().execute((tx) => saveSavedView(tx, row));
    return id;
  }

  /** Creates a collection of one slide with a question, which every member may read. */
  async function createCollectionFixture(uid: string, imageId?: string): Promise<string> {
    const { services, clock } = server();
    const at = clock.now().toISOString();
    const id = randomUUID();
    const question = { kind: 'text', text: 'Neden?' } as const;
    const items = [{ type: 'slide', id: imageId ?? (await sharedImage()), text: null, question } as const];
    const row = { id, uid, title: 'K', description: null, version: 1, created_at: at, updated_at: at };
    const readers = { readers: 'members', readerUids: [], ownerName: null } as const;
    await services.db.transaction().execute((tx) => saveCollection(tx, { ...row, ...readers, items }));
    return id;
  }

  async function createLinkFixture(
    uid: string,
    target: { readonly type: ShareTargetType; readonly id: string },
  ) {
    const { services, clock } = server();
    const [id, secret] = [randomUUID(), newSecret()];
    const createdAt = clock.now();
    const row = {
      id,
      uid,
      secret_hash: hashSecret(secret),
      title: 'B',
      target_type: target.type,
      target_id: target.id,
      password_hash: null,
      shows_annotations: 1,
      allows_movement: 1,
      max_openings: null,
      openings: 0,
      created_at: createdAt.toISOString(),
      expires_at: new Date(createdAt.getTime() + 7 * 24 * 3_600_000).toISOString(),
      ended_at: null,
    } as const;
    await services.db.transaction().execute((tx) => insertShareLink(tx, row));
    return { id, secret };
  }

  async function createVisitorFixture(): Promise<GivenVisitor> {
    const { fixtures, as } = server();
    const { uid } = await fixtures.user();
    const imageId = await sharedImage();
    const collectionId = await createCollectionFixture(uid, imageId);
    const { id: linkId, secret } = await createLinkFixture(uid, { type: 'collection', id: collectionId });
    const { body } = await as(null).call(openShareLink, { body: { secret } });
    return { session: body.session_id, secret, linkId, collectionId, imageId };
  }

  /** Creates a result layer that waits for its file. */
  async function createResultLayerFixture(uid: string): Promise<string> {
    const { services, clock } = server();
    const at = clock.now().toISOString();
    const row = {
      ...newResultColumns,
      id: randomUUID(),
      image_id: (await createImageFixture()).id,
      name: 'Tumor',
      kind: 'raster',
      owner_uid: uid,
      source: 'upload',
      state: 'uploading',
      created_at: at,
      updated_at: at,
    } as const;
    await services.db.transaction().execute((tx) => insertResultLayer(tx, row));
    return row.id;
  }

  let registered = 0;
  let slide: Promise<string> | null = null;

  /** Returns the id of an image whose file exists, for calls that read it. */
  async function slideOnDisk(): Promise<string> {
    const { config, services } = server();
    const folder = join(config.slidesDir, 'Protokol');
    await fs.mkdir(folder, { recursive: true });
    await fs.writeFile(join(folder, 'protocol.svs'), await buildSvs({ profile: buildIcc() }));
    await services.catalogue.rescan();
    await services.catalogue.settled();
    const { id } = await services.db
      .selectFrom('images')
      .select('id')
      .where('dataset_name', '=', 'Protokol')
      .executeTakeFirstOrThrow();
    return id;
  }
  let svs: Uint8Array | null = null;

  /** Creates a restricted dataset that members may request. @param grantedTo uid of an account with a grant */
  async function restrictedDataset(grantedTo?: string): Promise<string> {
    const { db } = server().services;
    const [name, now] = [`Kısıtlı ${randomUUID()}`, server().clock.now().toISOString()];
    await saveDataset(db, { name, access: 'restricted', isListed: true, now });
    if (grantedTo !== undefined) {
      await insertGrant(db, { uid: grantedTo, dataset: name, grantedBy: 'test', now });
    }
    return name;
  }

  /** Creates an open dataset. */
  async function sharedDataset(): Promise<string> {
    const { db } = server().services;
    const [name, now] = [`Açık ${randomUUID()}`, server().clock.now().toISOString()];
    await saveDataset(db, { name, access: 'open', isListed: false, now });
    return name;
  }

  /** Creates a case of two slides in an open dataset. */
  async function createCaseFixture(): Promise<{ readonly id: string; readonly images: readonly string[] }> {
    const { services, clock } = server();
    const dataset = await sharedDataset();
    const images = [
      (await createImageFixture({ dataset_name: dataset })).id,
      (await createImageFixture({ dataset_name: dataset })).id,
    ];
    const at = clock.now().toISOString();
    const id = randomUUID();
    const slides = images.map((image_id) => ({ image_id, stain: null, block: null, note: null }));
    const times = { created_at: at, updated_at: at };
    const row = { id, dataset, name: 'V-1', description: null, version: 1, ...times };
    await services.db.transaction().execute((tx) => saveCase(tx, { ...row, slides, registrations: [] }));
    return { id, images };
  }

  /** Creates an upload of one byte, with its file begun or completely received. */
  async function uploadOf(uid: string, has: 'no file' | 'a file' | 'a whole file'): Promise<UploadIds> {
    const { uploads, db } = server().services;
    // The number of unfinished uploads is limited.
    const begun = await db.selectFrom('uploads').select('id').execute();
    if (begun.length >= 50) {
      await db.deleteFrom('upload_files').execute();
      await db.deleteFrom('uploads').execute();
    }
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

  /** Creates an annotation that its owner has deleted. */
  async function deletedAnnotation(uid: string): Promise<{ layerId: string; annotationId: string }> {
    const { db, now } = server().services;
    const layer = await server().fixtures.layer({ owner_uid: uid });
    const feature = parseFeature(pointFeature(), { width: null, height: null });
    const change = { id: feature.id, feature, base: null };
    await db.transaction().execute(async (tx) => {
      await applyChanges(tx, { layer, author: uid, now: now().toISOString() }, [change]);
      const changed = await lockLayer(tx, layer.id);
      if (changed === null) throw new Error('the layer is gone');
      const deletion = { id: feature.id, feature: null, base: 1 };
      await applyChanges(tx, { layer: changed, author: uid, now: now().toISOString() }, [deletion]);
    });
    return { layerId: layer.id, annotationId: feature.id };
  }

  /** Returns a well-formed request to an existing target. @param isAnonymous the caller is not signed in to an account */
  // oxlint-disable-next-line lamina/max-own-lines -- one case for each endpoint
  async function requestFor(
    name: string,
    { user, token, visitor }: Caller,
    isAnonymous: boolean,
  ): Promise<WellFormedRequest> {
    const { fixtures, as, outbox } = server();
    const endpoint = endpoints[name] as Endpoint;
    const to = (params: Record<string, string>, payload?: object): WellFormedRequest => ({
      url: endpoint.path.replace(/:(\w+)/g, (whole, param: string) => params[param] ?? whole),
      ...(payload && { payload }),
    });
    const target = async (is?: Partial<User>) => ({ uid: (await fixtures.user(is)).uid });

    switch (name) {
      case 'register':
        registered += 1;
        return to({}, { email: `new-${registered}@example.org`, password: 'uzun-bir-şifre' });
      case 'confirmRegistration': {
        registered += 1;
        const { db, signIn, now } = server().services;
        const code = newSecret();
        const email = `confirmed-${registered}@example.org`;
        await insertRegistration(db, {
          hash: hashSecret(code),
          uid: randomUUID(),
          email,
          email_key: email,
          password_hash: await signIn.hashPassword('uzun-bir-şifre', null),
          display_name: null,
          affiliation: null,
          purpose: null,
          language: 'tr',
          expires_at: new Date(now().getTime() + 60_000).toISOString(),
        });
        return to({}, { code, password: 'uzun-bir-şifre' });
      }
      case 'signIn':
        return to({}, { email: user.email, password: isAnonymous ? 'yanlış-şifre' : user.password });
      case 'verifyToken':
        return to({}, { token: isAnonymous || token === null ? unknownToken : token });
      case 'requestPasswordReset':
        return to({}, { email: user.email });
      case 'checkPasswordReset':
      case 'confirmPasswordReset': {
        if (isAnonymous) return to({}, { code: unknownToken, new_password: newPassword });
        // Only an active account gets the e-mail, so the reset is requested before the account gets its status.
        const { db } = server().services;
        await db.updateTable('users').set({ status: 'active' }).where('uid', '=', user.uid).execute();
        await as(null).call(requestPasswordReset, { body: { email: user.email } });
        const emails = await Promise.all((await outbox()).map((email) => postalMime.parse(email)));
        const mine = emails.filter(({ to }) => to?.some(({ address }) => address === user.email)).at(-1);
        await db.updateTable('users').set({ status: user.status }).where('uid', '=', user.uid).execute();
        return to({}, { code: /#code=(\S+)/.exec(mine?.text ?? '')?.[1], new_password: newPassword });
      }
      case 'changeLanguage':
        return to({}, { language: 'en' });
      case 'createApiToken':
        return to({}, { name: 'Betik', scopes: ['slides:read'] });
      case 'deleteApiToken':
        return to({ tokenId: (await fixtures.apiToken(user)).id });
      case 'revokeApiToken':
        return to({ tokenId: (await fixtures.apiToken(await fixtures.user())).id });
      case 'changePassword':
        return to({}, { new_password: newPassword });
      case 'approveUser':
        return to(await target({ status: 'pending' }), { role: 'viewer' });
      case 'getUser':
      case 'withdrawApproval':
      case 'suspendUser':
      case 'deactivateUser':
      case 'promoteUser':
        return to(await target());
      case 'updateUserAccess':
        return to(await target(), { datasets: [], expires_at: null });
      case 'approveApplications':
        return to({}, { uids: [(await target({ status: 'pending' })).uid] });
      case 'rejectApplications':
        return to({}, { uids: [(await target({ status: 'pending' })).uid], reason: 'Kurum doğrulanamadı.' });
      case 'rejectUser':
        return to(await target({ status: 'pending' }), { reason: 'Kurumunuz doğrulanamadı.' });
      case 'updateDataset':
        return to({}, { dataset: await restrictedDataset(), access: 'open' });
      case 'grantDataset':
        return to({}, { dataset: await restrictedDataset(), uid: (await fixtures.user()).uid });
      case 'revokeDataset': {
        const { uid } = await fixtures.user();
        return { ...to({}), query: { dataset: await restrictedDataset(uid), uid } };
      }
      case 'requestDataset':
        return to({}, { dataset: await restrictedDataset(), reason: 'My thesis.' });
      case 'answerDatasetRequest': {
        const dataset = await restrictedDataset();
        const { uid } = await fixtures.user();
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
        return to({}, { ids: [(await createImageFixture()).id], organ_type: 'Liver' });
      case 'checkCatalogueImport':
      case 'applyCatalogueImport': {
        const file = Buffer.from(`id,organ_type\n${(await createImageFixture()).id},Liver\n`);
        const { plan } = await server().services.catalogueImport.check(file, 'tr');
        return {
          ...to({}, file),
          headers: { 'content-type': 'text/csv' },
          ...(name === 'applyCatalogueImport' && { query: { plan } }),
        };
      }
      case 'getImage':
      case 'getImagePosition':
      case 'updateImage':
      case 'deleteImage':
        return to(
          { imageId: (await createImageFixture()).id },
          name === 'updateImage' ? { organ_type: 'Liver' } : undefined,
        );
      case 'createCase': {
        const dataset = await sharedDataset();
        const { id } = await createImageFixture({ dataset_name: dataset });
        return to({}, { dataset, name: 'V-1', slides: [{ image_id: id }] });
      }
      case 'getCase':
      case 'iiifCaseManifest':
      case 'deleteCase':
        return to({ caseId: (await createCaseFixture()).id });
      case 'updateCase':
        return to({ caseId: (await createCaseFixture()).id }, { name: 'V-2' });
      case 'registerCaseSlides': {
        const { id, images } = await createCaseFixture();
        const points = [
          { from: [0, 0], to: [5, 5] },
          { from: [90, 0], to: [95, 5] },
        ];
        return to({ caseId: id }, { from_image: images[0], to_image: images[1], points });
      }
      case 'searchSeriesOfStudy':
      case 'searchInstancesOfStudy':
      case 'searchInstancesOfSeries':
      case 'getStudyMetadata':
      case 'getSeriesMetadata':
      case 'getInstanceMetadata':
      case 'getFrames':
      case 'getIccProfile':
      case 'getStudyThumbnail':
      case 'getSeriesThumbnail':
      case 'getInstanceThumbnail': {
        slide ??= slideOnDisk();
        const id = await slide;
        const uids = { study: uidOf(id, 'study'), series: uidOf(id, 'series'), instance: uidOf(id, 0) };
        const params: Record<string, string> = { ...uids, frames: '1' };
        return { url: endpoint.path.replace(/:(\w+)/g, (_, param: string) => params[param] ?? '') };
      }
      case 'iiifBase':
      case 'iiifInformation':
      case 'iiifImage':
      case 'iiifManifest': {
        slide ??= slideOnDisk();
        const { url } = to({ imageId: await slide });
        return { url: url.replace(/:region.*/, 'full/20,/0/default.jpg') };
      }
      case 'listAnnotationLayers':
      case 'createAnnotationLayer':
        return to(
          { imageId: visitor?.imageId ?? (await createImageFixture()).id },
          name === 'createAnnotationLayer' ? { name: 'Tumor' } : undefined,
        );
      case 'countAnnotations':
        return { ...to({}), query: { images: (await createImageFixture()).id } };
      case 'streamAnnotationEvents':
        return { ...to({ imageId: (await createImageFixture()).id }), query: { wait: '0' } };
      case 'listAnnotations': {
        const place = visitor && ({ image_id: visitor.imageId, visibility: 'members' } as const);
        return to({ layerId: (await fixtures.layer({ owner_uid: user.uid, ...place })).id });
      }
      case 'listAnnotationHistory':
      case 'exportAnnotationFile':
      case 'deleteAnnotationLayer':
      case 'restoreAnnotationLayer':
        return to({ layerId: (await fixtures.layer({ owner_uid: user.uid })).id });
      case 'updateAnnotationLayer':
        return to(
          { layerId: (await fixtures.layer({ owner_uid: user.uid })).id },
          { name: 'Stroma', version: 1 },
        );
      case 'importAnnotationFile': {
        const { url } = to({ layerId: (await fixtures.layer({ owner_uid: user.uid })).id });
        const payload = Buffer.from(JSON.stringify(pointFeature()));
        return { url, payload, headers: { 'content-type': 'application/geo+json' } };
      }
      case 'changeAnnotations': {
        const change = { op: 'put', feature: pointFeature(), base_revision: null };
        return to({ layerId: (await fixtures.layer({ owner_uid: user.uid })).id }, { changes: [change] });
      }
      case 'getAnnotationClasses':
      case 'updateAnnotationClasses': {
        const dataset = `Karaciğer ${randomUUID()}`;
        await createImageFixture({ dataset_name: dataset });
        const classes = [{ name: 'Tumor', color: [200, 0, 0], shortcut: '1' }];
        const payload = name === 'updateAnnotationClasses' ? { classes, version: 0 } : undefined;
        return to({ datasetId: encodeURIComponent(dataset) }, payload);
      }
      case 'restoreAnnotation':
        return to(await deletedAnnotation(user.uid));
      case 'createSavedView': {
        const field = { x: 1, y: 1, zoom: 1 };
        return to({}, { image_id: await sharedImage(), title: 'G', field });
      }
      case 'getSavedView':
      case 'deleteSavedView':
        return to({ viewId: await createViewFixture(user.uid) });
      case 'updateSavedView':
        return to({ viewId: await createViewFixture(user.uid) }, { title: 'G2' });
      case 'createCollection': {
        const items = [{ type: 'slide', id: await sharedImage() }];
        return to({}, { title: 'K', items, readers: 'members' });
      }
      case 'getCollection':
      case 'iiifCollectionManifest':
      case 'deleteCollection':
      case 'listAnswers':
        return to({ collectionId: await createCollectionFixture(user.uid) });
      case 'updateCollection':
        return to({ collectionId: await createCollectionFixture(user.uid) }, { title: 'K2' });
      case 'present':
        return to({ collectionId: await createCollectionFixture(user.uid) }, { item: 0 });
      case 'followPresentation':
      case 'answerQuestion': {
        const collectionId = visitor?.collectionId ?? (await createCollectionFixture(user.uid));
        return name === 'answerQuestion'
          ? to({ collectionId }, { item: 0, answer: 'Bilmiyorum.' })
          : { ...to({ collectionId }), query: { wait: '0' } };
      }
      case 'createShareLink':
        return to({}, { target: { type: 'slide', id: await sharedImage() }, title: 'B' });
      case 'endShareLink':
        return to({
          linkId: (await createLinkFixture(user.uid, { type: 'slide', id: await sharedImage() })).id,
        });
      case 'openShareLink': {
        const maker = await fixtures.user();
        const { secret } = await createLinkFixture(maker.uid, { type: 'slide', id: await sharedImage() });
        return to({}, { secret });
      }
      case 'getOriginal':
      case 'getOriginalFile': {
        const fileName = `${randomUUID()}.svs`;
        svs ??= await buildSvs({ width: 64, height: 64, tileSize: 64, downsamples: [1] });
        await fs.writeFile(join(server().config.slidesDir, fileName), svs);
        const dataset = await restrictedDataset(user.uid);
        await setDownloadGrant(server().services.db, { uid: user.uid, dataset, isAllowed: true });
        const file = { path: fileName, file_name: fileName, dataset_name: dataset, fingerprint: 'x' };
        const { id } = await createImageFixture(file);
        const { url } = to({ imageId: id });
        return { url: url.replace('*', fileName) };
      }
      case 'listResultLayers':
      case 'createResultLayer':
        return to(
          { imageId: (await createImageFixture()).id },
          name === 'createResultLayer' ? { name: 'Tumor', kind: 'raster' } : undefined,
        );
      case 'deleteResultLayer':
      case 'getResultFile':
        return to({ layerId: await createResultLayerFixture(user.uid) });
      case 'createResultFile':
        return {
          ...to({ layerId: await createResultLayerFixture(user.uid) }),
          headers: { ...tus, 'upload-length': '2' },
        };
      case 'sendResultFile': {
        const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
        return {
          ...to({ layerId: await createResultLayerFixture(user.uid) }, Buffer.from('x')),
          headers: { ...tus, ...part, 'upload-length': '2' },
        };
      }
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

  return { caller, requestFor };
}
