/** What routes are given: the stores, the open slides, the clock. Put together once, at the start. */
import type { Logger } from 'pino';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Audit, createAudit } from './audit.ts';
import { type AuditTrail, createAuditTrail } from './auditing/audit-trail.ts';
import { type Background, createBackground } from './background.ts';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { addressOf, type Config } from './config.ts';
import { createImageSessions, type ImageSessions } from './image-sessions.ts';
import { createMail, type Mail } from './mail/mail.ts';
import { createEmbeddedSignIn } from './sign-in/embedded.ts';
import { type PasswordCost, passwordCost as safePasswordCost } from './sign-in/password.ts';
import type { SignInService } from './sign-in/sign-in-service.ts';
import { createMadeTiles, type MadeTiles } from './slides/made-tiles.ts';
import { createSlides, type Slides } from './slides/slides.ts';
import type { Database } from './store/database.ts';

export interface Services {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly db: Database;
  readonly audit: Audit;
  readonly background: Background;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly imageSessions: ImageSessions;
  readonly accounts: Accounts;
  readonly slides: Slides;
  readonly catalogue: Catalogue;
  /** Aborted when the process is about to end: no new work, please. */
  readonly auditTrail: AuditTrail;
  readonly stopping: AbortSignal;
  /** Stops what runs in the background and closes what is open; the database last. */
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => Date;
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
  now = () => new Date(),
  madeTiles = createMadeTiles({ config, log }),
  publicUrl = () => config.publicUrl ?? addressOf(config.host, config.port),
  stopping = new AbortController().signal,
  passwordCost = safePasswordCost,
}: Ground): Promise<Services> {
  const audit = createAudit({ db, now, log });
  const background = createBackground({ log });
  const mail = createMail({ config, log, background });
  const imageSessions = await createImageSessions({ config, db, now, log });
  const signIn = createEmbeddedSignIn({ db, log, now, passwordCost });
  const accounts = createAccounts({
    config,
    db,
    now,
    audit,
    background,
    mail,
    signIn,
    imageSessions,
    publicUrl,
  });
  const slides = createSlides({ config, log, madeTiles });
  const catalogue = createCatalogue({ config, db, now, log, audit, slides });
  return {
    config,
    now,
    log,
    db,
    audit,
    background,
    mail,
    signIn,
    imageSessions,
    accounts,
    slides,
    catalogue,
    stopping,
    async close() {
      await catalogue.close();
      await slides.close();
      await imageSessions.close();
      await background.close();
      mail.close();
      await db.destroy();
    },
  };
}
    auditTrail,
      await auditTrail.close();
      await audit.close();
