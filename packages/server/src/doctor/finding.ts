/** The result of a check of the doctor, in sentences for the operator. */
export interface Finding {
  /** What was checked: `Database`, `Mail`. */
  readonly subject: string;
  /** `wrong` must be corrected; `note` is for information. */
  readonly state: 'ok' | 'note' | 'wrong';
  /** What the check found. Never a secret. */
  readonly says: string;
  /** What to do; null: nothing. */
  readonly advice: string | null;
}

export const ok = (subject: string, says: string): Finding => ({ subject, state: 'ok', says, advice: null });
export const note = (subject: string, says: string, advice: string): Finding => ({
  subject,
  state: 'note',
  says,
  advice,
});
export const wrong = (subject: string, says: string, advice: string): Finding => ({
  subject,
  state: 'wrong',
  says,
  advice,
});

/** Returns the message of an error and of its causes, with passwords removed from URLs. */
export function reasonOf(error: unknown): string {
  const sentences: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message, code } = at as NodeJS.ErrnoException;
    const sentence = (message === '' ? (code ?? at.name) : message).replace(/[.\s]+$/, ''); // AggregateError has no message
    if (!sentences.includes(sentence)) sentences.push(sentence);
  }
  return withoutPasswords(sentences.join(': ') || String(error));
}

export function withoutPasswords(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//');
}

/** Formats as `1.5 GiB`. */
export function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** @throws Error when it takes longer */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`there was no answer within ${ms / 1000} seconds`)), ms);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
