import { SlideError, type SlideErrorCode } from '../slide.ts';

/** A SlideError as it travels between processes; `detail` is for the log and may name a path. */
export interface MakerFailure {
  readonly code: SlideErrorCode;
  readonly message: string;
  readonly detail: string;
}

/** @param otherwise what is said of an error that is none of ours, whose words are a detail */
export function failureOf(error: unknown, otherwise: Pick<MakerFailure, 'code' | 'message'>): MakerFailure {
  if (error instanceof SlideError) {
    const { code, message, cause } = error;
    const told = cause instanceof Error ? cause.message : cause;
    return { code, message, detail: typeof told === 'string' ? told : '' };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...otherwise, detail };
}

export function errorOf({ code, message, detail }: MakerFailure): SlideError {
  return new SlideError(code, message, detail === '' ? {} : { cause: detail });
}
