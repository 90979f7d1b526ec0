/** Compares e-mail addresses: two spellings belong to the same account if their keys are equal. */

/**
 * Returns the same key for all spellings of an e-mail address that differ in surrounding spaces, letter case, or compatibility
 * forms (full-width characters, ligatures).
 *
 * Lower-casing ignores the locale, because a Turkish locale would turn `I` into `ı` and make ADMIN@… differ from admin@….
 * A Turkish keyboard types `İ` as the capital of `i`. Unicode lower-cases `İ` to `i` and a combining dot, so the dot is removed.
 * A dotless `ı` remains different from `i`, because an address with `ı` may belong to another user.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase().replaceAll('i\u0307', 'i').normalize('NFKC');
}
