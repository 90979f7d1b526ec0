/**
 * The tables of both databases. Portable types only: text ids, ISO 8601 text for times (UTC, so that text
 * order is time order), 0/1 for booleans, JSON as text.
 *
 * Longer than other files: one declaration for each table, in the order in which they came, with nothing to understand between them.
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
  /** As entered at registration. */
  email: string;
  /** Normalised address (Unicode NFKC, lower case). Unique. */
  email_key: string;
  display_name: string | null;
  status: Status;
  role: Role;
  admin_approved: Flag;
  created_at: string;
  updated_at: string;
  approval_date: string | null;
  /** When access ends automatically; from then on the account counts as suspended. Null: never. */
  expires_at: string | null;
  /** Language of e-mails to the account. */
  language: Generated<Language>;
}

/** An identity of an account; the embedded sign-in service stores a password hash here. */
interface IdentityTable {
  uid: string;
  /** `embedded`, or the issuer of an external provider. */
  provider: string;
  /** The person's id at the provider; for `embedded` the uid. */
  subject: string;
  /** argon2id, encoded; null when the provider checks the password. */
  password_hash: string | null;
}

/** Valid bearer tokens. Ending a token deletes its row, so it cannot become valid again. */
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
  /** JSON array of dataset names; null: every dataset that the owner may see. */
  datasets: string | null;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
}

/** What a token has used in the current hour and the audit log therefore has already. */
interface ApiTokenUseTable {
  token_id: string;
  /** Id of an image; empty: calls without an image. */
  target: string;
  kind: 'call' | 'thumbnail' | 'viewer';
  /** Start of the hour, ISO 8601. */
  hour: string;
}

/** Image sessions; they end with their row, their token or share link, or at `expires_at`. */
interface ImageSessionTable {
  /** SHA-256 of the session id, base64url. */
  hash: string;
  /** First 8 characters of the session id, shown to the account's owner. */
  prefix: string;
  /** Owner of the session; of a share link, its maker. */
  uid: string;
  /** Null for the session of a share link. */
  token_hash: string | null;
  created_at: string;
  expires_at: string;
  request_count: number;
  /** Null for the session of a sign-in. */
  share_link_id: Generated<string | null>;
}

interface PasswordResetTable {
  /** SHA-256 of the e-mailed code, base64url. */
  hash: string;
  uid: string;
  expires_at: string;
}

/**
 * A registration whose e-mail address is not confirmed yet: there is no account, and other API calls do not
 * see it.
 */
interface RegistrationTable {
  /** SHA-256 of the e-mailed code, base64url. */
  hash: string;
  /** Uid of the future account. */
  uid: string;
  email: string;
  /** See domain/email.ts. Not unique: each registration of an address has its own link and password. */
  email_key: string;
  /** argon2id, encoded. */
  password_hash: string;
  display_name: string | null;
  affiliation: string | null;
  purpose: string | null;
  expires_at: string;
  /** Of the request that registered; the account gets it. */
  language: Language;
}

/**
 * Counters of attempts, and known networks of accounts: see sign-in/throttle.ts. Expired rows are deleted.
 */
interface ThrottleTable {
  /** SHA-256, base64url; the table contains no e-mail or IP address. */
  key: string;
  count: number;
  expires_at: string;
  blocked_until: string | null;
}

interface SecondFactorTable {
  uid: string;
  /** Encrypted: see secrets.ts. */
  secret: string;
  created_at: string;
  /** Null until the first code is confirmed; the factor is required only from then on. */
  confirmed_at: string | null;
  /** The 30-second step of the last accepted code; codes of it or earlier ones are rejected. */
  last_step: number;
}

/** A recovery code replaces one code of the second factor. Using it deletes its row. */
interface RecoveryCodeTable {
  /** SHA-256 of uid and code, base64url. */
  hash: string;
  uid: string;
}

/** The outbox: e-mails that are not sent yet. */
interface EmailTable {
  id: string;
  /** Encrypted JSON, because an e-mail may contain a link that sets a password. */
  content: string;
  created_at: string;
  attempts: number;
  /** When the next attempt is due. A process that claims the e-mail postpones this first. */
  due_at: string;
}

/** An identity token that was used for a sign-in; it cannot be used again. */
interface SpentIdentityTokenTable {
  /** SHA-256 of the identity token's header and payload, base64url. */
  hash: string;
  /** Expiry of the token, after which it would be rejected anyway. */
  expires_at: string;
}

