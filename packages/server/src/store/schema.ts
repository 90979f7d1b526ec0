/**
 * Types of all tables, for SQLite and PostgreSQL. Columns have portable types only: ids and JSON are text, times are ISO 8601
 * text in UTC (so that text order is time order), booleans are 0 or 1. `uid` is always the id of an account. A column of type
 * `Generated` has a default value in the database, so a row to insert (`NewRow`) may omit it.
 *
 * The file is long because it has one declaration for each table: accounts and sign-ins, catalogue, audit log,
 * datasets, locks and schema changes, uploads, cases, result and annotation layers, collections, share links.
 */
import type {
  AuditResult,
  CollectionItemType,
  DatasetAccess,
  ImageStatus,
  Language,
  LayerEditing,
  LayerSource,
  LayerVisibility,
  ResultKind,
  ResultSource,
  ResultState,
  Role,
  ShareTargetType,
  Status,
  UploadFileState,
  UploadProblem,
  UploadState,
} from '@lamina/contract';
import type { Generated, Insertable, Selectable } from 'kysely';

type Flag = 0 | 1;

interface UserTable {
  uid: string;
  /** Address as the user entered it at registration. */
  email: string;
  /** Normalised address (Unicode NFKC, lower case). Unique. */
  email_key: string;
  display_name: string | null;
  status: Status;
  role: Role;
  /** Whether an administrator has approved the account. */
  admin_approved: Flag;
  created_at: string;
  updated_at: string;
  /** Time of the first approval; null before it. */
  approval_date: string | null;
  /** Time at which access ends automatically; from then on the account counts as suspended. Null: access does not end. */
  expires_at: string | null;
  /** Language of e-mails to the account. */
  language: Generated<Language>;
}

/** Identities with which accounts sign in: at an external provider, or with a password that the embedded sign-in service checks. */
interface IdentityTable {
  uid: string;
  /** `embedded`, or the issuer of an external provider. */
  provider: string;
  /** The user's id at the provider; for `embedded` the uid. */
  subject: string;
  /** argon2id, encoded; null when the provider checks the password. */
  password_hash: string | null;
}

/** Valid bearer tokens, one for each sign-in. Revoking a token deletes its row, so it cannot become valid again. */
interface TokenTable {
  /** SHA-256 of the token, base64url. */
  hash: string;
  uid: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  /** IP address of the sign-in, shown to the account's owner; null when unknown. */
  address: string | null;
  /** Browser and system, such as `Firefox · Windows`; null when unknown. */
  browser: string | null;
}

/** API tokens. Revoking a token deletes its row. */
interface ApiTokenTable {
  id: string;
  /** SHA-256 of the token, base64url. Unique. */
  hash: string;
  /** First characters of the token, shown to its owner. */
  prefix: string;
  uid: string;
  name: string;
  /** JSON array of scopes. */
  scopes: string;
  /** JSON array of the dataset names that the token may read; null: every dataset that the owner may see. */
  datasets: string | null;
  created_at: string;
  expires_at: string;
  /** Null before the first use. */
  last_used_at: string | null;
}

/** Uses of API tokens in the current hour that are already in the audit log. The log records each use once per hour. */
interface ApiTokenUseTable {
  token_id: string;
  /** Id of the image that was used; empty for calls that concern no image. */
  target: string;
  /** `call`: a call of the API; `thumbnail` and `viewer`: how pixels of the image were shown. */
  kind: 'call' | 'thumbnail' | 'viewer';
  /** Start of the hour, ISO 8601. */
  hour: string;
}

/**
 * Image sessions: credentials for pixels, created for a sign-in or for a visitor with a share link. A session ends when its row
 * is deleted, when its token or share link ends, or at `expires_at`. The session that represents an API token has no row.
 */
