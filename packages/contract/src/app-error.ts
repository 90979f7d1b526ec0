/** The error that server and web app throw. It has a code and parameters, from which `errorText` creates the text for the user. */
import type { z } from 'zod';
import type { ApiTokenScope } from './api-token-scopes.ts';
import { type ErrorReason, reasonTexts } from './error-reasons.ts';
import { type ErrorCode, errors } from './errors.ts';
import type { Language } from './languages.ts';
import type { Status } from './permissions.ts';

export interface AppErrorDetail {
  /** A more specific reason. Its text replaces the text of the code. */
  readonly reason?: ErrorReason;
  /** The issue that a schema reports when no `reason` names the rule. Must never be logged: it contains user input. */
  readonly issue?: z.core.$ZodIssue;
  /** For the code account_not_active: the caller's own status. */
  readonly status?: Status;
  /** For the code invalid_request: the rejected field. */
  readonly field?: string;
  /** For the codes rate_limited and unavailable: seconds after which the client should retry. */
  readonly retryAfterSeconds?: number;
  /** For the code forbidden: the scope that the API token lacks; null when no scope opens the endpoint. */
  readonly missingScope?: ApiTokenScope | null;
  /** For the code conflict: current state of the conflicting objects. */
  readonly conflicts?: readonly unknown[];
  /** For the code invalid_request: rejected features of an imported file (`RefusedFeature`). */
  readonly refused?: readonly unknown[];
  /** The number in the text of the reason: the exceeded limit, or for example the line of a syntax error. */
  readonly limit?: number;
  /** The value of the parameter `{name}` in the text, such as the name of a dataset or a content type. */
  readonly name?: string;
  readonly cause?: unknown;
}

/** An error of the API. The HTTP layer converts it to a response. Its message is technical and meant for logs. */
export class AppError extends Error {
  readonly code: ErrorCode;
  declare readonly detail: AppErrorDetail;

  constructor(code: ErrorCode, detail: AppErrorDetail = {}) {
    super(technicalMessage(code, detail), { cause: detail.cause });
    this.name = 'AppError';
    this.code = code;
    // Not enumerable (hence `declare` above), because loggers write enumerable properties and a detail may contain user input.
    Object.defineProperty(this, 'detail', { value: detail });
  }

  get status(): number {
    return errors[this.code].status;
  }
}

function technicalMessage(code: ErrorCode, { reason, retryAfterSeconds }: AppErrorDetail): string {
  const wait = retryAfterSeconds === undefined ? '' : ` (retry after ${retryAfterSeconds} s)`;
  return `${code}${reason === undefined ? '' : `: ${reason}`}${wait}`;
}

/** The subject of a sentence about a password, by the name of its field. */
const passwordNames = {
  password: { tr: 'Şifre', en: 'The password' },
  current_password: { tr: 'Mevcut şifre', en: 'The current password' },
  new_password: { tr: 'Yeni şifre', en: 'The new password' },
};

/** Returns the text of an error for the user: the text of its reason, or of its code if it has no reason. */
export function errorText({ code, detail }: AppError, language: Language): string {
  if (detail.reason === undefined) return errors[code][language];
  return reasonText(detail.reason, language, detail);
}

/** Returns the text of a reason, in which each `{parameter}` is replaced by its value. */
export function reasonText(
  reason: ErrorReason,
  language: Language,
  { field = '', limit = 0, name = '', retryAfterSeconds = 0 }: AppErrorDetail = {},
): string {
  const passwordName = passwordNames[field as keyof typeof passwordNames] ?? passwordNames.password;
  const parameters: Readonly<Record<string, string>> = {
    field,
    name,
    limit: String(limit),
    count: limit.toLocaleString(language), // `limit` with thousands separators
    password: passwordName[language],
    wait: waitText(retryAfterSeconds, language),
  };
  return reasonTexts[reason][language].replaceAll(
    /\{(\w+)\}/g,
    (placeholder, key: string) => parameters[key] ?? placeholder,
  );
}

/** Formats a duration in seconds or, from one minute on, in minutes, rounded up: '45 saniye', '1 minute'. */
function waitText(seconds: number, language: Language): string {
  const [count, turkishUnit, englishUnit] =
    seconds < 60 ? [seconds, 'saniye', 'second'] : [Math.ceil(seconds / 60), 'dakika', 'minute'];
  return language === 'tr' ? `${count} ${turkishUnit}` : `${count} ${englishUnit}${count === 1 ? '' : 's'}`;
}
