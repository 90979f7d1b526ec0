/** A whole number from 0 as metadata writes it; null for anything else, and for what is too large to count with. */
export function readWhole(text: string | null | undefined): number | null {
  if (!text || !/^\s*\+?\d{1,16}\s*$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** A decimal number, maybe negative; null for anything else. Some systems write a comma for the point. */
export function readDecimal(text: string | null | undefined): number | null {
  if (!text || !/^\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*$/.test(text)) return null;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : null;
}
