/** The response that each kind of caller gets from each endpoint, as data: the tables of docs/permissions.md sections 4.1 to 4.4. */
import { type Endpoint, type ErrorCode, endpoints } from '@lamina/contract';

/**
 * Kinds of callers. `anonymous` sends no token, and `bad token` an unknown token. `pending`, `suspended` and `deactivated` are accounts
 * with that status; `unassigned` to `admin` are active accounts with that role. `visitor` has the image session of a share link.
 */
export const actors = [
  'anonymous',
  'bad token',
  'pending',
  'suspended',
  'deactivated',
  'unassigned',
  'viewer',
  'user',
  'admin',
  'visitor',
] as const;
export type Actor = (typeof actors)[number];

/** Descriptions of the callers, for test names. */
export const actorDescriptions: Readonly<Record<Actor, string>> = {
  anonymous: 'a caller without a bearer token',
  'bad token': 'a caller with an unknown bearer token',
  pending: 'a pending account',
  suspended: 'a suspended account',
  deactivated: 'a deactivated account',
  unassigned: 'an active account with the role unassigned',
  viewer: 'an active account with the role viewer',
  user: 'an active account with the role user',
  admin: 'an active account with the role admin',
  visitor: 'a visitor of a share link',
};

/** Describes an endpoint for test names, for example `GET /user/profile (endpoint getProfile)`. */
export function endpointLabel(name: string): string {
  const { method, path } = endpoints[name] as Endpoint;
  return `${method} ${path} (endpoint ${name})`;
}

/** Pairs each endpoint name with its label, as rows of a test table. */
export const withLabels = (names: readonly string[]) =>
  names.map((name) => [endpointLabel(name), name] as const);

/**
 * For each endpoint of the contract that does not serve pixels: the HTTP status of the response to a well-formed request for an
 * existing target, with one column for each of the `actors` in their order, except the visitor.
 */
