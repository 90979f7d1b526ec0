/**
 * The tables, as they are in both databases. Portable types only: text ids, ISO 8601 text for times
 * (UTC, so that text order is time order), 0/1 for booleans, JSON as text.
 */
import type { ImageStatus, Role, Status } from '@lamina/contract';
import type { Insertable, Selectable } from 'kysely';

type Flag = 0 | 1;

interface UserTable {
  uid: string;
  /** As typed at registration. */
  email: string;
  /** What makes it the same address: Unicode NFKC, lower case. Unique. */
  email_key: string;
  display_name: string | null;
  status: Status;
  role: Role;
  admin_approved: Flag;
  created_at: string;
  updated_at: string;
  approval_date: string | null;
}

/** How an account signs in; the embedded service keeps a password hash here. */
interface IdentityTable {
  uid: string;
  /** `embedded`, or the issuer of an external provider. */
  provider: string;
  /** The provider's own name of the person; for `embedded` the uid. */
  subject: string;
  /** argon2id, encoded; null where the provider keeps the password. */
  password_hash: string | null;
}

/** Bearer tokens that are alive. Ending one is deleting its row, so nothing revives it. */
interface TokenTable {
  /** SHA-256 of the token, base64url. */
  hash: string;
  uid: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

/** Image sessions that are alive; they end with their row, with their token or with `expires_at`. */
interface ImageSessionTable {
  /** SHA-256 of the session id, base64url. */
  hash: string;
  /** First 8 characters of the session id, for the owner's eyes. */
  prefix: string;
  uid: string;
  token_hash: string;
  created_at: string;
  expires_at: string;
  request_count: number;
}

interface PasswordResetTable {
  /** SHA-256 of the mailed code, base64url. */
  hash: string;
  uid: string;
  expires_at: string;
}

/** Which folder of ours a slide lies in; a request never names one. */
export type SlideRoot = 'slides' | 'demo';

interface ImageTable {
  id: string;
  root: SlideRoot;
  /** Path below the root, with forward slashes. Unique with the root. */
  path: string;
  /** JSON array of the other files of the slide, by their paths from the leading one's folder; `folder/` for all of one. */
  members: string;
  /** Of all its files as they were last read; null until they were. */
  fingerprint: string | null;
  file_name: string;
  dataset_name: string | null;
  organ_type: string | null;
  /** Places the entry in the catalogue: dataset, then file name (see domain/catalogue-order.ts). */
  sort_key: string;
  /** What a search looks through, folded. */
  search_text: string;
  /** JSON array of the fields an administrator has set; a scan leaves those alone. */
  edited_fields: string;
  status: ImageStatus;
  error: string | null;
  width: number | null;
  height: number | null;
  mpp_x: number | null;
  mpp_y: number | null;
  objective_power: number | null;
  /** Which of the two the file does not say: it was worked out from the other. Null: neither was. */
  derived_scale: 'mpp' | 'objective_power' | null;
  vendor: string | null;
  format: string | null;
  size_bytes: number;
  created_at: string;
  updated_at: string;
  /** Removed by an administrator: stays removed until brought back. */
  removed_at: string | null;
  /** The file is not there any more; it may come back. */
  missing_since: string | null;
}

/** Append-only: who did what to whom, when, from where, with which result. */
interface AuditTable {
  /** 1, 2, 3 … without a gap. */
  seq: number;
  at: string;
  action: string;
  result: 'done' | 'refused';
  actor_uid: string | null;
  target: string | null;
  /** JSON, never a secret. */
  detail: string;
  address: string | null;
  request_id: string | null;
}

/** Rows to lock: updating one holds it until the transaction ends, on both databases. */
export interface LockTable {
  name: 'accounts' | 'audit' | 'catalogue';
  taken: number;
}

export interface Tables {
  users: UserTable;
  identities: IdentityTable;
  tokens: TokenTable;
  image_sessions: ImageSessionTable;
  password_resets: PasswordResetTable;
  images: ImageTable;
  audit: AuditTable;
  locks: LockTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
