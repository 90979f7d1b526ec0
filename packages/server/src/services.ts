/**
 * Creates all services of a process: objects that implement the product's features. The file is long because all
 * services are created and connected here.
 */
import type { Logger } from 'pino';
import { type Accounts, createAccounts } from './accounts/accounts.ts';
import { createAdminAccessAudit } from './annotations/admin-access-audit.ts';
import { type AnnotatedSlides, createAnnotatedSlides } from './annotations/annotated-slides.ts';
import { type AnnotationFiles, createAnnotationFiles } from './annotations/annotation-files.ts';
import { type Annotations, createAnnotations } from './annotations/annotations.ts';
import { type AnnotationClasses, createAnnotationClasses } from './annotations/classes.ts';
import { type AnnotationEvents, createAnnotationEvents } from './annotations/events.ts';
import { type AnnotationLayers, createAnnotationLayers } from './annotations/layers.ts';
import {
  createShareLinkAnnotations,
  type ShareLinkAnnotations,
} from './annotations/share-link-annotations.ts';
import { sweepAnnotations } from './annotations/sweep.ts';
import { type ApiTokens, createApiTokens } from './api-tokens/api-tokens.ts';
import { type ActionLimiter, createActionLimiter } from './audit/action-limiter.ts';
import { type AuditLog, createAuditLog } from './audit/audit-log.ts';
import { type AuditRecorder, createAuditRecorder } from './audit/audit-recorder.ts';
import { createImageOpenings, type ImageOpenings } from './audit/image-openings.ts';
import { type Cases, createCases } from './cases/cases.ts';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { type CatalogueImport, createCatalogueImport } from './catalogue/catalogue-import.ts';
import { mergeSpellings } from './catalogue/merge-spellings.ts';
import { createSlideManagement, type SlideManagement } from './catalogue/slide-management.ts';
import { createVisibleImages } from './catalogue/visible-images.ts';
import { type Answers, createAnswers } from './collections/answers.ts';
import { type Collections, createCollections } from './collections/collections.ts';
import { createPresentations, type Presentations } from './collections/presentations.ts';
import { createSavedViews, type SavedViews } from './collections/saved-views.ts';
import { createDatasets, type Datasets } from './datasets/datasets.ts';
import { createDicomWeb, type DicomWeb } from './dicomweb/dicomweb.ts';
import { createFrameResolver, type FrameResolver } from './dicomweb/resolve-frames.ts';
import { createReadiness, type Readiness } from './health/readiness.ts';
import { registerServiceMetrics } from './health/service-metrics.ts';
import { type CollectionManifests, createCollectionManifests } from './iiif/collection-manifests.ts';
import { createIiif, type Iiif } from './iiif/iiif.ts';
import { createJobs } from './jobs/create-jobs.ts';
import type { Jobs } from './jobs/jobs.ts';
import { createAdminDigest } from './mail/admin-digest.ts';
import { createMail, type Mail } from './mail/mail.ts';
import { createRecipients } from './mail/recipients.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { createOriginals, type Originals } from './originals/originals.ts';
import { type Background, createBackground } from './platform/background-tasks.ts';
import { createClock } from './platform/clock.ts';
import { type Config, serverUrlOf } from './platform/config.ts';
import { createEncryption } from './platform/encryption.ts';
import { registerFindResults } from './results/find-results.ts';
import { createResultImports } from './results/import-job.ts';
import { createOverlays, type Overlays } from './results/overlays.ts';
import { resultFiles } from './results/result-files.ts';
import { createResultLayers, type ResultLayers } from './results/result-layers.ts';
import { createImageSessions, type ImageSessions } from './sessions/image-sessions.ts';
import { createPixelAccess, type PixelAccess } from './sessions/pixel-access.ts';
import type { SignInService } from './sessions/sign-in-service.ts';
import { createShareLinks, type ShareLinks } from './share-links/share-links.ts';
import { type ConfirmedRegistration, createConfirmedRegistration } from './sign-in/confirmed-registration.ts';
import { createEmbeddedSignIn } from './sign-in/embedded-sign-in.ts';
import { createExternalSignIn, type ExternalSignIn } from './sign-in/external-sign-in.ts';
import { createOwnSignIns, type OwnSignIns } from './sign-in/own-sign-ins.ts';
import { type PasswordCost, passwordCost as safePasswordCost } from './sign-in/password.ts';
import { createSecondFactor } from './sign-in/second-factor.ts';
import { createThrottle } from './sign-in/throttle.ts';
import { createTwoStepVerification, type TwoStepVerification } from './sign-in/two-step-verification.ts';
import { type ObjectStorage, openObjectStorage } from './slide-storage/object-storage.ts';
import type { Database } from './store/database.ts';
import { type BearerSessions, createBearerSessions } from './tiles/bearer-sessions.ts';
import { createRecheckAccess, type RecheckAccess } from './tiles/recheck-access.ts';
import { createRenderedTiles, type RenderedTiles } from './tiles/rendered-tiles.ts';
import { createTileResolver, type TileResolver } from './tiles/resolve-tile.ts';
import { createSlides, type Slides } from './tiles/slides.ts';
import { createUploads, type Uploads } from './uploads/uploads.ts';