interface ImageSessionTable {
  /** SHA-256 of the session id, base64url. */
  hash: string;
  /** First 8 characters of the session id, shown to the account's owner. */
  prefix: string;
  /** Account of the sign-in; for a visitor's session, the account that created the share link. */
  uid: string;
  /** Hash of the sign-in's bearer token; null for a visitor's session. */
  token_hash: string | null;
  created_at: string;
  expires_at: string;
  request_count: number;
  /** Share link of a visitor's session; null for the session of a sign-in. */
  share_link_id: Generated<string | null>;
}

/** Codes of password resets that have been requested and not used yet. */
interface PasswordResetTable {
  /** SHA-256 of the e-mailed code, base64url. */
  hash: string;
  uid: string;
  expires_at: string;
}

/**
 * Registrations whose e-mail address is not confirmed yet. The account is created when the user confirms the address, and no API
 * call lists these rows.
 */
interface RegistrationTable {
  /** SHA-256 of the e-mailed code, base64url. */
  hash: string;
  /** Uid of the future account. */
  uid: string;
  email: string;
  /** Normalised address (see domain/email.ts). Not unique: each registration of an address has its own link and password. */
  email_key: string;
  /** argon2id, encoded. */
  password_hash: string;
  display_name: string | null;
  affiliation: string | null;
  purpose: string | null;
  expires_at: string;
  /** Language of the registration request, which becomes the language of the account. */
  language: Language;
}

/**
 * Rate limiting (see sign-in/throttle.ts): counters of failed attempts, and networks from which accounts have signed in.
 * Expired rows are deleted.
 */
interface ThrottleTable {
  /** SHA-256 (base64url) of the kind of counter and its account, network or both; the table contains no e-mail or IP address. */
  key: string;
  count: number;
  expires_at: string;
  /** Until this time, further attempts are rejected; null: no limit has been reached. */
  blocked_until: string | null;
}

/** Second factors, at most one for each account. */
interface SecondFactorTable {
  uid: string;
  /** Secret of the one-time codes (TOTP), encrypted with SECRET_KEY (see platform/encryption.ts). */
  secret: string;
  created_at: string;
  /** Null until the first code is confirmed; the factor is required only from then on. */
  confirmed_at: string | null;
  /** 30-second time step of the last accepted code; 0 before the first. Codes of this or an earlier step are rejected. */
  last_step: number;
}

/** Unused recovery codes. A recovery code is accepted once instead of a code of the second factor, then its row is deleted. */
interface RecoveryCodeTable {
  /** SHA-256 of uid and code, base64url. */
  hash: string;
  uid: string;
}

/** The outbox: e-mails that have not been sent yet (table `letters`). */
interface EmailTable {
  id: string;
  /** Encrypted JSON, because an e-mail may contain a link that sets a password. */
  content: string;
  created_at: string;
  /** Number of attempts to send the e-mail. */
  attempts: number;
  /** Time of the next attempt. A process claims an e-mail by moving this time into the future before it sends. */
  due_at: string;
}

/** Identity tokens of external providers that were used for a sign-in. A token is accepted only once. */
interface SpentIdentityTokenTable {
  /** SHA-256 of the identity token's header and payload, base64url. */
  hash: string;
  /** Expiry of the token, after which it would be rejected anyway. */
  expires_at: string;
}

/**
 * Storage location of a slide: one of three folders of the server (the operator's slides, demo slides, uploads), or the
 * bucket of the object storage. API requests never contain it.
 */
export type SlideRoot = 'slides' | 'demo' | 'uploads' | 'bucket';