export const expectedStatuses: Readonly<Record<string, string>> = {
  //                     anon. bad  pend susp deac unas view user admin
  register: /*            */ '201  201  201  201  201  201  201  201  201',
  confirmRegistration: /* */ '200  200  200  200  200  200  200  200  200',
  signIn: /*              */ '401  401  200  200  403  200  200  200  200',
  verifyToken: /*         */ '401  401  200  200  401  200  200  200  200',
  requestPasswordReset: /**/ '202  202  202  202  202  202  202  202  202',
  checkPasswordReset: /*  */ '400  400  204  204  400  204  204  204  204',
  confirmPasswordReset: /**/ '400  400  200  200  400  200  200  200  200',
  signOut: /*             */ '401  401  204  204  401  204  204  204  204',
  getProfile: /*          */ '401  401  200  200  401  200  200  200  200',
  getActivity: /*         */ '401  401  200  200  401  200  200  200  200',
  changeLanguage: /*      */ '401  401  204  204  401  204  204  204  204',
  listSignIns: /*         */ '401  401  200  200  401  200  200  200  200',
  endSignIn: /*           */ '401  401  204  204  401  204  204  204  204',
  endSignIns: /*          */ '401  401  204  204  401  204  204  204  204',
  listApiTokens: /*       */ '401  401  403  403  401  403  200  200  200',
  createApiToken: /*      */ '401  401  403  403  401  403  201  201  201',
  deleteApiToken: /*      */ '401  401  403  403  401  403  204  204  204',
  listAllApiTokens: /*    */ '401  401  403  403  401  403  403  403  200',
  revokeApiToken: /*      */ '401  401  403  403  401  403  403  403  204',
  getSecondFactor: /*     */ '401  401  403  403  401  200  200  200  200',
  startSecondFactor: /*   */ '401  401  403  403  401  201  201  201  201',
  confirmSecondFactor: /* */ '401  401  403  403  401  200  200  200  200',
  removeSecondFactor: /*  */ '401  401  403  403  401  200  200  200  200',
  changePassword: /*      */ '401  401  403  403  401  200  200  200  200',
  deleteAccount: /*       */ '401  401  200  403  401  200  200  200  200',
  listUsers: /*           */ '401  401  403  403  401  403  403  403  200',
  getUser: /*             */ '401  401  403  403  401  403  403  403  200',
  approveUser: /*         */ '401  401  403  403  401  403  403  403  200',
  withdrawApproval: /*    */ '401  401  403  403  401  403  403  403  200',
  suspendUser: /*         */ '401  401  403  403  401  403  403  403  200',
  deactivateUser: /*      */ '401  401  403  403  401  403  403  403  200',
  promoteUser: /*         */ '401  401  403  403  401  403  403  403  200',
  setUserPassword: /*     */ '401  401  403  403  401  403  403  403  200',
  resetSecondFactor: /*   */ '401  401  403  403  401  403  403  403  200',
  getStatistics: /*       */ '401  401  403  403  401  403  403  403  200',
  listAudit: /*           */ '401  401  403  403  401  403  403  403  200',
  exportAudit: /*         */ '401  401  403  403  401  403  403  403  200',
  getAuditChain: /*       */ '401  401  403  403  401  403  403  403  200',
  checkAuditChain: /*     */ '401  401  403  403  401  403  403  403  202',
  createImageSession: /*  */ '401  401  403  403  401  403  201  201  201',
  getImageSessionStats: /**/ '401  401  403  403  401  403  200  200  200',
  deleteImageSession: /*  */ '401  401  403  403  401  403  204  204  204',
  listImages: /*          */ '401  401  403  403  401  403  200  200  200',
  getImage: /*            */ '401  401  403  403  401  403  200  200  200',
  listImageGroups: /*    */ '401  401  403  403  401  403  200  200  200',
  listImageRows: /*      */ '401  401  403  403  401  403  200  200  200',
  getImagePosition: /*   */ '401  401  403  403  401  403  200  200  200',
  iiifBase: /*            */ '401  401  403  403  401  403  303  303  303',
  iiifInformation: /*     */ '401  401  403  403  401  403  200  200  200',
  iiifImage: /*           */ '401  401  403  403  401  403  200  200  200',
  iiifManifest: /*        */ '401  401  403  403  401  403  200  200  200',
  iiifCaseManifest: /*    */ '401  401  403  403  401  403  200  200  200',
  iiifCollectionManifest: /**/ '401  401  403  403  401  403  200  200  200',
  searchStudies: /*        */ '401  401  403  403  401  403  200  200  200',
  searchSeries: /*         */ '401  401  403  403  401  403  200  200  200',
  searchInstances: /*      */ '401  401  403  403  401  403  200  200  200',
  searchSeriesOfStudy: /*  */ '401  401  403  403  401  403  200  200  200',
  searchInstancesOfStudy: /* */ '401  401  403  403  401  403  200  200  200',
  searchInstancesOfSeries: /* */ '401  401  403  403  401  403  200  200  200',
  getStudyMetadata: /*     */ '401  401  403  403  401  403  200  200  200',
  getSeriesMetadata: /*    */ '401  401  403  403  401  403  200  200  200',
  getInstanceMetadata: /*  */ '401  401  403  403  401  403  200  200  200',
  getFrames: /*            */ '401  401  403  403  401  403  200  200  200',
  getIccProfile: /*        */ '401  401  403  403  401  403  200  200  200',
  getStudyThumbnail: /*    */ '401  401  403  403  401  403  200  200  200',
  getSeriesThumbnail: /*   */ '401  401  403  403  401  403  200  200  200',
  getInstanceThumbnail: /* */ '401  401  403  403  401  403  200  200  200',
  getOriginal: /*         */ '401  401  403  403  401  403  403  200  200',
  getOriginalFile: /*     */ '401  401  403  403  401  403  403  200  200',
  updateImage: /*         */ '401  401  403  403  401  403  403  403  200',
  deleteImage: /*         */ '401  401  403  403  401  403  403  403  204',
  listApplications: /*   */ '401  401  403  403  401  403  403  403  200',
  countWaiting: /*       */ '401  401  403  403  401  403  403  403  200',
  rejectUser: /*         */ '401  401  403  403  401  403  403  403  200',
  approveApplications: /**/ '401  401  403  403  401  403  403  403  200',
  rejectApplications: /* */ '401  401  403  403  401  403  403  403  200',
  updateUserAccess: /*   */ '401  401  403  403  401  403  403  403  200',
  listDatasets: /*       */ '401  401  403  403  401  403  403  403  200',
  updateDataset: /*      */ '401  401  403  403  401  403  403  403  200',
  grantDataset: /*       */ '401  401  403  403  401  403  403  403  200',
  revokeDataset: /*      */ '401  401  403  403  401  403  403  403  200',
  answerDatasetRequest: /**/ '401  401  403  403  401  403  403  403  200',
  listManagedImages: /*  */ '401  401  403  403  401  403  403  403  200',
  countManagedImages: /* */ '401  401  403  403  401  403  403  403  200',
  changeImages: /*       */ '401  401  403  403  401  403  403  403  200',
  exportCatalogue: /*    */ '401  401  403  403  401  403  403  403  200',
  checkCatalogueImport: /**/ '401  401  403  403  401  403  403  403  200',
  applyCatalogueImport: /**/ '401  401  403  403  401  403  403  403  200',
  listRecentAnnotations: /**/ '401  401  403  403  401  403  200  200  200',
  countAnnotations: /*   */ '401  401  403  403  401  403  200  200  200',
  listAnnotationLayers: /**/ '401  401  403  403  401  403  200  200  200',
  createAnnotationLayer: /**/ '401  401  403  403  401  403  403  201  201',
  updateAnnotationLayer: /**/ '401  401  403  403  401  403  403  200  200',
  deleteAnnotationLayer: /**/ '401  401  403  403  401  403  403  204  204',
  restoreAnnotationLayer: /**/ '401  401  403  403  401  403  403  200  200',
  listAnnotations: /*    */ '401  401  403  403  401  403  200  200  200',
  changeAnnotations: /*  */ '401  401  403  403  401  403  403  200  200',
  importAnnotationFile: /**/ '401  401  403  403  401  403  403  200  200',
  exportAnnotationFile: /**/ '401  401  403  403  401  403  200  200  200',
  listAnnotationHistory: /**/ '401  401  403  403  401  403  200  200  200',
  restoreAnnotation: /*  */ '401  401  403  403  401  403  403  200  200',
  streamAnnotationEvents: /**/ '401  401  403  403  401  403  200  200  200',
  getAnnotationClasses: /**/ '401  401  403  403  401  403  200  200  200',
  updateAnnotationClasses: /**/ '401  401  403  403  401  403  403  403  200',
  listResultLayers: /*   */ '401  401  403  403  401  403  200  200  200',
  createResultLayer: /*  */ '401  401  403  403  401  403  403  201  201',
  deleteResultLayer: /*  */ '401  401  403  403  401  403  403  204  204',
  createResultFile: /*   */ '401  401  403  403  401  403  403  201  201',
  getResultFile: /*      */ '401  401  403  403  401  403  403  200  200',
  sendResultFile: /*     */ '401  401  403  403  401  403  403  204  204',
  listUploads: /*        */ '401  401  403  403  401  403  403  403  200',
  beginUpload: /*        */ '401  401  403  403  401  403  403  403  200',
  abandonUpload: /*      */ '401  401  403  403  401  403  403  403  204',
  createUploadFile: /*   */ '401  401  403  403  401  403  403  403  201',
  getUploadFile: /*      */ '401  401  403  403  401  403  403  403  200',
  sendUploadFile: /*     */ '401  401  403  403  401  403  403  403  204',
  finishUploadFile: /*   */ '401  401  403  403  401  403  403  403  202',
  listRequestableDatasets: /**/ '401  401  403  403  401  403  200  200  200',
  requestDataset: /*     */ '401  401  403  403  401  403  200  200  200',
  listCases: /*          */ '401  401  403  403  401  403  200  200  200',
  createCase: /*         */ '401  401  403  403  401  403  403  403  201',
  getCase: /*            */ '401  401  403  403  401  403  200  200  200',
  updateCase: /*         */ '401  401  403  403  401  403  403  403  200',
  deleteCase: /*         */ '401  401  403  403  401  403  403  403  204',
  registerCaseSlides: /* */ '401  401  403  403  401  403  403  200  200',
  listSavedViews: /*     */ '401  401  403  403  401  403  403  200  200',
  createSavedView: /*    */ '401  401  403  403  401  403  403  201  201',
  getSavedView: /*       */ '401  401  403  403  401  403  403  200  200',
  updateSavedView: /*    */ '401  401  403  403  401  403  403  200  200',
  deleteSavedView: /*    */ '401  401  403  403  401  403  403  204  204',
  listCollections: /*    */ '401  401  403  403  401  403  200  200  200',
  createCollection: /*   */ '401  401  403  403  401  403  403  201  201',
  getCollection: /*      */ '401  401  403  403  401  403  200  200  200',
  updateCollection: /*   */ '401  401  403  403  401  403  403  200  200',
  deleteCollection: /*   */ '401  401  403  403  401  403  403  204  204',
  present: /*            */ '401  401  403  403  401  403  403  204  204',
  followPresentation: /* */ '401  401  403  403  401  403  200  200  200',
  answerQuestion: /*     */ '401  401  403  403  401  403  200  200  200',
  listAnswers: /*        */ '401  401  403  403  401  403  403  200  200',
  createShareLink: /*    */ '401  401  403  403  401  403  403  201  201',
  listShareLinks: /*     */ '401  401  403  403  401  403  403  200  200',
  endShareLink: /*       */ '401  401  403  403  401  403  403  204  204',
  openShareLink: /*      */ '200  200  200  200  200  200  200  200  200',
};

