/** The divider between two compared result layers: the upper one is shown on its left, the next one on its right. */

/** Per key press, as a part of the width. */
const smallStep = 0.02;
const largeStep = 0.1;

/** Returns the place of the divider within the view, 0 to 1. @param width of the view; 0 while it is not laid out */
export function placeOfPointer(clientX: number, { left, width }: Pick<DOMRect, 'left' | 'width'>): number {
  return width === 0 ? 0.5 : within((clientX - left) / width);
}

/** Returns the place after a key press; null: the key does not move the divider. */
export function placeAfterKey(place: number, key: string): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -smallStep,
    ArrowDown: -smallStep,
    ArrowRight: smallStep,
    ArrowUp: smallStep,
    PageDown: -largeStep,
    PageUp: largeStep,
    Home: -1,
    End: 1,
  };
  const step = steps[key];
  return step === undefined ? null : within(place + step);
}

/** Returns the `clip-path` of a compared layer. */
export function clipOf(side: 'left' | 'right', place: number): string {
  const percent = (share: number) => `${Number((share * 100).toFixed(2))}%`;
  return side === 'left' ? `inset(0 ${percent(1 - place)} 0 0)` : `inset(0 0 0 ${percent(place)})`;
}

/** Hundredths: what the address holds. */
function within(place: number): number {
  return Math.round(Math.min(1, Math.max(0, place)) * 100) / 100;
}