/** Where a slide is stored: a folder of the server, or the bucket. Requests never name it. */
export type SlideRoot = 'slides' | 'demo' | 'uploads' | 'bucket';

interface ImageTable {
  id: string;
  root: SlideRoot;
  /** Path below the root, with forward slashes. Unique with the root. */
  path: string;
  /**
   * JSON array of the slide's other files, relative to the leading file's folder; `folder/` stands for a
   * whole folder.
   */
  members: string;
  /** Fingerprint of all files when they were last read; null before. */
  fingerprint: string | null;
  file_name: string;
  dataset_name: string | null;
  organ_type: string | null;
  /** Position in the catalogue: dataset, then file name (see domain/catalogue-order.ts). */
  sort_key: string;
  /** Folded text that searches compare. */
  search_text: string;
  /** JSON array of the fields that an administrator edited; scans do not change those. */
  edited_fields: string;
  status: ImageStatus;
  error: string | null;
  /** SlideErrorCode of the error; null for files that were read before it was stored. */
  error_code: string | null;
  width: number | null;
  height: number | null;
  mpp_x: number | null;
  mpp_y: number | null;
  objective_power: number | null;
  /** Which of the two values is derived from the other, because the file does not contain it. Null: none. */
  derived_scale: 'mpp' | 'objective_power' | null;
  /** What the file states; kept while an entered scale replaces it. */
  file_mpp_x: number | null;
  file_mpp_y: number | null;
  file_objective_power: number | null;
  /** Scale that an administrator entered; both null: the scale of the file. */
  entered_mpp: number | null;
  entered_objective_power: number | null;
  /** The shown focal plane, from 1, of how many; null for one plane and one time. */
  plane: number | null;
  planes: number | null;
  times: number | null;
  vendor: string | null;
  format: string | null;
  size_bytes: number;
  created_at: string;
  updated_at: string;
  /** Removed by an administrator; stays removed until it is restored. */
  removed_at: string | null;
  /** The file is missing; it may reappear. */
  missing_since: string | null;
  /** Hidden from members: by an administrator, or until a metadata file can be read (see metadata_hold). */
  hidden_at: string | null;
  /** JSON of a MetadataHold (see domain/metadata-hold.ts): metadata files contradict the catalogue. */
  metadata_hold: string | null;
}

/** The canonical spelling of a name. Every name in images, datasets, grants and requests is one of these. */
interface CatalogueNameTable {
  kind: 'dataset' | 'organ';
  /** The common key of all spellings (see nameKey). Unique with the kind. */
  key: string;
  name: string;
}

/**
 * Metadata files that a scan has found, usable or not, so that a missing one is noticed even after a restart.
 */
interface MetadataFileTable {
  root: SlideRoot;
  /** Relative to the root, with forward slashes. Unique with the root. */
  path: string;
  seen_at: string;
}

/** The audit log, append-only: who did what to whom, when, from where, with which result. */
interface AuditTable {
  /** 1, 2, 3 … without gaps. */
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
  /** Hash of the previous row; see domain/audit-chain.ts. */
  previous_hash: string;
  /** Hash of this row and of the previous hash. */
  hash: string;
}

/** Both ends of the audit log's hash chain: one row, inserted with the first entry. */
interface AuditChainTable {
  name: 'audit';
  /** Number and hash of the last pruned row; 0 and '' before the first pruning. */
  before_seq: number;
  before_hash: string;
  /** Number and hash of the last row. */
  last_seq: number;
  last_hash: string;
}

/** Affiliation and purpose of an applicant, and the reason of a rejection. No row: none of them. */
interface ApplicationTable {
  uid: string;
  affiliation: string | null;
  purpose: string | null;
  /** Reason of the rejection, shown to the applicant; null unless the last decision was a rejection. */
  decision_reason: string | null;
}

/** Access settings of a dataset. A dataset without a row is open. */
interface DatasetTable {
  /** As in `images.dataset_name`. */
  name: string;
  access: DatasetAccess;
  /** Whether members can see and request the dataset while it is restricted. */
  is_listed: Flag;
  /** Whether originals that cannot be de-identified may be downloaded as they are. */
  identifiable_originals: Generated<Flag>;
  updated_at: string;
  /** Whether its slides may be opened by share links. */
  is_shared: Generated<Flag>;
}

