/**
 * A well-formed request for every endpoint that does not serve pixels, for tests of the permissions of every kind of caller.
 *
 * The file is long because it contains the request for each endpoint.
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

export interface Caller {
  /** The account of the caller. For `anonymous`, `bad token` and `visitor`: an account to which the caller is not signed in. */
  readonly user: TestUser;
  /** The bearer token that the caller sends, if any. */
  readonly token: string | null;
  /** Data of the share link, if the caller is a visitor. */
  readonly visitor?: GivenVisitor;
}

/** A visitor who has opened the share link of a collection. */
export interface GivenVisitor {
  readonly session: string; // id of the image session, a credential
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

/** Has the form of a bearer token, a session id or a code, but does not exist. */
export const unknownToken = 'A'.repeat(43);
/** Has the form of an id, but does not exist. */
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

const tusHeader = { 'tus-resumable': '1.0.0' } as const;

interface UploadIds {
  readonly uploadId: string;
  readonly fileId: string;
  readonly path: string;
}

interface WellFormedRequests {
  /** Creates a caller of this kind with a new account, and signs it in if its status allows this. */
  caller(actor: Actor): Promise<Caller>;
  /**
   * Creates the account, slide or other object that the request concerns, and returns the request.
   *
   * @param name name of the endpoint in the contract
   * @param isAnonymous the caller is not signed in to an account, so the request must not contain its password or token
   */
  requestFor(name: string, caller: Caller, isAnonymous: boolean): Promise<WellFormedRequest>;
}

/** Creates the functions. @param server returns the test server, which does not exist yet when tests are declared */
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

  /** Creates an image without a file. First waits for running scans, because they would mark the image as missing. */
  async function createImageFixture(fields?: Parameters<TestServer['fixtures']['image']>[0]) {
    const { fixtures, services } = server();
    await services.catalogue.settled();
    return fixtures.image(fields);
  }

