/**
 * Estimates the memory that JSON.parse needs for an object of a result file. The import runs in a thread with a limited heap
 * (run-import.ts), but JSON.parse cannot be interrupted when it exceeds the limit, and then the whole process may end. So the import
 * checks each object before it parses the object.
 */

/** Maximum memory for one object in bytes; the rest of the heap is for the other data of the import. */
export const maxHeapBytes = 112 * 2 ** 20;
/** Memory in bytes for the value that a character of JSON begins or separates, measured with Node 24; 0 for all other characters. */
const bytesByCharacter = new Uint8Array(256);
bytesByCharacter['['.charCodeAt(0)] = 56; // an array with one element
bytesByCharacter['{'.charCodeAt(0)] = 56; // an object without members
bytesByCharacter[','.charCodeAt(0)] = 32; // a short string or a number, and its place in the array
bytesByCharacter[':'.charCodeAt(0)] = 120; // a key, and the hash table of an object with only this key
/** Maximum memory per character on average. The members `"":0,` come closest to this maximum, with 152 bytes for 5 characters. */
const maxBytesPerCharacter = 32;

/**
 * Returns whether JSON.parse may need too much memory for a text. Brackets, commas and colons inside strings also count, because
 * results rarely contain many of them there.
 *
 * @param parts parts of the text
 * @param otherBytes memory that the object needs in addition to the values of the text
 */
export function mayExceedHeap(parts: readonly Buffer[], otherBytes = 0): boolean {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (otherBytes + length * maxBytesPerCharacter <= maxHeapBytes) return false; // a quick answer for almost all objects
  let bytes = otherBytes;
  for (const part of parts) for (const character of part) bytes += bytesByCharacter[character] as number;
  return bytes > maxHeapBytes;
}