/** Grants of restricted datasets; administrators need none. */
interface DatasetGrantTable {
  uid: string;
  dataset: string;
  /** Uid of the administrator. */
  granted_by: string;
  at: string;
  /** Whether the account may download original files. */
  may_download: Generated<Flag>;
}

/** The last request of an account for a dataset. */
interface DatasetRequestTable {
  id: string;
  uid: string;
  dataset: string;
  reason: string;
  at: string;
  /** Null: not answered yet. */
  answer: 'granted' | 'refused' | null;
  answer_reason: string | null;
  answered_by: string | null;
  answered_at: string | null;
}

/** When a digest e-mail was last sent by any process. */
interface DigestTable {
  name: string;
  sent_at: string;
}

/** Rows for locking: updating one locks it until the transaction ends, on both databases. */
export interface LockTable {
  name: 'accounts' | 'audit' | 'catalogue' | 'throttle' | 'uploads';
  taken: number;
}

interface ImageOpeningTable {
  session_hash: string;
  image_id: string;
  /** 0 while only the thumbnail has been shown. */
  is_viewed: Flag;
}

/** Which program version ran which migration; without those before the one that created this table. */
interface SchemaChangeTable {
  migration: string;
  program_version: string;
  at: string;
}

/** An upload of an administrator: a file, or a folder of files. */
interface UploadTable {
  id: string;
  /** Uid of the administrator. */
  uid: string;
  dataset: string;
  /** Path of the file or folder relative to the dataset, validated, with forward slashes. */
  path: string;
  is_folder: Flag;
  /** Number of files and total bytes as announced. */
  file_count: number;
  size_bytes: number;
  state: UploadState;
  problem: UploadProblem | null;
  /** Normalised target path; unique. Null once the upload is done or abandoned. */
  place_key: string | null;
  /** Lease of the process that is placing the upload. */
  leased_until: string | null;
  begun_at: string;
  /** Time of the last progress. */
  touched_at: string;
}

/** A file of an unfinished upload. */
interface UploadFileTable {
  id: string;
  upload_id: string;
  /**
   * Path relative to the folder, validated, with forward slashes; of a single file its name. Unique with the
   * upload.
   */
  path: string;
  size_bytes: number;
  /** Time of the last change on the sender's disk, in milliseconds. */
  modified_ms: number;
  /** Hexadecimal; null until all bytes have arrived. */
  sha256: string | null;
  state: UploadFileState;
  /** Lease of the process that is checking the file. */
  leased_until: string | null;
}

/** Slides of one specimen. Belongs to a dataset, and is visible to the accounts that may see the dataset. */
interface CaseTable {
  id: string;
  /** As in `images.dataset_name`. */
  dataset: string;
  name: string;
  description: string | null;
  /** Position in the list: dataset, then name (see domain/catalogue-order.ts). */
  sort_key: string;
  version: number;
  created_at: string;
  updated_at: string;
}

/** The slides of a case in the order of `position`. */
interface CaseSlideTable {
  case_id: string;
  image_id: string;
  position: number;
  stain: string | null;
  block: string | null;
  note: string | null;
}

/** Cases that metadata files name. The row of a case that an administrator has deleted stays, so that no scan makes it again. */
interface CaseOfFilesTable {
  /** Dataset and name in the form that all spellings share, separated by a line break. */
  key: string;
  /** As in `cases.id`, also of a deleted case. */
  case_id: string;
  /** JSON of what the last scan took from the files: name, description and slides. What differs from it was edited. */
  written: string;
}

/** How one slide of a case lies on another. */
interface CaseRegistrationTable {
  case_id: string;
  from_image: string;
  to_image: string;
  /** JSON of the pairs of points that the transform was computed from. */
  points: string;
  /** JSON of a RegistrationMatrix. */
  matrix: string;
  /** Null for a slide of unknown scale. */
  residual_um: number | null;
  updated_at: string;
}

/** The number of changes of a slide's annotations; events and their order follow it. */
interface AnnotationImageTable {
  image_id: string;
  change_no: number;
}

/** Result layers; their content is in DATA_DIR/results. */
interface ResultLayerTable {
  id: string;
  image_id: string;
  name: string;
  kind: ResultKind;
  /** Null: found beside the slide, or the account was deleted. */
  owner_uid: string | null;
  source: ResultSource;
  /** Of a file beside the slide: its path below the root of the slide, and the version that was read. */
  source_path: string | null;
  source_version: string | null;
  /** JSON of a ResultRegistration; null: the default. */
  registration: string | null;
  state: ResultState;
  /** Progress of the import. */
  percent: number;
  /** Code of results/problems.ts. */
  problem: string | null;
  /** Announced size of the file; null before. */
  upload_bytes: number | null;
  /** On the disk. */
  size_bytes: number;
  object_count: number | null;
  created_at: string;
  updated_at: string;
}