  /** Creates a slide in an open dataset whose slides may be shared. @returns its image id */
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
    const content = {
      image_id: await sharedImage(),
      title: 'G',
      text: null,
      field,
      colours: null,
      layers: null,
    };
    const row = { id, uid, ...content, version: 1, created_at: at, updated_at: at };
    await services.db.transaction().execute((tx) => saveSavedView(tx, row));
    return id;
  }

  /** Creates a collection that every member may read: one slide with a question. @param imageId the slide; default: a new one */
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

  let registrationCount = 0;
  /** Id of the image of `writeSlide`, which all calls share. */
  let slideImageId: Promise<string> | null = null;

  /** Writes a slide file, and returns the id of its image, for calls that read the file. */
  async function writeSlide(): Promise<string> {
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
  /** Contents of the slide files of `getOriginal`; null before the first one. */
  let smallSvs: Uint8Array | null = null;

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
  async function newOpenDataset(): Promise<string> {
    const { db } = server().services;
    const [name, now] = [`Açık ${randomUUID()}`, server().clock.now().toISOString()];
    await saveDataset(db, { name, access: 'open', isListed: false, now });
    return name;
  }

  /** Creates a case of two slides in an open dataset. */
  async function createCaseFixture(): Promise<{ readonly id: string; readonly images: readonly string[] }> {
    const { services, clock } = server();
    const dataset = await newOpenDataset();
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

  /** Creates an upload of one byte: without a file, with a file without received bytes, or with a completely received file. */
  async function newUpload(user: User, has: 'no file' | 'empty file' | 'complete file'): Promise<UploadIds> {
    const { uploads, db } = server().services;
    // The server allows only 100 unfinished uploads of all accounts together (`maxOpenUploads`).
    const unfinished = await db.selectFrom('uploads').select('id').execute();
    if (unfinished.length >= 50) {
      await db.deleteFrom('upload_files').execute();
      await db.deleteFrom('uploads').execute();
    }
    const path = `${randomUUID()}.svs`;
    const declared = { dataset: 'Yeni', path, is_folder: false, file_count: 1, size_bytes: 1 };
    const origin = { address: '127.0.0.1', requestId: null };
    const { upload } = await uploads.begin({ uid: user.uid, origin }, declared);
    const ids = { uploadId: upload.id, fileId: missingId, path };
    if (has === 'no file') return ids;
    const fileId = await uploads.beginFile(user, { uploadId: upload.id, path, sizeBytes: 1, modifiedMs: 0 });
    if (has === 'complete file') await uploads.parts.write(Readable.from([Buffer.from('x')]), fileId, 0); // 0: offset
    return { ...ids, fileId };
  }

  /** Creates an annotation and deletes it. @returns its ids as path parameters */
  async function deletedAnnotation(uid: string): Promise<{ layerId: string; annotationId: string }> {
    const { db, now } = server().services;
    const layer = await server().fixtures.layer({ owner_uid: uid });
    const feature = parseFeature(pointFeature(), { width: null, height: null });
    const change = { id: feature.id, feature, base: null }; // `base`: the revision to replace; null for a new one
    await db.transaction().execute(async (tx) => {
      await applyChanges(tx, { layer, author: uid, now: now().toISOString() }, [change]);
      const changed = await lockLayer(tx, layer.id);
      if (changed === null) throw new Error('the layer is gone');
      const deletion = { id: feature.id, feature: null, base: 1 };
      await applyChanges(tx, { layer: changed, author: uid, now: now().toISOString() }, [deletion]);
    });
    return { layerId: layer.id, annotationId: feature.id };
  }

  // oxlint-disable-next-line lamina/max-own-lines -- one case for each endpoint
  async function requestFor(
    name: string,
    { user, token, visitor }: Caller,
    isAnonymous: boolean,
  ): Promise<WellFormedRequest> {
    const { fixtures, as, outbox } = server();
    const endpoint = endpoints[name] as Endpoint;
    /** Returns the request to the endpoint with these path parameters and this body. */
    const requestTo = (params: Record<string, string>, payload?: object): WellFormedRequest => ({
      url: endpoint.path.replace(/:(\w+)/g, (whole, param: string) => params[param] ?? whole),
      ...(payload && { payload }),
    });
    /** Creates an account for a call of an administrator. @returns its uid as the path parameter */
    const newUser = async (fields?: Partial<User>) => ({ uid: (await fixtures.user(fields)).uid });

    switch (name) {
      case 'register':
        registrationCount += 1;
        return requestTo({}, { email: `new-${registrationCount}@example.org`, password: 'uzun-bir-şifre' });
      case 'confirmRegistration': {
        registrationCount += 1;
        const { db, signIn, now } = server().services;
        const code = newSecret();
        const email = `confirmed-${registrationCount}@example.org`;
        await insertRegistration(db, {
          hash: hashSecret(code),
          uid: randomUUID(),
          email,
          email_key: email,
          password_hash: await signIn.hashPassword('uzun-bir-şifre', null), // null: no client requests it
          display_name: null,
          affiliation: null,
          purpose: null,
          language: 'tr',
          expires_at: new Date(now().getTime() + 60_000).toISOString(),
        });
        return requestTo({}, { code, password: 'uzun-bir-şifre' });
      }
      case 'signIn':
        return requestTo({}, { email: user.email, password: isAnonymous ? 'yanlış-şifre' : user.password });
      case 'verifyToken':
        return requestTo({}, { token: isAnonymous || token === null ? unknownToken : token });
      case 'requestPasswordReset':
        return requestTo({}, { email: user.email });
      case 'checkPasswordReset':
      case 'confirmPasswordReset': {
        if (isAnonymous) return requestTo({}, { code: unknownToken, new_password: newPassword });
        // Only an active account gets the e-mail, so the reset is requested before the account gets its status.
        const { db } = server().services;
        await db.updateTable('users').set({ status: 'active' }).where('uid', '=', user.uid).execute();
        await as(null).call(requestPasswordReset, { body: { email: user.email } });
        const emails = await Promise.all((await outbox()).map((email) => postalMime.parse(email)));
        const resetEmail = emails
          .filter(({ to }) => to?.some(({ address }) => address === user.email))
          .at(-1);
        await db.updateTable('users').set({ status: user.status }).where('uid', '=', user.uid).execute();
        return requestTo(
          {},
          { code: /#code=(\S+)/.exec(resetEmail?.text ?? '')?.[1], new_password: newPassword },
        );
      }
      case 'changeLanguage':
        return requestTo({}, { language: 'en' });
      case 'createApiToken':
        return requestTo({}, { name: 'Betik', scopes: ['slides:read'] });
      case 'deleteApiToken':
        return requestTo({ tokenId: (await fixtures.apiToken(user)).id });
      case 'revokeApiToken':
        return requestTo({ tokenId: (await fixtures.apiToken(await fixtures.user())).id });
      case 'changePassword':
        return requestTo({}, { new_password: newPassword });
      case 'approveUser':
        return requestTo(await newUser({ status: 'pending' }), { role: 'viewer' });
      case 'getUser':
      case 'withdrawApproval':
      case 'suspendUser':
      case 'deactivateUser':
      case 'promoteUser':
        return requestTo(await newUser());
      case 'updateUserAccess':
        return requestTo(await newUser(), { datasets: [], expires_at: null });
      case 'approveApplications':
        return requestTo({}, { uids: [(await newUser({ status: 'pending' })).uid] });
      case 'rejectApplications':
        return requestTo(
          {},
          { uids: [(await newUser({ status: 'pending' })).uid], reason: 'Kurum doğrulanamadı.' },
        );
      case 'rejectUser':
        return requestTo(await newUser({ status: 'pending' }), { reason: 'Kurumunuz doğrulanamadı.' });
      case 'updateDataset':
        return requestTo({}, { dataset: await restrictedDataset(), access: 'open' });
      case 'grantDataset':
        return requestTo({}, { dataset: await restrictedDataset(), uid: (await fixtures.user()).uid });
      case 'revokeDataset': {
        const { uid } = await fixtures.user();
        return { ...requestTo({}), query: { dataset: await restrictedDataset(uid), uid } };
      }
      case 'requestDataset':
        return requestTo({}, { dataset: await restrictedDataset(), reason: 'My thesis.' });
      case 'answerDatasetRequest': {
        const dataset = await restrictedDataset();
        const { uid } = await fixtures.user();
        const id = randomUUID();
        const { db, now } = server().services;
        await saveDatasetRequest(db, { id, uid, dataset, reason: 'Tez', at: now().toISOString() });
        return requestTo({ requestId: id }, { granted: true });
      }
      case 'resetSecondFactor':
        return requestTo(await newUser());
      case 'endSignIn': {
        if (token === null) return requestTo({ id: 'x' });
        const { body } = await as(token).call(listSignIns);
        return requestTo({ id: body.sign_ins?.[0]?.id ?? 'x' });
      }
      case 'confirmSecondFactor': {
        if (token === null) return requestTo({}, { code: '000000' });
        const { body } = await as(token).call(startSecondFactor);
        return requestTo(
          {},
          { code: body.secret ? oneTimeCode(body.secret, server().clock.now()) : '000000' },
        );
      }
      case 'setUserPassword':
        return requestTo(await newUser(), { new_password: newPassword });
      case 'deleteImageSession': {
        if (token === null) return requestTo({ sessionId: unknownToken });
        const { body } = await as(token).call(createImageSession);
        return requestTo({ sessionId: body.session_id ?? unknownToken });
      }
      case 'changeImages':
        return requestTo({}, { ids: [(await createImageFixture()).id], organ_type: 'Liver' });
      case 'checkCatalogueImport':
      case 'applyCatalogueImport': {
        const file = Buffer.from(`id,organ_type\n${(await createImageFixture()).id},Liver\n`);
        const { plan } = await server().services.catalogueImport.check(file, 'tr');
        return {
          ...requestTo({}, file),
          headers: { 'content-type': 'text/csv' },
          ...(name === 'applyCatalogueImport' && { query: { plan } }),
        };
      }
      case 'getImage':
      case 'getImagePosition':
      case 'updateImage':
      case 'deleteImage':
        return requestTo(
          { imageId: (await createImageFixture()).id },
          name === 'updateImage' ? { organ_type: 'Liver' } : undefined,
        );
      case 'createCase': {
        const dataset = await newOpenDataset();
        const { id } = await createImageFixture({ dataset_name: dataset });
        return requestTo({}, { dataset, name: 'V-1', slides: [{ image_id: id }] });
      }
      case 'getCase':
      case 'iiifCaseManifest':
      case 'deleteCase':
        return requestTo({ caseId: (await createCaseFixture()).id });
      case 'updateCase':
        return requestTo({ caseId: (await createCaseFixture()).id }, { name: 'V-2' });
      case 'registerCaseSlides': {
        const { id, images } = await createCaseFixture();
        const points = [
          { from: [0, 0], to: [5, 5] },
          { from: [90, 0], to: [95, 5] },
        ];
        return requestTo({ caseId: id }, { from_image: images[0], to_image: images[1], points });
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
        slideImageId ??= writeSlide();
        const id = await slideImageId;
        const uids = { study: uidOf(id, 'study'), series: uidOf(id, 'series'), instance: uidOf(id, 0) };
        const params: Record<string, string> = { ...uids, frames: '1' };
        return { url: endpoint.path.replace(/:(\w+)/g, (_, param: string) => params[param] ?? '') };
      }
      case 'iiifBase':
      case 'iiifInformation':
      case 'iiifImage':
      case 'iiifManifest': {
        slideImageId ??= writeSlide();
        const { url } = requestTo({ imageId: await slideImageId });
        return { url: url.replace(/:region.*/, 'full/20,/0/default.jpg') }; // only the path of `iiifImage` has `:region`
      }
      case 'listAnnotationLayers':
      case 'createAnnotationLayer':
        return requestTo(
          { imageId: visitor?.imageId ?? (await createImageFixture()).id },
          name === 'createAnnotationLayer' ? { name: 'Tumor' } : undefined,
        );
      case 'countAnnotations':
        return { ...requestTo({}), query: { images: (await createImageFixture()).id } };
      case 'streamAnnotationEvents':
        return { ...requestTo({ imageId: (await createImageFixture()).id }), query: { wait: '0' } };
      case 'listAnnotations': {
        const sharedLayer = visitor && ({ image_id: visitor.imageId, visibility: 'members' } as const);
        return requestTo({ layerId: (await fixtures.layer({ owner_uid: user.uid, ...sharedLayer })).id });
      }
      case 'listAnnotationHistory':
      case 'exportAnnotationFile':
      case 'deleteAnnotationLayer':
      case 'restoreAnnotationLayer':
        return requestTo({ layerId: (await fixtures.layer({ owner_uid: user.uid })).id });
      case 'updateAnnotationLayer':
        return requestTo(
          { layerId: (await fixtures.layer({ owner_uid: user.uid })).id },
          { name: 'Stroma', version: 1 },
        );
      case 'importAnnotationFile': {
        const { url } = requestTo({ layerId: (await fixtures.layer({ owner_uid: user.uid })).id });
        const payload = Buffer.from(JSON.stringify(pointFeature()));
        return { url, payload, headers: { 'content-type': 'application/geo+json' } };
      }
      case 'changeAnnotations': {
        const change = { op: 'put', feature: pointFeature(), base_revision: null };
        return requestTo(
          { layerId: (await fixtures.layer({ owner_uid: user.uid })).id },
          { changes: [change] },
        );
      }
      case 'getAnnotationClasses':
      case 'updateAnnotationClasses': {
        const dataset = `Karaciğer ${randomUUID()}`;
        await createImageFixture({ dataset_name: dataset });
        const classes = [{ name: 'Tumor', color: [200, 0, 0], shortcut: '1' }];
        const payload = name === 'updateAnnotationClasses' ? { classes, version: 0 } : undefined;
        return requestTo({ datasetId: encodeURIComponent(dataset) }, payload);
      }
      case 'restoreAnnotation':
        return requestTo(await deletedAnnotation(user.uid));
      case 'createSavedView': {
        const field = { x: 1, y: 1, zoom: 1 };
        return requestTo({}, { image_id: await sharedImage(), title: 'G', field });
      }
      case 'getSavedView':
      case 'deleteSavedView':
        return requestTo({ viewId: await createViewFixture(user.uid) });
      case 'updateSavedView':
        return requestTo({ viewId: await createViewFixture(user.uid) }, { title: 'G2' });
      case 'createCollection': {
        const items = [{ type: 'slide', id: await sharedImage() }];
        return requestTo({}, { title: 'K', items, readers: 'members' });
      }
      case 'getCollection':
      case 'iiifCollectionManifest':
      case 'deleteCollection':
      case 'listAnswers':
        return requestTo({ collectionId: await createCollectionFixture(user.uid) });
      case 'updateCollection':
        return requestTo({ collectionId: await createCollectionFixture(user.uid) }, { title: 'K2' });
      case 'present':
        return requestTo({ collectionId: await createCollectionFixture(user.uid) }, { item: 0 });
      case 'followPresentation':
      case 'answerQuestion': {
        const collectionId = visitor?.collectionId ?? (await createCollectionFixture(user.uid));
        return name === 'answerQuestion'
          ? requestTo({ collectionId }, { item: 0, answer: 'Bilmiyorum.' })
          : { ...requestTo({ collectionId }), query: { wait: '0' } };
      }
      case 'createShareLink':
        return requestTo({}, { target: { type: 'slide', id: await sharedImage() }, title: 'B' });
      case 'endShareLink':
        return requestTo({
          linkId: (await createLinkFixture(user.uid, { type: 'slide', id: await sharedImage() })).id,
        });
      case 'openShareLink': {
        const creator = await fixtures.user();
        const { secret } = await createLinkFixture(creator.uid, { type: 'slide', id: await sharedImage() });
        return requestTo({}, { secret });
      }
      case 'getOriginal':
      case 'getOriginalFile': {
        const fileName = `${randomUUID()}.svs`;
        smallSvs ??= await buildSvs({ width: 64, height: 64, tileSize: 64, downsamples: [1] });
        await fs.writeFile(join(server().config.slidesDir, fileName), smallSvs);
        const dataset = await restrictedDataset(user.uid);
        await setDownloadGrant(server().services.db, { uid: user.uid, dataset, isAllowed: true });
        const file = { path: fileName, file_name: fileName, dataset_name: dataset, fingerprint: 'x' };
        const { id } = await createImageFixture(file);
        const { url } = requestTo({ imageId: id });
        return { url: url.replace('*', fileName) };
      }
      case 'listResultLayers':
      case 'createResultLayer':
        return requestTo(
          { imageId: (await createImageFixture()).id },
          name === 'createResultLayer' ? { name: 'Tumor', kind: 'raster' } : undefined,
        );
      case 'deleteResultLayer':
      case 'getResultFile':
        return requestTo({ layerId: await createResultLayerFixture(user.uid) });
      case 'createResultFile':
        return {
          ...requestTo({ layerId: await createResultLayerFixture(user.uid) }),
          headers: { ...tusHeader, 'upload-length': '2' },
        };
      case 'sendResultFile': {
        const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
        return {
          ...requestTo({ layerId: await createResultLayerFixture(user.uid) }, Buffer.from('x')),
          headers: { ...tusHeader, ...part, 'upload-length': '2' },
        };
      }
      case 'beginUpload': {
        const declared = { is_folder: false, file_count: 1, size_bytes: 1 };
        return requestTo({}, { dataset: 'Yeni', path: `${randomUUID()}.svs`, ...declared });
      }
      case 'abandonUpload':
        return requestTo({ ...(await newUpload(user, 'no file')) });
      case 'createUploadFile': {
        const { uploadId, path } = await newUpload(user, 'no file');
        const fields = Object.entries({ upload: uploadId, path, modified: '0' });
        const metadata = fields
          .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
          .join(',');
        return {
          ...requestTo({}),
          headers: { ...tusHeader, 'upload-length': '1', 'upload-metadata': metadata },
        };
      }
      case 'getUploadFile':
        return requestTo({ ...(await newUpload(user, 'empty file')) });
      case 'sendUploadFile': {
        const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
        return {
          ...requestTo({ ...(await newUpload(user, 'empty file')) }, Buffer.from('x')),
          headers: { ...tusHeader, ...part },
        };
      }
      case 'finishUploadFile': {
        const sha256 = createHash('sha256').update('x').digest('hex');
        return requestTo({ ...(await newUpload(user, 'complete file')) }, { sha256 });
      }
      default:
        return requestTo({});
    }
  }

  return { caller, requestFor };
}
