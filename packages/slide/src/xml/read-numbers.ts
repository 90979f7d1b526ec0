/** Parses an integer from 0 to 2^53 − 1; returns null for anything else. */
export function readWholeNumber(text: string | null | undefined): number | null {
  if (!text || !/^\s*\+?\d{1,16}\s*$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** Parses a decimal number, e.g. `0.25`, `0,25` or `-1.5e-3`; returns null for anything else. */
export function readDecimal(text: string | null | undefined): number | null {
  // Linear in the length of the text: no two repetitions can match the same digits.
  if (!text || !/^\s*[+-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+-]?\d+)?\s*$/.test(text)) return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