export interface Services {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly db: Database;
  readonly audit: AuditRecorder;
  readonly auditLog: AuditLog;
  /** Runs work that a request starts without waiting for it, such as checking whether an address has an account. */
  readonly background: Background;
  readonly jobs: Jobs;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly externalSignIn: ExternalSignIn;
  readonly confirmedRegistration: ConfirmedRegistration;
  readonly twoStepVerification: TwoStepVerification;
  readonly ownSignIns: OwnSignIns;
  readonly apiTokens: ApiTokens;
  readonly imageSessions: ImageSessions;
  /** The access check of requests for pixels. */
  readonly pixelAccess: PixelAccess;
  /** Records in the audit log which images were opened in which image session (a credential for pixels). */
  readonly imageOpenings: ImageOpenings;
  /** Repeats the access check of a request for pixels that has waited, for example for a render worker. */
  readonly recheckAccess: RecheckAccess;
  /** Limits how often an account may take an action, such as creating a share link. */
  readonly actionLimiter: ActionLimiter;
  readonly accounts: Accounts;
  readonly datasets: Datasets;
  readonly cases: Cases;
  readonly savedViews: SavedViews;
  readonly collections: Collections;
  readonly answers: Answers;
  readonly presentations: Presentations;
  readonly shareLinks: ShareLinks;
  readonly slides: Slides;
  /** Image sessions of programs that load pixels with the bearer token of a sign-in. */
  readonly bearerSessions: BearerSessions;
  readonly iiif: Iiif;
  readonly collectionManifests: CollectionManifests;
  readonly dicomWeb: DicomWeb;
  /** Checks requests for frames of DICOMweb, and returns the bytes. */
  readonly frames: FrameResolver;
  /** Checks requests for tiles, and returns the bytes. */
  readonly tiles: TileResolver;
  /** The S3-compatible store of slides; null when the S3 settings are not set. */
  readonly objectStorage: ObjectStorage | null;
  readonly catalogue: Catalogue;
  readonly originals: Originals;
  readonly uploads: Uploads;
  readonly slideManagement: SlideManagement;
  readonly catalogueImport: CatalogueImport;
  readonly annotatedSlides: AnnotatedSlides;
  readonly annotationLayers: AnnotationLayers;
  readonly annotations: Annotations;
  readonly shareLinkAnnotations: ShareLinkAnnotations;
  readonly annotationFiles: AnnotationFiles;
  readonly annotationClasses: AnnotationClasses;
  readonly annotationEvents: AnnotationEvents;
  readonly resultLayers: ResultLayers;
  readonly overlays: Overlays;
  readonly readiness: Readiness;
  /** Aborted when the process shuts down: services start no new work. */
  readonly stopping: AbortSignal;
  /** Stops background work and closes all services, the database last. */
  close(): Promise<void>;
}

interface ServiceDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Default: a new metrics registry for these services only. */
  readonly metrics?: Metrics;
  /** Default: the object storage that the settings name, if any. */
  readonly objectStorage?: ObjectStorage | null;
  /** Closed by `Services.close`. Default: this process renders tiles with its own render workers. */
  readonly renderedTiles?: RenderedTiles;
  /** Closed by `Services.close`. Default: the queue of this process, or the one in PostgreSQL that several processes share. */
  readonly jobs?: Jobs;
  /** Returns the base URL of links in e-mails and of share links. Default: PUBLIC_URL; without it, the settings HOST and PORT. */
  readonly publicUrl?: () => string;
  readonly stopping?: AbortSignal;
  /** For tests, which use a cheaper password hash. */
  readonly passwordCost?: PasswordCost;
}