/** Catalogue entries: one for each slide found, and one for each missing or invalid file of `metadata_files`. */
interface ImageTable {
  id: string;
  root: SlideRoot;
  /** Path of the main file (by which the slide is opened) below the root, with forward slashes. Unique with the root. */
  path: string;
  /**
   * JSON array of the slide's other files, relative to the folder of the main file. An entry that ends with a slash
   * stands for a whole folder.
   */
  members: string;
  /** Value that changes whenever a file of the slide changes, as it was when the slide was last read; null before that. */
  fingerprint: string | null;
  file_name: string;
  dataset_name: string | null;
  organ_type: string | null;
  /** Position in the catalogue: dataset, then file name (see domain/catalogue-order.ts). */
  sort_key: string;
  /** File name, id, organ and dataset in lower case without diacritics. Searches compare their words with this text. */
  search_text: string;
  /** JSON array of the fields that an administrator edited. Scans do not overwrite them. */
  edited_fields: string;
  status: ImageStatus;
  /** Why the slide cannot be read, for administrators; null for a slide without an error. */
  error: string | null;
  /** SlideErrorCode of the error; null for files that were last read by a version that did not store the code. */
  error_code: string | null;
  /** Size at full resolution in pixels; null until the slide has been read. */
  width: number | null;
  height: number | null;
  /** Micrometres per pixel at full resolution; null when unknown. */
  mpp_x: number | null;
  mpp_y: number | null;
  /** Magnification of the objective; null when unknown. */
  objective_power: number | null;
  /** Which of pixel size and magnification was derived from the other, because the file states only one. Null: neither. */
  derived_scale: 'mpp' | 'objective_power' | null;
  /** Scale that the file states; null when unknown. A scale that an administrator entered does not change these columns. */
  file_mpp_x: number | null;
  file_mpp_y: number | null;
  file_objective_power: number | null;
  /** Scale that an administrator entered. When both are null, the scale of the file is used. */
  entered_mpp: number | null;
  entered_objective_power: number | null;
  /** Number of the focal plane that is shown, from 1; null for a file with one plane and one time point. */
  plane: number | null;
  /** How many focal planes and time points the file contains; null in the same case as `plane`. */
  planes: number | null;
  times: number | null;
  /** Vendor of the scanner, and file format of the slide; null when unknown. */
  vendor: string | null;
  format: string | null;
  size_bytes: number;
  created_at: string;
  updated_at: string;
  /** Time at which an administrator removed the entry; it stays removed until an administrator restores it. */
  removed_at: string | null;
  /** Time since which scans no longer find the file. Null while the file exists. */
  missing_since: string | null;
  /** Time since which only administrators see the entry: one of them hid it, or it waits for a metadata file. */
  hidden_at: string | null;
  /** JSON of a MetadataHold: why scans do not apply the metadata files to the slide. Null: they apply them. */
  metadata_hold: string | null;
}

/** The canonical spelling of each name. Images, datasets, grants and requests contain only canonical spellings. */
interface CatalogueNameTable {
  kind: 'dataset' | 'organ';
  /** Key that all spellings of the name share (see nameKey). Unique with the kind. */
  key: string;
  name: string;
}

/** Metadata files (catalogue.csv, dataset.json) that scans have found, including invalid ones, so that scans notice missing files. */
interface MetadataFileTable {
  root: SlideRoot;
  /** Relative to the root, with forward slashes. Unique with the root. */
  path: string;
  /** Time at which a scan first found the file. */
  seen_at: string;
}

/** The audit log, which is append-only. Each row states who did what to whom, when, from where and with which result. */
interface AuditTable {
  /** 1, 2, 3 … without gaps. */
  seq: number;
  at: string;
  action: string;
  result: AuditResult;
  /** Null without a sign-in, and for the server itself. */
  actor_uid: string | null;
  /** Id of the account, image or other object that the action affects; null if there is none. */
  target: string | null;
  /** JSON with further facts, never with a secret. */
  detail: string;
  /** IP address of the client, or its network in a summary of several requests; null for the server itself. */
  address: string | null;
  request_id: string | null;
  /** `hash` of the previous row (see domain/audit-chain.ts). */
  previous_hash: string;
  /** Hash of this row together with the previous hash. */
  hash: string;
}

