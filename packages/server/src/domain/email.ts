/** What makes two e-mail addresses the same. */

/**
 * The same text for every spelling of one address: outer spaces, letter case and compatibility forms
 * (full-width letters, ligatures) do not count.
 *
 * Never by the rules of a locale: in Turkish, `I` becomes `ı`, and ADMIN@… would not be admin@….
 * A Turkish keyboard types İ for a capital i, which Unicode lower-cases to i and a combining dot; it is
 * taken as i. A dotless ı is another letter than i and stays one: mail to it goes to somebody else.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase().replaceAll('i\u0307', 'i').normalize('NFKC');
}
