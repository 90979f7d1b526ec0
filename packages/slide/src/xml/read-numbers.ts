/** Parses a whole number from 0; null for anything else and for unsafe integers. */
export function readWhole(text: string | null | undefined): number | null {
  if (!text || !/^\s*\+?\d{1,16}\s*$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** Parses a decimal number, which may be negative; null for anything else. Accepts a decimal comma. */
export function readDecimal(text: string | null | undefined): number | null {
  if (!text || !/^\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*$/.test(text)) return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
