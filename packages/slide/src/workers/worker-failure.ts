import { SlideError, type SlideErrorCode } from '../model/slide.ts';

/** A SlideError that is sent between processes. `detail` is for the log and may contain a path. */
export interface WorkerFailure {
  readonly code: SlideErrorCode;
  readonly message: string;
  readonly detail: string;
}

/**
 * @param otherwise code and message for errors that are no SlideError; their own message becomes the detail
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

export function errorOf({ code, message, detail }: WorkerFailure): SlideError {
  return new SlideError(code, message, detail === '' ? {} : { cause: detail });
}