/** Annotation layers. A deleted one stays until it can no longer be restored. */
interface AnnotationLayerTable {
  id: string;
  image_id: string;
  name: string;
  /** Null after the account was deleted: administrators own the layer. */
  owner_uid: string | null;
  visibility: LayerVisibility;
  editing: LayerEditing;
  /** Who locked the layer: only administrators unlock what an administrator locked. Null: not locked. */
  locked_by: 'owner' | 'admin' | null;
  source: LayerSource;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
  /** Increments with every change of the layer or its annotations. */
  version: number;
  /** `annotation_images.change_no` of the last change. */
  change_no: number;
  /** Of the annotations that are not deleted. */
  annotation_count: number;
  vertex_count: number;
  /** Position of the next new annotation. */
  next_position: number;
}

/** Annotations, deleted ones included. */
interface AnnotationTable {
  layer_id: string;
  /** Chosen by the client; unique in the layer. */
  id: string;
  /** Order of creation in the layer. */
  position: number;
  /** JSON of the feature without the fields of the server; `properties` is its last member and never empty. */
  feature: string;
  object_type: string;
  class_name: string | null;
  /** JSON array of red, green and blue. */
  class_color: string | null;
  min_x: number;
  min_y: number;
  max_x: number;
  max_y: number;
  vertices: number;
  revision: number;
  /** `annotation_images.change_no` of the last change. */
  change_no: number;
  created_by: string;
  created_at: string;
  updated_by: string;
  updated_at: string;
  deleted_at: string | null;
}

/** History of annotations; rows are only added. */
interface AnnotationRevisionTable {
  layer_id: string;
  id: string;
  revision: number;
  change: 'create' | 'change' | 'delete' | 'restore';
  /** Null for a deletion, and once a deleted annotation can no longer be restored. */
  feature: string | null;
  /** Version of the layer with the change. */
  version: number;
  author: string;
  at: string;
}

/** Classes that the annotations of a dataset use. A dataset without a row has the default classes. */
interface AnnotationClassTable {
  dataset: string;
  /** JSON array. */
  classes: string;
  version: number;
  updated_at: string;
}

interface SavedViewTable {
  id: string;
  /** Its owner. */
  uid: string;
  image_id: string;
  title: string;
  text: string | null;
  /** JSON of a Field. */
  field: string;
  /** JSON as the viewer stores it; null: none. */
  colours: string | null;
  layers: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

interface CollectionTable {
  id: string;
  /** Its owner. */
  uid: string;
  title: string;
  description: string | null;
  /** `members`: everyone with access to the catalogue; `listed`: the rows of collection_readers. */
  readers: 'members' | 'listed';
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
  /** JSON of a Question, with what is correct. */
  question: string | null;
}

interface CollectionReaderTable {
  collection_id: string;
  uid: string;
}

/** The last answer of each person to each question. */
interface CollectionAnswerTable {
  collection_id: string;
  /** Names the item also after the items have changed their order: see collections/item-keys.ts. */
  item_key: string;
  /** The uid, or the hash of the visitor's image session. */
  person: string;
  /** Null for a visitor. */
  uid: string | null;
  /** JSON. */
  answer: string;
  /** Null for a question without a correct answer. */
  is_correct: Flag | null;
  attempts: number;
  answered_at: string;
}

/** What a presenter shows now; all processes read it for their followers. */
interface PresentationTable {
  collection_id: string;
  /** Increments with every change. */
  seq: number;
  /** JSON of a PresentationEvent. */
  state: string;
  updated_at: string;
}

/** Share links. Ending one keeps its row for the list. */
interface ShareLinkTable {
  id: string;
  /** SHA-256 of the secret, base64url. */
  secret_hash: string;
  /** Its maker. */
  uid: string;
  title: string;
  target_type: ShareTargetType;
  target_id: string;
  /** argon2id, encoded; null without a password. */
  password_hash: string | null;
  shows_annotations: Flag;
  allows_movement: Flag;
  /** Null: any number. */
  max_openings: number | null;
  openings: number;
  created_at: string;
  expires_at: string;
  /** When it was ended before its time. */
  ended_at: string | null;
}

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