/**
 * The endpoints that a visitor with the image session of a share link may call in addition to public ones. All other endpoints respond
 * as to an anonymous caller.
 */
const visitorStatuses: Readonly<Record<string, number>> = {
  followPresentation: 200,
  answerQuestion: 200,
  listAnnotationLayers: 200,
  listAnnotations: 200,
};

/** Returns the expected HTTP status; NaN for an endpoint that the tables do not contain. */
export function expectedStatus(endpointName: string, actor: Actor): number {
  if (actor === 'visitor') return visitorStatuses[endpointName] ?? expectedStatus(endpointName, 'anonymous');
  return Number(expectedStatuses[endpointName]?.split(/\s+/)[actors.indexOf(actor)]);
}

/** Returns the error code of the expected response; null for a successful one. */
export function expectedErrorCode(endpointName: string, actor: Actor): ErrorCode | null {
  const status = expectedStatus(endpointName, actor);
  if (status < 400) return null;
  if (status === 400) return 'reset_link_invalid'; // in this table, only password resets respond with 400
  if (status === 401) {
    if (endpointName === 'signIn') return 'credentials_invalid';
    const hasNoToken = actor === 'anonymous' || actor === 'visitor';
    // A request to `verifyToken` always contains a token, in its body.
    return hasNoToken && endpointName !== 'verifyToken' ? 'token_missing' : 'token_invalid';
  }
  const isBlocked = actor === 'pending' || actor === 'suspended' || actor === 'deactivated';
  return isBlocked ? 'account_not_active' : 'forbidden';
}