/** Both ends of the hash chain of the audit log: a single row, inserted with the first entry. */
interface AuditChainTable {
  name: 'audit';
  /** Number and hash of the last pruned row; 0 and '' before the first pruning. */
  before_seq: number;
  before_hash: string;
  /** Number and hash of the last row. */
  last_seq: number;
  last_hash: string;
}

/** What an applicant entered, and the reason for a rejection. An account without any of these fields has no row. */
interface ApplicationTable {
  uid: string;
  affiliation: string | null;
  purpose: string | null;
  /** Reason for the rejection, shown to the applicant; null unless the last decision was a rejection. */
  decision_reason: string | null;
}

/** Access settings of a dataset. A dataset without a row is open. */
interface DatasetTable {
  /** Canonical spelling, as in `images.dataset_name`. */
  name: string;
  access: DatasetAccess;
  /** Whether members can see that the dataset exists, and request access, while it is restricted. */
  is_listed: Flag;
  /** Whether original files may be downloaded even if labels or patient data cannot be removed from them. */
  identifiable_originals: Generated<Flag>;
  updated_at: string;
  /** Whether share links may open slides of the dataset. */
  is_shared: Generated<Flag>;
}

/**
 * Grants: the right of one account to see one restricted dataset, and possibly to download its original files, which needs a grant
 * for an open dataset, too. Administrators see all datasets without a grant.
 */
interface DatasetGrantTable {
  uid: string;
  dataset: string;
  /** Uid of the administrator who granted the dataset. */
  granted_by: string;
  at: string;
  /** Whether the account may download original files. */
  may_download: Generated<Flag>;
}

/** The last request of each account for access to each restricted dataset. */
interface DatasetRequestTable {
  id: string;
  uid: string;
  dataset: string;
  reason: string;
  at: string;
  /** Decision of an administrator; null until the request is answered. */
  answer: 'granted' | 'refused' | null;
  answer_reason: string | null;
  answered_by: string | null;
  answered_at: string | null;
}

/** Time at which any process last sent each digest e-mail, such as the one that tells administrators about new applications. */
interface DigestTable {
  name: string;
  sent_at: string;
}

/**
 * The data that a lock guards:
 * - `accounts`: accounts, sign-ins, API tokens, image sessions, grants, the queue of e-mails, and everything that a transaction
 *   changes after it has checked the caller's permission again, such as collections, share links and annotation classes
 * - `catalogue`: images, datasets and cases of the catalogue
 * - `uploads`: uploads, result files, and the storage quota that they share
 * - `throttle`: counters of limited attempts, such as failed sign-ins (table `throttles`)
 * - `audit`: the audit log, in which each entry contains the hash of the previous entry
 */
export type LockName = 'accounts' | 'audit' | 'catalogue' | 'throttle' | 'uploads';

/** Named locks. A transaction acquires a lock by updating its row, which locks the row until the transaction ends. */
interface LockTable {
  name: LockName;
  /** Number of transactions that have acquired the lock. */
  taken: number;
}

/** Images that were shown in each image session, so that the audit log records each of them once. */
interface ImageOpeningTable {
  session_hash: string;
  image_id: string;
  /** 1 after the slide was opened in the viewer; 0 while only its thumbnail has been shown. */
  is_viewed: Flag;
}

/** The program version that ran each migration. Migrations before the one that created this table have no row. */
interface SchemaChangeTable {
  migration: string;
  program_version: string;
  at: string;
}

/** Uploads by administrators: each is a file, or a folder of files. */
interface UploadTable {
  id: string;
  /** Uid of the administrator who uploads. */
  uid: string;
  dataset: string;
  /** Path of the file or folder relative to the dataset, validated, with forward slashes. */
  path: string;
  is_folder: Flag;
  /** Number of files and their total size, as the client announced them. */
  file_count: number;
  size_bytes: number;
  state: UploadState;
  /** Why the upload does not continue; null while it does. */
  problem: UploadProblem | null;
  /** Normalised path to which the upload will be moved; unique. Null once the upload is done. */
  place_key: string | null;
  /** Until this time one process may move the upload to its destination. Null: no process does. */
  leased_until: string | null;
  begun_at: string;
  /** Time of the last progress. */
  touched_at: string;
}

