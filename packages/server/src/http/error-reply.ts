/** Sends error responses: `{ message, code, requestId }` and, for some errors, details. Only the log contains an error's cause. */
import { AppError, declaredErrors, type ErrorBody, type ErrorCode } from '@lamina/contract';
import { SlideError, type SlideErrorCode } from '@lamina/slide';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorSentence } from './error-sentence.ts';
import { languageOf } from './language.ts';

/** Maps errors of the slide library to error codes of the API. */
const slideErrors: Record<SlideErrorCode, ErrorCode> = {
  FORMAT_NOT_RECOGNISED: 'slide_corrupt',
  FORMAT_NOT_SUPPORTED: 'slide_corrupt',
  NOT_A_SLIDE: 'slide_corrupt',
  FILE_TRUNCATED: 'slide_corrupt',
  FILE_CORRUPT: 'slide_corrupt',
  LIMIT_EXCEEDED: 'slide_corrupt',
  FILE_MISSING: 'not_found',
  FILE_CHANGED: 'unavailable', // on a retry, the server opens the new file
  TILE_OUT_OF_RANGE: 'not_found',
  ASSOCIATED_IMAGE_MISSING: 'not_found',
  DECODE_FAILED: 'slide_corrupt', // not `unavailable`: a retry of a damaged tile would fail again
  BUSY: 'unavailable',
  STORE_UNAVAILABLE: 'unavailable',
  STORE_TIMEOUT: 'storage_timeout',
};

/** Maps errors that Fastify raises before a route runs to error codes of the API. */
const fastifyErrors: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_request',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const apiError = apiErrorOf(error);
  const { code, detail } = apiError;
  if (apiError.status >= 500 && !isClientGone(error, reply))
    request.log.error(
      { err: error, code, method: request.method, route: request.routeOptions.url },
      'API request failed; the client got a 5xx response',
    );
  const endpoint = request.routeOptions.config?.endpoint;
  if (endpoint !== undefined && !declaredErrors(endpoint).has(code)) {
    // The test server searches the log for this message, and fails the test that caused the response.
    request.log.error(
      { code, method: request.method, route: request.routeOptions.url },
      'bug: the error code of a response is not declared by its endpoint; the client got the response anyway',
    );
  }
  // WWW-Authenticate of a 401 names what was missing or invalid: the bearer token, the image session (credential for
  // pixels), or a password or code in the request. Of the `token_` codes, only `token_unverifiable` (the server cannot
  // check the token now) has a status other than 401.
  if (code.startsWith('token_') && apiError.status === 401)
    reply.header('WWW-Authenticate', `Bearer error="${code}"`);
  if (code.startsWith('session_')) reply.header('WWW-Authenticate', `ImageSession error="${code}"`);
  if (code === 'credentials_invalid' || /^(second_factor|password)_(required|invalid)$/.test(code))
    reply.header('WWW-Authenticate', 'Credentials');
  // An API token without the scope gets the challenge of RFC 6750, section 3.1. Clients end a sign-in only after a 401; this is a 403.
  if (detail.missingScope !== undefined) {
    // Null: no scope opens the endpoint to API tokens.
    const scope = detail.missingScope === null ? '' : `, scope="${detail.missingScope}"`;
    reply.header('WWW-Authenticate', `Bearer error="insufficient_scope"${scope}`);
  }
  if (detail.retryAfterSeconds !== undefined) reply.header('Retry-After', detail.retryAfterSeconds);
  else if (code === 'unavailable') reply.header('Retry-After', 2); // seconds

  const body: ErrorBody = {
    message: errorSentence(apiError, languageOf(request)),
    code,
    requestId: request.id,
    ...(detail.status && { status: detail.status }), // status of the caller's account, not of the response
    ...(detail.field && { field: detail.field }),
    ...(detail.conflicts && { conflicts: [...detail.conflicts] }), // current state of objects that another request has changed
    ...(detail.refused && { refused: [...detail.refused] }), // rejected features of an imported file
  };
  return reply.code(apiError.status).header('Cache-Control', 'no-store').type('application/json').send(body);
}

/** Returns whether the error only means that the client disconnected, which cancels the request; the server did not fail then. */
export function isClientGone(error: unknown, reply: FastifyReply): boolean {
  return (error as { name?: unknown }).name === 'AbortError' && reply.raw.destroyed;
}

/** Returns the error that the API reports for any thrown value; `internal` for an unknown one. */
export function apiErrorOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof SlideError) return new AppError(slideErrors[error.code], { cause: error });
  const { code, statusCode } = error as Partial<FastifyError>;
  const apiCode = code === undefined ? undefined : fastifyErrors[code];
  if (apiCode !== undefined) return new AppError(apiCode, { cause: error });
  if (statusCode === 400 || error instanceof SyntaxError)
    return new AppError('invalid_request', { cause: error });
  if (isStorageFailure(error)) return new AppError('unavailable', { cause: error });
  return new AppError('internal', { cause: error });
}

/**
 * Returns whether the database, a disk or a network service is unavailable, full or locked. The client may then retry,
 * and stays signed in, because the status is not 401.
 */
function isStorageFailure(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return false;
  return (
    /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PROTOCOL)/.test(code) ||
    /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT)$/.test(code) ||
    /^(ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE|EAI_AGAIN|ENOTFOUND)$/.test(code) ||
    // SQLSTATE of PostgreSQL. 08: connection; 53: resources or disk; 57: shutdown; 58: system error; 55P03: lock timeout;
    // 40001, 40P01: serialization failure, deadlock; 25006: read-only; 25P03: idle transaction timeout
    /^(08|53|57|58|55P03|40001|40P01|25006|25P03)/.test(code)
  );
}
