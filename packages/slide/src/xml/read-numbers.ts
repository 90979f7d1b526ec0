/** Parses an integer from 0 to 2^53 − 1; returns null for anything else. */
export function readWholeNumber(text: string | null | undefined): number | null {
  if (!text || !/^\s*\+?\d{1,16}\s*$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** Parses a decimal number with a point or a comma, which may be negative; returns null for anything else. */
export function readDecimal(text: string | null | undefined): number | null {
  if (!text || !/^\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*$/.test(text)) return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