/** Files of unfinished uploads. */
interface UploadFileTable {
  id: string;
  upload_id: string;
  /**
   * Validated path relative to the uploaded folder, with forward slashes; for an upload of a single file, its name. Unique
   * within the upload.
   */
  path: string;
  size_bytes: number;
  /** Modification time of the file on the client's disk, in milliseconds since 1970. */
  modified_ms: number;
  /** Hexadecimal; null until all bytes have arrived. */
  sha256: string | null;
  state: UploadFileState;
  /** Until this time one process may check the file. Null: no process does. */
  leased_until: string | null;
}

/** Cases: a case groups slides of one specimen. It belongs to a dataset; the accounts that may see the dataset see the case. */
interface CaseTable {
  id: string;
  /** Canonical spelling, as in `images.dataset_name`. */
  dataset: string;
  name: string;
  description: string | null;
  /** Position in the list: dataset, then name (see domain/catalogue-order.ts). */
  sort_key: string;
  /** Key of the name, equal for all its spellings (see `nameKey`). */
  name_key: string;
  /** Increments with every change. */
  version: number;
  created_at: string;
  updated_at: string;
}

/** The slides of a case in the order of `position`. `block` names the tissue block from which the slide was cut. */
interface CaseSlideTable {
  case_id: string;
  image_id: string;
  position: number;
  stain: string | null;
  block: string | null;
  note: string | null;
}

/**
 * Cases that scans imported from metadata files. When an administrator deletes such a case, this row stays, so that the next
 * scan does not create the case again.
 */
interface CaseOfFilesTable {
  /** Keys of dataset and case name (see nameKey: all spellings of a name have one key), with a line break between. */
  key: string;
  /** Id of the case in `cases`, where it may have been deleted. */
  case_id: string;
  /** JSON of name, description and slides as the last scan imported them. If the case differs, it has been edited. */
  written: string;
}

/** Registrations of slides: the transform that maps points of one slide of a case (`from_image`) to another (`to_image`). */
interface CaseRegistrationTable {
  case_id: string;
  from_image: string;
  to_image: string;
  /** JSON of the pairs of points from which the transform was computed. */
  points: string;
  /** JSON of a RegistrationMatrix, the transform. */
  matrix: string;
  /** Remaining error of the transform in micrometres; null when the pixel size of `to_image` is unknown. */
  residual_um: number | null;
  updated_at: string;
}

/** For each slide, the number of changes of its annotations so far. Event streams find new changes by this number. */
interface AnnotationImageTable {
  image_id: string;
  change_no: number;
}

/** Result layers: heat maps or objects that a program has computed for a slide. DATA_DIR/results has their content. */
interface ResultLayerTable {
  id: string;
  image_id: string;
  name: string;
  kind: ResultKind;
  /** Null when the file was found beside the slide, or when the account was deleted. */
  owner_uid: string | null;
  /** How the server got the file: uploaded with a sign-in or an API token, or found beside the slide. */
  source: ResultSource;
  /** Path of a file that was found beside the slide, relative to the slide's root; null for an uploaded file. */
  source_path: string | null;
  /** Size and time, or ETag, of the file at `source_path` when it was last read; null for an uploaded file. */
  source_version: string | null;
  /** JSON of a ResultRegistration; null: the result covers the whole slide. */
  registration: string | null;
  state: ResultState;
  /** Progress of the import, 0 to 100. */
  percent: number;
  /** Code of results/problems.ts; `removed` for a deleted layer of a found file; null unless the state is `failed`. */
  problem: string | null;
  /** Size in bytes of the file that the client announced; null before the announcement. */
  upload_bytes: number | null;
  /** Size in bytes of the imported layer on the disk. */
  size_bytes: number;
  object_count: number | null;
  created_at: string;
  updated_at: string;
}

