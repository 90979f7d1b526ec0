/** What routes are given: the stores, the open slides, the clock. Put together once, at the start. */
import type { Logger } from 'pino';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Audit, createAudit } from './audit.ts';
import { type AuditTrail, createAuditTrail } from './auditing/audit-trail.ts';
import { type Background, createBackground } from './background.ts';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { type CatalogueImport, createCatalogueImport } from './catalogue/catalogue-import.ts';
import { createSlideManagement, type SlideManagement } from './catalogue/slide-management.ts';
import { createClock } from './clock.ts';
import { addressOf, type Config } from './config.ts';
import { createDatasets, type Datasets } from './datasets.ts';
import { createImageSessions, type ImageSessions } from './image-sessions.ts';
import { createJobs } from './jobs/create-jobs.ts';
import type { Jobs } from './jobs/jobs.ts';
import { createMail, type Mail } from './mail/mail.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { watchServices } from './metrics/service-figures.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { createSealing } from './sealing.ts';
import { createEmbeddedSignIn } from './sign-in/embedded.ts';
import { createExternalSignIn, type ExternalSignIn } from './sign-in/external.ts';
import { createOwnSignIns, type OwnSignIns } from './sign-in/own-sign-ins.ts';
import { type PasswordCost, passwordCost as safePasswordCost } from './sign-in/password.ts';
import { createSecondFactor } from './sign-in/second-factor.ts';
import type { SignInService } from './sign-in/sign-in-service.ts';
import { createThrottle } from './sign-in/throttle.ts';
import { createTwoStep, type TwoStep } from './sign-in/two-step.ts';
import { createMadeTiles, type MadeTiles } from './slides/made-tiles.ts';
import { type ObjectStorage, openObjectStorage } from './slides/object-storage.ts';
import { createSlides, type Slides } from './slides/slides.ts';
import type { Database } from './store/database.ts';
import { createUploads, type Uploads } from './uploads/uploads.ts';
import { createWaitingNotices } from './waiting-notices.ts';

export interface Services {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly db: Database;
  readonly audit: Audit;
  readonly auditTrail: AuditTrail;
  readonly background: Background;
  readonly jobs: Jobs;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly externalSignIn: ExternalSignIn;
  readonly twoStep: TwoStep;
  readonly ownSignIns: OwnSignIns;
  readonly imageSessions: ImageSessions;
  readonly accounts: Accounts;
  readonly datasets: Datasets;
  readonly slides: Slides;
  /** Null where the settings name none. */
  readonly objectStorage: ObjectStorage | null;
  readonly catalogue: Catalogue;
  readonly uploads: Uploads;
  readonly slideManagement: SlideManagement;
  readonly catalogueImport: CatalogueImport;
  readonly readiness: Readiness;
  /** Aborted when the process is about to end: no new work, please. */
  readonly stopping: AbortSignal;
  /** Stops what runs in the background and closes what is open; the database last. */
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Without them, counts of these services alone. */
  readonly metrics?: Metrics;
  /** Without it, that of the settings. */
  readonly objectStorage?: ObjectStorage | null;
  /** Closed together with the services; without it, tiles are made by processes of this one. */
  readonly madeTiles?: MadeTiles;
  /** What letters link to; without it the public address of the settings, else host and port. */
  readonly publicUrl?: () => string;
  readonly stopping?: AbortSignal;
  /** For tests alone: what a password hash costs. */
  readonly passwordCost?: PasswordCost;
}

export async function createServices({
  config,
  db,
  log,
  now = createClock({ log }),
  metrics = createMetrics(),
  objectStorage = openObjectStorage({ config, log }),
  madeTiles = createMadeTiles({ config, log, objects: objectStorage?.reader ?? null }),
  publicUrl = () => config.publicUrl ?? addressOf(config.host, config.port),
  stopping = new AbortController().signal,
  passwordCost = safePasswordCost,
}: Ground): Promise<Services> {
  const audit = createAudit({ db, now, log });
  const background = createBackground({ log });
  const jobs = await createJobs(config, log);
  const auditTrail = createAuditTrail({ config, db, now, log, audit, background, jobs });
  const sealing = createSealing(config);
  const mail = createMail({ config, db, now, log, background, sealing });
  const imageSessions = await createImageSessions({ config, db, now, log });
  const signIn = createEmbeddedSignIn({ db, log, now, passwordCost });
  const throttle = createThrottle({ db, now, log, audit, isOn: config.throttle, metrics });
  const { productName } = config;
  const secondFactor = createSecondFactor({ db, now, log, sealing, productName });
  const twoStep = createTwoStep({
    config,
    db,
    audit,
    mail,
    signIn,
    throttle,
    secondFactor,
    publicUrl,
  });
  const ownSignIns = createOwnSignIns({ db, audit, signIn, imageSessions });
  const waitingNotices = createWaitingNotices({ config, db, now, mail, jobs, publicUrl });
  const externalSignIn = createExternalSignIn({
    config,
    db,
    now,
    audit,
    signIn,
    imageSessions,
    waitingNotices,
  });
  const accounts = createAccounts({
    waitingNotices,
    config,
    db,
    now,
    audit,
    background,
    mail,
    signIn,
    throttle,
    secondFactor,
    imageSessions,
    publicUrl,
  });
  const datasets = createDatasets({
    config,
    db,
    now,
    audit,
    mail,
    signIn,
    imageSessions,
    waitingNotices,
    publicUrl,
  });
  const slides = createSlides({ config, log, madeTiles, objects: objectStorage?.reader ?? null });
  watchServices(metrics, { db, now, slides, madeTiles });
  const readiness = createReadiness({ config, db, log, madeTiles, objectStorage });
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
    onPlaced: () => void jobs.ask(objectStorage === null ? 'rescan' : 'rescan-bucket', { atStart: false }),
  });
  jobs.on('sweep', () => imageSessions.sweep());
  return {
    config,
    now,
    log,
    metrics,
    db,
    audit,
    auditTrail,
    background,
    jobs,
    mail,
    signIn,
    externalSignIn,
    twoStep,
    ownSignIns,
    imageSessions,
    accounts,
    datasets,
    slides,
    objectStorage,
    catalogue,
    uploads,
    slideManagement,
    catalogueImport,
    readiness,
    stopping,
    async close() {
      await auditTrail.close();
      await uploads.close();
      await catalogue.close();
      await jobs.close();
      await slides.close();
      await objectStorage?.close();
      await imageSessions.close();
      await background.close();
      mail.close();
      await audit.close();
      await db.destroy();
    },
  };
}
