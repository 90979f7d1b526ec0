/** What the doctor has found out about one thing, in sentences for whoever runs the program. */
export interface Finding {
  /** What was looked at: `Database`, `Mail`. */
  readonly subject: string;
  /** `wrong` has to be mended, `note` should be known. */
  readonly state: 'ok' | 'note' | 'wrong';
  /** What is so. Never a secret. */
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

/** What a failure says by itself, and what stands behind it. Addresses lose their passwords. */
export function reasonOf(error: unknown): string {
  const said: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message, code } = at as NodeJS.ErrnoException;
    const sentence = (message === '' ? (code ?? at.name) : message).replace(/[.\s]+$/, ''); // several addresses say nothing
    if (!said.includes(sentence)) said.push(sentence);
  }
  return withoutPasswords(said.join(': ') || String(error));
}

export function withoutPasswords(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//');
}

/** `1.5 GiB`. */
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