/** Annotation layers: sets of annotations of a slide. A deleted layer keeps its row until it can no longer be restored. */
interface AnnotationLayerTable {
  id: string;
  image_id: string;
  name: string;
  /** Null after the account was deleted; administrators then own the layer. */
  owner_uid: string | null;
  /** Who sees the layer: only the owner and administrators, or all members. */
  visibility: LayerVisibility;
  /** Who may change its annotations: only the owner and administrators, or all members who see the layer. */
  editing: LayerEditing;
  /** Role that locked the layer. Only administrators unlock a layer that an administrator locked. Null: not locked. */
  locked_by: 'owner' | 'admin' | null;
  /** How the annotations were created: drawn, imported from a file, or by a program. */
  source: LayerSource;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
  /** Increments with every change of the layer or its annotations. */
  version: number;
  /** `annotation_images.change_no` of the last change. */
  change_no: number;
  /** `annotation_images.change_no` of the last change that made a shared layer private; null: no such change. */
  hidden_change_no: number | null;
  /** Numbers of annotations and of their vertices, without deleted annotations. */
  annotation_count: number;
  vertex_count: number;
  /** `annotations.position` of the next new annotation. */
  next_position: number;
}

/** Annotations: drawn or detected objects of a slide, including deleted ones. */
interface AnnotationTable {
  layer_id: string;
  /** Chosen by the client; unique in the layer. */
  id: string;
  /** Order of creation in the layer. */
  position: number;
  /**
   * JSON of the GeoJSON feature without the fields that the server adds. `properties` is the last member and never empty, so
   * that the server can insert its fields into the text.
   */
  feature: string;
  /** `objectType` of the feature, a term of QuPath such as `annotation` or `detection`. */
  object_type: string;
  class_name: string | null;
  /** JSON array of red, green and blue. */
  class_color: string | null;
  /** Bounds of the geometry in pixels of full resolution. */
  min_x: number;
  min_y: number;
  max_x: number;
  max_y: number;
  /** Number of vertices of the geometry. */
  vertices: number;
  /** 1 for a new annotation; increments with every change. The numbers continue if an erased annotation is created again. */
  revision: number;
  /** `annotation_images.change_no` of the last change. */
  change_no: number;
  created_by: string; // uid
  created_at: string;
  updated_by: string; // uid
  updated_at: string;
  deleted_at: string | null;
}

/** History of annotations; rows are only added. */
interface AnnotationRevisionTable {
  layer_id: string;
  id: string;
  revision: number;
  change: 'create' | 'change' | 'delete' | 'restore';
  /** JSON of the feature after the change. Null for a deletion, and once a deleted annotation can no longer be restored. */
  feature: string | null;
  /** Version of the layer after the change. */
  version: number;
  author: string; // uid
  at: string;
}

/** Annotation classes that each dataset offers. A dataset without a row has the default classes. */
interface AnnotationClassTable {
  dataset: string;
  /** JSON array of AnnotationClass. */
  classes: string;
  /** Increments with every change. */
  version: number;
  updated_at: string;
}

/** Saved views: a field of view of one slide with a title, which an account has saved. */
interface SavedViewTable {
  id: string;
  /** Owner of the view. */
  uid: string;
  image_id: string;
  title: string;
  text: string | null;
  /** JSON of a FieldOfView: the part of the slide that the view shows. */
  field: string;
  /** JSON of display settings as the viewer stores them; null: none. The server does not interpret it. */
  colours: string | null;
  /** JSON of settings of layers as the viewer stores them; null: none. The server does not interpret it. */
  layers: string | null;
  /** Increments with every change. */
  version: number;
  created_at: string;
  updated_at: string;
}

