/**
 * The tables, as they are in both databases. Portable types only: text ids, ISO 8601 text for times
 * (UTC, so that text order is time order), 0/1 for booleans, JSON as text.
 */
import type {
  AuditResult,
  DatasetAccess,
  ImageStatus,
  Role,
  Status,
  UploadFileState,
  UploadProblem,
  UploadState,
} from '@lamina/contract';
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
  /** When access ends by itself: from then on the account counts as suspended. Null: never. */
  expires_at: string | null;
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
  /** Where the sign-in came from, for the owner's eyes; null where that is not known. */
  address: string | null;
  /** Browser and system in a few words, as `Firefox · Windows`; null likewise. */
  browser: string | null;
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

/** What was tried too often, or is known to be good: see sign-in/throttle.ts. Rows that have ended are swept. */
interface ThrottleTable {
  /** SHA-256, base64url: no address of a person or a machine is kept here. */
  key: string;
  count: number;
  expires_at: string;
  blocked_until: string | null;
}

interface SecondFactorTable {
  uid: string;
  /** Sealed: see secrets.ts. */
  secret: string;
  created_at: string;
  /** Null until the first code has come back; only then it is asked for. */
  confirmed_at: string | null;
  /** The 30-second step of the last code that was taken; none before it is taken again. */
  last_step: number;
}

/** Each stands in for one code of the second factor. Using one is deleting its row. */
interface RecoveryCodeTable {
  /** SHA-256 of uid and code, base64url. */
  hash: string;
  uid: string;
}

/** Letters that have not gone out yet. */
interface LetterTable {
  id: string;
  /** Sealed JSON: a letter may carry a link that sets a password. */
  content: string;
  created_at: string;
  attempts: number;
  /** When it is tried next; whoever takes it moves this on first. */
  due_at: string;
}

/** Taken for a sign-in, and so for no other. */
interface SpentIdentityTokenTable {
  /** SHA-256 of the identity token, base64url. */
  hash: string;
  /** When it would be refused anyway. */
  expires_at: string;
}

/** Where a slide lies: in a folder of ours, or in the bucket of the object store. A request never names it. */
export type SlideRoot = 'slides' | 'demo' | 'uploads' | 'bucket';

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
  /** Hidden by an administrator: nobody but administrators sees it. */
  hidden_at: string | null;
}

/** Append-only: who did what to whom, when, from where, with which result. */
interface AuditTable {
  /** 1, 2, 3 … without a gap. */
  seq: number;
  at: string;
  action: string;
  result: AuditResult;
  actor_uid: string | null;
  target: string | null;
  /** JSON, never a secret. */
  detail: string;
  address: string | null;
  request_id: string | null;
  /** Of the row before it; see domain/audit-chain.ts. */
  previous_hash: string;
  /** Of this row and the hash before it. */
  hash: string;
}

/** Both ends of the trail: one row, made with the first entry. */
interface AuditChainTable {
  name: 'audit';
  /** The last row that was given up because its time was over, and its hash; 0 and empty before any was. */
  before_seq: number;
  before_hash: string;
  /** The last row that was written. */
  last_seq: number;
  last_hash: string;
}

/** What a person said when asking for an account, and what an administrator answered. No row: nothing of either. */
interface ApplicationTable {
  uid: string;
  affiliation: string | null;
  purpose: string | null;
  /** Why it was refused, for the person to read; null unless the last decision was a refusal. */
  decision_reason: string | null;
}

/** What an administrator has decided about a dataset. One without a row is open. */
interface DatasetTable {
  /** As in `images.dataset_name`. */
  name: string;
  access: DatasetAccess;
  /** Whether members may know of it, and ask for it, while it is restricted. */
  is_listed: Flag;
  updated_at: string;
}

/** Who may see a restricted dataset, administrators apart. */
interface DatasetGrantTable {
  uid: string;
  dataset: string;
  /** Uid of the administrator. */
  granted_by: string;
  at: string;
}

/** The last time somebody asked for a dataset: one row for each person and dataset. */
interface DatasetRequestTable {
  id: string;
  uid: string;
  dataset: string;
  reason: string;
  at: string;
  /** Null: nobody has answered yet. */
  answer: 'granted' | 'refused' | null;
  answer_reason: string | null;
  answered_by: string | null;
  answered_at: string | null;
}

/** When a letter that sums up was last sent, whichever process did. */
interface DigestTable {
  name: string;
  sent_at: string;
}

/** Rows to lock: updating one holds it until the transaction ends, on both databases. */
export interface LockTable {
  name: 'accounts' | 'audit' | 'catalogue' | 'throttle' | 'uploads';
  taken: number;
}

interface ImageOpeningTable {
  session_hash: string;
  image_id: string;
}

/** Which version of the program made which migration; none of those before the one that made this table. */
interface SchemaChangeTable {
  migration: string;
  program_version: string;
  at: string;
}

/** What an administrator sends from the browser: a file, or a folder of files. */
interface UploadTable {
  id: string;
  /** Of the administrator. */
  uid: string;
  dataset: string;
  /** Below the dataset, checked, with forward slashes: of the file or the folder. */
  path: string;
  is_folder: Flag;
  /** As announced; so is the size, of all files together. */
  file_count: number;
  size_bytes: number;
  state: UploadState;
  problem: UploadProblem | null;
  /** Where it is to lie, in one spelling; unique. Null once it lies there, or has been given up. */
  place_key: string | null;
  /** Until then one process is placing it. */
  leased_until: string | null;
  begun_at: string;
  /** The last time something came of it. */
  touched_at: string;
}

/** A file of an upload that is not done. */
interface UploadFileTable {
  id: string;
  upload_id: string;
  /** Below the folder, checked, with forward slashes; of a single file its name. Unique with the upload. */
  path: string;
  size_bytes: number;
  /** Where it was chosen, it was last changed then; milliseconds. */
  modified_ms: number;
  /** Hexadecimal; null until all of it has come. */
  sha256: string | null;
  state: UploadFileState;
  /** Until then one process is reading it. */
  leased_until: string | null;
}

export interface Tables {
  users: UserTable;
  identities: IdentityTable;
  tokens: TokenTable;
  image_sessions: ImageSessionTable;
  image_openings: ImageOpeningTable;
  password_resets: PasswordResetTable;
  spent_identity_tokens: SpentIdentityTokenTable;
  throttles: ThrottleTable;
  second_factors: SecondFactorTable;
  recovery_codes: RecoveryCodeTable;
  letters: LetterTable;
  images: ImageTable;
  audit: AuditTable;
  audit_chain: AuditChainTable;
  locks: LockTable;
  applications: ApplicationTable;
  datasets: DatasetTable;
  dataset_grants: DatasetGrantTable;
  dataset_requests: DatasetRequestTable;
  digests: DigestTable;
  uploads: UploadTable;
  upload_files: UploadFileTable;
  schema_changes: SchemaChangeTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
