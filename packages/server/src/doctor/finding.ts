/** The findings of the checks that `npm run doctor` makes, and functions that the checks share. */

/** The result of a check, in sentences for the operator. */
export interface Finding {
  /** What was checked, such as `Database` or `Mail`. */
  readonly subject: string;
  /** `wrong`: the operator must correct the subject. `note`: the subject works, but the operator can improve it or should know about it. */
  readonly state: 'ok' | 'note' | 'wrong';
  /** What the check found. It never contains a secret. */
  readonly message: string;
  /** What the operator should or can do; null for `ok`. */
  readonly advice: string | null;
}

export const ok = (subject: string, message: string): Finding => ({
  subject,
  state: 'ok',
  message,
  advice: null,
});
export const note = (subject: string, message: string, advice: string): Finding => ({
  subject,
  state: 'note',
  message,
  advice,
});
export const wrong = (subject: string, message: string, advice: string): Finding => ({
  subject,
  state: 'wrong',
  message,
  advice,
});

/** Returns the messages of an error and of its causes, without a final full stop and without the passwords in URLs. */
export function reasonOf(error: unknown): string {
  const sentences: string[] = [];
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { message, code } = current as NodeJS.ErrnoException;
    const text = message === '' ? (code ?? current.name) : message; // an AggregateError of Node's network functions has no message
    const sentence = text.replace(/[.\s]+$/, '');
    if (!sentences.includes(sentence)) sentences.push(sentence);
  }
  return withoutPasswords(sentences.join(': ') || String(error));
}

/** Removes user names and passwords from the URLs in a string. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//');
}

/** Returns a number of bytes as text, such as `1.5 GiB`. */
export function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** Waits for a promise. @throws Error after the timeout; the error with which the promise rejects */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const error = new Error(`there was no answer within ${timeoutMs / 1000} seconds`);
  const timer = setTimeout(() => reject(error), timeoutMs);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