/** Collections: ordered lists of slides, cases and saved views, each item with an optional text and question. */
interface CollectionTable {
  id: string;
  /** Owner of the collection. */
  uid: string;
  title: string;
  description: string | null;
  /** `members`: all accounts with access to the catalogue; `listed`: only the accounts in collection_readers. */
  readers: 'members' | 'listed';
  /** Increments with every change. */
  version: number;
  created_at: string;
  updated_at: string;
}

/** The items of a collection in the order of `position`. */
interface CollectionItemTable {
  collection_id: string;
  position: number;
  type: CollectionItemType;
  /** Id of a slide, a case or a saved view. */
  target_id: string;
  text: string | null;
  /** JSON of a Question, including its correct answer; null: the item has no question. */
  question: string | null;
}

/** Accounts that may read a collection whose `readers` is `listed`. */
interface CollectionReaderTable {
  collection_id: string;
  uid: string;
}

/** The last answer of each person to each question of a collection. */
interface CollectionAnswerTable {
  collection_id: string;
  /** Identifies the item even after the order of the items has changed (see collections/item-keys.ts). */
  item_key: string;
  /** Uid of the account, or hash of a visitor's image session. */
  person: string;
  /** Null for a visitor. */
  uid: string | null;
  /** JSON of the answer. */
  answer: string;
  /** Null for a question without a correct answer. */
  is_correct: Flag | null;
  /** Number of times that the person has answered. */
  attempts: number;
  /** Time of the last attempt. */
  answered_at: string;
  /** Time of the first attempt; null in rows from before this column. */
  first_answered_at: string | null;
}

/** Presentations of collections: what each presenter shows now. Every process reads the rows for the followers connected to it. */
interface PresentationTable {
  collection_id: string;
  /** Increments with every change. */
  seq: number;
  /** JSON of a PresentationEvent. */
  state: string;
  updated_at: string;
}

/** Share links. An ended link keeps its row, so that lists still show it. */
interface ShareLinkTable {
  id: string;
  /** SHA-256 of the secret in the link, base64url. */
  secret_hash: string;
  /** Account that created the link. */
  uid: string;
  title: string;
  target_type: ShareTargetType;
  target_id: string;
  /** argon2id, encoded; null if there is no password. */
  password_hash: string | null;
  /** Whether visitors see annotations, and whether they may move and zoom the slides. */
  shows_annotations: Flag;
  allows_movement: Flag;
  /** Maximum number of openings of the link; null: no limit. */
  max_openings: number | null;
  openings: number;
  created_at: string;
  expires_at: string;
  /** Time at which the link was ended before it expired; null otherwise. */
  ended_at: string | null;
}

/** All tables by their name in the database. */
export interface Tables {
  annotation_images: AnnotationImageTable;
  result_layers: ResultLayerTable;
  annotation_layers: AnnotationLayerTable;
  annotations: AnnotationTable;
  annotation_revisions: AnnotationRevisionTable;
  annotation_classes: AnnotationClassTable;
  users: UserTable;
  identities: IdentityTable;
  tokens: TokenTable;
  api_tokens: ApiTokenTable;
  api_token_uses: ApiTokenUseTable;
  image_sessions: ImageSessionTable;
  image_openings: ImageOpeningTable;
  password_resets: PasswordResetTable;
  registrations: RegistrationTable;
  spent_identity_tokens: SpentIdentityTokenTable;
  throttles: ThrottleTable;
  second_factors: SecondFactorTable;
  recovery_codes: RecoveryCodeTable;
  letters: EmailTable;
  images: ImageTable;
  catalogue_names: CatalogueNameTable;
  metadata_files: MetadataFileTable;
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
  cases: CaseTable;
  case_slides: CaseSlideTable;
  cases_of_files: CaseOfFilesTable;
  case_registrations: CaseRegistrationTable;
  saved_views: SavedViewTable;
  collections: CollectionTable;
  collection_items: CollectionItemTable;
  collection_readers: CollectionReaderTable;
  collection_answers: CollectionAnswerTable;
  presentations: PresentationTable;
  share_links: ShareLinkTable;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;