/** Kinds of image sessions (the credential of pixel requests) that a request may contain. `own` is a session of the caller. */
export const sessions = [
  'none',
  'own',
  'unknown',
  'tampered',
  'expired',
  'revoked',
  "another account's",
] as const;
export type Session = (typeof sessions)[number];

/** Descriptions of the kinds of image sessions, for test names. */
export const sessionDescriptions: Readonly<Record<Session, string>> = {
  none: 'no image session',
  own: 'a valid image session of the same account',
  unknown: 'an image session id that the server never issued',
  tampered: 'an image session id with one changed character',
  expired: 'an expired image session',
  revoked: 'a revoked image session',
  "another account's": 'an image session of another account',
};

/** Section 4.2: responses of the catalogue to a request with a valid bearer token and, in addition, an image session of this kind. */
export const catalogueBySession: Readonly<Record<Session, '200' | ErrorCode>> = {
  none: '200',
  own: '200',
  unknown: 'session_invalid',
  tampered: 'session_invalid',
  expired: 'session_invalid',
  revoked: 'session_invalid',
  "another account's": 'session_invalid',
};

/** Bearer tokens that a request for pixels may contain in addition to its image session. */
export const additionalTokens = ['no token', 'a token', "another account's token", 'a bad token'] as const;
export type AdditionalToken = (typeof additionalTokens)[number];

/** Section 4.3: responses for pixels by image session and bearer token. `own` is any valid session; `a token` belongs to its account. */
export const pixelsBySession: Readonly<
  Record<Exclude<Session, "another account's">, Readonly<Record<AdditionalToken, '200' | ErrorCode>>>
> = {
  own: {
    'no token': '200',
    'a token': '200',
    "another account's token": 'session_invalid',
    'a bad token': 'token_invalid',
  },
  none: always('session_missing'),
  unknown: always('session_invalid'),
  tampered: always('session_invalid'),
  expired: always('session_invalid'),
  revoked: always('session_invalid'),
};

function always(code: ErrorCode): Readonly<Record<AdditionalToken, ErrorCode>> {
  return { 'no token': code, 'a token': code, "another account's token": code, 'a bad token': code };
}
