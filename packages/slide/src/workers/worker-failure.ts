import { SlideError, type SlideErrorCode } from '../model/slide.ts';

/** A SlideError in a form that can be sent between processes. `detail` is for the log only: it may contain a path. */
export interface WorkerFailure {
  readonly code: SlideErrorCode;
  readonly message: string;
  readonly detail: string;
}

/**
 * Converts an error so that it can be sent to another process.
 *
 * @param fallback code and message for an error that is not a SlideError; the stack of that error becomes the detail
 */
export function failureOf(error: unknown, fallback: Pick<WorkerFailure, 'code' | 'message'>): WorkerFailure {
  if (error instanceof SlideError) {
    const { code, message, cause } = error;
    const causeMessage = cause instanceof Error ? cause.message : cause;
    return { code, message, detail: typeof causeMessage === 'string' ? causeMessage : '' };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...fallback, detail };
}

/** Converts a received failure back to a SlideError, with the detail as its cause. */
export function errorOf({ code, message, detail }: WorkerFailure): SlideError {
  return new SlideError(code, message, detail === '' ? {} : { cause: detail });
}