// oxlint-disable-next-line lamina/max-own-lines -- creates each service once, in the order of their dependencies
export async function createServices({
  config,
  db,
  log,
  now = createClock({ log }),
  metrics = createMetrics(),
  objectStorage = openObjectStorage({ config, log }),
  renderedTiles = createRenderedTiles({ config, log, objects: objectStorage?.reader ?? null }),
  jobs: givenJobs,
  publicUrl = () => config.publicUrl ?? serverUrlOf(config.host, config.port),
  stopping = new AbortController().signal,
  passwordCost = safePasswordCost,
}: ServiceDependencies): Promise<Services> {
  const audit = createAuditRecorder({ db, now, log });
  await mergeSpellings({ db, now, log, audit }); // merges the spellings of a dataset or organ that earlier versions stored separately
  const actionLimiter = createActionLimiter({ now, audit, isOn: config.throttle });
  const background = createBackground({ log });
  const jobs = givenJobs ?? (await createJobs(config, log));
  const auditLog = createAuditLog({ config, db, now, log, audit, background, jobs });
  const encryption = createEncryption(config);
  const mail = createMail({ config, db, now, log, background, encryption });
  const imageSessions = await createImageSessions({
    config,
    db,
    now,
    log,
    // The viewer creates a session seconds before its user opens a slide; a render worker needs 0.2 s to start.
    onCreate: () => renderedTiles.startWorker(),
  });
  const imageOpenings = createImageOpenings({ db, now, log, audit });
  const signIn = createEmbeddedSignIn({ db, log, now, passwordCost });
  const throttle = createThrottle({ db, now, log, audit, isOn: config.throttle, metrics });
  const { productName } = config;
  const secondFactor = createSecondFactor({ db, now, log, encryption, productName });
  const recipients = createRecipients(productName, publicUrl); // address and language of each e-mail
  const twoStepVerification = createTwoStepVerification({
    db,
    audit,
    mail,
    signIn,
    throttle,
    actionLimiter,
    secondFactor,
    recipients,
  });
  const ownSignIns = createOwnSignIns({ db, audit, signIn, imageSessions });
  const adminDigest = createAdminDigest({ db, now, mail, jobs, recipients });
  const externalSignIn = createExternalSignIn({
    config,
    db,
    now,
    audit,
    signIn,
    imageSessions,
    adminDigest,
  });
  const confirmedRegistration = createConfirmedRegistration({
    db,
    now,
    audit,
    mail,
    background,
    signIn,
    throttle,
    adminDigest,
    recipients,
  });
  const accounts = createAccounts({
    confirmedRegistration,
    adminDigest,
    config,
    db,
    now,
    audit,
    background,
    mail,
    signIn,
    throttle,
    actionLimiter,
    secondFactor,
    imageSessions,
    recipients,
  });
  const datasets = createDatasets({
    db,
    now,
    audit,
    mail,
    signIn,
    actionLimiter,
    imageSessions,
    adminDigest,
    recipients,
  });
  const apiTokens = createApiTokens({
    db,
    now,
    log,
    audit,
    signIn,
    imageSessions,
    actionLimiter,
    inaccessibleTo: datasets.inaccessibleTo,
    isThrottled: config.throttle,
  });
  const slides = createSlides({ config, log, renderedTiles, objects: objectStorage?.reader ?? null });
  registerServiceMetrics(metrics, { db, now, slides, renderedTiles });
  const readiness = createReadiness({ config, db, log, renderedTiles, objectStorage });
  const files = resultFiles(config); // the files of result layers in DATA_DIR
  const resultSearch = registerFindResults({ config, db, now, log, jobs, files });
  const catalogue = createCatalogue({
    config,
    db,
    now,
    log,
    audit,
    slides,
    objectStorage,
    jobs,
    datasets,
    encryption,
    onBucketListed: resultSearch.inBucket, // searches the listing for result files
  });
  const visibleImages = createVisibleImages(db, datasets);
  const cases = createCases({ db, now, audit, signIn, actionLimiter, datasets, visibleImages });
  const originals = createOriginals({
    config,
    db,
    now,
    audit,
    catalogue,
    objects: objectStorage?.reader ?? null,
    encryption,
    signIn,
    imageSessions,
  });
  const savedViews = createSavedViews({ db, now, audit, signIn, actionLimiter, visibleImages });
  const collections = createCollections({ db, now, audit, signIn, actionLimiter, visibleImages, cases });
  const answers = createAnswers({ db, now, collections });
  const presentations = createPresentations({ db, now, log, collections });
  // Ends the open event streams when the shutdown begins; `close` runs later.
  stopping.addEventListener('abort', () => presentations.close(), { once: true });
  const shareLinks = createShareLinks({
    db,
    now,
    publicUrl,
    audit,
    actionLimiter,
    signIn,
    throttle,
    imageSessions,
    datasets,
    visibleImages,
    cases,
    collections,
  });
  const pixelAccess = createPixelAccess({ config, imageSessions, signIn, apiTokens });
  const bearerSessions = createBearerSessions({ imageSessions, audit });
  const iiif = createIiif({ slides });
  const collectionManifests = createCollectionManifests({ db, cases, collections, visibleImages });
  const dicomWeb = createDicomWeb({ slides, catalogue });
  const recheckAccess = createRecheckAccess({ imageSessions, apiTokens, catalogue });
  const frames = createFrameResolver({ dicomWeb, catalogue, imageOpenings, recheckAccess });
  const tiles = createTileResolver({
    pixelAccess,
    catalogue,
    slides,
    imageOpenings,
    recheckAccess,
    metrics,
    now,
  });
  const slideManagement = createSlideManagement({ db, now, audit, jobs, catalogue });
  const catalogueImport = createCatalogueImport({ db, now, audit, catalogue });
  const uploads = createUploads({
    config,
    db,
    now,
    log,
    audit,
    objectStorage,
    // Called when an upload is in the slide storage. `atStart: false`: the scan does not retry slides that could not be read.
    onPlaced: () =>
      void jobs.enqueue(objectStorage === null ? 'rescan' : 'rescan-bucket', { atStart: false }),
  });

  const resultLayers = createResultLayers({ config, db, now, audit, signIn, visibleImages, jobs, files });
  const resultImports = createResultImports({
    config,
    db,
    now,
    log,
    jobs,
    files,
    store: objectStorage?.store ?? null,
  });
  const overlays = createOverlays({ db, catalogue, files });
  const annotationClasses = createAnnotationClasses({ db, now, audit, signIn });
  const adminAccessAudit = createAdminAccessAudit({ db, audit }); // records that administrators use layers of other users
  const annotationEvents = createAnnotationEvents({
    db,
    log,
    currentHolder: signIn.currentHolder,
    adminAccessAudit,
  });
  const onCommit = annotationEvents.sendCommittedChanges;
  const annotatedSlides = createAnnotatedSlides({ db });
  const annotationLayers = createAnnotationLayers({ db, now, audit, signIn, onCommit });
  const annotations = createAnnotations({ db, now, signIn, adminAccessAudit, onCommit });
  const shareLinkAnnotations = createShareLinkAnnotations(db, now);
  const annotationFiles = createAnnotationFiles({ db, annotations, adminAccessAudit, catalogue, slides });
  // The job `sweep` runs periodically and deletes expired rows and files.
  jobs.setWorker('sweep', async () => {
    await imageSessions.deleteExpired();
    await apiTokens.deleteExpired();
    await confirmedRegistration.deleteExpired();
    await sweepAnnotations(db, now());
    await resultImports.sweep();
  });
  return {
    config,
    now,
    log,
    metrics,
    db,
    audit,
    auditLog,
    background,
    jobs,
    mail,
    signIn,
    externalSignIn,
    confirmedRegistration,
    twoStepVerification,
    ownSignIns,
    apiTokens,
    imageSessions,
    pixelAccess,
    imageOpenings,
    recheckAccess,
    bearerSessions,
    iiif,
    collectionManifests,
    dicomWeb,
    frames,
    tiles,
    actionLimiter,
    accounts,
    datasets,
    cases,
    savedViews,
    collections,
    answers,
    presentations,
    shareLinks,
    slides,
    objectStorage,
    catalogue,
    originals,
    uploads,
    slideManagement,
    catalogueImport,
    annotatedSlides,
    annotationLayers,
    annotations,
    shareLinkAnnotations,
    annotationFiles,
    annotationClasses,
    annotationEvents,
    resultLayers,
    overlays,
    readiness,
    stopping,
    async close() {
      annotationEvents.close();
      presentations.close();
      await auditLog.close();
      await uploads.close();
      await catalogue.close();
      await jobs.close();
      await overlays.close();
      await slides.close();
      await objectStorage?.close();
      await imageOpenings.close();
      await imageSessions.close();
      await background.close();
      mail.close();
      await audit.close();
      await db.destroy();
    },
  };
}
