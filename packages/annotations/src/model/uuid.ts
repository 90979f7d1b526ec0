const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a string has the form of a UUID, in lowercase or uppercase; does not check the version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** Creates a random UUID (version 4, RFC 9562). Browsers offer `crypto.randomUUID` only in secure contexts, such as HTTPS pages. */
export function createUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // The highest four bits of byte 6 are the version, 4; the highest two of byte 8 are the variant, binary 10.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
