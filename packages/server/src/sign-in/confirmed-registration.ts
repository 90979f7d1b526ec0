/**
 * Registration that does not reveal existing addresses (REGISTRATION_HIDE_EXISTING=on). An account is created only after the owner of
 * the e-mail address has opened the mailed link. Until then the registration is stored outside the accounts, so that sign-in, password
 * reset and all functions of administrators treat its address as unknown.
 */
import { AppError, type Language, type User } from '@lamina/contract';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import { register } from '../domain/account.ts';
import { emailKey } from '../domain/email.ts';
import type { AdminDigest } from '../mail/admin-digest.ts';
import { alreadyRegisteredEmail, confirmRegistrationEmail } from '../mail/email-texts.ts';
import type { Mail } from '../mail/mail.ts';
import type { Recipients } from '../mail/recipients.ts';
import type { Background } from '../platform/background-tasks.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { insertApplication } from '../store/applications.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import {
  deleteExpiredRegistrations,
  deleteRegistrationsOf,
  findRegistration,
  insertRegistration,
} from '../store/registrations.ts';
import { findUserByEmail, insertUser } from '../store/users.ts';
import type { Throttle } from './throttle.ts';

interface RegistrationRequest {
  /** The account that is created when the registration is confirmed. */
  readonly user: User;
  readonly passwordHash: string;
  readonly affiliation?: string | undefined;
  readonly purpose?: string | undefined;
  /** Language of the request, and so of e-mails to the account. */
  readonly language: Language;
}

export interface ConfirmedRegistration {
  /**
   * Sends a link to the e-mail address, or, if the address already has an account, an e-mail that says so. Returns before it looks up
   * the address, so that the duration of the response does not reveal which e-mail was sent.
   */
  request(request: RegistrationRequest, origin: Origin): void;
  /**
   * Creates the account. The password proves that the user who opened the link is the one who registered.
   *
   * @throws AppError confirmation_link_invalid, credentials_invalid, email_taken, rate_limited, unavailable
   */
  confirm(code: string, password: string, origin: Origin): Promise<void>;
  deleteExpired(): Promise<void>;
}

/** Time for which the link is valid and the database keeps the personal data of an unconfirmed registration. */
const confirmWithinMs = 24 * 60 * 60_000;

interface Options {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly mail: Mail;
  readonly background: Background;
  readonly signIn: SignInService;
  readonly throttle: Throttle;
  readonly adminDigest: Pick<AdminDigest, 'schedule'>;
  readonly recipients: Recipients;
}

export function createConfirmedRegistration(options: Options): ConfirmedRegistration {
  const { db, now, audit, mail, background, signIn, throttle, adminDigest, recipients } = options;

  /** Stores the registration and sends the e-mail. Does nothing when the address has received too many e-mails. */
  async function storeAndSendEmail(request: RegistrationRequest, origin: Origin) {
    const { user, passwordHash, affiliation, purpose, language } = request;
    if (!(await throttle.mayMail({ email: user.email, origin }))) return;
    await runLockedTransaction(db, 'accounts', async (tx) => {
      const existingUser = await findUserByEmail(tx, user.email);
      await audit.record(tx, {
        action: 'registration-requested',
        result: existingUser === null ? 'done' : 'refused',
        actor: null,
        target: existingUser?.uid ?? user.uid,
        origin,
      });
      if (existingUser !== null) {
        await mail.queue(tx, alreadyRegisteredEmail(await recipients.forAccount(tx, existingUser)));
        return;
      }
      const code = newSecret();
      await insertRegistration(tx, {
        hash: hashSecret(code),
        uid: user.uid,
        email: user.email,
        email_key: emailKey(user.email),
        password_hash: passwordHash,
        display_name: user.displayName,
        affiliation: affiliation ?? null,
        purpose: purpose ?? null,
        expires_at: new Date(now().getTime() + confirmWithinMs).toISOString(),
        language,
      });
      await mail.queue(tx, confirmRegistrationEmail(recipients.forAddress(user.email, language), code));
    });
    mail.wake(); // sends the queued e-mail
  }

  return {
    request(request, origin) {
      // The text is logged if the work fails.
      background.run('registration e-mail could not be queued; the user can register again', () =>
        storeAndSendEmail(request, origin),
      );
    },

    async confirm(code, password, origin) {
      const hash = hashSecret(code);
      const { email, password_hash: passwordHash } = await throttle.guard(
        'password',
        { email: null, origin }, // a wrong code names no account, so it counts for the network only
        async () => {
          const registration = await findRegistration(db, hash, now());
          if (registration === null) throw new AppError('confirmation_link_invalid');
          return registration;
        },
      );
      await throttle.guard('password', { email, origin }, async () => {
        const requester = { address: origin.address, account: emailKey(email) };
        if (await signIn.matchesPasswordHash(passwordHash, password, requester)) return;
        throw new AppError('credentials_invalid', { reason: 'registration_password_wrong' });
      });
      await runLockedTransaction(db, 'accounts', async (tx) => {
        // Queried again, because the registration may have been confirmed or deleted while the password was hashed.
        const registration = await findRegistration(tx, hash, now());
        if (registration === null) throw new AppError('confirmation_link_invalid');
        if ((await findUserByEmail(tx, email)) !== null) throw new AppError('email_taken');
        const { uid, display_name: displayName, affiliation, purpose, language } = registration;
        await deleteRegistrationsOf(tx, registration.email_key);
        const pendingUser = register({ uid, email, displayName }, now().toISOString()); // waits for approval
        await insertUser(tx, pendingUser, language);
        await signIn.signUp(tx, uid, passwordHash); // stores the password
        if (affiliation !== null || purpose !== null) {
          await insertApplication(tx, { uid, affiliation, purpose });
        }
        const detail = { email_confirmed: true };
        await audit.record(tx, { action: 'registered', actor: null, target: uid, detail, origin });
      });
      adminDigest.schedule();
    },

    deleteExpired: () => deleteExpiredRegistrations(db, now()),
  };
}
