/** What routes are given: the stores, the open slides, the clock. Put together once, at the start. */
import type { Logger } from 'pino';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Audit, createAudit } from './audit.ts';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import type { Config } from './config.ts';
import { createImageSessions, type ImageSessions } from './image-sessions.ts';
import { createMail, type Mail } from './mail/mail.ts';
import { createEmbeddedSignIn } from './sign-in/embedded.ts';
import type { SignInService } from './sign-in/sign-in-service.ts';
import { createSlides, type Slides } from './slides/slides.ts';
import type { Database } from './store/database.ts';

export interface Services {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly db: Database;
  readonly audit: Audit;
  readonly mail: Mail;
  readonly signIn: SignInService;
  readonly imageSessions: ImageSessions;
  readonly accounts: Accounts;
  readonly slides: Slides;
  readonly catalogue: Catalogue;
  /** Stops what runs in the background and closes what is open; the database last. */
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => Date;
}

export async function createServices({ config, db, log, now = () => new Date() }: Ground): Promise<Services> {
  const audit = createAudit({ db, now });
  const mail = createMail({ config, log });
  const imageSessions = await createImageSessions({ config, db, now, log });
  const signIn = createEmbeddedSignIn({ db, now, imageSessions });
  const accounts = createAccounts({ config, db, now, log, audit, mail, signIn, imageSessions });
  const slides = createSlides({ config, log });
  const catalogue = createCatalogue({ config, db, now, log, audit, slides });
  return {
    config,
    now,
    log,
    db,
    audit,
    mail,
    signIn,
    imageSessions,
    accounts,
    slides,
    catalogue,
    async close() {
      await catalogue.close();
      await slides.close();
      await imageSessions.close();
      await mail.close();
      await db.destroy();
    },
  };
}
