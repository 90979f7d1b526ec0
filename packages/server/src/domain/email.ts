/** Equality of e-mail addresses. */

/**
 * Returns the same key for every spelling of an address: surrounding spaces, upper and lower case and compatibility forms
 * (full-width characters, ligatures) do not matter.
 *
 * Never uses a locale: in Turkish, `I` becomes `ı`, and ADMIN@… would differ from admin@…. A Turkish keyboard types İ as the
 * capital of i, which Unicode lower-cases to i and a combining dot; it counts as i. A dotless ı is a different character
 * and stays one: the address belongs to another person.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase().replaceAll('i\u0307', 'i').normalize('NFKC');
}
